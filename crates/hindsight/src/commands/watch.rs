//! `watch`: what changes in a namespace, a line an event, until it is interrupted.

use clap::Args;
use hindsight_client::{Change, ChangeKind, Told, WatchFrom};
use hindsight_core::{Kind, Lsn};
use serde::Serialize;

use crate::connection::Connection;
use crate::failure::Failure;
use crate::output::{Format, Out};
use crate::screen::{Paint, flat};

/// What to tell.
#[derive(Debug, Args)]
pub(crate) struct WatchArgs {
    /// Begin after this revision; 0 is the beginning of the log [default: what comes from now on]
    #[arg(long, value_name = "REVISION")]
    from: Option<u64>,
    /// The agent that asks; it sees its own memories beside the shared ones
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
    /// Only memories of this kind; may be repeated
    #[arg(long = "kind", value_name = "KIND")]
    kinds: Vec<Kind>,
    /// Only memories that this agent wrote; may be repeated
    #[arg(long = "by", value_name = "AGENT")]
    agents: Vec<String>,
    /// Only changes of this kind: created, changed, forgotten, purged, namespace_purged, namespace_dropped; may be repeated
    #[arg(long = "change", value_name = "CHANGE")]
    changes: Vec<ChangeKind>,
    /// Ids alone, without memories
    #[arg(long)]
    ids_only: bool,
    /// Also say how far the watch is when nothing changes
    #[arg(long)]
    progress: bool,
    /// End after N events
    #[arg(long, value_name = "N")]
    count: Option<u64>,
    /// One JSON document a line, whatever the terminal
    #[arg(long)]
    json: bool,
}

/// How far a watch is.
#[derive(Serialize)]
struct Progress {
    progress: Lsn,
}

/// Prints each event as it comes.
pub(crate) async fn run(connection: &Connection, args: WatchArgs, out: &mut Out) -> Result<(), Failure> {
    let from = args.from.map_or(WatchFrom::Now, |from| WatchFrom::After(Lsn(from)));
    let mut watch = connection.memories()?.watch(from);
    watch = args.kinds.into_iter().fold(watch, |watch, kind| watch.kind(kind));
    watch = args.agents.into_iter().fold(watch, |watch, agent| watch.by(agent));
    watch = args.changes.into_iter().fold(watch, |watch, change| watch.change(change));
    if let Some(agent) = args.agent {
        watch = watch.agent(agent);
    }
    if args.ids_only {
        watch = watch.ids_only();
    }
    let as_json = args.json || out.list_format() != Format::Table;
    let mut watch = watch.start().await?;
    let mut left = args.count.unwrap_or(u64::MAX);
    while left > 0 {
        match watch.next().await? {
            Told::Change(change) => {
                left -= 1;
                if as_json {
                    out.jsonl(&change)?;
                } else {
                    let text = line(&change, out.paint);
                    out.line(&text)?;
                }
            }
            Told::Progress(revision) if args.progress && as_json => {
                out.jsonl(&Progress { progress: revision })?;
            }
            Told::Progress(revision) if args.progress => {
                let text = out.paint.dim(&format!("everything up to {revision} was told"));
                out.line(&text)?;
            }
            _ => continue,
        }
        // Whoever reads along waits for it.
        out.flush()?;
    }
    Ok(())
}

fn line(change: &Change, paint: Paint) -> String {
    let event = &change.event;
    let mut line = format!("{} {} {}", change.revision, change.at, paint.bold(event.change.as_str()));
    if let Some(id) = event.id {
        line.push_str(&format!(" {id}"));
    }
    if let (Some(kind), Some(state), Some(version)) = (event.kind, event.state, event.version) {
        line.push_str(&format!(" {kind}, {state}, version {version}"));
    }
    if let Some(by) = event.superseded_by {
        line.push_str(&format!(", superseded by {by}"));
    }
    if let Some(count) = event.count {
        line.push_str(&format!(" {count} memories"));
    }
    if let Some(memory) = &event.memory {
        let text = if memory.summary.is_empty() { &memory.content } else { &memory.summary };
        line.push_str(&format!(": {}", flat(text)));
    }
    line
}

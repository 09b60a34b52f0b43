//! `get`: memories by id, in whatever state they are.

use clap::Args;
use hindsight_core::MemoryId;

use crate::connection::Connection;
use crate::failure::Failure;
use crate::output::{Format, Out};
use crate::view;

/// Which memories to show.
#[derive(Debug, Args)]
pub(crate) struct GetArgs {
    /// Their ids
    #[arg(required = true, value_name = "ID")]
    ids: Vec<MemoryId>,
    /// The agent that asks; it sees its own memories beside the shared ones
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
}

/// Shows one memory as one document, and several as a list.
pub(crate) async fn run(connection: &Connection, args: GetArgs, out: &mut Out) -> Result<(), Failure> {
    let memories = connection.memories()?;
    let mut found = Vec::new();
    for id in args.ids {
        found.push(match &args.agent {
            Some(agent) => memories.get_as(id, agent).await?,
            None => memories.get(id).await?,
        });
    }
    if let [memory] = found.as_slice() {
        return out.single(memory, |paint, width| view::memory::detail(memory, *paint, width));
    }
    let details = |paint: &crate::screen::Paint, width| {
        found
            .iter()
            .map(|memory| view::memory::detail(memory, *paint, width))
            .collect::<Vec<_>>()
            .join("\n\n")
    };
    match out.wanted_format() {
        Some(Format::Table) | None => out.list(&found, details),
        Some(_) => out.list(&found, |_, _| String::new()),
    }
}

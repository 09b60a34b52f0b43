//! `audit`: who did what, and whether the record of it is whole.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use comfy_table::{Cell, CellAlignment, Color};
use hindsight_auth::audit::{self, Anchor};
use hindsight_client::{AuditEvent, AuditQuery};
use hindsight_core::{Timestamp, time::Span};
use serde::Serialize;

use crate::clock;
use crate::connection::Connection;
use crate::failure::Failure;
use crate::output::{Out, tell};
use crate::profile::Globals;
use crate::screen::{counted, flat, grouped, text_of};

/// What to do with the trail.
#[derive(Debug, Args)]
pub(crate) struct AuditArgs {
    #[command(subcommand)]
    action: AuditAction,
}

#[derive(Debug, Subcommand)]
enum AuditAction {
    /// Show the newest events, the newest last
    Tail(TailArgs),
    /// Show the newest events that fit, the newest last
    Search(SearchArgs),
    /// Check that no entry was changed, taken out, put in or moved
    Verify(VerifyArgs),
}

#[derive(Debug, Args)]
struct TailArgs {
    /// How many
    #[arg(long, value_name = "COUNT", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1000))]
    limit: u32,
}

#[derive(Debug, Args)]
struct SearchArgs {
    /// Of this call, such as Purge or AdminService/Purge
    #[arg(long, value_name = "CALL")]
    call: Option<String>,
    /// Of the token with this id
    #[arg(long = "of", value_name = "ID")]
    token_id: Option<String>,
    /// With this result: OK, or a reason such as NAMESPACE_DENIED
    #[arg(long, value_name = "WORD")]
    result: Option<String>,
    /// From then on: a time, or a span before now such as 24h
    #[arg(long, value_name = "WHEN", value_parser = begin)]
    since: Option<Timestamp>,
    /// Before then
    #[arg(long, value_name = "WHEN", value_parser = begin)]
    until: Option<Timestamp>,
    #[command(flatten)]
    tail: TailArgs,
}

#[derive(Debug, Args)]
struct VerifyArgs {
    /// The data directory; a server may have it open
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    /// Where the trail ended before, as an earlier check or the server's log said: also finds an end that was cut off
    #[arg(long, value_name = "NUMBER:HASH")]
    anchor: Option<Anchor>,
}

/// What a check found.
#[derive(Serialize)]
struct Checked {
    entries: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    anchor: Option<String>,
    faults: Vec<String>,
}

fn begin(text: &str) -> Result<Timestamp, String> {
    match text.parse::<Span>() {
        Ok(span) => Ok(clock::now().plus_ms(-span.as_ms())),
        Err(_) => text.parse::<Timestamp>().map_err(|bad| format!("{bad}, or a span such as 24h")),
    }
}

/// Carries it out.
pub(crate) async fn run(args: AuditArgs, globals: Globals, out: &mut Out) -> Result<(), Failure> {
    let namespace = globals.namespace.clone();
    let query = match args.action {
        AuditAction::Verify(args) => return verify(&args, out),
        AuditAction::Tail(TailArgs { limit }) => {
            AuditQuery { namespace, page_size: limit, ..AuditQuery::default() }
        }
        AuditAction::Search(args) => AuditQuery {
            namespace,
            token_id: args.token_id,
            call: args.call,
            result: args.result,
            since: args.since,
            until: args.until,
            page_size: args.tail.limit,
            page_token: String::new(),
        },
    };
    let page = Connection::new(globals)?.client().audit(query).await?;
    let mut events = page.events;
    events.reverse();
    if events.is_empty() {
        tell("the audit trail has no such event");
    }
    out.list(&events, |paint, width| {
        let header = ["seq", "at", "token", "from", "call", "namespace", "count", "result"];
        let mut table = paint.table(width, &header);
        for event in &events {
            table.add_row(row(event));
        }
        text_of(&mut table)
    })
}

fn row(event: &AuditEvent) -> Vec<Cell> {
    let who = match event.token_name.as_str() {
        "" => event.token_id.clone(),
        name => format!("{} {}", event.token_id, flat(name)),
    };
    let colour = if event.result == "OK" { Color::Green } else { Color::Red };
    vec![
        Cell::new(event.seq).set_alignment(CellAlignment::Right),
        Cell::new(event.at),
        Cell::new(who),
        Cell::new(flat(&event.peer)),
        Cell::new(flat(&event.call)),
        Cell::new(flat(&event.namespace)),
        Cell::new(grouped(event.count)).set_alignment(CellAlignment::Right),
        Cell::new(flat(&event.result)).fg(colour),
    ]
}

/// Checks, and says where the trail ends; exit code 8 when it is not as it was written.
fn verify(args: &VerifyArgs, out: &mut Out) -> Result<(), Failure> {
    let report = audit::verify(&args.data, args.anchor.as_ref())?;
    let faults = report.faults.len();
    let checked = Checked {
        entries: report.entries,
        anchor: report.head.map(|head| head.to_string()),
        faults: report.faults.iter().map(ToString::to_string).collect(),
    };
    out.single(&checked, |paint, _| {
        let mut text = format!("{} as written", counted(checked.entries, "entry", "entries"));
        if let Some(anchor) = &checked.anchor {
            text.push_str(&format!("; the trail ends at {anchor}"));
        }
        for fault in &checked.faults {
            text.push_str(&format!("\n{} {}", paint.red("WRONG"), flat(fault)));
        }
        text
    })?;
    out.flush()?;
    match u64::try_from(faults) {
        Ok(0) => Ok(()),
        faults => Err(Failure::TrailUnsound { faults: faults.unwrap_or(u64::MAX) }),
    }
}

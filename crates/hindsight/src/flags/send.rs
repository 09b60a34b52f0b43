//! How a write is carried out, and how its answer is printed.

use clap::Args;
use hindsight_client::{Outcome, WriteOptions, Written};
use hindsight_core::{Memory, Neighbor, OnDuplicate, Relation};
use serde::Serialize;

use crate::failure::Failure;
use crate::output::Out;
use crate::screen::flat;

/// How a write is carried out.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "How it is stored")]
pub(crate) struct SendFlags {
    /// Check and answer, but store nothing
    #[arg(long)]
    pub(crate) validate_only: bool,
    /// What happens when the same is known: reinforce, reject, allow [default: reinforce; with an id of its own: allow]
    #[arg(long, value_name = "WHAT")]
    pub(crate) on_duplicate: Option<OnDuplicate>,
    /// Store it though what it says was forgotten or purged
    #[arg(long)]
    pub(crate) allow_forgotten: bool,
    /// The same id sent twice acts once
    #[arg(long, value_name = "ID")]
    pub(crate) request_id: Option<String>,
}

impl SendFlags {
    pub(crate) fn into_options(self) -> WriteOptions {
        let SendFlags { validate_only, on_duplicate, allow_forgotten, request_id } = self;
        WriteOptions { validate_only, on_duplicate, allow_forgotten, request_id }
    }
}

/// Prints what a write did, and which memories it contradicts.
pub(crate) fn print_written(written: &Written, out: &mut Out) -> Result<(), Failure> {
    let memory = &written.memory;
    out.single(written, |paint, _| {
        let id = paint.bold(&memory.id.to_string());
        let done = match (written.outcome, written.replayed) {
            (Outcome::Reinforced, _) => format!(
                "known already as {id} in {}: confidence {:.2}, said again {} times",
                memory.namespace, memory.confidence, memory.usage.verified_count
            ),
            (Outcome::Echoed, _) => {
                format!("a recall said this as {id} in {}: nothing is stored again", memory.namespace)
            }
            (_, replayed) => stored_text(&id, memory, replayed),
        };
        let neighbors = written.neighbors.iter().map(neighbor_text);
        std::iter::once(done).chain(neighbors).collect::<Vec<_>>().join("\n")
    })
}

fn neighbor_text(neighbor: &Neighbor) -> String {
    let Neighbor { id, relation, about, old, new, .. } = neighbor;
    let verb = match relation {
        Relation::Superseded => "supersedes",
        Relation::SupersededBy => "is history, superseded by",
        Relation::Conflict => "may contradict",
    };
    let about = if about.is_empty() { String::new() } else { format!("{}: ", flat(about)) };
    format!("  {verb} {id}: {about}\"{}\" / \"{}\"", flat(old), flat(new))
}

fn stored_text(id: &str, memory: &Memory, replayed: bool) -> String {
    let verb = if replayed { "was stored before as" } else { "stored as" };
    format!(
        "{verb} {id} in {}: {}, importance {:.2}, confidence {:.2}, version {}",
        memory.namespace, memory.kind, memory.importance, memory.confidence, memory.version,
    )
}

/// Prints what a change made of a memory.
pub(crate) fn print_stored<T: Serialize>(
    answer: &T,
    memory: &Memory,
    replayed: bool,
    out: &mut Out,
) -> Result<(), Failure> {
    out.single(answer, |paint, _| stored_text(&paint.bold(&memory.id.to_string()), memory, replayed))
}

//! How a write is carried out, and how its answer is printed.

use clap::Args;
use hindsight_client::WriteOptions;
use hindsight_core::Memory;
use serde::Serialize;

use crate::failure::Failure;
use crate::output::Out;

/// How a write is carried out.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "How it is stored")]
pub(crate) struct SendFlags {
    /// Check and answer, but store nothing
    #[arg(long)]
    pub(crate) validate_only: bool,
    /// The same id sent twice acts once
    #[arg(long, value_name = "ID")]
    pub(crate) request_id: Option<String>,
}

impl SendFlags {
    pub(crate) fn into_options(self) -> WriteOptions {
        WriteOptions { validate_only: self.validate_only, request_id: self.request_id }
    }
}

/// Prints what a write made of a memory.
pub(crate) fn print_stored<T: Serialize>(
    answer: &T,
    memory: &Memory,
    replayed: bool,
    out: &mut Out,
) -> Result<(), Failure> {
    out.single(answer, |paint, _| {
        let verb = if replayed { "was stored before as" } else { "stored as" };
        format!(
            "{verb} {} in {}: {}, importance {:.2}, confidence {:.2}, version {}",
            paint.bold(&memory.id.to_string()),
            memory.namespace,
            memory.kind,
            memory.importance,
            memory.confidence,
            memory.version,
        )
    })
}

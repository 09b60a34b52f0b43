//! `repair`: a new data directory of what is left of a damaged one. The damaged one is not changed.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use hindsight_core::Lsn;
use hindsight_storage::RealIo;
use hindsight_storage::repair::{RepairMode, repair};

use crate::failure::Failure;
use crate::output::{Out, tell};
use crate::screen::safe;

/// What is repaired, how, and into what.
#[derive(Debug, Args)]
pub(crate) struct RepairArgs {
    /// The damaged data directory; no server may have it open. It is read and not changed
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    /// Keep whatever can be proved to have been written (this is the default)
    #[arg(long, conflicts_with = "truncate_at")]
    salvage: bool,
    /// Go back to the state before this position of the log; everything from it on is given up
    #[arg(long, value_name = "LSN", value_parser = clap::value_parser!(u64).range(1..))]
    truncate_at: Option<u64>,
    /// Where to make the new data directory; it must be missing or empty
    #[arg(long, value_name = "DIR", requires = "yes")]
    into: Option<PathBuf>,
    /// Make it. Without this, only what would be kept and lost is shown
    #[arg(long, requires = "into")]
    yes: bool,
}

/// Shows what is kept and lost, and makes the new directory when told to.
pub(crate) fn run(args: &RepairArgs, out: &mut Out) -> Result<(), Failure> {
    let mode = args.truncate_at.map_or(RepairMode::Salvage, |at| RepairMode::TruncateAt(Lsn(at)));
    let into = args.into.as_deref().filter(|_| args.yes);
    let report = repair(&Arc::new(RealIo), &args.data, mode, into)?;
    out.single(&report, |_, _| {
        report.to_string().trim_end().lines().map(safe).collect::<Vec<_>>().join("\n")
    })?;
    out.flush()?;
    match into {
        Some(into) => tell(&format!("serve it with: hindsight serve --data {}", into.display())),
        None => tell(
            "nothing was written: repeat with --into NEWDIR --yes to make a data directory of what is kept",
        ),
    }
    Ok(())
}

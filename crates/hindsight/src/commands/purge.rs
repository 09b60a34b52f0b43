//! `purge` and `namespaces drop`: gone for good.

use clap::Args;
use hindsight_client::{ForgetMode, NamespaceHandle, Purged};
use hindsight_core::{Filter, MemoryId, Namespace};

use super::forget::{confirm, derived_text};
use crate::connection::Connection;
use crate::failure::Failure;
use crate::flags::FilterFlags;
use crate::output::Out;
use crate::screen::{counted, grouped};

/// What to purge: by id, all that a filter allows, or the whole namespace.
#[derive(Debug, Args)]
pub(crate) struct PurgeArgs {
    /// An id; repeat the flag for more
    #[arg(long = "id", value_name = "ID")]
    ids: Vec<MemoryId>,
    /// Everything in the namespace, and the namespace itself
    #[arg(long)]
    whole_namespace: bool,
    /// Also what was made from them, such as facts of an episode
    #[arg(long)]
    with_derived: bool,
    /// Only count what would be purged
    #[arg(long, conflicts_with = "ids")]
    dry_run: bool,
    /// Do not ask
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    filter: FilterFlags,
}

/// Which namespace to drop.
#[derive(Debug, Args)]
pub(crate) struct DropArgs {
    /// Its name
    #[arg(value_name = "NAME")]
    name: Namespace,
    /// Only count what would be dropped
    #[arg(long)]
    dry_run: bool,
    /// Do not ask
    #[arg(long)]
    yes: bool,
}

/// Purges. What goes is counted first, and only that number is purged.
pub(crate) async fn run(connection: &Connection, args: PurgeArgs, out: &mut Out) -> Result<(), Failure> {
    let filter = args.filter.into_filter()?;
    let by_filter = filter != Filter::default();
    if [!args.ids.is_empty(), by_filter, args.whole_namespace].into_iter().filter(|is_one| *is_one).count()
        != 1
    {
        return Err(Failure::PurgeWhat);
    }
    let memories = connection.memories()?;
    let memories = if args.with_derived { memories.with_derived() } else { memories };
    let purged = if args.ids.is_empty() {
        let filter = by_filter.then_some(filter);
        let counted = send(&memories, filter.clone(), ForgetMode::DryRun).await?;
        if args.dry_run || (counted.count == 0 && by_filter) {
            counted
        } else {
            if !args.yes {
                confirm("purge for good", counted.count)?;
            }
            send(&memories, filter, ForgetMode::Expect(counted.count)).await?
        }
    } else {
        if !args.yes {
            confirm("purge for good", u32::try_from(args.ids.len()).unwrap_or(u32::MAX))?;
        }
        memories.purge_ids(&args.ids).await?
    };
    out.single(&purged, |_, _| sentence(&purged, args.dry_run) + &derived_text(&purged.derived))
}

/// A filter, or everything.
async fn send(
    memories: &NamespaceHandle,
    filter: Option<Filter>,
    mode: ForgetMode,
) -> Result<Purged, Failure> {
    Ok(match filter {
        Some(filter) => memories.purge_where(filter, mode).await?,
        None => memories.purge_all(mode).await?,
    })
}

fn sentence(purged: &Purged, is_dry: bool) -> String {
    let memories = counted(u64::from(purged.count), "memory", "memories");
    let Some(receipt) = &purged.receipt else {
        let verb = if is_dry { "would be purged for good" } else { "purged" };
        return format!("{memories} {verb}");
    };
    format!(
        "{memories} purged at revision {}: {} removed ({} bytes), nothing of them is left in the data directory; backups made before still hold them",
        receipt.revision,
        counted(receipt.files_removed, "file", "files"),
        grouped(receipt.bytes_removed),
    )
}

/// Drops a namespace. What goes with it is counted first.
pub(crate) async fn drop_namespace(
    connection: &Connection,
    args: DropArgs,
    out: &mut Out,
) -> Result<(), Failure> {
    let memories = connection.memories_of(&args.name)?;
    let counted_first = memories.drop_namespace(ForgetMode::DryRun).await?;
    let dropped = if args.dry_run {
        counted_first
    } else {
        if !args.yes {
            confirm("drop with their namespace", counted_first.count)?;
        }
        memories.drop_namespace(ForgetMode::Expect(counted_first.count)).await?
    };
    let verb = if args.dry_run { "would be dropped" } else { "dropped" };
    out.single(&dropped, |_, _| {
        format!("{} {verb}, with {}", args.name, counted(u64::from(dropped.count), "memory", "memories"))
    })
}

//! `feedback`, `history`, `rollback`: what became of what was recalled, what superseded what, and taking that back.

use clap::Args;
use hindsight_client::{Feedback, History};
use hindsight_core::{Memory, MemoryId, RecallId, Status, Verdict};

use crate::connection::Connection;
use crate::failure::Failure;
use crate::output::Out;
use crate::screen::{counted, flat};

/// What became of the memories that a recall returned.
#[derive(Debug, Args)]
pub(crate) struct FeedbackArgs {
    /// The recall, as it was answered [default: none, and any memories may be named]
    #[arg(value_name = "RECALL")]
    recall_id: Option<RecallId>,
    /// A memory that went into the task; may be repeated
    #[arg(long, value_name = "ID")]
    used: Vec<MemoryId>,
    /// A memory that did not help; may be repeated
    #[arg(long, value_name = "ID")]
    ignored: Vec<MemoryId>,
    /// A memory that is not so; may be repeated
    #[arg(long, value_name = "ID")]
    wrong: Vec<MemoryId>,
    /// A memory that is so no longer; may be repeated
    #[arg(long, value_name = "ID")]
    outdated: Vec<MemoryId>,
    /// How the task ended: success, failure, partial
    #[arg(long, value_name = "STATUS")]
    task: Option<Status>,
    /// The same id sent twice acts once
    #[arg(long, value_name = "ID")]
    request_id: Option<String>,
}

/// Around which memory.
#[derive(Debug, Args)]
pub(crate) struct HistoryArgs {
    /// Any memory of the chain
    #[arg(value_name = "ID")]
    id: MemoryId,
    /// The agent that asks; it sees its own memories beside the shared ones
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
}

/// What to take back.
#[derive(Debug, Args)]
pub(crate) struct RollbackArgs {
    /// The memory that was superseded, or the one that superseded it
    #[arg(value_name = "ID")]
    id: MemoryId,
}

/// Says what became of recalled memories.
pub(crate) async fn feedback(
    connection: &Connection,
    args: FeedbackArgs,
    out: &mut Out,
) -> Result<(), Failure> {
    let FeedbackArgs { recall_id, used, ignored, wrong, outdated, task: task_status, request_id } = args;
    let by_verdict = [
        (Verdict::Used, used),
        (Verdict::Ignored, ignored),
        (Verdict::Wrong, wrong),
        (Verdict::Outdated, outdated),
    ];
    let all = by_verdict.into_iter();
    let items = all.flat_map(|(verdict, ids)| ids.into_iter().map(move |id| (id, verdict))).collect();
    let feedback = Feedback { recall_id, items, task_status, request_id };
    let judged = connection.memories()?.feedback(feedback).await?;
    out.single(&judged, |_, _| {
        let changed = counted(u64::try_from(judged.memories.len()).unwrap_or(u64::MAX), "memory", "memories");
        let lines = judged.memories.iter().map(|memory| {
            let usage = &memory.usage;
            format!(
                "  {}: confidence {:.2}, used {} times, success {}, failure {}",
                memory.id,
                memory.confidence,
                usage.used_count,
                usage.success_after_use,
                usage.failure_after_use
            )
        });
        std::iter::once(format!("{changed} changed")).chain(lines).collect::<Vec<_>>().join("\n")
    })
}

/// Shows what superseded what.
pub(crate) async fn history(
    connection: &Connection,
    args: HistoryArgs,
    out: &mut Out,
) -> Result<(), Failure> {
    let history: History = connection.memories()?.history(args.id, args.agent.as_deref()).await?;
    out.single(&history, |_, _| history.memories.iter().map(line).collect::<Vec<_>>().join("\n"))
}

/// Takes a replacement back.
pub(crate) async fn rollback(
    connection: &Connection,
    args: RollbackArgs,
    out: &mut Out,
) -> Result<(), Failure> {
    let done = connection.memories()?.rollback(args.id).await?;
    out.single(&done, |_, _| {
        let valid = done.restored.iter().map(|memory| format!("valid again: {}", line(memory)));
        let history = done.invalidated.iter().map(|memory| format!("history now: {}", line(memory)));
        valid.chain(history).collect::<Vec<_>>().join("\n")
    })
}

fn line(memory: &Memory) -> String {
    let since = memory.valid_from.unwrap_or(memory.occurred_at);
    let until = memory.valid_to.map_or_else(|| "now".to_owned(), |to| to.to_string());
    let by = memory.superseded_by.map(|by| format!(", superseded by {by}")).unwrap_or_default();
    format!("{} {since} to {until} ({}{by}): {}", memory.id, memory.state, flat(&memory.content))
}

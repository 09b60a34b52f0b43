//! `memory_feedback`.

use hindsight_core::{Invalid, Status, Verdict};
use rmcp::model::Tool;
use serde_json::json;

use super::{adds, ids};
use crate::arguments::Arguments;
use crate::render::Reply;
use crate::schema::Schema;
use crate::{Judgement, Store, Trouble};

const WHAT: &str = "Say which memories of a search helped, so that the right ones come first next time. Use it when a \
    task for which you searched has ended. Example: {\"recall_id\": \"rcl_01…\", \"used\": [\"mem_01…\"], \"outcome\": \
    \"success\"}.";

pub(super) fn tool() -> Tool {
    let statuses: Vec<&str> = Status::ALL.iter().map(|status| status.as_str()).collect();
    let schema = Schema::default()
        .text("recall_id", "Of the search; none for listed rules")
        .texts("used", "Ids that helped")
        .texts("ignored", "Ids beside the point")
        .texts("wrong", "Ids of what is untrue")
        .texts("outdated", "Ids of what is no longer true")
        .word("outcome", &statuses, "How the task ended");
    Tool::new("memory_feedback", WHAT, schema.build()).with_annotations(adds("Say what helped"))
}

pub(super) async fn call<S: Store>(store: &S, arguments: Arguments) -> Result<Reply, Trouble> {
    let changed = store.feedback(read(arguments)?).await?;
    let text = format!("thank you: {changed} memories were weighed anew");
    Ok(Reply { text, structured: json!({"changed": changed}) })
}

fn read(mut arguments: Arguments) -> Result<Judgement, Invalid> {
    let recall_id = arguments.parsed("recall_id")?;
    let mut items = Vec::new();
    for verdict in Verdict::ALL {
        items.extend(ids(&mut arguments, verdict.as_str())?.into_iter().map(|id| (id, *verdict)));
    }
    let task_status = arguments.parsed("outcome")?;
    arguments.finish()?;
    // A rule under observation is in no search: whoever followed it names it alone.
    if recall_id.is_none() && items.is_empty() {
        let right = "is missing: memory_search gives one with its answer; or name what was used";
        return Err(Invalid::one("recall_id", right));
    }
    if items.is_empty() && task_status.is_none() {
        return Err(Invalid::one("used", "is missing: name memories, or say how the task ended in outcome"));
    }
    Ok(Judgement { recall_id, items, task_status })
}

//! `memory_record`.

use hindsight_core::draft::RecordDraft;
use hindsight_core::{Action, Invalid, Status};
use rmcp::model::Tool;

use super::{adds, write};
use crate::arguments::Arguments;
use crate::render::Reply;
use crate::schema::Schema;
use crate::{Store, Trouble};

const WHAT: &str = "Store a finished task: what was done, how it ended, and why. Use it at the end of a task, and after an error was understood.";

pub(super) fn tool() -> Tool {
    let statuses: Vec<&str> = Status::ALL.iter().map(|status| status.as_str()).collect();
    let schema = Schema::default()
        .text("task_type", "such as order_processing")
        .require("task_type")
        .word("status", &statuses, "")
        .require("status")
        .text("summary", "The task in a sentence")
        .require("summary")
        .objects("actions", &["tool", "result", "error_code", "error_message"], "What was done, in order")
        .text("root_cause", "Why it failed")
        .text("resolution", "What helped")
        .texts("tags", "");
    Tool::new("memory_record", WHAT, schema.build()).with_annotations(adds("Record a task"))
}

pub(super) async fn call<S: Store>(store: &S, arguments: Arguments) -> Result<Reply, Trouble> {
    let record = read(arguments)?;
    Ok(write::said(&store.record(record).await?))
}

fn read(mut arguments: Arguments) -> Result<RecordDraft, Invalid> {
    let mut actions = arguments.objects::<Action>("actions")?;
    for (action, step) in actions.iter_mut().zip(1..) {
        if action.step == 0 {
            action.step = step;
        }
    }
    let record = RecordDraft {
        task_type: arguments.needed("task_type", "name the kind of task, such as order_processing")?,
        status: arguments.parsed("status")?,
        summary: arguments.needed("summary", "say in a sentence what the task was")?,
        actions,
        root_cause: arguments.text("root_cause")?,
        resolution: arguments.text("resolution")?,
        tags: arguments.texts("tags")?,
        ..RecordDraft::default()
    };
    arguments.finish()?;
    Ok(record)
}

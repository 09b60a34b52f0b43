//! `record`: a finished task, so that the next one like it is easier.

use std::path::PathBuf;

use clap::Args;
use hindsight_core::draft::RecordDraft;
use hindsight_core::{Action, Status, Timestamp};

use crate::connection::Connection;
use crate::document;
use crate::failure::Failure;
use crate::flags::{FieldFlags, SendFlags, print_written};
use crate::output::Out;

/// What was done and how it ended.
#[derive(Debug, Args)]
pub(crate) struct RecordArgs {
    /// The kind of task, such as order_processing
    #[arg(long, value_name = "TYPE")]
    task_type: Option<String>,
    /// How it ended: success, failure, partial
    #[arg(long, value_name = "STATUS")]
    status: Option<Status>,
    /// One step as JSON: {"tool", "params", "result", "error_code", "error_message"}; may be repeated
    #[arg(long = "action", value_name = "JSON")]
    actions: Vec<String>,
    /// Why it failed
    #[arg(long, value_name = "TEXT")]
    root_cause: Option<String>,
    /// What helped
    #[arg(long, value_name = "TEXT")]
    resolution: Option<String>,
    /// Whether it failed for a reason that passes by itself [default: judged by the error codes]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    transient: Option<bool>,
    /// The whole story [default: composed from the other fields]
    #[arg(long, value_name = "TEXT")]
    content: Option<String>,
    /// When the task began
    #[arg(long, value_name = "TIME")]
    started_at: Option<Timestamp>,
    /// When it ended
    #[arg(long, value_name = "TIME")]
    ended_at: Option<Timestamp>,
    /// The whole report as JSON, from a file or - for standard input; flags win over its fields
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    #[command(flatten)]
    fields: FieldFlags,
    #[command(flatten)]
    send: SendFlags,
}

impl RecordArgs {
    fn into_draft(self) -> Result<(RecordDraft, SendFlags), Failure> {
        let mut draft: RecordDraft = match &self.json {
            Some(path) => document::typed(document::object(document::read_text(path)?.as_bytes())?)?,
            None => RecordDraft::default(),
        };
        for (index, json) in self.actions.iter().enumerate() {
            let action = document::object(json.as_bytes()).and_then(document::typed::<Action>);
            draft
                .actions
                .push(action.map_err(|invalid| invalid.under(&format!("--action {}: ", index + 1)))?);
        }
        if let Some(task_type) = self.task_type {
            draft.task_type = task_type;
        }
        if let Some(content) = self.content {
            draft.content = content;
        }
        draft.status = self.status.or(draft.status);
        draft.root_cause = self.root_cause.or(draft.root_cause);
        draft.resolution = self.resolution.or(draft.resolution);
        draft.transient = self.transient.or(draft.transient);
        draft.started_at = self.started_at.or(draft.started_at);
        draft.ended_at = self.ended_at.or(draft.ended_at);
        self.fields.put_over_record(&mut draft);
        Ok((draft, self.send))
    }
}

/// Stores it and prints what it became.
pub(crate) async fn run(connection: &Connection, args: RecordArgs, out: &mut Out) -> Result<(), Failure> {
    let memories = connection.memories()?;
    let (draft, send) = args.into_draft()?;
    let written = memories.record_with(draft, None, send.into_options()).await?;
    print_written(&written, out)
}

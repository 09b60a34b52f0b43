//! `update`: fields of one memory.

use std::path::PathBuf;

use clap::Args;
use hindsight_client::UpdateOptions;
use hindsight_core::{MemoryId, Patch, RuleState, Status, Timestamp};
use serde_json::Value;

use crate::connection::Connection;
use crate::document;
use crate::failure::Failure;
use crate::flags::{fields::entity, print_stored};
use crate::output::Out;

/// The fields that a memory can do without.
const CLEARABLE: [&str; 12] = [
    "summary",
    "tags",
    "keywords",
    "entities",
    "claims",
    "task_type",
    "status",
    "valid_from",
    "valid_to",
    "expires_at",
    "root_cause",
    "resolution",
];

/// Which memory, and what changes.
#[derive(Debug, Args)]
pub(crate) struct UpdateArgs {
    /// Its id
    id: MemoryId,
    /// The version that you have seen; a stale one is refused
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    version: Option<u64>,
    /// The new text
    #[arg(long, value_name = "TEXT")]
    content: Option<String>,
    /// The new short form
    #[arg(long, value_name = "TEXT")]
    summary: Option<String>,
    /// The new labels, all of them
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// The new words to find it by, all of them
    #[arg(long = "keyword", value_name = "WORD")]
    keywords: Vec<String>,
    /// The new entities, all of them
    #[arg(long = "entity", value_name = "NAME")]
    entities: Vec<String>,
    /// The new kind of task
    #[arg(long, value_name = "TYPE")]
    task_type: Option<String>,
    /// The new outcome
    #[arg(long, value_name = "STATUS")]
    status: Option<Status>,
    /// How much it matters, 0 to 1
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    importance: Option<f32>,
    /// How sure it is, 0 to 1
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    confidence: Option<f32>,
    /// When it happened
    #[arg(long, value_name = "TIME")]
    occurred_at: Option<Timestamp>,
    /// Until when it is true
    #[arg(long, value_name = "TIME")]
    valid_to: Option<Timestamp>,
    /// When it leaves recall
    #[arg(long, value_name = "TIME")]
    expires_at: Option<Timestamp>,
    /// Why the task failed
    #[arg(long, value_name = "TEXT")]
    root_cause: Option<String>,
    /// What helped
    #[arg(long, value_name = "TEXT")]
    resolution: Option<String>,
    /// Where a rule is in its life: observing, active, deprecated
    #[arg(long, value_name = "STATE")]
    rule_state: Option<RuleState>,
    /// Take a field away; may be repeated
    #[arg(long = "clear", value_name = "FIELD", value_parser = CLEARABLE)]
    cleared: Vec<String>,
    /// The changes as JSON, from a file or - for standard input; flags win over its fields
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Let it say what was forgotten or purged
    #[arg(long)]
    allow_forgotten: bool,
    /// The same id sent twice acts once
    #[arg(long, value_name = "ID")]
    request_id: Option<String>,
}

impl UpdateArgs {
    fn patch(&mut self) -> Result<Patch, Failure> {
        let mut object = match &self.json {
            Some(path) => document::object(document::read_text(path)?.as_bytes())?,
            None => serde_json::Map::new(),
        };
        object.extend(self.cleared.drain(..).map(|field| {
            let nothing = nothing_of(&field);
            (field, nothing)
        }));
        let mut patch: Patch = document::typed(object)?;
        let listed = |words: &mut Vec<String>| (!words.is_empty()).then(|| std::mem::take(words));
        patch.content = self.content.take().or(patch.content);
        patch.summary = self.summary.take().or(patch.summary);
        patch.tags = listed(&mut self.tags).or(patch.tags);
        patch.keywords = listed(&mut self.keywords).or(patch.keywords);
        let entities = listed(&mut self.entities).map(|names| names.into_iter().map(entity).collect());
        patch.entities = entities.or(patch.entities);
        patch.task_type = self.task_type.take().map(Some).or(patch.task_type);
        patch.status = self.status.map(Some).or(patch.status);
        patch.importance = self.importance.or(patch.importance);
        patch.confidence = self.confidence.or(patch.confidence);
        patch.occurred_at = self.occurred_at.or(patch.occurred_at);
        patch.valid_to = self.valid_to.map(Some).or(patch.valid_to);
        patch.expires_at = self.expires_at.map(Some).or(patch.expires_at);
        patch.root_cause = self.root_cause.take().map(Some).or(patch.root_cause);
        patch.resolution = self.resolution.take().map(Some).or(patch.resolution);
        patch.rule_state = self.rule_state.or(patch.rule_state);
        Ok(patch)
    }
}

/// What a field holds in a patch that takes it away.
fn nothing_of(field: &str) -> Value {
    match field {
        "summary" => Value::String(String::new()),
        "tags" | "keywords" | "entities" | "claims" => Value::Array(Vec::new()),
        _ => Value::Null,
    }
}

/// Changes it and prints what it became.
pub(crate) async fn run(connection: &Connection, mut args: UpdateArgs, out: &mut Out) -> Result<(), Failure> {
    let memories = connection.memories()?;
    let patch = args.patch()?;
    let options = UpdateOptions {
        version: args.version,
        allow_forgotten: args.allow_forgotten,
        request_id: args.request_id,
        ..UpdateOptions::default()
    };
    let updated = memories.update_with(args.id, patch, options).await?;
    print_stored(&updated, &updated.memory, updated.replayed, out)
}

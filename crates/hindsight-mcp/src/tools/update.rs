//! `memory_update`.

use hindsight_core::{Invalid, MemoryId, Patch};
use rmcp::model::Tool;
use serde_json::json;

use super::{replaces, write};
use crate::arguments::Arguments;
use crate::render::{self, Reply};
use crate::schema::Schema;
use crate::{Store, Trouble};

const WHAT: &str = "Correct a memory in place: its text, tags, importance, or until when it is true. Use it when a \
    memory is wrong or has an end date; something new that replaces it is better stored with memory_write. What is left \
    out stays. Example: {\"id\": \"mem_01…\", \"valid_to\": \"2026-12-31\"}.";

pub(super) fn tool() -> Tool {
    let schema = Schema::default()
        .text("id", "")
        .require("id")
        .text("text", "The new text")
        .texts("tags", "All tags it shall have")
        .number("importance", "0-1")
        .text("valid_to", "Until when it is true (RFC 3339 or date)")
        .whole("version", "Refuse if it was changed since this version");
    Tool::new("memory_update", WHAT, schema.build()).with_annotations(replaces("Correct a memory"))
}

pub(super) async fn call<S: Store>(store: &S, mut arguments: Arguments) -> Result<Reply, Trouble> {
    let id: MemoryId = arguments.parsed("id")?.ok_or_else(|| {
        Invalid::one("id", "is missing: name the memory to correct, by the id that memory_search gave")
    })?;
    let tags = arguments.texts("tags")?;
    let patch = Patch {
        content: arguments.text("text")?,
        tags: Some(tags).filter(|tags| !tags.is_empty()),
        importance: write::importance(&mut arguments)?,
        valid_to: arguments.parsed("valid_to")?.map(Some),
        ..Patch::default()
    };
    let version = arguments.whole("version")?.and_then(|version| u64::try_from(version).ok());
    arguments.finish()?;
    if patch == Patch::default() {
        let problem = "changes nothing: give text, tags, importance or valid_to";
        return Err(Invalid::one("memory_update", problem).into());
    }
    let memory = store.update(id, patch, version).await?;
    let text =
        format!("updated [{}] version {}: {}", memory.id, memory.version, render::one_line(&memory.content));
    Ok(Reply { text, structured: json!({"id": memory.id, "version": memory.version}) })
}

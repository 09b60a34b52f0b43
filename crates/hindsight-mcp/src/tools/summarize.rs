//! `memory_summarize`.

use hindsight_core::Kind;
use rmcp::model::Tool;
use serde_json::json;

use super::replaces;
use crate::arguments::Arguments;
use crate::render::{self, Reply};
use crate::schema::Schema;
use crate::{Store, Trouble};

/// Kinds that a summary can be of.
const KINDS: [&str; 3] = ["fact", "preference", "episode"];

/// Most characters of the summary that a reply shows; `memory_get` has all of it.
const SHOWN_CHARS: usize = 2_000;

const WHAT: &str =
    "Merge the memories about an entity into one, word for word, where searches bring many small ones.";

pub(super) fn tool() -> Tool {
    let schema =
        Schema::default().text("entity", "").require("entity").word("kind", &KINDS, "").flag("dry_run", "");
    Tool::new("memory_summarize", WHAT, schema.build()).with_annotations(replaces("Merge memories"))
}

pub(super) async fn call<S: Store>(store: &S, mut arguments: Arguments) -> Result<Reply, Trouble> {
    let entity = arguments.needed("entity", "name whom or what the summary is about")?;
    let kind = arguments.parsed::<Kind>("kind")?;
    let is_dry = arguments.flag("dry_run")?;
    arguments.finish()?;
    let (summary, parts) = store.summarize(entity, kind, is_dry).await?;
    let shown: String = render::one_line(&summary.content).chars().take(SHOWN_CHARS).collect();
    let text = if is_dry {
        format!("{} memories would become one: {shown}", parts.len())
    } else {
        format!("{} memories became [{}]: {shown}", parts.len(), summary.id)
    };
    let id = (!is_dry).then_some(summary.id);
    Ok(Reply { text, structured: json!({"id": id, "parts": parts.len()}) })
}

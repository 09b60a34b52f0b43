//! `memory_get`.

use hindsight_core::Invalid;
use rmcp::model::Tool;

use super::{ids, reads};
use crate::arguments::Arguments;
use crate::render::{self, REPLY_CHARS_MAX, Reply};
use crate::schema::Schema;
use crate::{Store, Trouble};

const WHAT: &str = "Read memories by id with all their fields: whole text, episode steps, source, validity, version. Use it \
    when a line of memory_search is not enough. Example: {\"ids\": [\"mem_01…\"]}.";

pub(super) fn tool() -> Tool {
    let schema = Schema::default().texts("ids", "Ids that memory_search gave").require("ids");
    Tool::new("memory_get", WHAT, schema.build()).with_annotations(reads("Read memories"))
}

pub(super) async fn call<S: Store>(store: &S, mut arguments: Arguments) -> Result<Reply, Trouble> {
    let wanted = ids(&mut arguments, "ids")?;
    arguments.finish()?;
    if wanted.is_empty() {
        return Err(
            Invalid::one("ids", "is missing: name memories by the ids that memory_search gave").into()
        );
    }
    let (mut found, mut missing, mut left_out, mut chars) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for id in wanted {
        match store.get(id).await {
            Ok(memory) => {
                // A reply holds each memory twice, as text and as structure.
                chars += 2 * serde_json::to_string(&memory).map_or(0, |json| json.len());
                if chars > REPLY_CHARS_MAX && !found.is_empty() {
                    left_out.push(id.to_string());
                } else {
                    found.push(memory);
                }
            }
            Err(trouble) => missing.push(trouble.to_string()),
        }
    }
    if found.is_empty() {
        return Err(Trouble(missing.join("; ")));
    }
    let mut reply = render::whole(store.namespace(), &found);
    if !left_out.is_empty() {
        reply.text.push_str(&format!("\nToo long for one reply; ask again for {}.", left_out.join(", ")));
    }
    for problem in missing {
        reply.text.push_str(&format!("\n{problem}"));
    }
    Ok(reply)
}

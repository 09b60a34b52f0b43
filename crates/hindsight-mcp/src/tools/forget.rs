//! `memory_forget`.

use hindsight_core::{Invalid, MemoryId, Namespace, Recall};
use rmcp::model::Tool;
use serde_json::json;

use super::{ids, replaces};
use crate::arguments::Arguments;
use crate::render::{self, Reply};
use crate::schema::Schema;
use crate::{Store, Trouble};

/// Most memories that one query can name.
const FOUND_MAX: usize = 20;

const WHAT: &str = "Take memories out of recall, when the user asks to forget something or it is plainly wrong. By ids it is \
    done at once. With a query the first call only lists what it finds and gives a confirm word; the same query with \
    that word forgets exactly those. They can be restored for 30 days. Example: {\"ids\": [\"mem_01…\"]}.";

pub(super) fn tool() -> Tool {
    let schema = Schema::default()
        .texts("ids", "")
        .text("query", "Or what they are about")
        .text("confirm", "The word that the first call with this query gave");
    Tool::new("memory_forget", WHAT, schema.build()).with_annotations(replaces("Forget memories"))
}

pub(super) async fn call<S: Store>(store: &S, mut arguments: Arguments) -> Result<Reply, Trouble> {
    let ids = ids(&mut arguments, "ids")?;
    let query = arguments.text("query")?;
    let confirm = arguments.text("confirm")?;
    arguments.finish()?;
    match (ids.is_empty(), query) {
        (false, None) => forgotten(store, ids).await,
        (true, Some(query)) => by_query(store, query, confirm.as_deref()).await,
        (false, Some(_)) => Err(Invalid::one("query", "comes with ids: give one of them").into()),
        (true, None) => Err(Invalid::one("ids", "is missing: name memories by ids or by a query").into()),
    }
}

async fn by_query<S: Store>(store: &S, query: String, confirm: Option<&str>) -> Result<Reply, Trouble> {
    let recall = Recall { query, top_k: FOUND_MAX, observe: true, ..Recall::default() };
    let found = store.recall(recall).await?.filter(|found| !found.hits.is_empty());
    let nothing = || Trouble("no memory matches the query: nothing was forgotten".to_owned());
    let found = found.ok_or_else(nothing)?;
    let ids: Vec<MemoryId> = found.hits.iter().map(|hit| hit.memory.id).collect();
    let word = word(store.namespace(), &ids);
    match confirm {
        Some(given) if given.trim() == word => forgotten(store, ids).await,
        Some(_) => Err(Trouble(
            "the query finds other memories than when the confirm word was given: nothing was forgotten; call again \
             without confirm and look at the list"
                .to_owned(),
        )),
        None => Ok(listed(store.namespace(), &found, &word)),
    }
}

/// A word that stands for exactly these memories: it is right for as long as the query finds them and no others.
fn word(namespace: &Namespace, ids: &[MemoryId]) -> String {
    let mut sorted: Vec<String> = ids.iter().map(ToString::to_string).collect();
    sorted.sort_unstable();
    let digest = blake3::hash(format!("{namespace} {}", sorted.join(" ")).as_bytes());
    digest.to_hex().chars().take(12).collect()
}

fn listed(namespace: &Namespace, found: &hindsight_core::Recalled, word: &str) -> Reply {
    let mut reply = render::hits(namespace, found, usize::MAX, false);
    let count = found.hits.len();
    reply.text.push_str(&format!(
        "\nNothing was forgotten. To forget all {count}, call memory_forget with the same query and confirm \"{word}\"; to \
         forget some, with their ids."
    ));
    reply.structured = json!({"would_forget": count, "confirm": word});
    reply
}

async fn forgotten<S: Store>(store: &S, ids: Vec<MemoryId>) -> Result<Reply, Trouble> {
    let count = store.forget(ids).await?;
    let text =
        format!("{count} forgotten. An operator can restore them with `hindsight restore` for 30 days.");
    Ok(Reply { text, structured: json!({"forgotten": count}) })
}

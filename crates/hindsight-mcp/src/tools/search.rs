//! `memory_search`.

use hindsight_core::limits::{TOP_K_DEFAULT, TOP_K_MAX};
use hindsight_core::{AsOf, Axis, Filter, Invalid, Kind, Recall, Status};
use rmcp::model::Tool;

use super::reads;
use crate::arguments::Arguments;
use crate::render::{self, Reply};
use crate::schema::Schema;
use crate::{Store, Trouble, resources};

/// What a reply may cost unless the caller says.
const TOKENS_DEFAULT: usize = 1500;
/// Less than this holds no hit.
const TOKENS_MIN: usize = 200;

const WHAT: &str = "Search long-term memory: facts, preferences, procedures, rules and past task episodes. Use it before \
    answering about a user or project, and before starting a task that may have been tried before. Not for what this \
    conversation already says. Ask in plain words; \"last week\" or 上周 in the query is understood. Example: \
    {\"query\": \"why did the order update fail\", \"status\": \"failure\", \"last\": \"30d\"}. Each hit has id, date, kind, \
    confidence, text and score.";

pub(super) fn tool() -> Tool {
    let kinds: Vec<&str> = Kind::ALL.iter().map(|kind| kind.as_str()).collect();
    let statuses: Vec<&str> = Status::ALL.iter().map(|status| status.as_str()).collect();
    let schema = Schema::default()
        .text("query", "What to look for, in plain words")
        .require("query")
        .word("kind", &kinds, "Only this kind")
        .word("status", &statuses, "Only tasks that ended so")
        .text("task_type", "Only this kind of task, such as order_processing")
        .texts("tags", "With one of these tags")
        .text("last", "Only this recent, such as 7d or 12h")
        .text("since", "Happened at or after (RFC 3339 or date)")
        .text("until", "Happened before (RFC 3339 or date)")
        .whole("limit", "Most hits, 1-100; default 8")
        .whole("token_budget", "Most tokens of the reply, default 1500")
        .number("min_score", "Least similarity 0-1; below it nothing is returned")
        .word("detail", &["brief", "full"], "full does not shorten texts")
        .flag("include_history", "Also superseded and expired ones")
        .text("as_of", "What was true then (RFC 3339 or date), replaced since or not")
        .flag("explain", "Also say how the answer was found");
    Tool::new("memory_search", WHAT, schema.build()).with_annotations(reads("Search memory"))
}

struct Search {
    recall: Recall,
    budget: usize,
    full: bool,
}

pub(super) async fn call<S: Store>(store: &S, arguments: Arguments) -> Result<Reply, Trouble> {
    let Search { recall, budget, full } = read(arguments)?;
    let recalled = store.recall(recall).await?.filter(|recalled| !recalled.hits.is_empty());
    let Some(recalled) = recalled else {
        let overview = resources::overview(store).await?;
        let text =
            format!("No memory matched. {overview} Try other words, fewer filters or a lower min_score.");
        return Ok(Reply { text, structured: serde_json::json!({"memories": [], "matched": 0}) });
    };
    let mut reply = render::hits(store.namespace(), &recalled, budget, full);
    if let Some(plan) = &recalled.plan {
        reply.text.push_str("\n\nHow it was found:\n");
        reply.text.push_str(plan);
    }
    Ok(reply)
}

fn read(mut arguments: Arguments) -> Result<Search, Invalid> {
    let query = arguments.needed("query", "say in plain words what to look for")?;
    let filter = Filter {
        kinds: arguments.parsed("kind")?.into_iter().collect(),
        statuses: arguments.parsed("status")?.into_iter().collect(),
        task_types: arguments.text("task_type")?.into_iter().collect(),
        tags: arguments.texts("tags")?,
        last: arguments.parsed("last")?,
        from: arguments.parsed("since")?,
        to: arguments.parsed("until")?,
        ..Filter::default()
    };
    let limit = arguments.whole("limit")?.unwrap_or(TOP_K_DEFAULT);
    if !(1..=TOP_K_MAX).contains(&limit) {
        return Err(Invalid::one("limit", format!("is {limit}: expected 1 to {TOP_K_MAX}")));
    }
    let budget = arguments.whole("token_budget")?.unwrap_or(TOKENS_DEFAULT);
    if budget < TOKENS_MIN {
        return Err(Invalid::one("token_budget", format!("is {budget}: expected at least {TOKENS_MIN}")));
    }
    let min_score = arguments.number("min_score")?;
    let full = match arguments.text("detail")?.as_deref() {
        None | Some("brief") => false,
        Some("full") => true,
        Some(other) => return Err(Invalid::one("detail", format!("is {other:?}: expected brief or full"))),
    };
    let include_history = arguments.flag("include_history")?;
    let as_of = arguments.parsed("as_of")?.map(|at| AsOf { at, axis: Axis::Valid });
    let explain = arguments.flag("explain")?;
    arguments.finish()?;
    let recall = Recall {
        query,
        filter,
        top_k: limit,
        min_score,
        include_history,
        as_of,
        explain,
        ..Recall::default()
    };
    Ok(Search { recall, budget, full })
}

//! The tools: what each is for, what it takes, and the one place that calls it.

mod feedback;
mod forget;
mod get;
mod record;
pub(crate) mod rules;
mod search;
mod session;
mod summarize;
mod update;
mod write;

use hindsight_core::{Invalid, MemoryId};
use rmcp::model::{Tool, ToolAnnotations};

use crate::arguments::Arguments;
use crate::render::Reply;
use crate::{Profile, Store, Trouble};

/// Most ids in one call.
const IDS_MAX: usize = 50;

/// The tools of a profile, by name.
pub(crate) fn all(profile: Profile) -> Vec<Tool> {
    let mut tools = vec![feedback::tool(), forget::tool(), get::tool()];
    if profile == Profile::Full {
        tools.extend([record::tool(), rules::tool()]);
    }
    tools.push(search::tool());
    if profile == Profile::Full {
        tools.extend([session::tool(), summarize::tool()]);
    }
    tools.extend([update::tool(), write::tool()]);
    tools
}

/// Calls the tool; nothing when the profile has none of that name.
pub(crate) async fn call<S: Store>(
    store: &S,
    profile: Profile,
    name: &str,
    arguments: Arguments,
) -> Option<Result<Reply, Trouble>> {
    Some(match name {
        "memory_feedback" => feedback::call(store, arguments).await,
        "memory_forget" => forget::call(store, arguments).await,
        "memory_get" => get::call(store, arguments).await,
        "memory_record" if profile == Profile::Full => record::call(store, arguments).await,
        "memory_rules" if profile == Profile::Full => rules::call(store, arguments).await,
        "memory_summarize" if profile == Profile::Full => summarize::call(store, arguments).await,
        "memory_search" => search::call(store, arguments).await,
        "memory_session" if profile == Profile::Full => session::call(store, arguments).await,
        "memory_update" => update::call(store, arguments).await,
        "memory_write" => write::call(store, arguments).await,
        _ => return None,
    })
}

/// Changes nothing, and knows no world but its own.
fn reads(title: &str) -> ToolAnnotations {
    ToolAnnotations::with_title(title).read_only(true).destructive(false).idempotent(true).open_world(false)
}

/// Adds, and takes nothing away.
fn adds(title: &str) -> ToolAnnotations {
    ToolAnnotations::with_title(title).read_only(false).destructive(false).idempotent(false).open_world(false)
}

/// Replaces or hides what was there; doing it twice is doing it once.
fn replaces(title: &str) -> ToolAnnotations {
    ToolAnnotations::with_title(title).read_only(false).destructive(true).idempotent(true).open_world(false)
}

/// Ids, at most [`IDS_MAX`].
fn ids(arguments: &mut Arguments, name: &'static str) -> Result<Vec<MemoryId>, Invalid> {
    let texts = arguments.texts(name)?;
    if texts.len() > IDS_MAX {
        return Err(Invalid::one(name, format!("has {} ids: at most {IDS_MAX} at once", texts.len())));
    }
    let id = |(index, text): (usize, &String)| {
        text.trim().parse().map_err(|bad: hindsight_core::ids::BadId| {
            Invalid::one(format!("{name}[{index}]"), bad.to_string())
        })
    };
    texts.iter().enumerate().map(id).collect()
}

#[cfg(test)]
mod tests {
    use hindsight_core::scoring::tokens;

    use super::*;

    #[test]
    fn i3_the_tools_cost_a_model_little_and_say_what_they_do() {
        for (profile, count) in [(Profile::Default, 6), (Profile::Full, 10)] {
            let tools = all(profile);
            assert_eq!(tools.len(), count);
            assert!(tools.windows(2).all(|pair| pair[0].name < pair[1].name), "in the order of their names");
            let json = serde_json::to_string(&tools).unwrap();
            assert!(tokens::estimate(&json) <= 2500, "{}", tokens::estimate(&json));
            for tool in &tools {
                assert!(tool.description.as_ref().unwrap().len() <= 2000);
                let hints = tool.annotations.as_ref().unwrap();
                assert_eq!(hints.open_world_hint, Some(false));
                assert!(hints.read_only_hint.is_some() && hints.destructive_hint.is_some());
            }
        }
    }

    #[test]
    fn i3_schemas_are_flat() {
        for tool in all(Profile::Full) {
            let schema = serde_json::to_string(&tool.input_schema).unwrap();
            for word in ["anyOf", "oneOf", "null", "$ref", "$schema", "namespace"] {
                assert!(!schema.contains(word), "{word} in {}", tool.name);
            }
        }
    }

    /// What models read is looked at before it changes: `HINDSIGHT_TOOLS=write` writes the file anew.
    #[test]
    fn i3_the_tools_are_those_that_were_looked_at() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/tools/listing.json");
        let listing = serde_json::to_string_pretty(&all(Profile::Full)).unwrap() + "\n";
        if std::env::var("HINDSIGHT_TOOLS").is_ok_and(|word| word == "write") {
            std::fs::write(path, &listing).unwrap();
        }
        assert_eq!(listing, std::fs::read_to_string(path).unwrap(), "see {path}");
    }
}

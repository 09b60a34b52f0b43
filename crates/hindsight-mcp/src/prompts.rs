//! Prompts: what a person may choose from a menu of their client.

use rmcp::ErrorData;
use rmcp::model::{GetPromptRequestParams, GetPromptResult, Prompt, PromptArgument, PromptMessage, Role};

pub(crate) fn all() -> Vec<Prompt> {
    let needed = |name: &str, what: &str| {
        PromptArgument::new(name).with_description(what.to_owned()).with_required(true)
    };
    vec![
        Prompt::new(
            "recall",
            Some("Look into memory before going on"),
            Some(vec![needed("topic", "What about")]),
        ),
        Prompt::new("remember", Some("Keep something for later"), Some(vec![needed("text", "What to keep")])),
    ]
}

/// # Errors
/// When there is no such prompt, or its argument is missing.
pub(crate) fn one(request: &GetPromptRequestParams) -> Result<GetPromptResult, ErrorData> {
    let argument = |name: &str| {
        let given = request.arguments.as_ref().and_then(|arguments| arguments.get(name)?.as_str());
        given
            .filter(|text| !text.trim().is_empty())
            .ok_or_else(|| ErrorData::invalid_params(format!("{name}: is missing: expected text"), None))
    };
    let text = match request.name.as_str() {
        "recall" => format!(
            "Search memory with memory_search for what is known about the following, then say what you found, \
             with dates, and what is missing.\n\n{}",
            argument("topic")?
        ),
        "remember" => format!(
            "Store the following with memory_write, as one memory for each fact, preference or procedure in it, \
             in plain sentences that make sense without this conversation. Leave out passwords and keys. \
             Say what was stored.\n\n{}",
            argument("text")?
        ),
        name => {
            let problem = format!("there is no prompt {name:?}: there are recall and remember");
            return Err(ErrorData::invalid_params(problem, None));
        }
    };
    Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]))
}

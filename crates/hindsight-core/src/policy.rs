//! Whether a memory advises what a task must not do (R15). By rule: tables of words, English and Chinese.
//!
//! What counts is advice, not mention. "Delete the lock file" advises; "the user deleted the account in May", "never
//! delete the lock file" and a failure that names no remedy don't. Where a memory is made to be followed (a procedure, a rule,
//! a remedy, the steps of a success) a word of action is enough; a fact or preference must be phrased as a
//! request.

mod chinese;
mod english;
mod words;

use crate::{Kind, Memory, Polarity, Prohibition, Status};

/// A prohibition that a memory goes against, and the word that gave it away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Breach {
    /// What it goes against.
    pub prohibition: Prohibition,
    /// The word or the tool.
    pub word: String,
}

/// How a text is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Manner {
    /// To be followed: any word of action counts.
    Advice,
    /// A tale of what worked: what the teller did counts.
    Tale,
    /// Anything: only what is phrased as a request counts.
    Request,
}

/// The first prohibition that a memory's advice goes against.
#[must_use]
pub fn breach(memory: &Memory, policy: &[Prohibition]) -> Option<Breach> {
    if policy.is_empty() {
        return None;
    }
    let texts = texts(memory);
    let tools = tools(memory);
    policy.iter().find_map(|prohibition| {
        let tool = tools.iter().find(|tool| english::tool_acts(tool, *prohibition));
        let word = || {
            texts.iter().find_map(|(text, manner)| {
                english::action(text, *manner, *prohibition)
                    .or_else(|| chinese::action(text, *manner, *prohibition))
            })
        };
        let word = tool.map(|tool| (*tool).to_owned()).or_else(word)?;
        Some(Breach { prohibition: *prohibition, word })
    })
}

fn texts(memory: &Memory) -> Vec<(&str, Manner)> {
    let said = |manner| [(memory.content.as_str(), manner), (memory.summary.as_str(), manner)];
    match memory.kind {
        Kind::Rule => {
            let rule = memory.rule.as_deref().filter(|rule| rule.polarity == Polarity::Do);
            rule.map(|rule| {
                [&[(rule.advice.as_str(), Manner::Advice)], said(Manner::Advice).as_slice()].concat()
            })
            .unwrap_or_default()
        }
        Kind::Procedure => said(Manner::Advice).to_vec(),
        Kind::Fact | Kind::Preference => said(Manner::Request).to_vec(),
        Kind::Episode => {
            let remedy = memory.episode.as_deref().and_then(|episode| episode.resolution.as_deref());
            let remedy = remedy.map(|text| (text, Manner::Advice));
            let tale =
                if memory.status == Some(Status::Failure) { Vec::new() } else { said(Manner::Tale).to_vec() };
            remedy.into_iter().chain(tale).collect()
        }
    }
}

/// The tools of a task that went well, wholly or in part, without the steps that went wrong.
fn tools(memory: &Memory) -> Vec<&str> {
    let went_well = memory.status != Some(Status::Failure);
    let actions = memory.episode.iter().filter(|_| went_well).flat_map(|episode| &episode.actions);
    let done = actions.filter(|action| action.error_code.is_none() && action.error_message.is_none());
    done.map(|action| action.tool.as_str()).collect()
}

#[cfg(test)]
mod tests;

//! The questions of the demonstration, and what a right answer holds.

use hindsight_core::{Filter, Hit, Invalid, Memory, Mode, Recall, Recalled, Timestamp};
use serde::Deserialize;

const QUESTIONS: &str = include_str!("../../sample/questions.json");

/// One question.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Question {
    /// What is asked.
    pub(crate) question: String,
    /// What it shows.
    pub(crate) why: String,
    #[serde(default)]
    options: Options,
    #[serde(default)]
    expect: Expect,
}

/// How it is asked.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Options {
    mode: Mode,
    top_k: Option<usize>,
    filter: Filter,
}

/// What a right answer holds.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Expect {
    /// One of these texts, in the content or summary of the first hit.
    any_of: Vec<String>,
    /// Exactly so many hits.
    hits: Option<usize>,
    /// So many of the first hits lie in the span of time that the question names.
    first_in_window: usize,
    /// Every hit is what the filter allows.
    all_match_filter: bool,
}

/// All questions, in their order.
///
/// # Errors
/// The field that can't be read.
pub(crate) fn all() -> Result<Vec<Question>, Invalid> {
    let mut reader = serde_json::Deserializer::from_str(QUESTIONS);
    serde_path_to_error::deserialize(&mut reader)
        .map_err(|error| Invalid::one(error.path().to_string(), error.into_inner().to_string()))
}

impl Question {
    /// The question as it is sent. `now` and the zone are said, so that the same question has the same answer.
    pub(crate) fn recall(&self, now: Timestamp) -> Recall {
        let recall = Recall::default();
        Recall {
            query: self.question.clone(),
            mode: self.options.mode,
            top_k: self.options.top_k.unwrap_or(recall.top_k),
            filter: self.options.filter.clone(),
            time_zone: Some("UTC".to_owned()),
            now: Some(now),
            ..recall
        }
    }

    /// The conditions of the filter as a reader sees them; nothing when it has none.
    pub(crate) fn filter_text(&self) -> Option<String> {
        let json = serde_json::to_string(&self.options.filter).unwrap_or_default();
        (self.options.filter != Filter::default()).then_some(json)
    }

    /// What is wrong with an answer; empty when it is right.
    pub(crate) fn faults(&self, answer: &Recalled, now: Timestamp) -> Vec<String> {
        let Expect { any_of, hits, first_in_window, all_match_filter } = &self.expect;
        let mut faults = Vec::new();
        let first = answer.hits.first();
        if !any_of.is_empty() && !first.is_some_and(|hit| any_of.iter().any(|text| holds(&hit.memory, text)))
        {
            faults.push(format!("the first hit holds none of {any_of:?}"));
        }
        if let Some(expected) = hits.filter(|expected| *expected != answer.hits.len()) {
            faults.push(format!("{} hits instead of {expected}", answer.hits.len()));
        }
        let in_window = answer.hits.iter().take_while(|hit| in_window(hit, answer)).count();
        if in_window < *first_in_window {
            faults.push(format!(
                "{in_window} hits from the time that the question names come first, instead of {first_in_window}"
            ));
        }
        let outside = |hit: &&Hit| !self.options.filter.matches(&hit.memory, now);
        if let Some(hit) = answer.hits.iter().find(outside).filter(|_| *all_match_filter) {
            faults.push(format!("{} is not what the filter allows", hit.memory.id));
        }
        faults
    }
}

fn in_window(hit: &Hit, answer: &Recalled) -> bool {
    answer
        .window
        .as_ref()
        .is_some_and(|window| window.from <= hit.memory.occurred_at && hit.memory.occurred_at < window.to)
}

fn holds(memory: &Memory, text: &str) -> bool {
    memory.content.contains(text) || memory.summary.contains(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_six_questions_and_each_expects_something() {
        let questions = all().unwrap();
        assert_eq!(questions.len(), 6);
        let nothing = Recalled {
            recall_id: None,
            hits: Vec::new(),
            revision: hindsight_core::Lsn(1),
            allowed: 0,
            omitted: 0,
            held_back: std::collections::BTreeMap::new(),
            text: None,
            text_tokens: None,
            window: None,
            plan: None,
        };
        let now = Timestamp::from_ms(0);
        for question in &questions {
            assert!(!question.faults(&nothing, now).is_empty(), "an empty answer to {:?}", question.question);
            assert_eq!(question.recall(now).check(), Ok(()));
            assert!(!question.why.is_empty());
        }
    }
}

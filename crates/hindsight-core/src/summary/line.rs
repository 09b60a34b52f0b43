//! One part of a summary, in a line: its time, its text word for word, and what only its fields say.

use serde_json::Value;

use super::{SUMMARY, is_summary};
use crate::{Action, Episode, Memory};

/// The line of a part. A part that is a summary itself brings its own lines.
pub(super) fn of(memory: &Memory) -> String {
    if is_summary(memory) {
        let header =
            memory.metadata.get(SUMMARY).and_then(|summary| summary.get("header")).and_then(Value::as_str);
        let lines = memory.content.lines().filter(|line| Some(*line) != header);
        return lines.collect::<Vec<_>>().join("\n");
    }
    let mut line = format!("- {}", memory.occurred_at);
    if let Some(status) = memory.status {
        let task = memory.task_type.as_deref().unwrap_or("task");
        line.push_str(&format!(" {task} ({status})"));
    }
    line.push_str(": ");
    line.push_str(&flat(&memory.content));
    let mut tell = |name: &str, value: &str| {
        let value = flat(value);
        if !value.is_empty() && !line.contains(&value) {
            line.push_str(&format!(" | {name}: {value}"));
        }
    };
    tell("summary", &memory.summary);
    tell("uri", memory.uri.as_deref().unwrap_or_default());
    if let Some(from) = memory.valid_from {
        tell("valid from", &from.to_string());
    }
    for claim in &memory.claims {
        tell("states", &format!("{} / {} / {}", claim.subject, claim.attribute, claim.value));
    }
    if let Some(episode) = memory.episode.as_deref() {
        episode_fields(episode, &mut tell);
    }
    line
}

fn episode_fields(episode: &Episode, tell: &mut impl FnMut(&str, &str)) {
    for (name, time) in [("began", episode.started_at), ("ended", episode.ended_at)] {
        tell(name, &time.map(|time| time.to_string()).unwrap_or_default());
    }
    let steps: Vec<String> = episode.actions.iter().map(step).collect();
    tell("steps", &steps.join("; "));
    tell("cause", episode.root_cause.as_deref().unwrap_or_default());
    tell("resolution", episode.resolution.as_deref().unwrap_or_default());
}

fn step(action: &Action) -> String {
    let mut text = String::new();
    if action.step > 0 {
        text.push_str(&format!("{}. ", action.step));
    }
    text.push_str(&action.tool);
    if !action.params.is_empty() {
        text.push_str(&format!(" {}", Value::Object(action.params.clone())));
    }
    if let Some(result) = &action.result {
        text.push_str(&format!(" gave {result}"));
    }
    if let Some(code) = &action.error_code {
        text.push_str(&format!(" failed with {code}"));
    }
    if let Some(message) = &action.error_message {
        text.push_str(&format!(" ({message})"));
    }
    if let Some(at) = action.called_at {
        text.push_str(&format!(" at {at}"));
    }
    text
}

/// A text in one line.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

//! The transcript that Claude Code keeps of a conversation: JSON lines, of which the newest are read.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use hindsight_core::Timestamp;
use serde_json::Value;

/// Bytes that are read, from the end of the file.
const BYTES_MAX: u64 = 4 * 1024 * 1024;
/// Most exchanges that one hook keeps, the newest.
const EXCHANGES_MAX: usize = 20;

/// What a person asked, and what the agent said in the end.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Exchange {
    /// What tells it from others of its conversation.
    pub(crate) key: String,
    pub(crate) prompt: String,
    pub(crate) answer: String,
    pub(crate) at: Option<Timestamp>,
}

/// The newest exchanges that have an answer, in their order. Lines that are no JSON, or of kinds that are not known, are passed
/// over: the file is the other program's, and grows while it is read.
///
/// # Errors
/// When the file can't be read.
pub(crate) fn exchanges(path: &Path) -> io::Result<Vec<Exchange>> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    let start = length.saturating_sub(BYTES_MAX);
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    file.take(BYTES_MAX).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    // What begins in the middle of a line begins with the next one.
    let text = if start == 0 { &text } else { text.split_once('\n').map_or("", |(_, rest)| rest) };
    Ok(of_text(text))
}

fn of_text(text: &str) -> Vec<Exchange> {
    let mut found: Vec<Exchange> = Vec::new();
    for line in text.lines() {
        let Ok(entry) = serde_json::from_str::<Value>(line) else { continue };
        // Lines of helpers and of the program itself are no part of the conversation.
        if ["isSidechain", "isMeta"].iter().any(|name| entry[*name] == true) {
            continue;
        }
        let said = said(&entry["message"]["content"]);
        match (entry["type"].as_str(), said) {
            (Some("user"), Some(prompt)) if !prompt.starts_with('<') => found.push(Exchange {
                key: entry["uuid"].as_str().unwrap_or_default().to_owned(),
                prompt,
                answer: String::new(),
                at: entry["timestamp"].as_str().and_then(|text| text.parse().ok()),
            }),
            (Some("assistant"), Some(answer)) => {
                if let Some(exchange) = found.last_mut() {
                    exchange.answer = answer;
                }
            }
            _ => {}
        }
    }
    found.retain(|exchange| !exchange.answer.is_empty());
    let older = found.len().saturating_sub(EXCHANGES_MAX);
    found.split_off(older)
}

/// The words of a message: a text, or the texts among its parts. Calls of tools and what they gave are left out.
fn said(content: &Value) -> Option<String> {
    let text = match content {
        Value::String(text) => text.trim().to_owned(),
        Value::Array(parts) => {
            let texts =
                parts.iter().filter(|part| part["type"] == "text").filter_map(|part| part["text"].as_str());
            texts.map(str::trim).collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    };
    Some(text).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_and_last_answers_are_taken_and_all_else_is_passed_over() {
        let text = [
            r#"{"type":"summary","summary":"x"}"#,
            r#"{"type":"user","uuid":"u1","timestamp":"2026-11-30T10:00:00.000Z","message":{"role":"user","content":"怎么部署?"}}"#,
            r#"{"type":"assistant","message":{"content":[{"type":"text","text":"Let me look."},{"type":"tool_use","name":"Bash"}]}}"#,
            r#"{"type":"user","uuid":"u2","message":{"content":[{"type":"tool_result","content":"ok"}]}}"#,
            r#"{"type":"assistant","isSidechain":true,"message":{"content":[{"type":"text","text":"a helper's"}]}}"#,
            r#"{"type":"assistant","message":{"content":[{"type":"text","text":"用 Argo CD。"}]}}"#,
            r#"{"type":"user","uuid":"u3","message":{"content":"<command-name>/clear</command-name>"}}"#,
            r#"{"type":"user","uuid":"u4","message":{"content":"and now?"}}"#,
            "{half a li",
        ]
        .join("\n");
        let found = of_text(&text);
        assert_eq!(found.len(), 1);
        let Exchange { key, prompt, answer, at } = &found[0];
        assert_eq!((key.as_str(), prompt.as_str(), answer.as_str()), ("u1", "怎么部署?", "用 Argo CD。"));
        assert_eq!(*at, Some("2026-11-30T10:00:00Z".parse().unwrap()));
    }

    #[test]
    fn the_newest_are_kept() {
        let line = |n: usize| {
            format!(
                "{{\"type\":\"user\",\"uuid\":\"{n}\",\"message\":{{\"content\":\"q{n}\"}}}}\n{{\"type\":\"assistant\",\"message\":{{\"content\":\"a{n}\"}}}}\n"
            )
        };
        let found = of_text(&(0..30).map(line).collect::<String>());
        assert_eq!((found.len(), found[0].key.as_str(), found[19].answer.as_str()), (20, "10", "a29"));
    }
}

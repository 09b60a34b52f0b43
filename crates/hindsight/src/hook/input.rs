//! What an agent's program tells a hook: a JSON object, on standard input or as the last argument.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use hindsight_core::Timestamp;
use hindsight_core::limits::MESSAGE_BYTES_MAX;
use serde_json::{Map, Value};

use super::transcript::{self, Exchange};

/// How long the program may take to hand its input over.
const WAIT: Duration = Duration::from_secs(1);

/// What was told.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Input(Map<String, Value>);

impl Input {
    /// Takes the argument if there is one, else standard input.
    ///
    /// # Errors
    /// One sentence: nothing came in time, or it is no JSON object.
    pub(crate) fn take(argument: Option<&str>) -> Result<Input, String> {
        match argument {
            Some(text) => Input::parse(text),
            None => Input::parse(&standard_input()?),
        }
    }

    pub(crate) fn parse(text: &str) -> Result<Input, String> {
        match serde_json::from_str(text) {
            Ok(Value::Object(object)) => Ok(Input(object)),
            Ok(_) => Err("the input is no JSON object".to_owned()),
            Err(error) => Err(format!("the input is no JSON: {error}")),
        }
    }

    fn text(&self, names: &[&str]) -> Option<&str> {
        let found = names.iter().find_map(|name| self.0.get(*name)?.as_str());
        found.map(str::trim).filter(|text| !text.is_empty())
    }

    /// The event as the program calls it.
    pub(crate) fn event(&self) -> Option<&str> {
        self.text(&["hook_event_name", "hookEventName"])
    }

    /// What the user asks for, where the event is about that.
    pub(crate) fn prompt(&self) -> Option<&str> {
        self.text(&["prompt", "user_prompt", "query"])
    }

    /// The conversation.
    pub(crate) fn session(&self) -> Option<&str> {
        self.text(&["session_id", "thread-id", "thread_id", "conversation_id"])
    }

    /// What was said since: what the input says itself, else what the transcript that it names ends with.
    ///
    /// # Errors
    /// When the transcript can't be read.
    pub(crate) fn exchanges(&self) -> Result<Vec<Exchange>, String> {
        if let Some(exchange) = self.own_exchange() {
            return Ok(vec![exchange]);
        }
        let Some(path) = self.text(&["transcript_path"]).map(home) else { return Ok(Vec::new()) };
        transcript::exchanges(&path).map_err(|error| format!("{}: {error}", path.display()))
    }

    /// A whole exchange in the input: `prompt` and `response`, or as Codex tells it.
    fn own_exchange(&self) -> Option<Exchange> {
        let answer = self.text(&["response", "last-assistant-message"])?;
        let messages = self.0.get("input-messages").and_then(Value::as_array);
        let joined =
            messages.map(|messages| messages.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("\n"));
        let prompt = self.prompt().map(str::to_owned).or(joined)?;
        let at = self.text(&["timestamp"]).and_then(|text| text.parse::<Timestamp>().ok());
        let key = self.text(&["turn-id", "turn_id"]).unwrap_or_default().to_owned();
        Some(Exchange { key, prompt, answer: answer.to_owned(), at })
    }
}

/// A path that may begin with `~`.
fn home(path: &str) -> PathBuf {
    match (path.strip_prefix("~/"), std::env::var_os("HOME")) {
        (Some(rest), Some(home)) => Path::new(&home).join(rest),
        _ => PathBuf::from(path),
    }
}

/// Reads standard input to its end, for a moment. The thread that reads is left behind when nothing comes.
fn standard_input() -> Result<String, String> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut text = String::new();
        let most = u64::try_from(MESSAGE_BYTES_MAX).unwrap_or(u64::MAX);
        let read = std::io::stdin().lock().take(most).read_to_string(&mut text);
        let _ = sender.send(read.map(|_| text));
    });
    match receiver.recv_timeout(WAIT) {
        Ok(Ok(text)) => Ok(text),
        Ok(Err(error)) => Err(format!("the input can't be read: {error}")),
        Err(_) => {
            Err("no input came: an agent's program hands a JSON object over on standard input".to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_each_program_tells_is_understood() {
        let claude = Input::parse(r#"{"session_id":"s1","hook_event_name":"UserPromptSubmit","prompt":" how do we deploy ","cwd":"/x"}"#).unwrap();
        assert_eq!(
            (claude.event(), claude.prompt(), claude.session()),
            (Some("UserPromptSubmit"), Some("how do we deploy"), Some("s1"))
        );
        assert!(claude.exchanges().unwrap().is_empty());
        let codex = Input::parse(r#"{"type":"agent-turn-complete","turn-id":"t7","input-messages":["a","b"],"last-assistant-message":"done"}"#).unwrap();
        let exchange = &codex.exchanges().unwrap()[0];
        assert_eq!(
            (exchange.key.as_str(), exchange.prompt.as_str(), exchange.answer.as_str()),
            ("t7", "a\nb", "done")
        );
        let plain =
            Input::parse(r#"{"prompt":"q","response":"r","timestamp":"2026-01-02T03:04:05Z"}"#).unwrap();
        assert_eq!(plain.exchanges().unwrap()[0].at, Some("2026-01-02T03:04:05Z".parse().unwrap()));
        assert!(Input::parse("[]").is_err() && Input::parse("").is_err());
    }
}

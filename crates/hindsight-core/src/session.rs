//! Working memory (M1, L8): the turns of a session while it runs. A session lives in the memory of the server alone,
//! keeps its newest turns within bounds, and ends when it is closed or has been idle too long.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::invalid::{Invalid, Violations};
use crate::limits::{
    CONTENT_CHARS_MAX, SESSION_BYTES_DEFAULT, SESSION_BYTES_MAX, SESSION_IDLE_MS_DEFAULT,
    SESSION_IDLE_MS_MAX, SESSION_IDLE_MS_MIN, SESSION_TURNS_DEFAULT, SESSION_TURNS_MAX, TURNS_MAX,
    WORD_CHARS_MAX,
};
use crate::time::Span;
use crate::{MemoryId, Namespace, Scope, Timestamp};

/// What a turn costs beside its texts, in bytes of a session's bound: so that empty turns are not free.
pub const TURN_BYTES: usize = 64;

/// The prefix of a session's id that the database chose.
const PREFIX: &str = "ses_";

/// The id of a session: the caller's own word, or `ses_` and 26 letters that the database chose. Unique in its namespace.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionId(std::sync::Arc<str>);

/// A text that can't be the id of a session.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{given:?} can't be the id of a session: expected 1 to {WORD_CHARS_MAX} characters without control characters, and no blank at either end"
)]
pub struct BadSessionId {
    /// The text as it was given, cut to 40 characters.
    pub given: String,
}

impl SessionId {
    /// A new id for a session that is opened at `at`. `random` supplies its 80 low bits.
    #[must_use]
    pub fn new(at: Timestamp, random: u128) -> SessionId {
        let letters = MemoryId::new(at, random).to_string();
        SessionId(format!("{PREFIX}{}", letters.trim_start_matches("mem_")).into())
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl FromStr for SessionId {
    type Err = BadSessionId;

    fn from_str(text: &str) -> Result<Self, BadSessionId> {
        let is_plain = !text.is_empty() && text.trim() == text && !text.chars().any(char::is_control);
        if is_plain && text.chars().count() <= WORD_CHARS_MAX {
            Ok(SessionId(text.into()))
        } else {
            Err(BadSessionId { given: text.chars().take(40).collect() })
        }
    }
}

crate::words::text_form!(SessionId);

/// What a caller says about a session that it opens.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SessionDraft {
    /// The caller's own id; the database chooses one when absent.
    pub session_id: Option<SessionId>,
    /// The agent that opens it.
    pub agent_id: Option<String>,
    /// Who may see it; `shared` when absent.
    pub scope: Option<Scope>,
    /// How many turns it keeps at most; the oldest fall out.
    pub max_turns: Option<usize>,
    /// How many bytes its turns have at most; the oldest fall out.
    pub max_bytes: Option<usize>,
    /// After which time without a call it ends.
    pub idle_ttl: Option<Span>,
}

/// The settings of a session, each within its limits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionSettings {
    /// The agent that opened it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// Who may see it.
    pub scope: Scope,
    /// How many turns it keeps at most.
    pub max_turns: usize,
    /// How many bytes its turns have at most, each with [`TURN_BYTES`] more than its texts.
    pub max_bytes: usize,
    /// After which time without a call it ends.
    pub idle_ttl: Span,
}

impl SessionDraft {
    /// The settings that it asks for.
    ///
    /// # Errors
    /// Every number outside its limits; an agent's own session without an agent.
    pub fn settings(&self) -> Result<SessionSettings, Invalid> {
        let mut v = Violations::default();
        let max_turns = self.max_turns.unwrap_or(SESSION_TURNS_DEFAULT);
        let max_bytes = self.max_bytes.unwrap_or(SESSION_BYTES_DEFAULT);
        let idle_ttl = self.idle_ttl.unwrap_or(Span::from_ms(SESSION_IDLE_MS_DEFAULT));
        v.unless((1..=SESSION_TURNS_MAX).contains(&max_turns), "max_turns", || {
            format!("is {max_turns}: expected 1 to {SESSION_TURNS_MAX}")
        });
        v.unless((TURN_BYTES + 1..=SESSION_BYTES_MAX).contains(&max_bytes), "max_bytes", || {
            format!("is {max_bytes}: expected {} to {SESSION_BYTES_MAX}", TURN_BYTES + 1)
        });
        v.unless((SESSION_IDLE_MS_MIN..=SESSION_IDLE_MS_MAX).contains(&idle_ttl.as_ms()), "idle_ttl", || {
            let (least, most) = (Span::from_ms(SESSION_IDLE_MS_MIN), Span::from_ms(SESSION_IDLE_MS_MAX));
            format!("is {idle_ttl}: expected {least} to {most}")
        });
        if let Some(agent) = &self.agent_id {
            check_word(agent, "agent_id", &mut v);
        }
        let scope = self.scope.unwrap_or(Scope::Shared);
        v.unless(scope == Scope::Shared || self.agent_id.is_some(), "agent_id", || {
            "is missing: a session of scope agent is that agent's".to_owned()
        });
        v.finish()?;
        Ok(SessionSettings { agent_id: self.agent_id.clone(), scope, max_turns, max_bytes, idle_ttl })
    }

    /// Whether an open session with these settings is the one that is asked for: what is not said may be anything.
    #[must_use]
    pub fn fits(&self, settings: &SessionSettings) -> bool {
        let agrees = |wished: Option<usize>, has: usize| wished.is_none_or(|wished| wished == has);
        (self.agent_id.is_none() || self.agent_id == settings.agent_id)
            && self.scope.is_none_or(|scope| scope == settings.scope)
            && agrees(self.max_turns, settings.max_turns)
            && agrees(self.max_bytes, settings.max_bytes)
            && self.idle_ttl.is_none_or(|ttl| ttl == settings.idle_ttl)
    }
}

impl SessionSettings {
    /// Whether `agent` may see the session: shared ones are everybody's, the others their agent's (S1).
    #[must_use]
    pub fn is_visible_to(&self, agent: Option<&str>) -> bool {
        self.scope == Scope::Shared || (agent.is_some() && self.agent_id.as_deref() == agent)
    }
}

/// A turn as a caller sends it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TurnDraft {
    /// Who spoke: `user`, `assistant`, `system`, `tool`, or the caller's own word.
    pub role: String,
    /// What was said, or what the tool answered.
    pub content: String,
    /// The tool that was called, or that answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// When; now when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
}

impl TurnDraft {
    /// What it costs of a session's bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        bytes_of(&self.role, &self.content, self.tool.as_deref())
    }
}

/// One turn of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// Its place in the session, from 1. Those before the first that is there have fallen out.
    pub number: u64,
    /// Who spoke.
    pub role: String,
    /// What was said.
    pub content: String,
    /// The tool that was called, or that answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// When.
    pub at: Timestamp,
}

impl Turn {
    /// What it costs of a session's bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        bytes_of(&self.role, &self.content, self.tool.as_deref())
    }
}

/// A session, without its turns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// Its id.
    pub session_id: SessionId,
    /// The tenant that it belongs to.
    pub namespace: Namespace,
    /// Its settings.
    #[serde(flatten)]
    pub settings: SessionSettings,
    /// When it was opened.
    pub opened_at: Timestamp,
    /// When it was last appended to or read.
    pub last_used_at: Timestamp,
    /// When it ends, if nobody uses it until then.
    pub expires_at: Timestamp,
    /// How many turns it holds.
    pub turns_held: usize,
    /// How many turns were appended; the oldest may have fallen out.
    pub turns_total: u64,
    /// How many bytes its turns have.
    pub bytes: usize,
}

/// Checks turns that shall be appended together.
///
/// # Errors
/// When there are none or too many; every field of a turn that is empty or too long.
pub fn check_turns(turns: &[TurnDraft]) -> Result<(), Invalid> {
    if !(1..=TURNS_MAX).contains(&turns.len()) {
        let problem = format!("has {} turns: expected 1 to {TURNS_MAX} at once", turns.len());
        return Err(Invalid::one("turns", problem));
    }
    let mut v = Violations::default();
    for (index, turn) in turns.iter().enumerate() {
        check_word(&turn.role, &format!("turns[{index}].role"), &mut v);
        if let Some(tool) = &turn.tool {
            check_word(tool, &format!("turns[{index}].tool"), &mut v);
        }
        let field = format!("turns[{index}].content");
        // What a tool answers may be nothing.
        v.unless(!turn.content.is_empty() || turn.tool.is_some(), &field, || {
            "is empty: give what was said, or name the tool that answered nothing".to_owned()
        });
        let chars = turn.content.chars().count();
        v.unless(chars <= CONTENT_CHARS_MAX, &field, || {
            format!("has {chars} characters: at most {CONTENT_CHARS_MAX}; cut it, or store it as a memory")
        });
    }
    v.finish()
}

fn check_word(word: &str, field: &str, v: &mut Violations) {
    let chars = word.chars().count();
    v.unless(!word.trim().is_empty(), field, || "is empty: give a word such as user".to_owned());
    v.unless(chars <= WORD_CHARS_MAX, field, || format!("has {chars} characters: at most {WORD_CHARS_MAX}"));
}

fn bytes_of(role: &str, content: &str, tool: Option<&str>) -> usize {
    TURN_BYTES + role.len() + content.len() + tool.map_or(0, str::len)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(invalid: &Invalid) -> Vec<&str> {
        invalid.violations.iter().map(|violation| violation.field.as_str()).collect()
    }

    #[test]
    fn l8_an_id_is_the_callers_word_or_our_own() {
        let id = SessionId::new(Timestamp::from_ms(1_700_000_000_000), 7);
        assert!(id.as_str().starts_with("ses_") && id.as_str().len() == 30, "{id}");
        assert_eq!(id.as_str().parse::<SessionId>().unwrap(), id);
        assert_eq!("chat 今天-1".parse::<SessionId>().unwrap().as_str(), "chat 今天-1");
        for bad in ["", " a", "a ", "a\nb", &"x".repeat(257)] {
            assert!(bad.parse::<SessionId>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn l8_settings_have_limits_and_an_agents_session_an_agent() {
        let settings = SessionDraft::default().settings().unwrap();
        assert_eq!((settings.max_turns, settings.scope), (SESSION_TURNS_DEFAULT, Scope::Shared));
        let wrong = SessionDraft {
            scope: Some(Scope::Agent),
            max_turns: Some(0),
            max_bytes: Some(SESSION_BYTES_MAX + 1),
            idle_ttl: Some(Span::from_ms(1)),
            ..SessionDraft::default()
        };
        let invalid = wrong.settings().unwrap_err();
        assert_eq!(fields(&invalid), ["max_turns", "max_bytes", "idle_ttl", "agent_id"]);
        assert!(SessionDraft::default().fits(&settings));
        assert!(!SessionDraft { max_turns: Some(3), ..SessionDraft::default() }.fits(&settings));
    }

    #[test]
    fn l8_turns_are_named_when_they_are_wrong() {
        let turn = |role: &str, content: &str| TurnDraft {
            role: role.to_owned(),
            content: content.to_owned(),
            ..TurnDraft::default()
        };
        assert_eq!(fields(&check_turns(&[]).unwrap_err()), ["turns"]);
        let many = vec![turn("user", "x"); TURNS_MAX + 1];
        assert_eq!(fields(&check_turns(&many).unwrap_err()), ["turns"]);
        let wrong = [turn("user", "好"), turn(" ", "x"), turn("user", ""), turn("user", &"x".repeat(32_001))];
        let invalid = check_turns(&wrong).unwrap_err();
        assert_eq!(fields(&invalid), ["turns[1].role", "turns[2].content", "turns[3].content"]);
        let silent = TurnDraft { tool: Some("grep".to_owned()), ..turn("tool", "") };
        assert!(check_turns(&[silent]).is_ok());
    }
}

//! Sessions and their turns, both ways.

use hindsight_core::session::SessionSettings;
use hindsight_core::{Invalid, Session, Turn, TurnDraft};

use crate::words::{self, Word};
use crate::{text, time, v1};

impl From<Session> for v1::Session {
    fn from(session: Session) -> v1::Session {
        let SessionSettings { agent_id, scope, max_turns, max_bytes, idle_ttl } = session.settings;
        v1::Session {
            session_id: session.session_id.to_string(),
            namespace: session.namespace.to_string(),
            agent_id: text::or_empty(agent_id),
            scope: scope.number(),
            opened_at: Some(time::to_wire(session.opened_at)),
            last_used_at: Some(time::to_wire(session.last_used_at)),
            expires_at: Some(time::to_wire(session.expires_at)),
            turns_held: small(session.turns_held),
            turns_total: session.turns_total,
            bytes: small(session.bytes),
            max_turns: small(max_turns),
            max_bytes: small(max_bytes),
            idle_ttl: Some(time::span_to_wire(idle_ttl)),
        }
    }
}

impl TryFrom<v1::Session> for Session {
    type Error = Invalid;

    /// Reads a session that a server sent.
    fn try_from(wire: v1::Session) -> Result<Session, Invalid> {
        let idle_ttl = wire.idle_ttl.as_ref().ok_or_else(|| text::missing("idle_ttl"))?;
        Ok(Session {
            session_id: text::parsed("session_id", &wire.session_id)?,
            namespace: text::parsed("namespace", &wire.namespace)?,
            settings: SessionSettings {
                agent_id: text::optional(wire.agent_id),
                scope: words::required("scope", wire.scope)?,
                max_turns: wide(wire.max_turns),
                max_bytes: wide(wire.max_bytes),
                idle_ttl: time::span_from_wire("idle_ttl", idle_ttl)?,
            },
            opened_at: time::required("opened_at", wire.opened_at.as_ref())?,
            last_used_at: time::required("last_used_at", wire.last_used_at.as_ref())?,
            expires_at: time::required("expires_at", wire.expires_at.as_ref())?,
            turns_held: wide(wire.turns_held),
            turns_total: wire.turns_total,
            bytes: wide(wire.bytes),
        })
    }
}

impl From<Turn> for v1::Turn {
    fn from(turn: Turn) -> v1::Turn {
        let Turn { number, role, content, tool, at } = turn;
        v1::Turn { number, role, content, tool: text::or_empty(tool), at: Some(time::to_wire(at)) }
    }
}

impl TryFrom<v1::Turn> for Turn {
    type Error = Invalid;

    /// Reads a turn that a server sent.
    fn try_from(wire: v1::Turn) -> Result<Turn, Invalid> {
        let at = time::required("at", wire.at.as_ref())?;
        let v1::Turn { number, role, content, tool, .. } = wire;
        Ok(Turn { number, role, content, tool: text::optional(tool), at })
    }
}

impl From<TurnDraft> for v1::Turn {
    fn from(turn: TurnDraft) -> v1::Turn {
        let TurnDraft { role, content, tool, at } = turn;
        v1::Turn { number: 0, role, content, tool: text::or_empty(tool), at: at.map(time::to_wire) }
    }
}

impl TryFrom<v1::Turn> for TurnDraft {
    type Error = Invalid;

    /// Reads a turn that a caller sent.
    fn try_from(wire: v1::Turn) -> Result<TurnDraft, Invalid> {
        if wire.number != 0 {
            return Err(Invalid::one("number", "is set by the server: leave it out"));
        }
        let at = time::optional("at", wire.at.as_ref())?;
        let v1::Turn { role, content, tool, .. } = wire;
        Ok(TurnDraft { role, content, tool: text::optional(tool), at })
    }
}

/// All counts of a session are bounded far below this.
fn small(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

pub(crate) fn wide(count: u32) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use hindsight_core::{SessionDraft, Timestamp};

    use super::*;

    #[test]
    fn l8_a_session_and_its_turns_come_through() {
        let at = Timestamp::from_ms(1_700_000_000_123);
        let draft = SessionDraft { agent_id: Some("a1".to_owned()), ..SessionDraft::default() };
        let session = Session {
            session_id: "chat 今天".parse().unwrap(),
            namespace: "ops".parse().unwrap(),
            settings: draft.settings().unwrap(),
            opened_at: at,
            last_used_at: at,
            expires_at: at.plus_ms(1),
            turns_held: 2,
            turns_total: 5,
            bytes: 200,
        };
        assert_eq!(Session::try_from(v1::Session::from(session.clone())), Ok(session));
        let tool = Some("grep".to_owned());
        let turn = Turn { number: 4, role: "tool".to_owned(), content: String::new(), tool, at };
        assert_eq!(Turn::try_from(v1::Turn::from(turn.clone())), Ok(turn.clone()));
        assert_eq!(TurnDraft::try_from(v1::Turn::from(turn)).unwrap_err().violations[0].field, "number");
    }
}

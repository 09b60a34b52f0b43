//! What calls on sessions give back.

use hindsight_core::{Invalid, Lsn, Memory, Neighbor, Session, Turn};
use hindsight_proto::v1;
use serde::Serialize;

use crate::Outcome;
use crate::reply::{listed, outcome};

/// An open session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct OpenedSession {
    /// How it stands.
    pub session: Session,
    /// It was open before.
    pub resumed: bool,
}

/// A session that was appended to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct AppendedTurns {
    /// How it stands.
    pub session: Session,
    /// The request id was seen before: nothing was appended again.
    pub replayed: bool,
}

/// A session with its turns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SessionTurns {
    /// How it stands.
    pub session: Session,
    /// Its newest turns, in order.
    pub turns: Vec<Turn>,
}

/// What became of a session that was closed.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ClosedSession {
    /// As it was; absent when a repeated request comes after a restart of the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<Session>,
    /// The episode it became.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<Memory>,
    /// What storing the episode did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// The memories that the episode contradicts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub neighbors: Vec<Neighbor>,
    /// The request id was seen before: nothing was done again.
    pub replayed: bool,
    /// The log position that the answer reflects.
    pub revision: Lsn,
}

impl OpenedSession {
    pub(crate) fn from_wire(wire: v1::OpenSessionResponse) -> Result<OpenedSession, Invalid> {
        Ok(OpenedSession { session: session(wire.session)?, resumed: wire.resumed })
    }
}

impl SessionTurns {
    pub(crate) fn from_wire(wire: v1::GetSessionResponse) -> Result<SessionTurns, Invalid> {
        Ok(SessionTurns { session: session(wire.session)?, turns: listed("turns", wire.turns)? })
    }
}

impl ClosedSession {
    pub(crate) fn from_wire(wire: v1::CloseSessionResponse) -> Result<ClosedSession, Invalid> {
        let memory = wire.memory.map(Memory::try_from).transpose();
        let memory = memory.map_err(|invalid| invalid.under("memory."))?;
        Ok(ClosedSession {
            session: wire.session.map(|found| session(Some(found))).transpose()?,
            outcome: memory.is_some().then(|| outcome(wire.outcome)),
            memory,
            neighbors: listed("neighbors", wire.neighbors)?,
            replayed: wire.replayed,
            revision: Lsn(wire.revision),
        })
    }
}

pub(crate) fn session(wire: Option<v1::Session>) -> Result<Session, Invalid> {
    let wire = wire.ok_or_else(|| Invalid::one("session", "is missing"))?;
    wire.try_into().map_err(|invalid: Invalid| invalid.under("session."))
}

pub(crate) fn sessions(wire: Vec<v1::Session>) -> Result<Vec<Session>, Invalid> {
    listed("sessions", wire)
}

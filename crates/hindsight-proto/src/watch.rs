//! The change feed, both ways. A response without a time is a notice of progress.

use hindsight_core::{Invalid, Lsn, WatchEvent, Watched};

use crate::words::{self, Word};
use crate::{text, time, v1};

impl From<Watched> for v1::WatchResponse {
    fn from(watched: Watched) -> v1::WatchResponse {
        v1::WatchResponse {
            revision: watched.revision.0,
            at: Some(time::to_wire(watched.at)),
            events: watched.events.into_iter().map(Into::into).collect(),
            more: watched.more,
        }
    }
}

impl TryFrom<v1::WatchResponse> for Watched {
    type Error = Invalid;

    /// Reads what a server told.
    fn try_from(wire: v1::WatchResponse) -> Result<Watched, Invalid> {
        let events = wire.events.into_iter().enumerate().map(|(at, event)| {
            WatchEvent::try_from(event).map_err(|invalid| invalid.under(&format!("events[{at}].")))
        });
        Ok(Watched {
            revision: Lsn(wire.revision),
            at: time::required("at", wire.at.as_ref())?,
            events: events.collect::<Result<_, Invalid>>()?,
            more: wire.more,
        })
    }
}

/// A notice that everything up to a revision was told.
#[must_use]
pub fn progress(revision: Lsn) -> v1::WatchResponse {
    v1::WatchResponse { revision: revision.0, ..v1::WatchResponse::default() }
}

/// The revision of a notice of progress; none when it tells of changes.
#[must_use]
pub fn is_progress(wire: &v1::WatchResponse) -> Option<Lsn> {
    wire.at.is_none().then_some(Lsn(wire.revision))
}

impl From<WatchEvent> for v1::WatchEvent {
    fn from(event: WatchEvent) -> v1::WatchEvent {
        v1::WatchEvent {
            index: event.index,
            change: event.change.number(),
            id: event.id.map(|id| id.to_string()).unwrap_or_default(),
            version: event.version.unwrap_or_default(),
            kind: words::number(event.kind),
            state: words::number(event.state),
            superseded_by: event.superseded_by.map(|id| id.to_string()).unwrap_or_default(),
            count: event.count.unwrap_or_default(),
            memory: event.memory.map(|memory| (*memory).into()),
        }
    }
}

impl TryFrom<v1::WatchEvent> for WatchEvent {
    type Error = Invalid;

    fn try_from(wire: v1::WatchEvent) -> Result<WatchEvent, Invalid> {
        let memory = wire.memory.map(hindsight_core::Memory::try_from).transpose();
        let some = |number: u64| (number != 0).then_some(number);
        Ok(WatchEvent {
            index: wire.index,
            change: words::required("change", wire.change)?,
            id: text::parsed_optional("id", &wire.id)?,
            version: some(wire.version),
            kind: words::optional("kind", wire.kind)?,
            state: words::optional("state", wire.state)?,
            superseded_by: text::parsed_optional("superseded_by", &wire.superseded_by)?,
            count: some(wire.count),
            memory: memory.map_err(|invalid| invalid.under("memory."))?.map(Box::new),
        })
    }
}

#[cfg(test)]
mod tests {
    use hindsight_core::{ChangeKind, Kind, MemoryId, State, Timestamp};

    use super::*;

    #[test]
    fn l9_what_is_told_comes_through_and_a_notice_is_none() {
        let one = WatchEvent {
            index: 3,
            change: ChangeKind::Changed,
            id: Some(MemoryId::from_u128(7)),
            version: Some(2),
            kind: Some(Kind::Fact),
            state: Some(State::Superseded),
            superseded_by: Some(MemoryId::from_u128(8)),
            count: None,
            memory: None,
        };
        let many = WatchEvent {
            index: 4,
            change: ChangeKind::Purged,
            id: None,
            version: None,
            kind: None,
            state: None,
            superseded_by: None,
            count: Some(5),
            memory: None,
        };
        let at = Timestamp::from_ms(1_700_000_000_000);
        let watched = Watched { revision: Lsn(9), at, events: vec![one, many], more: true };
        let wire = v1::WatchResponse::from(watched.clone());
        assert_eq!(is_progress(&wire), None);
        assert_eq!(Watched::try_from(wire), Ok(watched));
        assert_eq!(is_progress(&progress(Lsn(9))), Some(Lsn(9)));
        let unknown = v1::WatchResponse {
            at: Some(time::to_wire(at)),
            events: vec![v1::WatchEvent { change: 99, ..v1::WatchEvent::default() }],
            ..v1::WatchResponse::default()
        };
        assert_eq!(Watched::try_from(unknown).unwrap_err().violations[0].field, "events[0].change");
    }
}

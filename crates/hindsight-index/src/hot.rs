//! The hot columns: the facts of fixed size that filters and ranking ask of every candidate, at hand without loading it.

use hindsight_core::{Kind, Memory, RuleState, Scope, SourceKind, State, Status, Timestamp, scoring::tokens};

use roaring::RoaringBitmap;

use crate::Ordinal;
use crate::snapshot::wire::{Reader, Writer};
use crate::snapshot::{SnapshotError, unsound};

/// Stands for a time that is not set; no [`Timestamp`] reaches it.
const OPEN: i64 = i64::MAX;

/// What ranking needs to know of one memory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hot {
    /// What it is.
    pub kind: Kind,
    /// How its task ended.
    pub status: Option<Status>,
    /// Where it is in its life.
    pub state: State,
    /// Who may see it.
    pub scope: Scope,
    /// The grade of its source.
    pub source_kind: SourceKind,
    /// The life of a rule; none for other kinds.
    pub rule_state: Option<RuleState>,
    /// Whether it is a failure that passes by itself.
    pub transient_failure: bool,
    /// How much it matters, 0–1.
    pub importance: f32,
    /// How sure it is, 0–1.
    pub confidence: f32,
    /// How often an agent used it.
    pub used_count: u32,
    /// How often a recall returned it.
    pub access_count: u32,
    /// How often it was confirmed.
    pub verified_count: u32,
    /// What its content is likely to cost a language model, in tokens.
    pub content_tokens: u32,
    /// When it happened.
    pub occurred_at: Timestamp,
    /// When the database learned it.
    pub created_at: Timestamp,
    /// The newest time at which it was of use.
    pub useful_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    valid_from_ms: i64,
    valid_to_ms: i64,
    expires_at_ms: i64,
}

impl Hot {
    /// The facts of a memory.
    #[must_use]
    pub fn of(memory: &Memory) -> Self {
        let ms = |time: Option<Timestamp>| time.map_or(OPEN, Timestamp::as_ms);
        Hot {
            kind: memory.kind,
            status: memory.status,
            state: memory.state,
            scope: memory.scope,
            source_kind: memory.source.kind,
            rule_state: memory.rule.as_ref().map(|rule| rule.rule_state),
            transient_failure: memory.is_transient_failure(),
            importance: memory.importance,
            confidence: memory.confidence,
            used_count: memory.usage.used_count,
            access_count: memory.usage.access_count,
            verified_count: memory.usage.verified_count,
            content_tokens: u32::try_from(tokens::estimate(&memory.content)).unwrap_or(u32::MAX),
            occurred_at: memory.occurred_at,
            created_at: memory.created_at,
            useful_at: memory.useful_at(),
            updated_at: memory.updated_at,
            valid_from_ms: ms(memory.valid_from),
            valid_to_ms: ms(memory.valid_to),
            expires_at_ms: ms(memory.expires_at),
        }
    }

    /// From when on it is true in the world; open when absent.
    #[must_use]
    pub fn valid_from(&self) -> Option<Timestamp> {
        time(self.valid_from_ms)
    }

    /// Until when it is true in the world; open when absent.
    #[must_use]
    pub fn valid_to(&self) -> Option<Timestamp> {
        time(self.valid_to_ms)
    }

    /// When it leaves recall.
    #[must_use]
    pub fn expires_at(&self) -> Option<Timestamp> {
        time(self.expires_at_ms)
    }

    /// Since when nothing spoke for it, as [`hindsight_core::life::is_unrecalled`] has it.
    #[must_use]
    pub fn idle_since(&self) -> Option<Timestamp> {
        let is_unrecalled = self.access_count == 0 && self.used_count == 0 && self.verified_count == 0;
        is_unrecalled.then_some(self.updated_at)
    }

    /// Whether it is true in the world at `now`, as [`Memory::is_valid_at`] has it.
    #[must_use]
    pub fn is_valid_at(&self, now: Timestamp) -> bool {
        self.valid_from().is_none_or(|from| from <= now) && self.valid_to().is_none_or(|to| now < to)
    }

    /// Whether its time in recall is over at `now`, as [`Memory::is_expired_at`] has it.
    #[must_use]
    pub fn is_expired_at(&self, now: Timestamp) -> bool {
        self.expires_at().is_some_and(|end| end <= now)
    }

    /// When time takes it out of recall: the end of its validity or its expiry, whichever comes first.
    pub(crate) fn ends_at(&self) -> Option<Timestamp> {
        time(self.valid_to_ms.min(self.expires_at_ms))
    }
}

/// As bytes: a word as its place in its list, from 1, and 0 for none; times in milliseconds.
impl Hot {
    fn save(&self, out: &mut Writer) {
        out.u8(place(Kind::ALL, Some(self.kind)));
        out.u8(place(Status::ALL, self.status));
        out.u8(place(State::ALL, Some(self.state)));
        out.u8(place(Scope::ALL, Some(self.scope)));
        out.u8(place(SourceKind::ALL, Some(self.source_kind)));
        out.u8(place(RuleState::ALL, self.rule_state));
        out.u8(u8::from(self.transient_failure));
        [self.importance, self.confidence].into_iter().for_each(|number| out.f32(number));
        let counts = [self.used_count, self.access_count, self.verified_count, self.content_tokens];
        counts.into_iter().for_each(|count| out.u32(count));
        let times = [self.occurred_at, self.created_at, self.useful_at, self.updated_at];
        times.into_iter().for_each(|time| out.i64(time.as_ms()));
        let ends = [self.valid_from_ms, self.valid_to_ms, self.expires_at_ms];
        ends.into_iter().for_each(|ms| out.i64(ms));
    }

    fn load(from: &mut Reader<'_>) -> Result<Hot, SnapshotError> {
        let none = || unsound("a word that is missing");
        let time = |ms: i64| match Timestamp::from_ms(ms) {
            time if time.as_ms() == ms => Ok(time),
            _ => Err(unsound("a time")),
        };
        let open_or_time = |ms: i64| if ms == OPEN { Ok(ms) } else { time(ms).map(Timestamp::as_ms) };
        Ok(Hot {
            kind: at_place(Kind::ALL, from.u8()?)?.ok_or_else(none)?,
            status: at_place(Status::ALL, from.u8()?)?,
            state: at_place(State::ALL, from.u8()?)?.ok_or_else(none)?,
            scope: at_place(Scope::ALL, from.u8()?)?.ok_or_else(none)?,
            source_kind: at_place(SourceKind::ALL, from.u8()?)?.ok_or_else(none)?,
            rule_state: at_place(RuleState::ALL, from.u8()?)?,
            transient_failure: match from.u8()? {
                0 => false,
                1 => true,
                _ => return Err(unsound("a yes or no")),
            },
            importance: from.f32()?,
            confidence: from.f32()?,
            used_count: from.u32()?,
            access_count: from.u32()?,
            verified_count: from.u32()?,
            content_tokens: from.u32()?,
            occurred_at: time(from.i64()?)?,
            created_at: time(from.i64()?)?,
            useful_at: time(from.i64()?)?,
            updated_at: time(from.i64()?)?,
            valid_from_ms: open_or_time(from.i64()?)?,
            valid_to_ms: open_or_time(from.i64()?)?,
            expires_at_ms: open_or_time(from.i64()?)?,
        })
    }
}

fn place<T: PartialEq>(all: &[T], word: Option<T>) -> u8 {
    let at = word.and_then(|word| all.iter().position(|other| *other == word));
    at.and_then(|at| u8::try_from(at + 1).ok()).unwrap_or(0)
}

fn at_place<T: Copy>(all: &[T], place: u8) -> Result<Option<T>, SnapshotError> {
    let Some(at) = usize::from(place).checked_sub(1) else { return Ok(None) };
    all.get(at).copied().map(Some).ok_or(unsound("a word"))
}

fn time(ms: i64) -> Option<Timestamp> {
    (ms != OPEN).then(|| Timestamp::from_ms(ms))
}

/// The hot facts of a shelf's memories, by ordinal.
#[derive(Debug, Default, Clone)]
pub(crate) struct HotColumns(Vec<Option<Hot>>);

impl HotColumns {
    /// The facts of one memory.
    pub(crate) fn get(&self, ordinal: Ordinal) -> Option<&Hot> {
        self.0.get(ordinal.index())?.as_ref()
    }

    pub(crate) fn insert(&mut self, ordinal: Ordinal, hot: Hot) {
        if self.0.len() <= ordinal.index() {
            self.0.resize(ordinal.index() + 1, None);
        }
        if let Some(place) = self.0.get_mut(ordinal.index()) {
            *place = Some(hot);
        }
    }

    pub(crate) fn remove(&mut self, ordinal: Ordinal) -> Option<Hot> {
        self.0.get_mut(ordinal.index())?.take()
    }

    /// The facts of the memories in `live`, one after the other.
    pub(crate) fn save(&self, out: &mut Writer, live: &RoaringBitmap) {
        for slot in live {
            if let Some(hot) = self.get(Ordinal(slot)) {
                hot.save(out);
            }
        }
    }

    /// What [`HotColumns::save`] wrote of the memories in `live`, all of whose slots are below `slots`.
    pub(crate) fn load(
        from: &mut Reader<'_>,
        slots: u32,
        live: &RoaringBitmap,
    ) -> Result<HotColumns, SnapshotError> {
        let mut hot = vec![None; slots as usize];
        for slot in live {
            let found = Hot::load(from)?;
            if let Some(place) = hot.get_mut(slot as usize) {
                *place = Some(found);
            }
        }
        Ok(HotColumns(hot))
    }

    pub(crate) fn bytes(&self) -> usize {
        self.0.capacity() * size_of::<Option<Hot>>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_stays_small() {
        assert!(size_of::<Option<Hot>>() <= 96, "{}", size_of::<Option<Hot>>());
    }
}

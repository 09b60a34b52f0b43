//! The hot columns: the facts of fixed size that filters and ranking ask of every candidate, at hand without loading it.

use hindsight_core::{Kind, Memory, RuleState, Scope, SourceKind, State, Status, Timestamp, scoring::tokens};

use crate::Ordinal;

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

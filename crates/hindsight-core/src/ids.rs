//! Ids: 128 bits, the first 48 of them a time, so that ids sort by when they were made.

use crate::time::Timestamp;

/// The prefix of a memory's id in text.
const PREFIX: &str = "mem_";

/// The id of a memory: 48 bits of milliseconds, 80 random bits. Text form: `mem_` and 26 lower-case Crockford base32 letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MemoryId(u128);

/// A text that is not the id of a memory.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{given:?} is not the id of a memory: expected mem_ and 26 letters or digits, such as mem_01k9zq4t8rc5d2v7n3hx6w0jab"
)]
pub struct BadId {
    /// The text as it was given, cut to 40 characters.
    pub given: String,
}

impl MemoryId {
    /// Makes the id of a memory created at `at`. `random` supplies the 80 low bits; the rest of it is not used.
    #[must_use]
    pub fn new(at: Timestamp, random: u128) -> MemoryId {
        let ms = u64::try_from(at.as_ms()).unwrap_or(0);
        MemoryId(ulid::Ulid::from_parts(ms, random).0)
    }

    /// The id as a number; its order is the order of creation.
    #[must_use]
    pub const fn as_u128(self) -> u128 {
        self.0
    }

    /// The id that a number stands for.
    #[must_use]
    pub const fn from_u128(value: u128) -> MemoryId {
        MemoryId(value)
    }
}

impl std::fmt::Display for MemoryId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut buffer = [0; ulid::ULID_LEN];
        let text = ulid::Ulid(self.0).array_to_str(&mut buffer);
        text.make_ascii_lowercase();
        write!(f, "{PREFIX}{text}")
    }
}

impl std::str::FromStr for MemoryId {
    type Err = BadId;

    fn from_str(text: &str) -> Result<Self, BadId> {
        let bad = || BadId { given: text.chars().take(40).collect() };
        let letters = text.strip_prefix(PREFIX).ok_or_else(bad)?;
        let id = ulid::Ulid::from_string(letters).map_err(|_| bad())?;
        // Letters beyond 128 bits would wrap silently and give one id two spellings.
        if letters.as_bytes().first().is_some_and(|first| *first > b'7') {
            Err(bad())
        } else {
            Ok(MemoryId(id.0))
        }
    }
}

crate::words::text_form!(MemoryId);

/// The prefix of a recall's id in text.
const RECALL_PREFIX: &str = "rcl_";

/// The id of a recall: what feedback names (R16). Text form: `rcl_` and 26 lower-case Crockford base32 letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RecallId(u128);

/// A text that is not the id of a recall.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{given:?} is not the id of a recall: expected rcl_ and 26 letters or digits, as a recall answered it"
)]
pub struct BadRecallId {
    /// The text as it was given, cut to 40 characters.
    pub given: String,
}

impl RecallId {
    /// Makes the id of a recall at `at`. `random` supplies the 80 low bits.
    #[must_use]
    pub fn new(at: Timestamp, random: u128) -> RecallId {
        RecallId(MemoryId::new(at, random).as_u128())
    }
}

impl std::fmt::Display for RecallId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = MemoryId(self.0).to_string();
        write!(f, "{RECALL_PREFIX}{}", text.trim_start_matches(PREFIX))
    }
}

impl std::str::FromStr for RecallId {
    type Err = BadRecallId;

    fn from_str(text: &str) -> Result<Self, BadRecallId> {
        let letters = text.strip_prefix(RECALL_PREFIX);
        let id = letters.and_then(|letters| format!("{PREFIX}{letters}").parse::<MemoryId>().ok());
        id.map(|id| RecallId(id.0)).ok_or_else(|| BadRecallId { given: text.chars().take(40).collect() })
    }
}

crate::words::text_form!(RecallId);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r16_a_recall_id_is_no_memory_id() {
        let id = RecallId::new(Timestamp::from_ms(1_700_000_000_000), 7);
        assert_eq!(id.to_string().parse::<RecallId>(), Ok(id));
        assert!(id.to_string().starts_with("rcl_") && id.to_string().parse::<MemoryId>().is_err());
        for bad in ["", "rcl_", "mem_01k9zq4t8rc5d2v7n3hx6w0jab", "rcl_mem_01k9zq4t8rc5d2v7n3hx6w0jab"] {
            assert!(bad.parse::<RecallId>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn text_and_back_and_order() {
        let early = MemoryId::new(Timestamp::from_ms(1_000), u128::MAX);
        let late = MemoryId::new(Timestamp::from_ms(1_001), 0);
        assert!(early < late);
        assert_eq!(early.to_string().parse::<MemoryId>().unwrap(), early);
        assert_eq!(early.to_string().len(), 30);
        assert!(early.to_string() < late.to_string());
    }

    #[test]
    fn what_is_no_id_is_refused() {
        for text in [
            "",
            "mem_",
            "mem_zzzzzzzzzzzzzzzzzzzzzzzzzz",
            "01k9zq4t8rc5d2v7n3hx6w0jab",
            "mem_01k9zq4t8rc5d2v7n3hx6w0ja!",
        ] {
            assert!(text.parse::<MemoryId>().is_err(), "{text:?}");
        }
    }
}

//! One entry, and how it hangs on the one before.

use std::fmt;
use std::str::FromStr;

use hindsight_core::Timestamp;
use serde::{Deserialize, Serialize};

/// Something that somebody did, or was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// When it was answered.
    pub at: Timestamp,
    /// The id of the token; empty without one.
    pub token: String,
    /// What the token is called; empty without one.
    pub name: String,
    /// The address that it came from.
    pub peer: String,
    /// The call, as gRPC names it: `MemoryService/Write`.
    pub call: String,
    /// The namespace, if the call has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// How many memories (or tokens, or events) it stored, changed or returned.
    pub count: u64,
    /// `OK`, or the reason of the refusal.
    pub result: String,
    /// The id of the call, as its reply and the log have it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub request_id: String,
}

/// An event in its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Its number, from 1, without gaps.
    pub seq: u64,
    /// The event.
    #[serde(flatten)]
    pub event: Event,
    /// The hash of the entry before, in hex; zeros for the first.
    pub prev: String,
    /// Its own hash, in hex.
    pub hash: String,
}

impl Entry {
    /// The entry for `event` after the one that `prev` is the hash of.
    pub(super) fn new(key: &[u8; 32], seq: u64, event: Event, prev: &blake3::Hash) -> Entry {
        let hash = hash_of(key, seq, &event, prev);
        Entry { seq, event, prev: prev.to_hex().to_string(), hash: hash.to_hex().to_string() }
    }

    /// Whether its hash is that of its content.
    pub(super) fn is_sound(&self, key: &[u8; 32]) -> bool {
        let (Ok(prev), Ok(own)) = (blake3::Hash::from_hex(&self.prev), blake3::Hash::from_hex(&self.hash))
        else {
            return false;
        };
        hash_of(key, self.seq, &self.event, &prev) == own
    }

    /// Where the trail stood when this was its last entry.
    #[must_use]
    pub fn anchor(&self) -> Anchor {
        Anchor { seq: self.seq, hash: self.hash.clone() }
    }
}

fn hash_of(key: &[u8; 32], seq: u64, event: &Event, prev: &blake3::Hash) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new_keyed(key);
    hasher.update(&seq.to_le_bytes()).update(prev.as_bytes());
    hasher.update(&event.at.as_ms().to_le_bytes()).update(&event.count.to_le_bytes());
    let namespace = event.namespace.as_deref();
    hasher.update(&[u8::from(namespace.is_some())]);
    // Each text with its length, so that no letter can move from one to the next.
    for text in [
        &event.token,
        &event.name,
        &event.peer,
        &event.call,
        namespace.unwrap_or_default(),
        &event.result,
        &event.request_id,
    ] {
        hasher.update(&u64::try_from(text.len()).unwrap_or(u64::MAX).to_le_bytes()).update(text.as_bytes());
    }
    hasher.finalize()
}

/// A place of the trail that was written down elsewhere: with it a missing end is found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Anchor {
    /// The number of the last entry.
    pub seq: u64,
    /// Its hash, in hex.
    pub hash: String,
}

/// A text that is no anchor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("is no anchor: expected NUMBER:HASH, as `hindsight audit verify` prints it")]
pub struct BadAnchor;

impl fmt::Display for Anchor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.seq, self.hash)
    }
}

impl FromStr for Anchor {
    type Err = BadAnchor;

    fn from_str(text: &str) -> Result<Anchor, BadAnchor> {
        let (seq, hash) = text.trim().split_once(':').ok_or(BadAnchor)?;
        let seq = seq.parse().map_err(|_| BadAnchor)?;
        blake3::Hash::from_hex(hash).map_err(|_| BadAnchor)?;
        Ok(Anchor { seq, hash: hash.to_owned() })
    }
}

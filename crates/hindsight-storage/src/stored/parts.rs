//! The parts of a memory on disk: entities, claims, source, usage, and JSON as text.

use bincode::{Decode, Encode};
use hindsight_core::{Claim, Entity, Source, Timestamp, Usage};
use serde_json::{Map, Value};

use super::words::Word;
use crate::codec::CodecError;

#[derive(Debug, Encode, Decode)]
pub(super) struct StoredEntity {
    name: String,
    kind: String,
}

#[derive(Debug, Encode, Decode)]
pub(super) struct StoredClaim {
    subject: String,
    attribute: String,
    value: String,
    single_valued: bool,
}

#[derive(Debug, Encode, Decode)]
pub(super) struct StoredSource {
    kind: u8,
    speaker: Option<String>,
    conversation_id: Option<String>,
    turns: Vec<String>,
}

#[derive(Debug, Encode, Decode)]
pub(super) struct StoredUsage {
    access_count: u32,
    last_accessed_at_ms: Option<i64>,
    used_count: u32,
    last_used_at_ms: Option<i64>,
    success_after_use: u32,
    failure_after_use: u32,
    verified_count: u32,
}

impl From<Entity> for StoredEntity {
    fn from(Entity { name, kind }: Entity) -> Self {
        StoredEntity { name, kind }
    }
}

impl From<StoredEntity> for Entity {
    fn from(StoredEntity { name, kind }: StoredEntity) -> Self {
        Entity { name, kind }
    }
}

impl From<Claim> for StoredClaim {
    fn from(Claim { subject, attribute, value, single_valued }: Claim) -> Self {
        StoredClaim { subject, attribute, value, single_valued }
    }
}

impl From<StoredClaim> for Claim {
    fn from(StoredClaim { subject, attribute, value, single_valued }: StoredClaim) -> Self {
        Claim { subject, attribute, value, single_valued }
    }
}

impl From<Source> for StoredSource {
    fn from(Source { kind, speaker, conversation_id, turns }: Source) -> Self {
        StoredSource { kind: kind.code(), speaker, conversation_id, turns }
    }
}

impl TryFrom<StoredSource> for Source {
    type Error = CodecError;

    fn try_from(
        StoredSource { kind, speaker, conversation_id, turns }: StoredSource,
    ) -> Result<Self, CodecError> {
        Ok(Source { kind: Word::from_code("source.kind", kind)?, speaker, conversation_id, turns })
    }
}

impl From<Usage> for StoredUsage {
    fn from(usage: Usage) -> Self {
        StoredUsage {
            access_count: usage.access_count,
            last_accessed_at_ms: usage.last_accessed_at.map(Timestamp::as_ms),
            used_count: usage.used_count,
            last_used_at_ms: usage.last_used_at.map(Timestamp::as_ms),
            success_after_use: usage.success_after_use,
            failure_after_use: usage.failure_after_use,
            verified_count: usage.verified_count,
        }
    }
}

impl TryFrom<StoredUsage> for Usage {
    type Error = CodecError;

    fn try_from(stored: StoredUsage) -> Result<Self, CodecError> {
        Ok(Usage {
            access_count: stored.access_count,
            last_accessed_at: time_if("last_accessed_at", stored.last_accessed_at_ms)?,
            used_count: stored.used_count,
            last_used_at: time_if("last_used_at", stored.last_used_at_ms)?,
            success_after_use: stored.success_after_use,
            failure_after_use: stored.failure_after_use,
            verified_count: stored.verified_count,
        })
    }
}

/// A point in time; every one that was stored was in range.
pub(super) fn time(field: &'static str, ms: i64) -> Result<Timestamp, CodecError> {
    Timestamp::checked_from_ms(ms).ok_or(CodecError::Time { field, found_ms: ms })
}

/// As [`time`], of one that may be absent.
pub(super) fn time_if(field: &'static str, ms: Option<i64>) -> Result<Option<Timestamp>, CodecError> {
    ms.map(|ms| time(field, ms)).transpose()
}

/// A JSON object as text; an empty one as no text.
pub(super) fn json_to_text(field: &'static str, object: &Map<String, Value>) -> Result<String, CodecError> {
    if object.is_empty() {
        Ok(String::new())
    } else {
        serde_json::to_string(object).map_err(CodecError::field(field))
    }
}

/// The JSON object of a text.
pub(super) fn json_from_text(field: &'static str, text: &str) -> Result<Map<String, Value>, CodecError> {
    if text.is_empty() {
        Ok(Map::new())
    } else {
        serde_json::from_str(text).map_err(CodecError::field(field))
    }
}

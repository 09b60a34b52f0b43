//! How a memory stands, on disk.

use bincode::{Decode, Encode};
use hindsight_core::change::Standing;
use hindsight_core::{MemoryId, Timestamp};

use super::{
    parts::{StoredUsage, time_if},
    words::Word,
};
use crate::codec::CodecError;

#[derive(Debug, Encode, Decode)]
pub(super) struct StoredStanding {
    state: u8,
    confidence: f32,
    valid_to_ms: Option<i64>,
    superseded_by: Option<u128>,
    usage: StoredUsage,
}

impl From<&Standing> for StoredStanding {
    fn from(standing: &Standing) -> Self {
        let Standing { state, confidence, valid_to, superseded_by, usage } = standing;
        StoredStanding {
            state: state.code(),
            confidence: *confidence,
            valid_to_ms: valid_to.map(Timestamp::as_ms),
            superseded_by: superseded_by.map(MemoryId::as_u128),
            usage: usage.clone().into(),
        }
    }
}

impl TryFrom<StoredStanding> for Standing {
    type Error = CodecError;

    fn try_from(stored: StoredStanding) -> Result<Self, CodecError> {
        Ok(Standing {
            state: Word::from_code("state", stored.state)?,
            confidence: stored.confidence,
            valid_to: time_if("valid_to", stored.valid_to_ms)?,
            superseded_by: stored.superseded_by.map(MemoryId::from_u128),
            usage: stored.usage.try_into()?,
        })
    }
}

//! The memory on disk.

use bincode::{Decode, Encode};
use hindsight_core::{Memory, MemoryId, State, Timestamp};

use super::{
    episode::{StoredEpisode, StoredRule},
    parts::{
        StoredClaim, StoredEntity, StoredSource, StoredUsage, json_from_text, json_to_text, time, time_if,
    },
    words::Word,
};
use crate::codec::CodecError;

#[derive(Debug, Encode, Decode)]
pub(super) struct StoredMemory {
    id: u128,
    namespace: String,
    kind: u8,
    content: String,
    summary: String,
    keywords: Vec<String>,
    content_type: String,
    uri: Option<String>,
    task_type: Option<String>,
    status: Option<u8>,
    entities: Vec<StoredEntity>,
    claims: Vec<StoredClaim>,
    tags: Vec<String>,
    metadata_json: String,
    episode: Option<Box<StoredEpisode>>,
    rule: Option<Box<StoredRule>>,
    source: StoredSource,
    session_id: Option<String>,
    agent_id: Option<String>,
    scope: u8,
    importance: f32,
    confidence: f32,
    occurred_at_ms: i64,
    created_at_ms: i64,
    updated_at_ms: i64,
    valid_from_ms: Option<i64>,
    valid_to_ms: Option<i64>,
    expires_at_ms: Option<i64>,
    superseded_by: Option<u128>,
    derived_from: Vec<u128>,
    state: u8,
    usage: StoredUsage,
    version: u64,
    embedding_model: Option<String>,
}

impl TryFrom<&Memory> for StoredMemory {
    type Error = CodecError;

    fn try_from(memory: &Memory) -> Result<Self, CodecError> {
        let state = state_code(memory);
        let m = memory.clone();
        Ok(StoredMemory {
            id: m.id.as_u128(),
            namespace: m.namespace.as_str().to_owned(),
            kind: m.kind.code(),
            content: m.content,
            summary: m.summary,
            keywords: m.keywords,
            content_type: m.content_type,
            uri: m.uri,
            task_type: m.task_type,
            status: m.status.map(|status| status.code()),
            entities: m.entities.into_iter().map(StoredEntity::from).collect(),
            claims: m.claims.into_iter().map(StoredClaim::from).collect(),
            tags: m.tags,
            metadata_json: json_to_text("metadata", &m.metadata)?,
            episode: m.episode.map(|episode| StoredEpisode::try_from(*episode).map(Box::new)).transpose()?,
            rule: m.rule.map(|rule| Box::new(StoredRule::from(*rule))),
            source: m.source.into(),
            session_id: m.session_id,
            agent_id: m.agent_id,
            scope: m.scope.code(),
            importance: m.importance,
            confidence: m.confidence,
            occurred_at_ms: m.occurred_at.as_ms(),
            created_at_ms: m.created_at.as_ms(),
            updated_at_ms: m.updated_at.as_ms(),
            valid_from_ms: m.valid_from.map(Timestamp::as_ms),
            valid_to_ms: m.valid_to.map(Timestamp::as_ms),
            expires_at_ms: m.expires_at.map(Timestamp::as_ms),
            superseded_by: m.superseded_by.map(MemoryId::as_u128),
            derived_from: m.derived_from.into_iter().map(MemoryId::as_u128).collect(),
            state,
            usage: m.usage.into(),
            version: m.version,
            embedding_model: m.embedding_model,
        })
    }
}

impl TryFrom<StoredMemory> for Memory {
    type Error = CodecError;

    fn try_from(m: StoredMemory) -> Result<Self, CodecError> {
        let (state, forgotten_from) = state_of(m.state)?;
        let memory = Memory {
            id: MemoryId::from_u128(m.id),
            namespace: m.namespace.parse().map_err(CodecError::field("memory.namespace"))?,
            kind: Word::from_code("kind", m.kind)?,
            content: m.content,
            summary: m.summary,
            keywords: m.keywords,
            content_type: m.content_type,
            uri: m.uri,
            task_type: m.task_type,
            status: m.status.map(|code| Word::from_code("status", code)).transpose()?,
            entities: m.entities.into_iter().map(Into::into).collect(),
            claims: m.claims.into_iter().map(Into::into).collect(),
            tags: m.tags,
            metadata: json_from_text("metadata", &m.metadata_json)?,
            episode: m.episode.map(|episode| (*episode).try_into().map(Box::new)).transpose()?,
            rule: m.rule.map(|rule| (*rule).try_into().map(Box::new)).transpose()?,
            source: m.source.try_into()?,
            session_id: m.session_id,
            agent_id: m.agent_id,
            scope: Word::from_code("scope", m.scope)?,
            importance: m.importance,
            confidence: m.confidence,
            occurred_at: time("occurred_at", m.occurred_at_ms)?,
            created_at: time("created_at", m.created_at_ms)?,
            updated_at: time("updated_at", m.updated_at_ms)?,
            valid_from: time_if("valid_from", m.valid_from_ms)?,
            valid_to: time_if("valid_to", m.valid_to_ms)?,
            expires_at: time_if("expires_at", m.expires_at_ms)?,
            superseded_by: m.superseded_by.map(MemoryId::from_u128),
            derived_from: m.derived_from.into_iter().map(MemoryId::from_u128).collect(),
            state,
            forgotten_from,
            usage: m.usage.try_into()?,
            version: m.version,
            embedding_model: m.embedding_model,
        };
        let likely = || memory.likely_forgotten_from();
        let forgotten_from = (state == State::Forgotten).then(|| forgotten_from.unwrap_or_else(likely));
        Ok(Memory { forgotten_from, ..memory })
    }
}

/// What is forgotten has, where its other fields do not tell where it was before, the number of that state and this.
const FORGOTTEN_FROM: u8 = 10;

/// Whether its state takes a number that came with schema 4.
pub(crate) fn remembers_where_it_was(memory: &Memory) -> bool {
    memory.state == State::Forgotten
        && memory.forgotten_from.is_some_and(|from| from != memory.likely_forgotten_from())
}

fn state_code(memory: &Memory) -> u8 {
    match memory.forgotten_from.filter(|_| remembers_where_it_was(memory)) {
        Some(from) => FORGOTTEN_FROM + from.code(),
        None => memory.state.code(),
    }
}

fn state_of(code: u8) -> Result<(State, Option<State>), CodecError> {
    match code.checked_sub(FORGOTTEN_FROM) {
        None => Ok((Word::from_code("state", code)?, None)),
        Some(from) => match Word::from_code("state", from) {
            Ok(from) if from != State::Forgotten => Ok((State::Forgotten, Some(from))),
            _ => Err(CodecError::Word { field: "state", found: code }),
        },
    }
}

//! The memory as it is stored: from the server to the client.

use hindsight_core::{Claim, Entity, Episode, Invalid, Memory, Rule, Source, Usage};

use crate::words::{self, Word};
use crate::{struct_json, text, time, v1};

impl From<Memory> for v1::Memory {
    fn from(memory: Memory) -> v1::Memory {
        v1::Memory {
            id: memory.id.to_string(),
            namespace: memory.namespace.to_string(),
            kind: memory.kind.number(),
            content: memory.content,
            summary: memory.summary,
            keywords: memory.keywords,
            content_type: memory.content_type,
            uri: text::or_empty(memory.uri),
            task_type: text::or_empty(memory.task_type),
            status: words::number(memory.status),
            entities: memory.entities.into_iter().map(Into::into).collect(),
            claims: memory.claims.into_iter().map(Into::into).collect(),
            tags: memory.tags,
            metadata: struct_json::to_wire(memory.metadata),
            episode: memory.episode.map(|episode| (*episode).into()),
            rule: memory.rule.map(|rule| (*rule).into()),
            source: Some(memory.source.into()),
            session_id: text::or_empty(memory.session_id),
            agent_id: text::or_empty(memory.agent_id),
            scope: memory.scope.number(),
            importance: Some(memory.importance),
            confidence: Some(memory.confidence),
            occurred_at: Some(time::to_wire(memory.occurred_at)),
            created_at: Some(time::to_wire(memory.created_at)),
            updated_at: Some(time::to_wire(memory.updated_at)),
            valid_from: memory.valid_from.map(time::to_wire),
            valid_to: memory.valid_to.map(time::to_wire),
            expires_at: memory.expires_at.map(time::to_wire),
            superseded_by: memory.superseded_by.map(|id| id.to_string()).unwrap_or_default(),
            derived_from: memory.derived_from.iter().map(ToString::to_string).collect(),
            state: memory.state.number(),
            usage: (memory.usage != Usage::default()).then(|| memory.usage.into()),
            version: memory.version,
            embedding_model: text::or_empty(memory.embedding_model),
        }
    }
}

impl TryFrom<v1::Memory> for Memory {
    type Error = Invalid;

    /// Reads a memory that a server sent. The first field that is wrong ends it: a server that sends one is broken
    /// or newer, and no user can correct it.
    fn try_from(wire: v1::Memory) -> Result<Memory, Invalid> {
        let derived_from = wire.derived_from.iter().enumerate();
        Ok(Memory {
            id: text::parsed("id", &wire.id)?,
            namespace: text::parsed("namespace", &wire.namespace)?,
            kind: words::required("kind", wire.kind)?,
            content: wire.content,
            summary: wire.summary,
            keywords: wire.keywords,
            content_type: text::optional(wire.content_type).unwrap_or_else(|| "text/plain".to_owned()),
            uri: text::optional(wire.uri),
            task_type: text::optional(wire.task_type),
            status: words::optional("status", wire.status)?,
            entities: wire.entities.into_iter().map(Into::into).collect(),
            claims: wire.claims.into_iter().map(Into::into).collect(),
            tags: wire.tags,
            metadata: struct_json::from_wire("metadata", wire.metadata)?,
            episode: boxed("episode.", wire.episode, Episode::try_from)?,
            rule: boxed("rule.", wire.rule, Rule::try_from)?,
            source: wire.source.ok_or_else(|| text::missing("source"))?.try_into()?,
            session_id: text::optional(wire.session_id),
            agent_id: text::optional(wire.agent_id),
            scope: words::required("scope", wire.scope)?,
            importance: wire.importance.ok_or_else(|| text::missing("importance"))?,
            confidence: wire.confidence.ok_or_else(|| text::missing("confidence"))?,
            occurred_at: time::required("occurred_at", wire.occurred_at.as_ref())?,
            created_at: time::required("created_at", wire.created_at.as_ref())?,
            updated_at: time::required("updated_at", wire.updated_at.as_ref())?,
            valid_from: time::optional("valid_from", wire.valid_from.as_ref())?,
            valid_to: time::optional("valid_to", wire.valid_to.as_ref())?,
            expires_at: time::optional("expires_at", wire.expires_at.as_ref())?,
            superseded_by: text::parsed_optional("superseded_by", &wire.superseded_by)?,
            derived_from: derived_from
                .map(|(index, id)| text::parsed(&format!("derived_from[{index}]"), id))
                .collect::<Result<_, Invalid>>()?,
            state: words::required("state", wire.state)?,
            forgotten_from: None,
            usage: wire.usage.map(Usage::try_from).transpose()?.unwrap_or_default(),
            version: wire.version,
            embedding_model: text::optional(wire.embedding_model),
        })
    }
}

/// A part of a memory that stands on the heap; its violations get `prefix`.
fn boxed<W, T>(
    prefix: &str,
    part: Option<W>,
    read: impl FnOnce(W) -> Result<T, Invalid>,
) -> Result<Option<Box<T>>, Invalid> {
    part.map(|part| read(part).map(Box::new).map_err(|invalid| invalid.under(prefix))).transpose()
}

impl From<Entity> for v1::Entity {
    fn from(entity: Entity) -> v1::Entity {
        v1::Entity { name: entity.name, r#type: entity.kind }
    }
}

impl From<v1::Entity> for Entity {
    fn from(wire: v1::Entity) -> Entity {
        Entity { name: wire.name, kind: wire.r#type }
    }
}

impl From<Claim> for v1::Claim {
    fn from(claim: Claim) -> v1::Claim {
        let Claim { subject, attribute, value, single_valued } = claim;
        v1::Claim { subject, attribute, value, single_valued }
    }
}

impl From<v1::Claim> for Claim {
    fn from(wire: v1::Claim) -> Claim {
        let v1::Claim { subject, attribute, value, single_valued } = wire;
        Claim { subject, attribute, value, single_valued }
    }
}

impl From<Source> for v1::Source {
    fn from(source: Source) -> v1::Source {
        v1::Source {
            kind: source.kind.number(),
            conversation_id: text::or_empty(source.conversation_id),
            turns: source.turns,
            speaker: text::or_empty(source.speaker),
        }
    }
}

impl TryFrom<v1::Source> for Source {
    type Error = Invalid;

    fn try_from(wire: v1::Source) -> Result<Source, Invalid> {
        Ok(Source {
            kind: words::required("source.kind", wire.kind)?,
            speaker: text::optional(wire.speaker),
            conversation_id: text::optional(wire.conversation_id),
            turns: wire.turns,
        })
    }
}

impl From<Usage> for v1::Usage {
    fn from(usage: Usage) -> v1::Usage {
        v1::Usage {
            access_count: usage.access_count,
            last_accessed_at: usage.last_accessed_at.map(time::to_wire),
            used_count: usage.used_count,
            last_used_at: usage.last_used_at.map(time::to_wire),
            success_after_use: usage.success_after_use,
            failure_after_use: usage.failure_after_use,
            verified_count: usage.verified_count,
        }
    }
}

impl TryFrom<v1::Usage> for Usage {
    type Error = Invalid;

    fn try_from(wire: v1::Usage) -> Result<Usage, Invalid> {
        Ok(Usage {
            access_count: wire.access_count,
            last_accessed_at: time::optional("usage.last_accessed_at", wire.last_accessed_at.as_ref())?,
            used_count: wire.used_count,
            last_used_at: time::optional("usage.last_used_at", wire.last_used_at.as_ref())?,
            success_after_use: wire.success_after_use,
            failure_after_use: wire.failure_after_use,
            verified_count: wire.verified_count,
        })
    }
}

//! The memory as a caller sends it: a draft. The fields that only the database sets must be absent.

use hindsight_core::draft::{EpisodeDraft, RuleDraft, SourceDraft};
use hindsight_core::{Draft, Invalid};

use crate::gather::Gather;
use crate::{episode, struct_json, text, time, v1, words};

impl From<Draft> for v1::Memory {
    fn from(draft: Draft) -> v1::Memory {
        v1::Memory {
            id: text::or_empty(draft.id),
            kind: words::number(draft.kind),
            content: draft.content,
            summary: draft.summary,
            keywords: draft.keywords,
            content_type: text::or_empty(draft.content_type),
            uri: text::or_empty(draft.uri),
            task_type: text::or_empty(draft.task_type),
            status: words::number(draft.status),
            entities: draft.entities.into_iter().map(Into::into).collect(),
            claims: draft.claims.into_iter().map(Into::into).collect(),
            tags: draft.tags,
            metadata: struct_json::to_wire(draft.metadata),
            episode: draft.episode.map(Into::into),
            rule: draft.rule.map(Into::into),
            source: draft.source.map(Into::into),
            session_id: text::or_empty(draft.session_id),
            agent_id: text::or_empty(draft.agent_id),
            scope: words::number(draft.scope),
            importance: draft.importance,
            confidence: draft.confidence,
            occurred_at: draft.occurred_at.map(time::to_wire),
            valid_from: draft.valid_from.map(time::to_wire),
            valid_to: draft.valid_to.map(time::to_wire),
            expires_at: draft.expires_at.map(time::to_wire),
            derived_from: draft.derived_from,
            ..v1::Memory::default()
        }
    }
}

/// Reads the memory of a write to `namespace`.
///
/// # Errors
/// Every field that can't be read, that only the database sets, or that names another namespace.
pub fn from_wire(wire: v1::Memory, namespace: &str) -> Result<Draft, Invalid> {
    let mut gather = Gather::default();
    refuse_set_by_database(&wire, &mut gather);
    gather.unless(
        wire.namespace.is_empty() || wire.namespace == namespace,
        "namespace",
        "of the memory is not that of the request: leave it out",
    );
    let draft = Draft {
        id: text::optional(wire.id),
        kind: gather.keep(words::optional("kind", wire.kind)),
        content: wire.content,
        summary: wire.summary,
        keywords: wire.keywords,
        content_type: text::optional(wire.content_type),
        uri: text::optional(wire.uri),
        task_type: text::optional(wire.task_type),
        status: gather.keep(words::optional("status", wire.status)),
        entities: wire.entities.into_iter().map(Into::into).collect(),
        claims: wire.claims.into_iter().map(Into::into).collect(),
        tags: wire.tags,
        metadata: gather.keep(struct_json::from_wire("metadata", wire.metadata)),
        episode: gather.keep(part("episode.", wire.episode.map(EpisodeDraft::try_from))),
        rule: gather.keep(part("rule.", wire.rule.map(RuleDraft::try_from))),
        source: gather.keep(part("source.", wire.source.map(SourceDraft::try_from))),
        session_id: text::optional(wire.session_id),
        agent_id: text::optional(wire.agent_id),
        scope: gather.keep(words::optional("scope", wire.scope)),
        importance: wire.importance,
        confidence: wire.confidence,
        occurred_at: gather.keep(time::optional("occurred_at", wire.occurred_at.as_ref())),
        valid_from: gather.keep(time::optional("valid_from", wire.valid_from.as_ref())),
        valid_to: gather.keep(time::optional("valid_to", wire.valid_to.as_ref())),
        expires_at: gather.keep(time::optional("expires_at", wire.expires_at.as_ref())),
        derived_from: wire.derived_from,
    };
    gather.finish().map(|()| draft)
}

/// Checks that the numbers of a draft keep all their digits on the wire.
///
/// # Errors
/// The path of the first that does not.
pub fn check_exact(draft: &Draft) -> Result<(), Invalid> {
    struct_json::check_exact("metadata", &draft.metadata)?;
    draft.episode.as_ref().map_or(Ok(()), |part| episode::check_exact("episode.", &part.actions))
}

fn refuse_set_by_database(wire: &v1::Memory, gather: &mut Gather) {
    for (field, is_set) in [
        ("created_at", wire.created_at.is_some()),
        ("updated_at", wire.updated_at.is_some()),
        ("superseded_by", !wire.superseded_by.is_empty()),
        ("state", wire.state != 0),
        ("usage", wire.usage.is_some()),
        ("version", wire.version != 0),
        ("embedding_model", !wire.embedding_model.is_empty()),
    ] {
        gather.unless(!is_set, field, "is set by the database: leave it out");
    }
}

fn part<T>(prefix: &str, part: Option<Result<T, Invalid>>) -> Result<Option<T>, Invalid> {
    part.transpose().map_err(|invalid| invalid.under(prefix))
}

impl From<SourceDraft> for v1::Source {
    fn from(draft: SourceDraft) -> v1::Source {
        v1::Source {
            kind: words::number(draft.kind),
            conversation_id: text::or_empty(draft.conversation_id),
            turns: draft.turns,
            speaker: text::or_empty(draft.speaker),
        }
    }
}

impl TryFrom<v1::Source> for SourceDraft {
    type Error = Invalid;

    fn try_from(wire: v1::Source) -> Result<SourceDraft, Invalid> {
        Ok(SourceDraft {
            kind: words::optional("kind", wire.kind)?,
            speaker: text::optional(wire.speaker),
            conversation_id: text::optional(wire.conversation_id),
            turns: wire.turns,
        })
    }
}

//! Recording a finished task.

use hindsight_core::draft::RecordDraft;
use hindsight_core::{Invalid, Namespace, OnDuplicate, RawVectors};

use crate::gather::Gather;
use crate::{episode, struct_json, text, time, v1, vectors, words};

/// A request to store a finished task as an episode.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordCall {
    /// Where it goes.
    pub namespace: Namespace,
    /// The task.
    pub record: RecordDraft,
    /// Vectors that the client made, unchecked; without them the server embeds the texts.
    pub vectors: Option<RawVectors>,
    /// Check and answer, but store nothing.
    pub validate_only: bool,
    /// What happens when the same is known already.
    pub on_duplicate: Option<OnDuplicate>,
    /// Store it though what it says was forgotten or purged.
    pub allow_forgotten: bool,
    /// The caller's own id of the request.
    pub request_id: Option<String>,
}

impl RecordCall {
    /// Reads a request.
    ///
    /// # Errors
    /// Every field that can't be read.
    pub fn from_wire(mut wire: v1::RecordRequest) -> Result<RecordCall, Invalid> {
        let mut gather = Gather::default();
        let (raw, model) = (std::mem::take(&mut wire.vectors), std::mem::take(&mut wire.embedding_model));
        let vectors = gather.keep(vectors::from_wire(raw, model));
        let request_id = gather.keep(super::request_id(std::mem::take(&mut wire.request_id)));
        let on_duplicate = gather.keep(words::optional("on_duplicate", wire.on_duplicate));
        let namespace = gather.keep_some(super::namespace(&wire.namespace));
        let (validate_only, allow_forgotten) = (wire.validate_only, wire.allow_forgotten);
        let record = gather.keep(record_from_wire(wire));
        super::finish(gather, namespace, |namespace| RecordCall {
            namespace,
            record,
            vectors,
            validate_only,
            on_duplicate,
            allow_forgotten,
            request_id,
        })
    }

    /// The request for the wire.
    ///
    /// # Errors
    /// When a number would lose digits there.
    pub fn into_wire(self) -> Result<v1::RecordRequest, Invalid> {
        let record = self.record;
        struct_json::check_exact("metadata", &record.metadata)?;
        episode::check_exact("", &record.actions)?;
        let (vectors, embedding_model) = vectors::to_wire(self.vectors);
        Ok(v1::RecordRequest {
            namespace: self.namespace.to_string(),
            task_type: record.task_type,
            status: words::number(record.status),
            summary: record.summary,
            content: record.content,
            actions: episode::actions_to_wire(record.actions),
            root_cause: text::or_empty(record.root_cause),
            resolution: text::or_empty(record.resolution),
            transient: record.transient,
            started_at: record.started_at.map(time::to_wire),
            ended_at: record.ended_at.map(time::to_wire),
            occurred_at: record.occurred_at.map(time::to_wire),
            entities: record.entities.into_iter().map(Into::into).collect(),
            claims: record.claims.into_iter().map(Into::into).collect(),
            keywords: record.keywords,
            tags: record.tags,
            metadata: struct_json::to_wire(record.metadata),
            source: record.source.map(Into::into),
            session_id: text::or_empty(record.session_id),
            agent_id: text::or_empty(record.agent_id),
            scope: words::number(record.scope),
            importance: record.importance,
            confidence: record.confidence,
            expires_at: record.expires_at.map(time::to_wire),
            vectors,
            embedding_model,
            validate_only: self.validate_only,
            on_duplicate: words::number(self.on_duplicate),
            allow_forgotten: self.allow_forgotten,
            request_id: text::or_empty(self.request_id),
        })
    }
}

fn record_from_wire(wire: v1::RecordRequest) -> Result<RecordDraft, Invalid> {
    let mut gather = Gather::default();
    let source = wire.source.map(|source| source.try_into().map_err(|bad: Invalid| bad.under("source.")));
    let record = RecordDraft {
        task_type: wire.task_type,
        status: gather.keep(words::optional("status", wire.status)),
        summary: wire.summary,
        content: wire.content,
        actions: gather.keep(episode::actions_from_wire(wire.actions)),
        root_cause: text::optional(wire.root_cause),
        resolution: text::optional(wire.resolution),
        transient: wire.transient,
        started_at: gather.keep(time::optional("started_at", wire.started_at.as_ref())),
        ended_at: gather.keep(time::optional("ended_at", wire.ended_at.as_ref())),
        occurred_at: gather.keep(time::optional("occurred_at", wire.occurred_at.as_ref())),
        entities: wire.entities.into_iter().map(Into::into).collect(),
        claims: wire.claims.into_iter().map(Into::into).collect(),
        keywords: wire.keywords,
        tags: wire.tags,
        metadata: gather.keep(struct_json::from_wire("metadata", wire.metadata)),
        source: gather.keep(source.transpose()),
        session_id: text::optional(wire.session_id),
        agent_id: text::optional(wire.agent_id),
        scope: gather.keep(words::optional("scope", wire.scope)),
        importance: wire.importance,
        confidence: wire.confidence,
        expires_at: gather.keep(time::optional("expires_at", wire.expires_at.as_ref())),
    };
    gather.finish().map(|()| record)
}

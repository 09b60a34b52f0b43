//! What is in a batch, in a line.

use hindsight_core::change::Standing;
use hindsight_core::{Change, Purged, Record};
use serde_json::{Value, json};

use super::InspectLine;
use crate::codec;

/// Puts into a line what the batch says whose payload this is. A payload that does not decode makes it unsound.
pub(crate) fn describe_batch(line: &mut InspectLine, payload: &[u8], with_content: bool) {
    let batch = match codec::decode_batch(payload) {
        Ok(batch) => batch,
        Err(error) => {
            line.is_sound = false;
            line.note = error.to_string();
            return;
        }
    };
    let mut parts = Vec::new();
    for what in [PUT, SET_STATE, STAND, ACCESS, DROP, PURGE, SETTINGS] {
        let count = batch.changes.iter().filter(|change| word(change) == what).count();
        if count > 0 {
            parts.push(format!("{count} {what}"));
        }
    }
    if batch.request.is_some() {
        parts.push("with a request id".to_owned());
    }
    parts.push(format!("at {}", batch.at));
    line.note = parts.join(", ");
    line.namespace = Some(batch.namespace.as_str().to_owned());
    line.ids = batch.changes.iter().filter_map(Change::id).map(|id| id.to_string()).collect();
    if with_content {
        line.content = Some(batch.changes.iter().map(change_content).collect());
    }
}

const PUT: &str = "put";
const SET_STATE: &str = "set state";
const STAND: &str = "stand";
const ACCESS: &str = "access";
const DROP: &str = "drop of the namespace";
const PURGE: &str = "purge";
const SETTINGS: &str = "set settings";

fn word(change: &Change) -> &'static str {
    match change {
        Change::Put(_) => PUT,
        Change::SetState { .. } => SET_STATE,
        Change::Stand { .. } => STAND,
        Change::Access { .. } => ACCESS,
        Change::DropNamespace => DROP,
        Change::Purge(_) => PURGE,
        Change::Settings(_) => SETTINGS,
    }
}

fn change_content(change: &Change) -> Value {
    match change {
        Change::Put(record) => json!({ "put": record_content(record) }),
        Change::SetState { state, version, .. } => json!({ "set_state": state, "version": version }),
        Change::Stand { standing, version, .. } => {
            let Standing { state, confidence, valid_to, superseded_by, usage } = standing.as_ref();
            let stands = json!({ "state": state, "confidence": confidence, "valid_to": valid_to,
                "superseded_by": superseded_by, "usage": usage });
            json!({ "stand": stands, "version": version })
        }
        Change::Access { count, at, .. } => json!({ "accessed": count, "at": at }),
        Change::DropNamespace => json!({ "drop_namespace": true }),
        Change::Purge(purge) => {
            let is_whole = matches!(purge.target, Purged::Namespace(_));
            json!({ "purge": { "memories": purge.memories, "whole_namespace": is_whole } })
        }
        Change::Settings(settings) => json!({ "settings": settings }),
    }
}

/// A memory, with the dimensions of its vectors in place of their numbers.
pub(crate) fn record_content(record: &Record) -> Value {
    let vectors = record.vectors.iter().map(|vector| vector.embedding.dimension());
    json!({ "memory": record.memory, "vector_dimensions": vectors.collect::<Vec<_>>() })
}

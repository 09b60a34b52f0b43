//! The fields of a memory that `write` and `record` take as flags. A flag wins over the same field in `--json`.

use clap::Args;
use hindsight_core::draft::{RecordDraft, SourceDraft};
use hindsight_core::{Draft, Entity, Scope, SourceKind, Timestamp};
use serde_json::{Map, Value};

/// Fields of a memory.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Fields of the memory")]
pub(crate) struct FieldFlags {
    /// A short form of the text
    #[arg(long, value_name = "TEXT")]
    pub(crate) summary: Option<String>,
    /// A label; may be repeated
    #[arg(long = "tag", value_name = "TAG")]
    pub(crate) tags: Vec<String>,
    /// A word to find it by; may be repeated
    #[arg(long = "keyword", value_name = "WORD")]
    pub(crate) keywords: Vec<String>,
    /// A person, place, product, tool or code that it is about; may be repeated
    #[arg(long = "entity", value_name = "NAME")]
    pub(crate) entities: Vec<String>,
    /// A field of your own; the value is JSON where it reads as JSON; may be repeated
    #[arg(long = "meta", value_name = "KEY=VALUE", value_parser = key_value)]
    pub(crate) metadata: Vec<(String, Value)>,
    /// How much it matters, 0 to 1 [default: by rule]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub(crate) importance: Option<f32>,
    /// How sure it is, 0 to 1 [default: from its outcome and source]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub(crate) confidence: Option<f32>,
    /// When it happened [default: now]
    #[arg(long, value_name = "TIME")]
    pub(crate) occurred_at: Option<Timestamp>,
    /// When it leaves recall
    #[arg(long, value_name = "TIME")]
    pub(crate) expires_at: Option<Timestamp>,
    /// Where it comes from: admin, agent_verified, tool, agent, user_input, external
    #[arg(long, value_name = "GRADE")]
    pub(crate) source: Option<SourceKind>,
    /// Who said it
    #[arg(long, value_name = "NAME")]
    pub(crate) speaker: Option<String>,
    /// The conversation it was said in
    #[arg(long, value_name = "ID")]
    pub(crate) conversation: Option<String>,
    /// The session it belongs to
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// The agent that writes it
    #[arg(long, value_name = "ID")]
    pub(crate) agent: Option<String>,
    /// Who may see it: shared, agent
    #[arg(long, value_name = "SCOPE")]
    pub(crate) scope: Option<Scope>,
}

/// Puts the flags that were given over the fields of a draft; both kinds of draft name them alike.
macro_rules! put_over {
    ($flags:ident, $draft:ident) => {
        if !$flags.tags.is_empty() {
            $draft.tags = $flags.tags;
        }
        if !$flags.keywords.is_empty() {
            $draft.keywords = $flags.keywords;
        }
        if !$flags.entities.is_empty() {
            $draft.entities = $flags.entities.into_iter().map(entity).collect();
        }
        if let Some(summary) = $flags.summary {
            $draft.summary = summary;
        }
        put_metadata(&mut $draft.metadata, $flags.metadata);
        put_source(&mut $draft.source, $flags.source, $flags.speaker, $flags.conversation);
        $draft.importance = $flags.importance.or($draft.importance);
        $draft.confidence = $flags.confidence.or($draft.confidence);
        $draft.occurred_at = $flags.occurred_at.or($draft.occurred_at);
        $draft.expires_at = $flags.expires_at.or($draft.expires_at);
        $draft.session_id = $flags.session.or($draft.session_id.take());
        $draft.agent_id = $flags.agent.or($draft.agent_id.take());
        $draft.scope = $flags.scope.or($draft.scope);
    };
}

impl FieldFlags {
    /// Puts what was given over a draft.
    pub(crate) fn put_over_draft(self, draft: &mut Draft) {
        put_over!(self, draft);
    }

    /// Puts what was given over the draft of a record.
    pub(crate) fn put_over_record(self, draft: &mut RecordDraft) {
        put_over!(self, draft);
    }
}

/// An entity of a type that is not known.
pub(crate) fn entity(name: String) -> Entity {
    Entity { name, kind: String::new() }
}

/// Reads `KEY=VALUE`; a value that is not JSON is a text.
pub(crate) fn key_value(text: &str) -> Result<(String, Value), BadPair> {
    let (key, value) = text.split_once('=').filter(|(key, _)| !key.trim().is_empty()).ok_or(BadPair)?;
    let value = serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.to_owned()));
    Ok((key.trim().to_owned(), value))
}

/// A text that is not a key and a value.
#[derive(Debug, thiserror::Error)]
#[error("expected KEY=VALUE, such as ticket=4711")]
pub(crate) struct BadPair;

pub(crate) fn put_metadata(metadata: &mut Map<String, Value>, pairs: Vec<(String, Value)>) {
    metadata.extend(pairs);
}

fn put_source(
    source: &mut Option<SourceDraft>,
    kind: Option<SourceKind>,
    speaker: Option<String>,
    conversation: Option<String>,
) {
    if kind.is_none() && speaker.is_none() && conversation.is_none() {
        return;
    }
    let source = source.get_or_insert_default();
    source.kind = kind.or(source.kind);
    source.speaker = speaker.or(source.speaker.take());
    source.conversation_id = conversation.or(source.conversation_id.take());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_wins_and_what_is_not_given_stays() {
        let mut draft: Draft = serde_json::from_str(
            r#"{"content":"a","tags":["old"],"importance":0.2,"source":{"speaker":"Mel"},"metadata":{"x":1}}"#,
        )
        .unwrap();
        let flags = FieldFlags {
            tags: vec!["new".to_owned()],
            source: Some(SourceKind::Tool),
            metadata: vec![key_value("n=2").unwrap(), key_value("word=two words").unwrap()],
            ..FieldFlags::default()
        };
        flags.put_over_draft(&mut draft);
        assert_eq!(draft.tags, ["new"]);
        assert_eq!(draft.importance, Some(0.2));
        let source = draft.source.unwrap();
        assert_eq!((source.kind, source.speaker.as_deref()), (Some(SourceKind::Tool), Some("Mel")));
        assert_eq!(Value::Object(draft.metadata), serde_json::json!({"x": 1, "n": 2, "word": "two words"}));
    }

    #[test]
    fn a_pair_needs_a_key() {
        assert!(key_value("novalue").is_err());
        assert!(key_value("=1").is_err());
        assert_eq!(key_value("a==b").unwrap(), ("a".to_owned(), Value::from("=b")));
    }
}

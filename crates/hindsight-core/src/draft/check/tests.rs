use super::*;
use crate::{Claim, Entity};

fn fields(draft: Draft) -> Vec<String> {
    draft.check().unwrap_err().violations.into_iter().map(|violation| violation.field).collect()
}

fn moment() -> Moment {
    Moment {
        namespace: "ops".parse().unwrap(),
        id: MemoryId::new(Timestamp::from_ms(1_000), 7),
        now: Timestamp::from_ms(1_000),
        embedding_model: None,
    }
}

fn fact(content: &str) -> Draft {
    Draft { content: content.to_owned(), ..Draft::default() }
}

#[test]
fn m3_defaults_are_filled_in() {
    let memory = fact("Deploys go through Argo CD").check().unwrap().into_memory(moment());
    assert_eq!((memory.kind, memory.state, memory.scope), (Kind::Fact, State::Active, Scope::Shared));
    assert_eq!((memory.importance, memory.confidence, memory.version), (0.2, 0.9, 1));
    assert_eq!(memory.occurred_at, Timestamp::from_ms(1_000));
    assert_eq!(memory.content_type, "text/plain");
}

#[test]
fn every_bad_field_is_named_at_once() {
    let draft = Draft {
        id: Some("nonsense".to_owned()),
        content: " \n".to_owned(),
        importance: Some(1.5),
        confidence: Some(f32::NAN),
        tags: vec![String::new()],
        entities: vec![Entity { name: " ".to_owned(), kind: String::new() }],
        claims: vec![Claim {
            subject: String::new(),
            attribute: "a".to_owned(),
            value: "v".to_owned(),
            single_valued: false,
        }],
        scope: Some(Scope::Agent),
        ..Draft::default()
    };
    assert_eq!(
        fields(draft),
        [
            "id",
            "content",
            "agent_id",
            "tags[0]",
            "entities[0].name",
            "claims[0].subject",
            "importance",
            "confidence"
        ]
    );
}

#[test]
fn an_episode_says_how_it_ended_and_a_rule_what_to_do() {
    assert_eq!(fields(Draft { kind: Some(Kind::Episode), ..fact("x") }), ["status"]);
    assert_eq!(fields(Draft { kind: Some(Kind::Rule), ..fact("x") }), ["rule"]);
    assert_eq!(
        fields(Draft { rule: Some(RuleDraft::default()), ..fact("x") }),
        ["rule", "rule.polarity", "rule.advice"]
    );
    assert_eq!(fields(Draft { episode: Some(EpisodeDraft::default()), ..fact("x") }), ["episode"]);
}

#[test]
fn limits_hold_at_their_edge() {
    assert!(fact(&"忆".repeat(CONTENT_CHARS_MAX)).check().is_ok());
    assert_eq!(fields(fact(&"忆".repeat(CONTENT_CHARS_MAX + 1))), ["content"]);
    let mut deep = Value::Null;
    for _ in 0..JSON_DEPTH_MAX {
        deep = Value::Array(vec![deep]);
    }
    let with = |value: Value| Draft { metadata: Map::from_iter([("k".to_owned(), value)]), ..fact("x") };
    assert_eq!(fields(with(deep.clone())), ["metadata"]);
    assert!(with(deep[0].clone()).check().is_ok());
    assert_eq!(fields(with(Value::String("x".repeat(METADATA_BYTES_MAX)))), ["metadata"]);
    assert_eq!(fields(fact("a\0b")), ["content"]);
}

#[test]
fn m4_a_recorded_failure_has_the_seeds_importance_and_confidence() {
    let record: crate::draft::RecordDraft = serde_json::from_value(serde_json::json!({
        "task_type": "order_processing", "status": "failure", "summary": "Updating an order",
        "actions": [{"step": 1, "tool": "query_order", "params": {}, "result": "success"},
                    {"step": 2, "tool": "update_status", "error_code": "permission_denied"}],
        "root_cause": "api_token_expired", "resolution": "refresh_token_then_retry", "tags": ["order", "token"]
    }))
    .unwrap();
    let memory = record.into_draft().unwrap().check().unwrap().into_memory(moment());
    assert_eq!((memory.importance, memory.confidence), (0.8, 0.5));
    assert!(!memory.is_transient_failure());
    assert_eq!(
        memory.content,
        "Updating an order\nSteps: query_order: success; update_status failed with permission_denied\n\
         Root cause: api_token_expired\nResolution: refresh_token_then_retry"
    );
}

#[test]
fn a_draft_of_a_memory_makes_it_again() {
    let memory = fact("x").check().unwrap().into_memory(moment());
    let mut again = moment();
    again.id = MemoryId::new(Timestamp::from_ms(9), 9);
    assert_eq!(Draft::from(&memory).check().unwrap().into_memory(again), memory);
}

#[test]
fn w9_a_patch_changes_what_it_names_and_nothing_else() {
    let memory = fact("x").check().unwrap().into_memory(moment());
    let patch: crate::Patch =
        serde_json::from_str(r#"{"content":"y","valid_to":"2026-01-01T00:00:00Z"}"#).unwrap();
    let changed = patch.apply(&memory, Timestamp::from_ms(5_000)).unwrap();
    assert_eq!((changed.content.as_str(), changed.version), ("y", 2));
    assert_eq!(changed.updated_at, Timestamp::from_ms(5_000));
    let cleared: crate::Patch = serde_json::from_str(r#"{"valid_to":null}"#).unwrap();
    let cleared = cleared.apply(&changed, Timestamp::from_ms(6_000)).unwrap();
    assert_eq!(
        (cleared.valid_to, cleared.content.as_str(), cleared.created_at),
        (None, "y", memory.created_at)
    );
    let wrong = crate::Patch { root_cause: Some(None), ..crate::Patch::default() };
    assert!(wrong.apply(&memory, Timestamp::from_ms(1)).is_err());
}

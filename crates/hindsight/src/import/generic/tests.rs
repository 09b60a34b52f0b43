use hindsight_core::Status;
use serde_json::json;

use super::*;

fn defaults() -> Defaults {
    Defaults::default()
}

fn read(value: Value) -> Result<Entry, Invalid> {
    let Value::Object(object) = value else { panic!("a test line is an object") };
    entry(object, &defaults())
}

#[test]
fn a_dialogue_turn_keeps_who_said_it_when_and_where() {
    let entry = read(json!({
        "id": "conv-1/D1:3", "namespace": "conv-1", "text": "昨天我去了互助小组，很受鼓舞。",
        "timestamp": "2023-05-08T13:57:00Z", "speaker": "小林", "session": 1,
        "entities": ["小林", "互助小组"], "place": "上海", "mood": {"joy": 0.9}
    }))
    .unwrap();
    let draft = entry.draft;
    assert_eq!(entry.namespace.as_str(), "conv-1");
    assert_eq!(draft.content, "昨天我去了互助小组，很受鼓舞。");
    assert_eq!(draft.kind, Some(Kind::Fact));
    assert_eq!(draft.occurred_at.unwrap().to_string(), "2023-05-08T13:57:00Z");
    assert_eq!(draft.session_id.as_deref(), Some("conv-1/1"));
    let source = draft.source.clone().unwrap();
    assert_eq!((source.speaker.as_deref(), source.kind), (Some("小林"), Some(SourceKind::UserInput)));
    assert_eq!(draft.entities.iter().map(|e| e.name.as_str()).collect::<Vec<_>>(), ["小林", "互助小组"]);
    assert_eq!(
        Value::Object(draft.metadata.clone()),
        json!({"external_id": "conv-1/D1:3", "place": "上海", "mood": {"joy": 0.9}})
    );
    assert!(draft.check().is_ok());
}

#[test]
fn an_outcome_makes_an_episode_of_it() {
    let line =
        json!({"namespace": "a", "text": "booked", "speaker": "agent", "outcome": "failure", "tags": ["x"]});
    let draft = read(line).unwrap().draft;
    assert_eq!((draft.kind, draft.status), (Some(Kind::Episode), Some(Status::Failure)));
    assert_eq!(draft.tags, ["x"]);
    assert_eq!(draft.source.unwrap().kind, None);
}

#[test]
fn the_id_depends_on_namespace_id_and_time_only() {
    let line = |namespace: &str, id: &str, text: &str| {
        let line = json!({"namespace": namespace, "id": id, "text": text, "timestamp": "2026-01-02"});
        read(line).unwrap().draft.id.unwrap()
    };
    assert_eq!(line("a", "1", "one"), line("a", "1", "another text"));
    assert_ne!(line("a", "1", "one"), line("a", "2", "one"));
    assert_ne!(line("a", "1", "one"), line("b", "1", "one"));
    assert_ne!(line("a", "b1", "one"), line("ab", "1", "one"));
    assert!(line("a", "1", "one").parse::<MemoryId>().is_ok());
    assert_eq!(read(json!({"namespace": "a", "text": "no id"})).unwrap().draft.id, None);
}

#[test]
fn times_come_as_text_or_number() {
    let time = |value: Value| {
        let line = json!({"namespace": "a", "text": "b", "timestamp": value});
        read(line).map(|entry| entry.draft.occurred_at.map(|time| time.to_string()))
    };
    assert_eq!(time(json!(1_683_554_220)).unwrap().as_deref(), Some("2023-05-08T13:57:00Z"));
    assert_eq!(time(json!(1_683_554_220_000_i64)).unwrap().as_deref(), Some("2023-05-08T13:57:00Z"));
    assert_eq!(time(json!("2023-05-08")).unwrap().as_deref(), Some("2023-05-08T00:00:00Z"));
    assert_eq!(time(Value::Null).unwrap(), None);
    // Before the year 1: as seconds, and as milliseconds.
    let (early_s, early_ms) = (json!(-90_000_000_000_i64), json!(-100_000_000_000_000_i64));
    for bad in [json!("yesterday"), json!(1e300), json!(["2023"]), early_s, early_ms] {
        let error = time(bad.clone()).unwrap_err();
        assert_eq!(error.violations[0].field, "timestamp", "{bad}");
        assert!(error.to_string().contains("expected RFC 3339"), "{error}");
    }
}

#[test]
fn a_key_of_the_wrong_shape_is_named() {
    for (key, value, expected) in [
        ("text", json!(7), "text: is 7: expected a text"),
        ("speaker", json!(["a"]), "speaker: is [\"a\"]: expected a name"),
        ("entities", json!("a"), "entities: is \"a\": expected a list of names"),
        ("session", json!({}), "session: is {}: expected a text or a number"),
        ("outcome", json!("lost"), "outcome: is \"lost\": expected success, failure or partial"),
        ("namespace", json!(1), "namespace: is no text: expected the name of a namespace"),
    ] {
        let mut line = json!({"namespace": "a", "text": "b"});
        line[key] = value;
        assert_eq!(read(line).unwrap_err().to_string(), expected);
    }
}

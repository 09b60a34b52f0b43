//! JSON that callers send: whatever it is, it is refused by field or becomes what export and import agree on.

use hindsight_core::draft::{Moment, RecordDraft};
use hindsight_core::{Draft, Filter, Memory, MemoryId, Namespace, Timestamp};

/// 2026-11-30T09:00:00Z; any fixed time will do.
const NOW: Timestamp = Timestamp::from_ms(1_796_029_200_000);

/// A draft that passes its check survives an export and an import unchanged.
pub fn draft_json(data: &[u8]) {
    if let Ok(draft) = serde_json::from_slice::<Draft>(data) {
        check_draft(draft);
    }
}

/// A record call becomes an episode, under the same promise.
pub fn record_json(data: &[u8]) {
    let Ok(record) = serde_json::from_slice::<RecordDraft>(data) else { return };
    if let Ok(draft) = record.into_draft() {
        check_draft(draft);
    }
}

/// A filter that passes its check decides every memory, and `not` decides the opposite.
pub fn filter_expr(data: &[u8]) {
    let Ok(filter) = serde_json::from_slice::<Filter>(data) else { return };
    if filter.check("filter").is_err() {
        return;
    }
    let opposite = Filter { not: vec![filter.clone()], ..Filter::default() };
    for memory in memories() {
        assert_ne!(filter.matches(&memory, NOW), opposite.matches(&memory, NOW), "{filter:?} on {memory:?}");
    }
    let text = serde_json::to_vec(&filter).expect("a filter can be written");
    let again: Filter = serde_json::from_slice(&text).expect("a written filter can be read");
    assert_eq!(again, filter);
}

fn check_draft(draft: Draft) {
    let Ok(checked) = draft.check() else { return };
    let memory = checked.into_memory(moment());
    let exported = serde_json::to_vec(&Draft::from(&memory)).expect("a memory can be exported");
    let imported: Draft = serde_json::from_slice(&exported).expect("an export can be read");
    let checked = imported.check().expect("an export passes the check that its memory passed");
    assert_eq!(checked.into_memory(moment()), memory);
}

/// One memory of each shape that filters tell apart.
fn memories() -> Vec<Memory> {
    let drafts = [
        r#"{"content": "The user is allergic to peanuts", "tags": ["health"], "importance": 0.9}"#,
        r#"{"content": "用户对花生过敏", "kind": "preference", "agent_id": "a1"}"#,
        r#"{"content": "Deploy failed", "kind": "episode", "status": "failure", "task_type": "deploy",
            "episode": {"actions": [{"tool": "kubectl", "error_code": "TIMEOUT"}], "root_cause": "network"}}"#,
    ];
    let memory = |text: &&str| {
        let draft: Draft = serde_json::from_str(text).expect("the sample is a draft");
        draft.check().expect("the sample is right").into_memory(moment())
    };
    drafts.iter().map(memory).collect()
}

fn moment() -> Moment {
    Moment {
        namespace: "fuzz".parse::<Namespace>().expect("a right name"),
        id: "mem_01J00000000000000000000000".parse::<MemoryId>().expect("a right id"),
        now: NOW,
        embedding_model: None,
    }
}

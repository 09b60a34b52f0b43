use proptest::prelude::*;

use super::*;
use crate::draft::Moment;
use crate::{Draft, Kind};

fn memory(json: &str) -> Memory {
    let draft: Draft = serde_json::from_str(json).unwrap();
    let now = Timestamp::from_ms(1_000_000);
    let moment =
        Moment { namespace: "a".parse().unwrap(), id: MemoryId::new(now, 1), now, embedding_model: None };
    draft.check().unwrap().into_memory(moment)
}

fn at(ms: i64) -> Timestamp {
    Timestamp::from_ms(ms)
}

#[test]
fn w6_what_is_said_again_is_surer_and_nothing_is_lost() {
    let old = memory(
        r#"{"content":"The user likes tea","tags":["a"],"confidence":0.5,"metadata":{"x":1},
            "source":{"kind":"external","conversation_id":"c1","turns":["t1"]}}"#,
    );
    let mut new = memory(
        r#"{"content":"the user likes tea","tags":["b"],"metadata":{"x":1,"y":2},"summary":"tea",
            "source":{"kind":"user_input","conversation_id":"c2","turns":["t9"]}}"#,
    );
    new.occurred_at = at(2_000_000);
    let memory = reinforced(&old, &new, at(3_000_000));
    assert_eq!((memory.version, memory.usage.verified_count, memory.confidence), (2, 1, 0.6));
    assert_eq!((memory.occurred_at, memory.updated_at), (at(2_000_000), at(3_000_000)));
    assert_eq!((memory.content.as_str(), memory.created_at), ("The user likes tea", old.created_at));
    assert_eq!(memory.tags, ["a", "b"]);
    assert_eq!(memory.source.turns, ["t1", "c2/t9"]);
    assert_eq!(memory.source.kind, crate::SourceKind::UserInput);
    assert_eq!((memory.metadata.len(), memory.summary.as_str()), (2, "tea"));
}

/// A chain of "today" must not wander from day to day.
#[test]
fn w6_a_time_that_the_text_names_stays() {
    let old = memory(r#"{"content":"I ran 5 km today"}"#);
    let mut new = old.clone();
    new.occurred_at = old.occurred_at.plus_ms(3_600_000);
    assert_eq!(reinforced(&old, &new, at(9)).occurred_at, old.occurred_at);
}

#[test]
fn w7_the_older_one_ends_where_the_newer_begins() {
    let old = memory(r#"{"content":"a"}"#);
    let newer = Memory { id: MemoryId::from_u128(7), ..memory(r#"{"content":"b"}"#) };
    let standing = superseded(&old, &newer, at(5_000_000));
    assert_eq!((standing.state, standing.superseded_by), (State::Superseded, Some(newer.id)));
    assert_eq!((standing.valid_to, standing.confidence), (Some(at(5_000_000)), 0.6));
    let since = Memory { valid_from: Some(at(4_000_000)), ..newer };
    assert_eq!(superseded(&old, &since, at(5_000_000)).valid_to, Some(at(4_000_000)));
    let mut history = old.clone();
    standing.give_to(&mut history);
    let again = valid_again(&history);
    assert_eq!((again.confidence, again.valid_to, again.superseded_by), (old.confidence, None, None));
}

#[test]
fn w8_a_later_success_with_the_same_tool_lowers_a_failure() {
    let episode = |status: &str, task: &str, action: &str| {
        memory(&format!(
            r#"{{"kind":"episode","content":"x","status":"{status}","task_type":"{task}","episode":{{"actions":[{action}]}}}}"#
        ))
    };
    let failed = r#"{"tool":"query"},{"tool":"update","error_code":"permission_denied"}"#;
    let failure = episode("failure", "order", failed);
    let mut success = episode("success", "order", r#"{"tool":"update"}"#);
    assert_eq!(outlived(&failure, &success), None, "not later");
    success.occurred_at = failure.occurred_at.plus_ms(1);
    assert!((outlived(&failure, &success).unwrap().confidence - 0.4).abs() < 1e-6);
    let later = |mut other: Memory| {
        other.occurred_at = failure.occurred_at.plus_ms(1);
        other
    };
    assert_eq!(outlived(&failure, &later(episode("success", "refund", r#"{"tool":"update"}"#))), None);
    assert_eq!(outlived(&failure, &later(episode("success", "order", r#"{"tool":"query"}"#))), None);
    assert_eq!(outlived(&failure, &later(episode("partial", "order", r#"{"tool":"update"}"#))), None);
    let sunk = Memory { confidence: OUTLIVED_LEAST, ..failure };
    assert_eq!(outlived(&sunk, &success), None);
}

#[test]
fn l1_what_was_used_rises_with_success_and_falls_with_failure() {
    let fact = memory(r#"{"content":"x","confidence":0.5}"#);
    let used = judged(&fact, Verdict::Used, Some(Status::Success), at(7)).unwrap();
    assert_eq!((used.usage.used_count, used.usage.success_after_use, used.confidence), (1, 1, 0.6));
    assert_eq!(used.usage.last_used_at, Some(at(7)));
    let failed = judged(&fact, Verdict::Used, Some(Status::Failure), at(7)).unwrap();
    assert_eq!((failed.usage.failure_after_use, failed.confidence), (1, 0.4));
    assert_eq!(judged(&fact, Verdict::Used, None, at(7)).unwrap().confidence, 0.5);
    assert_eq!(judged(&fact, Verdict::Ignored, Some(Status::Success), at(7)), None);
    assert_eq!(judged(&fact, Verdict::Wrong, None, at(7)).unwrap().confidence, 0.2);
    assert_eq!(judged(&fact, Verdict::Outdated, None, at(7)).unwrap().valid_to, Some(at(7)));
    let mut failure = memory(r#"{"kind":"episode","content":"x","status":"failure","confidence":0.5}"#);
    assert_eq!(failure.kind, Kind::Episode);
    assert_eq!(judged(&failure, Verdict::Used, Some(Status::Success), at(7)).unwrap().confidence, 0.4);
    failure.episode.get_or_insert_default().resolution = Some("ask for the right".to_owned());
    assert_eq!(judged(&failure, Verdict::Used, Some(Status::Success), at(7)).unwrap().confidence, 0.6);
}

proptest! {
    /// Over any history confidence stays in 0–1 and effective confidence at most 1.5.
    #[test]
    fn l1_w6_w7_confidence_stays_in_bounds(start in 0.0_f32..=1.0, steps in proptest::collection::vec(0_u8..8, 0..60)) {
        let mut one = memory(r#"{"content":"x"}"#);
        one.confidence = start;
        for (step, ms) in steps.into_iter().zip(0..) {
            let task = [None, Some(Status::Success), Some(Status::Failure)][usize::from(step) % 3];
            let standing = match step {
                0 => {
                    one = reinforced(&one, &one, at(ms));
                    None
                }
                1 => Some(superseded(&one, &one, at(ms))),
                2 => Some(valid_again(&one)),
                3 => judged(&one, Verdict::Wrong, task, at(ms)),
                4 => judged(&one, Verdict::Outdated, task, at(ms)),
                _ => judged(&one, Verdict::Used, task, at(ms)),
            };
            if let Some(standing) = standing {
                standing.give_to(&mut one);
            }
            prop_assert!((0.0..=1.0).contains(&one.confidence));
            let effective = crate::scoring::confidence::effective(&crate::scoring::confidence::Standing {
                kind: one.kind, status: one.status, confidence: f64::from(one.confidence),
                used_count: one.usage.used_count, age_days: 0.0,
            });
            prop_assert!((0.0..=1.5).contains(&effective));
        }
    }
}

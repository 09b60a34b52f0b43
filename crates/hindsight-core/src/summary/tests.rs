use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::draft::{EpisodeDraft, Moment};
use crate::likeness::values_named;
use crate::{Action, Claim, SourceKind, Status};

const NOW: Timestamp = Timestamp::from_ms(1_700_000_000_000);

fn stored_as(draft: Draft, number: u128) -> Memory {
    let id = MemoryId::from_u128(number);
    let moment = Moment { namespace: "ops".parse().unwrap(), id, now: NOW, embedding_model: None };
    draft.check().unwrap().into_memory(moment)
}

fn about(entity: &str, content: &str) -> Draft {
    Draft {
        content: content.to_owned(),
        entities: vec![Entity { name: entity.to_owned(), kind: "service".to_owned() }],
        occurred_at: Some("2024-05-01T10:30:00Z".parse().unwrap()),
        ..Draft::default()
    }
}

fn told(entity: &str, memories: &[Memory]) -> Summary {
    summarize(entity, &memories.iter().collect::<Vec<_>>()).unwrap()
}

#[test]
fn l6_facts_of_one_entity_become_one() {
    let later = Draft {
        occurred_at: Some("2024-06-02T08:00:00Z".parse().unwrap()),
        ..about("billing", "It answers with E1042 above 500 requests")
    };
    let memories = [
        stored_as(later, 2),
        stored_as(about("Billing", "The billing API listens on port 8443"), 1),
        stored_as(about("orders", "x"), 3),
    ];
    let summary = told("billing", &memories);
    assert_eq!(
        summary.draft.content,
        "Summary of billing: 2 memories, 2024-05-01 to 2024-06-02.\n\
         - 2024-05-01T10:30:00Z: The billing API listens on port 8443\n\
         - 2024-06-02T08:00:00Z: It answers with E1042 above 500 requests"
    );
    assert_eq!(summary.parts, [1, 2].map(MemoryId::from_u128));
    assert_eq!((summary.draft.kind, summary.left_out), (Some(Kind::Fact), vec![]));
    assert_eq!(summary.draft.derived_from.len(), 2);
    // What comes later is joined to it: its lines stay as they are.
    let first = stored_as(summary.draft, 4);
    let third =
        stored_as(Draft { occurred_at: Some(NOW), ..about("billing", "Invoices are due after 30 days") }, 5);
    let second = told("billing", &[first, third]).draft.content;
    assert_eq!(second.lines().count(), 4);
    assert!(
        second.starts_with("Summary of billing: 2 memories, 2023-11-14 to 2024-06-02.\n- 2023-11-14T"),
        "{second}"
    );
    assert!(second.contains("- 2024-06-02T08:00:00Z: It answers with E1042 above 500 requests"));
}

#[test]
fn l6_an_episode_keeps_steps_parameters_codes_and_times() {
    let action = Action {
        step: 2,
        tool: "update_status".into(),
        params: json!({"order": 1042, "to": "paid"}).as_object().unwrap().clone(),
        error_code: Some("permission_denied".into()),
        error_message: Some("token of 2024-04-30 is over".into()),
        called_at: Some("2024-05-01T10:29:58Z".parse().unwrap()),
        ..Action::default()
    };
    let draft = Draft {
        kind: Some(Kind::Episode),
        status: Some(Status::Failure),
        task_type: Some("order_processing".into()),
        episode: Some(EpisodeDraft {
            actions: vec![action],
            root_cause: Some("api_token_expired".into()),
            resolution: Some("refresh the token".into()),
            ..EpisodeDraft::default()
        }),
        ..about("order 1042", "订单更新失败")
    };
    let memories = [stored_as(draft.clone(), 1), stored_as(draft, 2)];
    let summary = told("order 1042", &memories).draft;
    assert_eq!(
        summary.content.lines().nth(1).unwrap(),
        "- 2024-05-01T10:30:00Z order_processing (failure): 订单更新失败 | steps: 2. update_status {\"order\":1042,\"to\":\"paid\"} \
         failed with permission_denied (token of 2024-04-30 is over) at 2024-05-01T10:29:58Z | cause: api_token_expired | \
         resolution: refresh the token"
    );
    assert!(summary.content.starts_with("order 1042 的摘要：共 2 条记忆，2024-05-01 至 2024-05-01。"));
    assert_eq!((summary.kind, summary.task_type.as_deref()), (Some(Kind::Fact), Some("order_processing")));
}

#[test]
fn l6_what_can_change_by_itself_is_left_out() {
    let claim = |single_valued| Claim {
        subject: "user".into(),
        attribute: "city".into(),
        value: "Bern".into(),
        single_valued,
    };
    let single = Draft { claims: vec![claim(true)], ..about("user", "lives in Bern") };
    let many = Draft { claims: vec![claim(false)], ..about("user", "knows Bern") };
    let ends = Draft { valid_to: Some(NOW), ..about("user", "is on leave") };
    let memories = [
        stored_as(single, 1),
        stored_as(ends, 2),
        stored_as(many, 3),
        stored_as(about("user", "likes tea"), 4),
    ];
    let summary = told("user", &memories);
    assert_eq!(summary.parts, [3, 4].map(MemoryId::from_u128));
    let left = [(MemoryId::from_u128(1), LeftOut::SingleValued), (MemoryId::from_u128(2), LeftOut::Ends)];
    assert_eq!((summary.left_out, summary.draft.claims.len()), (left.to_vec(), 1));
    let few = summarize("user", &memories[..3].iter().collect::<Vec<_>>()).unwrap_err().to_string();
    assert!(few.contains("has 1 memories") && few.contains("1 that state a property"), "{few}");
    assert!(summarize("nobody", &[]).is_err());
}

#[test]
fn l6_a_summary_is_no_surer_than_its_least_sure_part() {
    let unsure = Draft {
        confidence: Some(0.4),
        importance: Some(0.9),
        source: Some(SourceDraft { kind: Some(SourceKind::External), ..SourceDraft::default() }),
        ..about("x", "one")
    };
    let draft = told("x", &[stored_as(unsure, 1), stored_as(about("x", "two"), 2)]).draft;
    assert_eq!((draft.confidence, draft.importance), (Some(0.4), Some(0.9)));
    assert_eq!(draft.source.unwrap().kind, Some(SourceKind::External));
}

#[test]
fn l6_a_full_summary_takes_the_oldest_and_names_the_rest() {
    let long = "x".repeat(12_000);
    let memories: Vec<Memory> =
        (1..=4).map(|number| stored_as(about("x", &format!("{number} {long}")), number)).collect();
    let summary = told("x", &memories);
    assert_eq!((summary.parts.len(), summary.left_out.len()), (2, 2));
    assert!(summary.left_out.iter().all(|(_, reason)| *reason == LeftOut::Full));
    assert!(summary.draft.check().is_ok());
}

fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{1,8}",
        "[0-9]{1,6}",
        "-?[0-9]{1,3}\\.[0-9]{1,2}%?",
        "20[0-9]{2}-0[1-9]-1[0-9]",
        "E[0-9]{3,4}",
        "v[0-9]\\.[0-9]",
        "1[0-9]:[0-5][0-9]",
        "[令牌过期订单失败]{1,4}",
        "[ \n\t,.。]{1,2}",
        "/etc/[a-z]{2,5}/[a-z]{1,4}",
    ]
}

proptest! {
    /// Every number, code, date, time and version of the parts stands in their summary.
    #[test]
    fn l6_a_summary_loses_no_value(texts in prop::collection::vec(prop::collection::vec(piece(), 1..12), 2..8), order: bool) {
        let mut memories: Vec<Memory> = texts
            .iter()
            .zip(1u128..)
            .map(|(pieces, number)| {
                let text = format!("x {}", pieces.join(" "));
                let params = json!({"p": text.clone()}).as_object().unwrap().clone();
                let action = Action { tool: "t".into(), params, result: Some(text.clone()), error_code: Some(format!("E{number}")), ..Action::default() };
                let episode = EpisodeDraft { actions: vec![action], ..EpisodeDraft::default() };
                let draft = Draft { kind: Some(Kind::Episode), status: Some(Status::Failure), episode: Some(episode), summary: format!("s{number} {}", number * 31), ..about("x", &text) };
                stored_as(draft, number)
            })
            .collect();
        let first = told("x", &memories);
        if order {
            memories.reverse();
        }
        let summary = told("x", &memories);
        prop_assert_eq!(&first.draft, &summary.draft);
        let has = values_named(&summary.draft.content);
        for memory in &memories {
            for value in values_named(&memory.content).into_iter().chain(values_named(&memory.summary)) {
                prop_assert!(has.contains(&value), "{:?} is lost", value);
            }
            prop_assert!(summary.draft.content.contains(memory.episode.as_ref().unwrap().actions[0].error_code.as_ref().unwrap()));
        }
    }
}

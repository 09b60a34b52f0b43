use super::*;
use crate::v1;

fn fields(invalid: Invalid) -> Vec<String> {
    invalid.violations.into_iter().map(|violation| violation.field).collect()
}

fn write(memory: v1::Memory) -> v1::WriteRequest {
    v1::WriteRequest { namespace: "ops".to_owned(), memory: Some(memory), ..Default::default() }
}

#[test]
fn a_write_without_a_memory_or_namespace_says_so() {
    let invalid = WriteCall::from_wire(v1::WriteRequest::default()).unwrap_err();
    assert_eq!(
        invalid.to_string(),
        "memory: is missing; namespace: is missing: name the namespace that the request is for"
    );
    let named = v1::WriteRequest { namespace: "../x".to_owned(), ..write(v1::Memory::default()) };
    assert_eq!(fields(WriteCall::from_wire(named).unwrap_err()), ["namespace"]);
}

#[test]
fn what_only_the_database_sets_is_refused_by_name() {
    let time = Some(prost_types::Timestamp { seconds: 1, nanos: 0 });
    let memory = v1::Memory {
        namespace: "other".to_owned(),
        created_at: time,
        updated_at: time,
        superseded_by: "mem_01k9zq4t8rc5d2v7n3hx6w0jab".to_owned(),
        state: 1,
        usage: Some(v1::Usage::default()),
        version: 1,
        embedding_model: "m".to_owned(),
        ..Default::default()
    };
    assert_eq!(
        fields(WriteCall::from_wire(write(memory)).unwrap_err()),
        [
            "created_at",
            "updated_at",
            "superseded_by",
            "state",
            "usage",
            "version",
            "embedding_model",
            "namespace"
        ]
    );
    let same = v1::Memory { namespace: "ops".to_owned(), content: "内容".to_owned(), ..Default::default() };
    let call = WriteCall::from_wire(write(same)).unwrap();
    assert_eq!((call.namespace.as_str(), call.entry.draft.content.as_str()), ("ops", "内容"));
    assert_eq!((call.request_id, call.entry.vectors), (None, None));
}

#[test]
fn every_bad_field_is_named_at_once_by_its_path() {
    let bad_time = Some(prost_types::Timestamp { seconds: 0, nanos: -1 });
    let memory = v1::Memory {
        kind: 99,
        scope: 7,
        valid_to: bad_time,
        episode: Some(v1::Episode {
            ended_at: bad_time,
            actions: vec![v1::Action::default(), v1::Action { called_at: bad_time, ..Default::default() }],
            ..Default::default()
        }),
        rule: Some(v1::Rule { polarity: 5, rule_state: 9, ..Default::default() }),
        source: Some(v1::Source { kind: -3, ..Default::default() }),
        ..Default::default()
    };
    let request = v1::WriteRequest {
        vectors: vec![v1::Vector::default()],
        request_id: "with space".to_owned(),
        ..write(memory)
    };
    assert_eq!(
        fields(WriteCall::from_wire(request).unwrap_err()),
        [
            "kind",
            "episode.ended_at",
            "episode.actions[1].called_at",
            "rule.polarity",
            "rule.rule_state",
            "source.kind",
            "scope",
            "valid_to",
            "embedding_model",
            "request_id"
        ]
    );
}

#[test]
fn a_record_names_its_fields_flat() {
    let request = v1::RecordRequest {
        namespace: "ops".to_owned(),
        status: 8,
        actions: vec![v1::Action {
            called_at: Some(prost_types::Timestamp { seconds: 0, nanos: -1 }),
            ..Default::default()
        }],
        ..Default::default()
    };
    assert_eq!(fields(RecordCall::from_wire(request).unwrap_err()), ["status", "actions[0].called_at"]);
}

#[test]
fn a_bad_item_of_a_batch_is_refused_by_itself() {
    let item = |memory| v1::BatchItem { memory, ..Default::default() };
    let bad = v1::Memory { kind: 99, ..Default::default() };
    let request = v1::BatchWriteRequest {
        namespace: "ops".to_owned(),
        items: vec![item(Some(v1::Memory::default())), item(Some(bad)), item(None)],
        ..Default::default()
    };
    let call = BatchWriteCall::from_wire(request.clone()).unwrap();
    assert!(call.items[0].is_ok());
    assert_eq!(fields(call.items[1].clone().unwrap_err()), ["kind"]);
    assert_eq!(fields(call.items[2].clone().unwrap_err()), ["memory"]);
    let many = v1::BatchWriteRequest { items: vec![v1::BatchItem::default(); 1_001], ..request };
    let invalid = BatchWriteCall::from_wire(many).unwrap_err();
    assert_eq!(invalid.to_string(), "items: has 1001 items: at most 1000");
}

#[test]
fn page_sizes() {
    assert_eq!((page_size(0), page_size(7), page_size(5_000)), (Ok(50), Ok(7), Ok(1_000)));
    assert_eq!(page_size(-1).unwrap_err().to_string(), "page_size: is -1: expected 0 (for 50) or more");
}

#[test]
fn a_forget_names_ids_or_a_filter() {
    let id = "mem_01k9zq4t8rc5d2v7n3hx6w0jab".to_owned();
    let ask = |ids: Vec<String>, filter, expected_count| {
        ForgetCall::from_wire(v1::ForgetRequest {
            namespace: "ops".to_owned(),
            ids,
            filter,
            expected_count,
            ..Default::default()
        })
    };
    assert!(
        matches!(ask(vec![id.clone()], None, None).unwrap().target, ForgetTarget::Ids(ids) if ids.len() == 1)
    );
    assert_eq!(fields(ask(vec![], None, None).unwrap_err()), ["ids"]);
    assert_eq!(fields(ask(vec![id.clone()], Some(v1::Filter::default()), None).unwrap_err()), ["filter"]);
    assert_eq!(fields(ask(vec![id.clone()], None, Some(1)).unwrap_err()), ["expected_count"]);
    assert_eq!(fields(ask(vec![id.clone(), "x".to_owned()], None, None).unwrap_err()), ["ids[1]"]);
    assert_eq!(fields(ask(vec![id; 1_001], None, None).unwrap_err()), ["ids"]);
}

#[test]
fn numbers_that_would_lose_digits_do_not_leave_the_client() {
    let metadata = serde_json::json!({"order": 9_007_199_254_740_993_u64});
    let metadata = metadata.as_object().unwrap().clone();
    let entry = WriteEntry { draft: hindsight_core::Draft { metadata, ..Default::default() }, vectors: None };
    let namespace: Namespace = "ops".parse().unwrap();
    let invalid = batch_to_wire(&namespace, vec![entry.clone()], false, None, false, None).unwrap_err();
    assert_eq!(fields(invalid), ["items[0].metadata.order"]);
    let call = WriteCall {
        namespace,
        entry,
        validate_only: false,
        on_duplicate: None,
        allow_forgotten: false,
        request_id: None,
    };
    assert_eq!(fields(call.into_wire().unwrap_err()), ["metadata.order"]);
}

#[test]
fn an_update_that_changes_nothing_is_not_sent() {
    let call = UpdateCall {
        namespace: "ops".parse().unwrap(),
        id: MemoryId::from_u128(1),
        patch: hindsight_core::Patch::default(),
        version: None,
        vectors: None,
        allow_forgotten: false,
        request_id: None,
    };
    assert_eq!(fields(call.into_wire().unwrap_err()), ["patch"]);
}

#[test]
fn l1_w7_feedback_history_and_rollback_round_trip_and_name_what_is_wrong() {
    let namespace: Namespace = "ops".parse().unwrap();
    let id = hindsight_core::MemoryId::from_u128(7);
    let recall_id = hindsight_core::RecallId::new(hindsight_core::Timestamp::from_ms(9), 3);
    let feedback = FeedbackCall {
        namespace: namespace.clone(),
        recall_id: Some(recall_id),
        items: vec![(id, hindsight_core::Verdict::Outdated)],
        task_status: Some(hindsight_core::Status::Partial),
        request_id: Some("r".to_owned()),
    };
    assert_eq!(FeedbackCall::from_wire(feedback.clone().into_wire()), Ok(feedback.clone()));
    let history = GetHistoryCall { namespace: namespace.clone(), id, agent_id: Some("a".to_owned()) };
    assert_eq!(GetHistoryCall::from_wire(history.clone().into_wire()), Ok(history));
    let rollback = RollbackCall { namespace, id, request_id: Some("r".to_owned()) };
    assert_eq!(RollbackCall::from_wire(rollback.clone().into_wire()), Ok(rollback));
    let fields = |wire| {
        let invalid = FeedbackCall::from_wire(wire).unwrap_err();
        invalid.violations.into_iter().map(|violation| violation.field).collect::<Vec<_>>()
    };
    let wire = feedback.into_wire();
    let bad = v1::FeedbackRequest { recall_id: "rcl_x".to_owned(), task_status: 9, ..wire.clone() };
    assert_eq!(fields(bad), ["recall_id", "task_status"]);
    let item = v1::FeedbackItem { memory_id: id.to_string(), verdict: 0 };
    assert_eq!(fields(v1::FeedbackRequest { items: vec![item], ..wire }), ["items[0].verdict"]);
}

#[test]
fn l5_l6_rules_and_summaries_round_trip_and_name_what_is_wrong() {
    use hindsight_core::consolidate::{RuleEvent, RulePatch};
    use hindsight_core::draft::RuleProposal;
    use hindsight_core::{Kind, Polarity, RuleEventKind, RuleState, Timestamp};

    let namespace: Namespace = "ops".parse().unwrap();
    let id = MemoryId::from_u128(7);
    let list = ListRulesCall {
        namespace: namespace.clone(),
        rule_states: vec![RuleState::Active],
        task_types: vec!["deploy".to_owned()],
        page_size: 7,
        page_token: "t".to_owned(),
        agent_id: Some("a".to_owned()),
    };
    assert_eq!(ListRulesCall::from_wire(list.clone().into_wire()), Ok(list));
    let rule = RuleCall { namespace: namespace.clone(), id, agent_id: None };
    assert_eq!(RuleCall::from_get(rule.clone().into_get()), Ok(rule.clone()));
    assert_eq!(RuleCall::from_history(rule.clone().into_history()), Ok(rule));
    let proposal = RuleProposal {
        condition: hindsight_core::memory::Condition { tool: Some("t".to_owned()), ..Default::default() },
        advice: "ask".to_owned(),
        polarity: Some(Polarity::Avoid),
        valid_to: Some(Timestamp::from_ms(9)),
        ..RuleProposal::default()
    };
    let request_id = Some("r".to_owned());
    let propose = ProposeRuleCall {
        namespace: namespace.clone(),
        proposal,
        validate_only: true,
        request_id: request_id.clone(),
    };
    assert_eq!(ProposeRuleCall::from_wire(propose.clone().into_wire()), Ok(propose));
    let patch = RulePatch { rule_state: Some(RuleState::Deprecated), valid_from: None, valid_to: Some(None) };
    let update = UpdateRuleCall {
        namespace: namespace.clone(),
        id,
        patch,
        version: Some(3),
        request_id: request_id.clone(),
    };
    let wire = update.clone().into_wire().unwrap();
    assert_eq!(UpdateRuleCall::from_wire(wire.clone()), Ok(update.clone()));
    let mut foreign = wire.clone();
    foreign.update_mask.as_mut().unwrap().paths.push("content".to_owned());
    assert_eq!(fields(UpdateRuleCall::from_wire(foreign).unwrap_err()), ["update_mask"]);
    let empty = UpdateRuleCall { patch: RulePatch::default(), ..update };
    assert_eq!(fields(empty.into_wire().unwrap_err()), ["rule_state"]);
    assert_eq!(
        fields(UpdateRuleCall::from_wire(v1::UpdateRuleRequest { rule_state: 9, ..wire }).unwrap_err()),
        ["rule_state"]
    );
    let event = RuleEvent {
        at: Timestamp::from_ms(5),
        what: RuleEventKind::Confirmed,
        version: 2,
        rule_state: RuleState::Active,
        confidence: 0.5,
        support: 3,
    };
    assert_eq!(event_from_wire(&event_to_wire(id, &event)), Ok((id, event)));
    let consolidate = ConsolidateCall {
        namespace: namespace.clone(),
        validate_only: false,
        min_episodes: Some(4),
        min_confidence: Some(0.5),
        request_id: request_id.clone(),
    };
    assert_eq!(ConsolidateCall::from_wire(consolidate.clone().into_wire()), Ok(consolidate));
    let summarize = SummarizeCall {
        namespace,
        entity: "billing".to_owned(),
        kinds: vec![Kind::Episode],
        agent_id: None,
        validate_only: true,
        request_id,
    };
    assert_eq!(SummarizeCall::from_wire(summarize.clone().into_wire()), Ok(summarize));
    let bad = v1::SummarizeRequest { namespace: "../x".to_owned(), kinds: vec![0], ..Default::default() };
    assert_eq!(fields(SummarizeCall::from_wire(bad).unwrap_err()), ["namespace", "kinds[0]"]);
}

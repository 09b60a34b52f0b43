//! Each kind of loss is planted once, and must be found.

use hindsight_client::{Memory, MemoryId};

use super::*;
use crate::model::text::draft;

fn ledger() -> Ledger {
    Ledger::new(0, fastrand::Rng::with_seed(1))
}

fn id(number: u64) -> MemoryId {
    MemoryId::from_u128(u128::from(number) + 1)
}

fn write(number: u64) -> Request {
    Request::Write { number, id: None, ballast_bytes: 3 }
}

fn open(request: Request) -> Option<Open> {
    Some(Open { request, request_id: "r".to_owned(), sent_us: 0, was_seen: false, applied: None })
}

/// A memory as the server would answer it.
fn memory(number: u64, batch: Option<u64>, ballast_bytes: usize) -> Memory {
    let key = Key { writer: 0, number };
    let draft = draft(key, batch, ballast_bytes);
    let json = serde_json::json!({
        "id": id(number).to_string(), "namespace": "faults", "kind": "fact", "content": draft.content,
        "tags": draft.tags, "metadata": draft.metadata, "source": {"kind": "agent"}, "scope": "shared",
        "importance": 0.5, "confidence": 0.5, "occurred_at": "2026-01-01T00:00:00Z",
        "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z", "state": "active", "version": 1,
    });
    serde_json::from_value(json).unwrap()
}

/// A ledger with one acknowledged memory and one batch, and what a good server answers.
fn world() -> (Ledger, Found) {
    let mut ledger = ledger();
    ledger.enter(&write(0), &[id(0)]);
    let batch = Request::Batch { first: 1 };
    ledger.enter(&batch, &batch.numbers().map(id).collect::<Vec<_>>());
    ledger.positions = vec![1, 2];
    let mut memories = vec![memory(0, None, 3)];
    memories.extend((1..6).map(|number| memory(number, Some(1), 0)));
    (ledger, Found { memories, revision: 2 })
}

/// What is found after `spoil` changed what the server answers, or what the ledger holds.
fn faults(spoil: impl FnOnce(&mut Ledger, &mut Found)) -> Vec<Fault> {
    let (mut ledger, mut found) = world();
    spoil(&mut ledger, &mut found);
    let findings = compare(std::slice::from_mut(&mut ledger), &found, &[]);
    findings.into_iter().map(|finding| finding.fault).collect()
}

#[test]
fn a_good_server_gives_no_finding() {
    assert_eq!(faults(|_, _| {}), []);
}

#[test]
fn what_was_acknowledged_and_is_gone_is_found() {
    assert_eq!(faults(|_, found| drop(found.memories.remove(0))), [Fault::Lost]);
    assert_eq!(
        faults(|ledger, _| ledger.enter(&Request::Forget { number: 0 }, &[])),
        [Fault::Lost, Fault::Hole]
    );
    assert_eq!(faults(|_, found| found.revision = 1), [Fault::Lost]);
}

#[test]
fn what_nobody_asked_for_is_found() {
    assert_eq!(faults(|_, found| found.memories.push(memory(9, None, 0))), [Fault::Phantom]);
    assert_eq!(faults(|_, found| found.memories.push(memory(0, None, 3))), [Fault::Phantom]);
    assert_eq!(faults(|_, found| found.memories[0].version = 2), [Fault::Phantom]);
    assert_eq!(faults(|_, found| found.revision = 3), [Fault::Phantom]);
    let refused = |_: &mut Ledger, found: &mut Found| {
        let mut memory = memory(9, None, 0);
        memory.content = "refused".to_owned();
        found.memories.push(memory);
    };
    assert_eq!(faults(refused), [Fault::Phantom]);
}

#[test]
fn what_looks_otherwise_is_found() {
    assert_eq!(faults(|_, found| found.memories[0].content.push('x')), [Fault::Wrong]);
    assert_eq!(faults(|_, found| found.memories[0].tags.clear()), [Fault::Wrong]);
    assert_eq!(faults(|_, found| found.memories[0].metadata.clear()), [Fault::Wrong]);
    assert_eq!(faults(|_, found| found.memories[0].state = State::Forgotten), [Fault::Wrong]);
    assert_eq!(faults(|_, found| found.memories[0].id = id(77)), [Fault::Wrong]);
}

#[test]
fn one_position_for_two_requests_is_found() {
    assert_eq!(faults(|ledger, _| ledger.positions = vec![2, 2]), [Fault::Hole]);
}

#[test]
fn an_open_request_may_be_there_or_not_and_is_entered_when_it_is() {
    let (mut ledger, mut found) = world();
    ledger.open = open(write(6));
    assert_eq!(compare(std::slice::from_mut(&mut ledger), &found, &[]), []);
    assert_eq!((ledger.open.as_ref().unwrap().applied, ledger.applied), (Some(false), 2));
    found.memories.push(memory(6, None, 3));
    found.revision = 3;
    assert_eq!(compare(std::slice::from_mut(&mut ledger), &found, &[]), []);
    assert_eq!((ledger.open.as_ref().unwrap().applied, ledger.applied), (Some(true), 3));
    assert_eq!(ledger.items[&6].id, id(6));
}

#[test]
fn a_part_of_a_batch_is_found() {
    let torn = |ledger: &mut Ledger, found: &mut Found| {
        ledger.open = open(Request::Batch { first: 6 });
        found.memories.extend((6..10).map(|number| memory(number, Some(6), 0)));
        found.revision = 3;
    };
    assert!(faults(torn).contains(&Fault::Torn));
}

#[test]
fn an_open_update_is_applied_once_or_not_at_all() {
    let update = || open(Request::Update { number: 0, with_version: false });
    let updated = |version: u64, revision: u64| {
        move |ledger: &mut Ledger, found: &mut Found| {
            ledger.open = update();
            found.memories[0].version = version;
            found.memories[0].content = content(Key { writer: 0, number: 0 }, revision);
            found.revision = version + 1;
        }
    };
    assert_eq!(faults(updated(1, 0)), []);
    assert_eq!(faults(updated(2, 1)), []);
    assert_eq!(faults(updated(3, 1)), [Fault::Phantom, Fault::Phantom]);
}

#[test]
fn what_a_reader_saw_must_stay() {
    let seen = |ledger: &mut Ledger, _: &mut Found| {
        ledger.open = open(write(6));
        ledger.open.as_mut().unwrap().was_seen = true;
    };
    assert_eq!(faults(seen), [Fault::Lost]);
}

#[test]
fn the_positions_of_others_count_and_none_is_given_twice() {
    let with = |others: &[u64], revision: u64| {
        let (mut ledger, found) = world();
        let found = Found { revision, ..found };
        let findings = compare(std::slice::from_mut(&mut ledger), &found, others);
        findings.into_iter().map(|finding| finding.fault).collect::<Vec<_>>()
    };
    assert_eq!(with(&[3, 4], 4), []);
    assert_eq!(with(&[3, 3], 4), [Fault::Hole], "two answers name one position");
    assert_eq!(with(&[3, 2], 4), [Fault::Hole], "a writer was told it, too");
    assert_eq!(with(&[3, 4], 3), [Fault::Lost]);
    assert_eq!(with(&[3], 4), [Fault::Phantom]);
}

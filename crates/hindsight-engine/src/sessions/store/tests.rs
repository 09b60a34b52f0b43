use std::collections::BTreeMap;

use hindsight_core::limits::{SESSION_REQUEST_IDS_MAX, SESSIONS_ENDED_MAX};
use hindsight_core::session::TURN_BYTES;
use hindsight_core::time::Span;
use hindsight_core::{RequestKey, Scope};
use proptest::prelude::*;

use super::*;

fn ns(name: &str) -> Namespace {
    name.parse().unwrap()
}

fn id(name: &str) -> SessionId {
    name.parse().unwrap()
}

fn at(ms: i64) -> Timestamp {
    Timestamp::from_ms(1_700_000_000_000 + ms)
}

fn turn(content: &str) -> TurnDraft {
    TurnDraft { role: "user".to_owned(), content: content.to_owned(), ..TurnDraft::default() }
}

fn request(id: &str, digest: u128) -> Option<RequestKey> {
    Some(RequestKey { id: id.to_owned(), digest })
}

fn bounded(max_turns: usize, max_bytes: usize) -> SessionDraft {
    let idle_ttl = Some(Span::from_ms(10_000));
    SessionDraft {
        max_turns: Some(max_turns),
        max_bytes: Some(max_bytes),
        idle_ttl,
        ..SessionDraft::default()
    }
}

fn contents(turns: &[Turn]) -> Vec<&str> {
    turns.iter().map(|turn| turn.content.as_str()).collect()
}

#[test]
fn l8_a_session_keeps_its_newest_turns_and_their_numbers() {
    let (mut all, ops, s) = (Sessions::default(), ns("ops"), id("s"));
    all.open(&ops, s.clone(), &bounded(3, 10_000), None, at(0)).unwrap();
    for number in 1..=5 {
        all.append(&ops, (&s, None), vec![turn(&number.to_string())], None, at(number)).unwrap();
    }
    let (session, turns) = all.get(&ops, (&s, None), None, at(6)).unwrap();
    assert_eq!(contents(&turns), ["3", "4", "5"]);
    assert_eq!(turns.iter().map(|turn| turn.number).collect::<Vec<_>>(), [3, 4, 5]);
    assert_eq!((session.turns_held, session.turns_total, session.bytes), (3, 5, 3 * (TURN_BYTES + 5)));
    assert_eq!(contents(&all.get(&ops, (&s, None), Some(1), at(7)).unwrap().1), ["5"]);
    assert_eq!(all.get(&ops, (&s, None), Some(0), at(7)).unwrap().1.len(), 0);
}

#[test]
fn l8_bytes_are_bounded_and_a_turn_that_can_not_fit_is_named() {
    let (mut all, ops, s) = (Sessions::default(), ns("ops"), id("s"));
    let most = 2 * (TURN_BYTES + 4 + 10);
    all.open(&ops, s.clone(), &bounded(100, most), None, at(0)).unwrap();
    let ten = || turn("0123456789");
    all.append(&ops, (&s, None), vec![ten(), ten(), ten()], None, at(1)).unwrap();
    assert_eq!(all.get(&ops, (&s, None), None, at(1)).unwrap().0.bytes, most);
    let long = "x".repeat(most);
    let error = all.append(&ops, (&s, None), vec![ten(), turn(&long)], None, at(2)).unwrap_err();
    let EngineError::Invalid(invalid) = error else { panic!("{error}") };
    assert_eq!(invalid.violations[0].field, "turns[1].content");
    assert_eq!(all.get(&ops, (&s, None), None, at(2)).unwrap().0.turns_total, 3, "nothing was appended");
}

#[test]
fn l8_an_idle_session_ends_and_a_late_call_is_told_when() {
    let (mut all, ops, s) = (Sessions::default(), ns("ops"), id("s"));
    all.open(&ops, s.clone(), &bounded(3, 1_000), None, at(0)).unwrap();
    all.append(&ops, (&s, None), vec![turn("a")], None, at(9_999)).unwrap();
    all.get(&ops, (&s, None), None, at(19_998)).unwrap();
    // A clock that steps back shortens nothing.
    all.get(&ops, (&s, None), None, at(5)).unwrap();
    assert_eq!(all.sweep(at(29_997)), 0);
    let error = all.append(&ops, (&s, None), vec![turn("b")], None, at(29_998)).unwrap_err();
    assert!(matches!(error, EngineError::SessionExpired { at: when, .. } if when == at(29_998)), "{error}");
    assert_eq!(all.list(&ops, None, None, 10, at(29_998)).0, []);
    assert_eq!((all.count, all.bytes, all.ends_at.len(), all.rooms.len()), (0, 0, 0, 0));
    let (session, resumed) = all.open(&ops, s.clone(), &SessionDraft::default(), None, at(30_000)).unwrap();
    assert!(!resumed && session.turns_total == 0);
    let unknown = all.get(&ops, (&id("other"), None), None, at(30_000)).unwrap_err();
    assert!(matches!(unknown, EngineError::SessionNotFound { .. }), "{unknown}");
}

#[test]
fn l8_closing_takes_no_turns_and_twice_is_an_error() {
    let (mut all, ops, s) = (Sessions::default(), ns("ops"), id("s"));
    let who = (&s, None);
    all.open(&ops, s.clone(), &bounded(3, 1_000), None, at(0)).unwrap();
    all.append(&ops, who, vec![turn("a")], None, at(1)).unwrap();
    let (session, turns) = all.begin_close(&ops, who, at(2)).unwrap();
    assert_eq!((session.turns_total, contents(&turns)), (1, vec!["a"]));
    for error in [
        all.append(&ops, who, vec![turn("b")], None, at(3)).unwrap_err(),
        all.begin_close(&ops, who, at(3)).unwrap_err(),
    ] {
        assert!(matches!(error, EngineError::SessionClosing { .. }), "{error}");
    }
    assert_eq!(all.sweep(at(1_000_000)), 0, "it does not expire while its episode is written");
    all.abandon_close(&ops, &s);
    let late = all.begin_close(&ops, who, at(1_000_000)).unwrap_err();
    assert!(matches!(late, EngineError::SessionExpired { .. }), "{late}");
    all.open(&ops, s.clone(), &bounded(3, 1_000), None, at(1_000_001)).unwrap();
    all.begin_close(&ops, who, at(1_000_002)).unwrap();
    all.end_close(&ops, &s, request("r", 1), at(1_000_003));
    let error = all.begin_close(&ops, who, at(1_000_004)).unwrap_err();
    let then = at(1_000_003);
    assert!(matches!(error, EngineError::SessionClosed { at: when, .. } if when == then), "{error}");
    let before = all.closed_before(&ops, &s, request("r", 1).as_ref()).unwrap();
    assert_eq!(before.map(|session| session.session_id), Some(s.clone()));
    assert!(all.closed_before(&ops, &s, request("r", 2).as_ref()).is_err());
    assert_eq!(all.closed_before(&ops, &s, request("other", 1).as_ref()).unwrap(), None);
}

#[test]
fn l8_s1_an_agents_session_is_not_there_for_others() {
    let (mut all, ops, s) = (Sessions::default(), ns("ops"), id("s"));
    let draft = |agent: &str| SessionDraft {
        agent_id: Some(agent.to_owned()),
        scope: Some(Scope::Agent),
        ..SessionDraft::default()
    };
    all.open(&ops, s.clone(), &draft("a1"), None, at(0)).unwrap();
    for other in [None, Some("a2")] {
        for error in [
            all.get(&ops, (&s, other), None, at(1)).unwrap_err(),
            all.append(&ops, (&s, other), vec![turn("x")], None, at(1)).unwrap_err(),
            all.begin_close(&ops, (&s, other), at(1)).unwrap_err(),
        ] {
            assert!(matches!(error, EngineError::SessionNotFound { .. }), "{error}");
        }
        assert_eq!(all.list(&ops, other, None, 10, at(1)).0, []);
    }
    let taken = all.open(&ops, s.clone(), &draft("a2"), None, at(1)).unwrap_err();
    assert!(matches!(taken, EngineError::SessionExists { .. }), "{taken}");
    assert!(all.open(&ops, s.clone(), &draft("a1"), None, at(1)).unwrap().1, "its own agent goes on with it");
    all.begin_close(&ops, (&s, Some("a1")), at(2)).unwrap();
    all.end_close(&ops, &s, None, at(2));
    let hidden = all.get(&ops, (&s, None), None, at(3)).unwrap_err();
    assert!(matches!(hidden, EngineError::SessionNotFound { .. }), "{hidden}");
}

#[test]
fn w9_l8_a_repeated_open_or_append_acts_once() {
    let (mut all, ops, s) = (Sessions::default(), ns("ops"), id("s"));
    let draft = SessionDraft::default();
    let (first, resumed) = all.open(&ops, s.clone(), &draft, request("o", 1), at(0)).unwrap();
    assert!(!resumed);
    // The second call brings another id that was just made up.
    let (again, resumed) = all.open(&ops, id("other"), &draft, request("o", 1), at(0)).unwrap();
    assert!(resumed && again == first);
    assert!(all.open(&ops, id("other"), &draft, request("o", 2), at(0)).is_err());
    let append = |all: &mut Sessions, name: &str, digest| {
        all.append(&ops, (&s, None), vec![turn("a")], request(name, digest), at(1))
    };
    assert!(!append(&mut all, "r", 1).unwrap().1);
    assert!(append(&mut all, "r", 1).unwrap().1);
    assert!(matches!(append(&mut all, "r", 2), Err(EngineError::RequestIdReused { .. })));
    for number in 0..SESSION_REQUEST_IDS_MAX {
        append(&mut all, &format!("r{number}"), 1).unwrap();
    }
    assert!(!append(&mut all, "r", 1).unwrap().1, "the oldest id is forgotten first");
}

#[test]
fn l8_there_are_only_so_many_sessions_bytes_and_ends() {
    let mut all = Sessions::default();
    let draft = SessionDraft { max_bytes: Some(1024 * 1024), ..SessionDraft::default() };
    let ops = ns("ops");
    for number in 0..SESSIONS_PER_NAMESPACE_MAX {
        all.open(&ops, id(&number.to_string()), &draft, None, at(0)).unwrap();
    }
    let full = all.open(&ops, id("one more"), &draft, None, at(0)).unwrap_err();
    assert!(matches!(full, EngineError::LimitReached { most: SESSIONS_PER_NAMESPACE_MAX, .. }), "{full}");
    let long = vec![turn(&"x".repeat(30_000)); 30];
    let mut number = 0;
    let full = loop {
        match all.append(&ops, (&id(&number.to_string()), None), long.clone(), None, at(0)) {
            Ok(_) => number += 1,
            Err(error) => break error,
        }
    };
    let most = SESSIONS_BYTES_PER_NAMESPACE_MAX;
    assert!(matches!(full, EngineError::LimitReached { most: told, .. } if told == most), "{full}");
    assert!(all.bytes <= most && all.bytes > most - 1024 * 1024);
    // Another namespace is not shut out by that.
    all.open(&ns("dev"), id("s"), &draft, None, at(0)).unwrap();
    all.append(&ns("dev"), (&id("s"), None), long, None, at(0)).unwrap();
    all.drop_namespace(&ops);
    assert_eq!((all.count, all.rooms.len(), all.ends_at.len()), (1, 1, 1));
    for number in 0..SESSIONS_ENDED_MAX + 10 {
        let s = id(&format!("e{number}"));
        all.open(&ops, s.clone(), &draft, None, at(1)).unwrap();
        all.begin_close(&ops, (&s, None), at(1)).unwrap();
        all.end_close(&ops, &s, None, at(1));
    }
    assert_eq!(all.ended.len(), SESSIONS_ENDED_MAX);
}

/// One call of a random history.
#[derive(Debug, Clone)]
enum Step {
    Open(usize, usize),
    Append(usize, usize, Vec<usize>),
    Get(usize, usize),
    Close(usize, usize),
    Wait(i64),
}

fn step() -> impl Strategy<Value = Step> {
    let (space, name) = (0..2_usize, 0..3_usize);
    prop_oneof![
        2 => (space.clone(), name.clone()).prop_map(|(space, name)| Step::Open(space, name)),
        6 => (space.clone(), name.clone(), prop::collection::vec(1..200_usize, 1..6))
            .prop_map(|(space, name, lengths)| Step::Append(space, name, lengths)),
        1 => (space.clone(), name.clone()).prop_map(|(space, name)| Step::Get(space, name)),
        1 => (space, name).prop_map(|(space, name)| Step::Close(space, name)),
        2 => (0..9_000_i64).prop_map(Step::Wait),
    ]
}

/// A session as a plain list: all turns that were ever appended, and when it was used.
#[derive(Debug, Default, Clone)]
struct Plain {
    turns: Vec<String>,
    used: i64,
}

/// The longest end of the list within both bounds.
fn newest_within(turns: &[String], max_turns: usize, max_bytes: usize) -> &[String] {
    let cost = |turns: &[String]| turns.iter().map(|turn| turn.len() + 4 + TURN_BYTES).sum::<usize>();
    (0..=turns.len())
        .map(|from| &turns[from..])
        .find(|turns| turns.len() <= max_turns && cost(turns) <= max_bytes)
        .unwrap_or_default()
}

proptest! {
    #[test]
    fn l8_any_history_keeps_the_bounds_and_the_newest_turns(
        steps in prop::collection::vec(step(), 1..80), max_turns in 1..6_usize, max_bytes in 300..900_usize,
    ) {
        let (mut all, mut plain) = (Sessions::default(), BTreeMap::<(usize, usize), Plain>::new());
        let mut now = 0;
        for step in steps {
            plain.retain(|_, session| session.used + 10_000 > now);
            match step {
                Step::Wait(ms) => now += ms,
                Step::Open(space, name) => {
                    let (_, resumed) = all.open(&ns(&format!("n{space}")), id(&format!("s{name}")),
                        &bounded(max_turns, max_bytes), None, at(now)).unwrap();
                    prop_assert_eq!(resumed, plain.contains_key(&(space, name)));
                    plain.entry((space, name)).or_default().used = now;
                }
                Step::Append(space, name, lengths) => {
                    let texts: Vec<String> = lengths.into_iter().map(|length| format!("{space}{name}{}", "x".repeat(length))).collect();
                    let turns = texts.iter().map(|text| turn(text)).collect();
                    let done = all.append(&ns(&format!("n{space}")), (&id(&format!("s{name}")), None), turns, None, at(now));
                    match plain.get_mut(&(space, name)) {
                        None => prop_assert!(done.is_err()),
                        Some(session) => {
                            done.unwrap();
                            session.turns.extend(texts);
                            session.used = now;
                        }
                    }
                }
                Step::Get(space, name) => {
                    let got = all.get(&ns(&format!("n{space}")), (&id(&format!("s{name}")), None), None, at(now));
                    prop_assert_eq!(got.is_ok(), plain.contains_key(&(space, name)));
                    if let Some(session) = plain.get_mut(&(space, name)) {
                        session.used = now;
                    }
                }
                Step::Close(space, name) => {
                    let (space_name, s) = (ns(&format!("n{space}")), id(&format!("s{name}")));
                    let begun = all.begin_close(&space_name, (&s, None), at(now));
                    prop_assert_eq!(begun.is_ok(), plain.remove(&(space, name)).is_some());
                    all.end_close(&space_name, &s, None, at(now));
                }
            }
            all.sweep(at(now));
            plain.retain(|_, session| session.used + 10_000 > now);
            prop_assert_eq!(all.count, plain.len());
            prop_assert_eq!(all.ends_at.len(), plain.len());
            let mut bytes = 0;
            for ((space, name), session) in &plain {
                let live = &all.rooms[&ns(&format!("n{space}"))].sessions[&id(&format!("s{name}"))];
                let expected = newest_within(&session.turns, max_turns, max_bytes);
                prop_assert!(live.turns.iter().map(|turn| &turn.content).eq(expected));
                let cost: usize = live.turns.iter().map(Turn::bytes).sum();
                prop_assert!(cost == live.bytes && cost <= max_bytes && live.turns.len() <= max_turns);
                prop_assert_eq!(live.total, session.turns.len() as u64);
                prop_assert!(live.turns.iter().rev().zip((1..=live.total).rev()).all(|(turn, number)| turn.number == number));
                bytes += cost;
            }
            prop_assert_eq!(all.bytes, bytes);
        }
    }
}

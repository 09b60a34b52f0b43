//! Why a memory is in an answer or not (R11): every reason, and never another answer than the recall's.

use hindsight_core::draft::RuleDraft;
use hindsight_core::{
    AsOf, Axis, Claim, Draft, Explanation, Filter, Kind, Memory, MemoryId, OnDuplicate, Patch, Polarity,
    Prohibition, Reason, Recall, RuleState, Scope, Status,
};
use hindsight_engine::{ForgetRequest, ForgetTarget, Maker, UpdateRequest, WriteItem, WriteOptions};
use proptest::prelude::*;

use crate::as_of::{Past, time};
use crate::support::{fact, ns, vectors};

fn why(db: &Past, recall: &Recall, id: MemoryId) -> Explanation {
    db.engine.explain(&ns("ops"), recall, id).unwrap().wait().unwrap()
}

fn told(db: &Past, recall: &Recall, memory: &Memory) -> (Reason, String) {
    let explanation = why(db, recall, memory.id);
    (explanation.reason, explanation.detail)
}

fn query(text: &str) -> Recall {
    Recall { query: text.to_owned(), ..Recall::default() }
}

fn forget(db: &Past, memory: &Memory) {
    let target = ForgetTarget::Ids(vec![memory.id]);
    let forget = ForgetRequest { target, with_derived: false, validate_only: false, request_id: None };
    let done = db.engine.forget(&ns("ops"), forget).unwrap();
    db.engine.commit_step().unwrap();
    done.wait().unwrap();
}

fn write_beside(db: &Past, draft: Draft, vector: Option<&[f32]>) -> Memory {
    let item = WriteItem::new(draft, vector.and_then(|values| vectors("m", values)));
    let on_duplicate = Some(OnDuplicate::Allow);
    let options = WriteOptions { on_duplicate, allow_forgotten: true, ..WriteOptions::default() };
    let written = db.engine.write(&ns("ops"), item, options).unwrap();
    db.engine.commit_step().unwrap();
    written.wait().unwrap().memory
}

fn rule(text: &str, state: RuleState) -> Draft {
    let rule = RuleDraft {
        polarity: Some(Polarity::Do),
        advice: text.to_owned(),
        rule_state: Some(state),
        ..RuleDraft::default()
    };
    Draft { kind: Some(Kind::Rule), rule: Some(rule), ..fact(text) }
}

#[test]
fn r11_what_keeps_a_memory_out_is_named() {
    let db = Past::new();
    let port = |value: &str| {
        let claim = Claim {
            subject: "server".to_owned(),
            attribute: "port".to_owned(),
            value: value.to_owned(),
            single_valued: true,
        };
        Draft { claims: vec![claim], ..fact(&format!("server port {value}")) }
    };
    let early = db.on("2026-05-01").write(fact("server of old"));
    db.on("2026-06-01");
    let own = Draft { scope: Some(Scope::Agent), agent_id: Some("a1".to_owned()), ..fact("server of mine") };
    let own = db.write(own);
    let old = db.write(port("8080"));
    let new = db.write(port("9090"));
    let expired = db.write(Draft { expires_at: Some(time("2026-05-01")), ..fact("server for a while") });
    let later = db.write(Draft { valid_from: Some(time("2026-09-01")), ..fact("server to come") });
    let over = db.write(Draft { valid_to: Some(time("2026-03-01")), ..fact("server that was") });
    let asleep = db.write(rule("restart the server first", RuleState::Observing));
    let gone = db.write(fact("server that nobody wants"));
    forget(&db, &gone);
    let ask = query("server");
    assert_eq!(why(&db, &ask, MemoryId::from_u128(7)).reason, Reason::NoSuchMemory);
    assert_eq!(told(&db, &ask, &own).0, Reason::OtherAgents);
    assert_eq!(told(&db, &ask, &gone).0, Reason::Forgotten);
    let superseded = why(&db, &ask, old.id);
    assert_eq!((superseded.reason, superseded.other), (Reason::Superseded, Some(new.id)));
    assert_eq!(told(&db, &ask, &expired).1, "it expired at 2026-05-01T00:00:00Z");
    assert_eq!(
        told(&db, &ask, &later),
        (Reason::NotValidYet, "it is valid from 2026-09-01T00:00:00Z on".to_owned())
    );
    assert_eq!(
        told(&db, &ask, &over),
        (Reason::NoLongerValid, "it was valid until 2026-03-01T00:00:00Z".to_owned())
    );
    assert_eq!(told(&db, &ask, &asleep).0, Reason::RuleNotActive);
    let filter: Filter = serde_json::from_str(r#"{"all":[{"tags":["prod"]}]}"#).unwrap();
    let narrow = Recall { filter, ..ask.clone() };
    assert_eq!(told(&db, &narrow, &new), (Reason::Filtered, r#"filter.all[0].tags: ["prod"]"#.to_owned()));
    let then = AsOf { at: time("2026-05-15"), axis: Axis::Known };
    db.on("2026-06-02");
    let then = Recall { as_of: Some(then), ..ask.clone() };
    assert_eq!(told(&db, &then, &early).0, Reason::Returned);
    assert_eq!(told(&db, &then, &new).0, Reason::NotKnownYet);
    let hit = why(&db, &ask, new.id);
    assert_eq!((hit.reason, hit.rank.is_some()), (Reason::Returned, true));
    assert!(hit.breakdown.unwrap().score > 0.0);
    assert!(hit.plan.contains("filter: "), "{}", hit.plan);
}

#[test]
fn r11_what_ranks_too_low_is_told_by_how_much() {
    let db = Past::new();
    db.on("2026-06-01");
    let best = db.write(Draft { importance: Some(1.0), ..fact("the server is down") });
    let second =
        db.write(Draft { importance: Some(0.1), ..fact("a server room in the cellar of the old house") });
    let other = db.write(fact("coffee is at nine"));
    let ask = query("server");
    let cut = Recall { top_k: 1, ..ask.clone() };
    assert_eq!(told(&db, &cut, &second), (Reason::BeyondTopK, "it ranks 2, and top_k is 1".to_owned()));
    assert_eq!(why(&db, &cut, second.id).rank, Some(2));
    let unfound = why(&db, &ask, other.id);
    assert_eq!((unfound.reason, unfound.similarity), (Reason::NotFound, Some(0.0)));
    assert!(unfound.breakdown.is_some());
    assert_eq!(
        unfound.detail,
        "no channel found it: keyword (the best 20); its numbers are those it would have had"
    );
    let floor = Recall { min_score: Some(0.99), ..ask.clone() };
    assert_eq!(told(&db, &floor, &best).0, Reason::BelowMinScore);
    let budget = Recall { token_budget: Some(6), ..ask.clone() };
    assert_eq!(told(&db, &budget, &best).0, Reason::Returned);
    assert_eq!(
        told(&db, &budget, &second),
        (Reason::OutOfBudget, "it ranks 2 and costs 11 tokens: more than is left of 6".to_owned())
    );
    let remedy = db.write(Draft { kind: Some(Kind::Procedure), ..fact("server full: delete the old logs") });
    let held = Recall { policy: vec![Prohibition::NoDelete], ..ask };
    assert_eq!(
        told(&db, &held, &remedy),
        (Reason::HeldBack, "policy no_delete: it advises \"delete\"".to_owned())
    );
    let recalled = db.ask(&held).unwrap();
    assert_eq!(recalled.held_back.get(&Prohibition::NoDelete), Some(&1));
    assert_eq!(recalled.hits.len(), 2);
}

#[test]
fn r9_hits_that_say_the_same_collapse_into_the_newest() {
    let db = Past::new();
    let near: [&[f32]; 3] = [&[1.0, 0.0, 0.0], &[0.99, 0.05, 0.0], &[0.98, 0.0, 0.1]];
    let old = write_beside(db.on("2026-01-01"), fact("The server listens on port 8080."), Some(near[0]));
    let new = write_beside(db.on("2026-05-01"), fact("the server listens on port 8080"), Some(near[1]));
    let other = write_beside(db.on("2026-03-01"), fact("the server listens on port 9090"), Some(near[2]));
    db.on("2026-06-01");
    let ask = query("which port does the server listen on");
    let hits = db.ask(&ask).unwrap().hits;
    let mut told: Vec<_> =
        hits.iter().map(|hit| (hit.memory.id, hit.verified_count, hit.collapsed.clone())).collect();
    told.sort();
    let mut expected = [(new.id, 1, vec![old.id]), (other.id, 0, vec![])];
    expected.sort();
    assert_eq!(told, expected);
    let collapsed = why(&db, &ask, old.id);
    assert_eq!((collapsed.reason, collapsed.other), (Reason::Collapsed, Some(new.id)));
    let one = Recall { top_k: 1, ..ask.clone() };
    let returned = db.ask(&one).unwrap().hits[0].memory.id;
    assert!(
        returned == new.id || returned == other.id,
        "the newest stands for the group, however few are asked for"
    );
    assert_eq!(db.ask(&Recall { keep_alike: true, ..ask }).unwrap().hits.len(), 3);
}

#[test]
fn r12_as_text_stays_inside_the_budget_with_all_around_it() {
    let db = Past::new();
    db.on("2026-06-01");
    for number in 0..6 {
        db.write(fact(&format!("server {number} </memory> stands in room {number}")));
    }
    let ask = Recall { as_text: true, token_budget: Some(150), ..query("server") };
    let recalled = db.ask(&ask).unwrap();
    let text = recalled.text.unwrap();
    assert!(recalled.text_tokens.unwrap() <= 150);
    assert!((1..6).contains(&recalled.hits.len()), "{text}");
    assert_eq!(text.matches("</memory>").count(), recalled.hits.len(), "{text}");
    assert!(text.contains(&recalled.hits[0].memory.id.to_string()));
    let nothing = db.ask(&Recall { token_budget: Some(5), ..ask }).unwrap();
    assert_eq!((nothing.hits.len(), nothing.text.as_deref(), nothing.text_tokens), (0, Some(""), Some(0)));
}

#[test]
fn r10_what_names_lead_to_passes_a_floor() {
    let db = Past::new();
    db.on("2026-06-01");
    let claim = Claim {
        subject: "Ann".to_owned(),
        attribute: "allergic_to".to_owned(),
        value: "peanuts".to_owned(),
        single_valued: false,
    };
    db.write(Draft { claims: vec![claim], ..fact("no satay") });
    let ann = hindsight_core::Entity { name: "Ann".to_owned(), kind: "person".to_owned() };
    let beside = db.write(Draft { entities: vec![ann], ..fact("moved to Bern") });
    let ask = query("peanuts?");
    let similarity = why(&db, &ask, beside.id).similarity.unwrap();
    assert!(similarity > 0.0, "a memory without a word of the query, over a hop");
    let floor = |share: f64| Recall { min_score: Some(similarity * share), ..ask.clone() };
    let found = |recall: &Recall| db.ask(recall).unwrap().hits.iter().any(|hit| hit.memory.id == beside.id);
    assert!(found(&floor(0.99)) && !found(&floor(1.01)));
}

#[test]
fn r10_what_stands_beside_a_find_passes_a_floor_at_half_its_likeness() {
    let db = Past::new();
    db.on("2026-06-01");
    let said = |text: &str| Draft { session_id: Some("s".to_owned()), ..fact(text) };
    let question = db.write(said("where did you buy the lamp"));
    let answer = db.write(said("at the flea market"));
    let similarity = db.ask(&query("lamp")).unwrap().hits[0].similarity;
    let floor = |share: f64| Recall { min_score: Some(similarity * share), ..query("lamp") };
    let found = |recall: &Recall| {
        db.ask(recall).unwrap().hits.into_iter().map(|hit| hit.memory.id).collect::<Vec<_>>()
    };
    assert_eq!(found(&floor(0.45)), [question.id, answer.id]);
    assert_eq!(found(&floor(0.55)), [question.id]);
}

#[derive(Debug, Clone)]
struct Kept {
    text: u8,
    kind: u8,
    state: u8,
    agent: bool,
    from: Option<i8>,
    to: Option<i8>,
    tag: bool,
}

fn kept() -> impl Strategy<Value = Kept> {
    let ends = (prop::option::weighted(0.2, -20..20_i8), prop::option::weighted(0.2, -20..20_i8));
    (0..6_u8, 0..4_u8, 0..4_u8, any::<bool>(), ends, any::<bool>()).prop_map(
        |(text, kind, state, agent, (from, to), tag)| Kept { text, kind, state, agent, from, to, tag },
    )
}

fn draft(kept: &Kept) -> Draft {
    let day = |days: i8| Some(time("2026-06-01").plus_ms(i64::from(days) * 86_400_000));
    let texts = [
        "the server is down",
        "服务器已重启",
        "delete the lock file of the server",
        "server port 8080",
        "server port 9090",
        "coffee at nine",
    ];
    let text = texts[usize::from(kept.text)];
    let base = match kept.kind {
        0 => rule(text, [RuleState::Active, RuleState::Observing][usize::from(kept.tag)]),
        1 => Draft { kind: Some(Kind::Procedure), ..fact(text) },
        2 => Draft { kind: Some(Kind::Episode), status: Some(Status::Failure), ..fact(text) },
        _ => fact(text),
    };
    let to = kept.to.filter(|to| kept.from.is_none_or(|from| from < *to));
    Draft {
        scope: kept.agent.then_some(Scope::Agent),
        agent_id: kept.agent.then(|| "a1".to_owned()),
        valid_from: kept.from.and_then(day),
        valid_to: to.and_then(day),
        tags: if kept.tag { vec!["prod".to_owned()] } else { Vec::new() },
        ..base
    }
}

fn asked() -> impl Strategy<Value = Recall> {
    let flags = any::<[bool; 6]>();
    let cuts =
        (1..8_usize, prop::option::weighted(0.3, 5..200_usize), prop::option::weighted(0.3, 0.0..0.6_f64));
    let more =
        (prop::option::weighted(0.3, 0.0..1.0_f64), prop::option::weighted(0.3, -25..25_i64), 0..3_usize);
    (flags, cuts, more).prop_map(|(flags, (top_k, token_budget, min_score), (diversity, day, query))| {
        let axis = if flags[0] { Axis::Valid } else { Axis::Known };
        let at = |day: i64| time("2026-06-01").plus_ms(day * 86_400_000);
        Recall {
            query: ["server", "", "port of the server 服务器"][query].to_owned(),
            filter: Filter {
                tags: if flags[1] { vec!["prod".to_owned()] } else { vec![] },
                ..Filter::default()
            },
            include_history: flags[2] && day.is_none(),
            include_archived: flags[3],
            as_of: day.map(|day| AsOf { at: at(day), axis }),
            now: Some(time("2026-07-15")),
            agent_id: flags[4].then(|| "a1".to_owned()),
            policy: if flags[5] { vec![Prohibition::NoDelete] } else { Vec::new() },
            as_text: flags[1],
            top_k,
            token_budget,
            min_score,
            diversity,
            observe: true,
            ..Recall::default()
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// For each memory, whatever is asked: it is explained as returned if and only if it is; and the same question gets
    /// the same answer bit for bit.
    #[test]
    fn r11_r17_an_explanation_and_a_recall_never_differ(
        all in prop::collection::vec(kept(), 1..14), questions in prop::collection::vec(asked(), 4),
    ) {
        let db = Past::new();
        let mut ids = Vec::new();
        for (number, kept) in all.iter().enumerate() {
            let day = time("2026-06-01").plus_ms(i64::try_from(number).unwrap() * 86_400_000);
            let memory = write_beside(db.on(&day.to_string()), draft(kept), None);
            if kept.state == 3 {
                forget(&db, &memory);
            } else if kept.state == 2 {
                let patch = Patch { importance: Some(0.9), ..Patch::default() };
                let maker = Maker::Caller;
                let update = UpdateRequest { id: memory.id, patch, version: None, allow_forgotten: false, vectors: None, maker, request_id: None };
                drop(db.engine.update(&ns("ops"), update).unwrap());
                db.engine.commit_step().unwrap();
            }
            ids.push(memory.id);
        }
        db.on("2026-07-15");
        for recall in &questions {
            let Ok(recalled) = db.ask(recall) else { continue };
            prop_assert_eq!(&recalled, &db.ask(recall).unwrap());
            for id in &ids {
                let explained = why(&db, recall, *id);
                let at = recalled.hits.iter().position(|hit| hit.memory.id == *id);
                prop_assert_eq!(explained.reason == Reason::Returned, at.is_some(), "{:?}", explained);
                if let Some(at) = at {
                    prop_assert_eq!(explained.rank, u32::try_from(at + 1).ok());
                    prop_assert_eq!(&explained.breakdown, &Some(recalled.hits[at].breakdown.clone()));
                }
                let collapsed = recalled.hits.iter().find(|hit| hit.collapsed.contains(id));
                if explained.reason != Reason::Collapsed {
                    prop_assert!(collapsed.is_none());
                }
            }
        }
    }
}

//! What a memory does when the same, or the opposite, is said again (W3, W6, W7, W8).

use hindsight_core::draft::{EpisodeDraft, SourceDraft};
use hindsight_core::likeness::{LikenessKey, Thresholds};
use hindsight_core::{
    Action, Claim, Draft, Kind, Memory, OnDuplicate, Outcome, Recall, Relation, Scope, SettingsPatch, State,
    Status, Timestamp,
};
use hindsight_engine::{
    BatchRequest, Engine, EngineError, ErrorKind, Nearness, Options, RestoreRequest, SettingsRequest,
    WriteItem, WriteOptions, Written,
};

use crate::support::{Db, fact, ns, vectors};

fn with_claim(content: &str, [subject, attribute, value]: [&str; 3]) -> Draft {
    let claim = Claim {
        subject: subject.to_owned(),
        attribute: attribute.to_owned(),
        value: value.to_owned(),
        single_valued: true,
    };
    Draft { claims: vec![claim], ..fact(content) }
}

fn say(db: &Db, draft: Draft) -> Written {
    db.try_write(draft, None).unwrap()
}

fn say_as(db: &Db, draft: Draft, on_duplicate: OnDuplicate) -> Result<Written, EngineError> {
    let options = WriteOptions { on_duplicate: Some(on_duplicate), ..WriteOptions::default() };
    db.engine.write(&ns("ops"), WriteItem::new(draft, None), options)?.wait()
}

fn get(db: &Db, memory: &Memory) -> Memory {
    db.engine.get(&ns("ops"), memory.id, None).unwrap().wait().unwrap().memory
}

/// The contents of all active memories, in the order in which they were written.
fn active(db: &Db) -> Vec<String> {
    let filter = hindsight_core::Filter { states: vec![State::Active], ..Default::default() };
    db.list(filter).into_iter().map(|memory| memory.content).collect()
}

#[test]
fn w6_what_is_said_again_confirms_what_is_known() {
    let db = Db::new();
    let source = SourceDraft {
        kind: Some(hindsight_core::SourceKind::External),
        conversation_id: Some("c1".to_owned()),
        turns: vec!["t4".to_owned()],
        ..SourceDraft::default()
    };
    let first = say(&db, Draft { source: Some(source.clone()), ..fact("I'm allergic to peanuts.") });
    let again = Draft {
        source: Some(SourceDraft { turns: vec!["t9".to_owned()], ..source }),
        ..fact("I am allergic to peanuts")
    };
    let second = say(&db, again);
    assert_eq!((first.outcome, second.outcome), (Outcome::Created, Outcome::Reinforced));
    let (old, new) = (first.memory, second.memory);
    assert_eq!((new.id, new.version, new.usage.verified_count), (old.id, 2, 1));
    assert!((new.confidence - old.confidence - 0.1).abs() < 1e-6, "{} {}", old.confidence, new.confidence);
    assert!(new.updated_at > old.updated_at && new.occurred_at > old.occurred_at);
    assert_eq!(new.source.turns, ["t4", "t9"]);
    assert_eq!(active(&db), ["I'm allergic to peanuts."]);
    // The decision stands in the log: the next start repeats it.
    let (db, _) = db.reopen();
    assert_eq!(get(&db, &new), new);
}

#[test]
fn w6_what_only_looks_the_same_is_stored() {
    let db = Db::new();
    let all = [
        "The API limit is 500 requests",
        "The API limit is 600 requests",
        "The API limit is not 500 requests",
        "Anna likes tea",
        "Ben likes tea",
        "I'm allergic to peanuts",
        "I love peanuts",
        "用户对花生过敏",
        "用户对海鲜过敏",
        "Deploy with argo 1.2",
        "Deploy with argo 1.3",
    ];
    for text in all {
        assert_eq!(say(&db, fact(text)).outcome, Outcome::Created, "{text}");
    }
    assert_eq!(active(&db), all);
}

/// Where vectors are far apart, the same words are not taken for the same memory.
#[test]
fn w6_thresholds_are_those_of_the_model() {
    let near = Thresholds { duplicate: 0.5, conflict: 0.3 };
    let of_model = [("mine".to_owned(), near)].into();
    let nearness = Nearness { of_model, ..Nearness::default() };
    for (nearness, outcome) in [(Nearness::default(), Outcome::Created), (nearness, Outcome::Reinforced)] {
        let dir = tempfile::tempdir().unwrap();
        let (engine, _) = Engine::open(dir.path(), Options { nearness, ..Options::default() }).unwrap();
        let db = Db { dir, engine };
        db.try_write(fact("Mei likes tea"), vectors("mine", &[1.0, 0.0])).unwrap();
        let second = db.try_write(fact("Mei likes tea."), vectors("mine", &[0.8, 0.6])).unwrap();
        assert_eq!(second.outcome, outcome);
    }
}

#[test]
fn w6_a_duplicate_can_be_refused_or_allowed() {
    let db = Db::new();
    let known = say(&db, fact("the sky is blue")).memory;
    let refused = say_as(&db, fact("The sky is blue."), OnDuplicate::Reject).unwrap_err();
    assert!(matches!(refused, EngineError::DuplicateOf { id } if id == known.id));
    assert_eq!((refused.kind(), refused.reason()), (ErrorKind::AlreadyExists, "DUPLICATE_OF"));
    assert!(refused.to_string().contains("on_duplicate"));
    assert_eq!(get(&db, &known), known, "a refused write changes nothing");
    let allowed = say_as(&db, fact("The sky is blue."), OnDuplicate::Allow).unwrap();
    assert_eq!((allowed.outcome, active(&db).len()), (Outcome::Created, 2));
    let options = WriteOptions { validate_only: true, ..WriteOptions::default() };
    let item = WriteItem::new(fact("the sky is blue"), None);
    let asked = db.engine.write(&ns("ops"), item, options).unwrap().wait().unwrap();
    assert_eq!(asked.outcome, Outcome::Reinforced);
    assert_eq!(get(&db, &known), known, "a dry run changes nothing");
}

/// An import keeps its ids: whoever names one wants a memory under it, and a second import changes nothing.
#[test]
fn w6_a_draft_with_an_id_is_stored_under_it() {
    let db = Db::new();
    let known = say(&db, fact("the sky is blue")).memory;
    let id = hindsight_core::MemoryId::from_u128(77);
    let named = Draft { id: Some(id.to_string()), ..fact("the sky is blue") };
    assert_eq!(say(&db, named.clone()).memory.id, id);
    assert!(matches!(db.try_write(named, None), Err(EngineError::MemoryExists { .. })));
    assert_eq!(get(&db, &known), known);
}

#[test]
fn w6_nothing_is_shared_between_agents_or_kinds() {
    let db = Db::new();
    let of = |agent: &str| Draft {
        scope: Some(Scope::Agent),
        agent_id: Some(agent.to_owned()),
        ..with_claim("lives in Bern", ["user", "city", "Bern"])
    };
    let outcomes: Vec<Outcome> = [
        with_claim("lives in Bern", ["user", "city", "Bern"]),
        of("a"),
        of("b"),
        Draft { kind: Some(Kind::Preference), ..with_claim("lives in Bern", ["user", "city", "Bern"]) },
        of("a"),
    ]
    .into_iter()
    .map(|draft| say(&db, draft).outcome)
    .collect();
    use Outcome::{Created, Reinforced};
    assert_eq!(outcomes, [Created, Created, Created, Created, Reinforced]);
    // What one agent keeps to itself neither replaces nor shows up in what another one writes.
    let moved = Draft {
        claims: with_claim("", ["user", "city", "Rome"]).claims,
        content: "Rome".to_owned(),
        ..of("b")
    };
    let moved = say(&db, moved);
    assert_eq!((moved.outcome, moved.neighbors.len()), (Outcome::Superseded, 1));
    assert_eq!(active(&db).len(), 2, "shared ones only: {:?}", active(&db));
}

#[test]
fn w6_identical_episodes_are_counted() {
    let db = Db::new();
    let episode = || Draft {
        kind: Some(Kind::Episode),
        status: Some(Status::Failure),
        task_type: Some("deploy".to_owned()),
        content: "deploying billing failed".to_owned(),
        ..Draft::default()
    };
    let first = say(&db, episode()).memory;
    assert_eq!(say(&db, episode()).outcome, Outcome::Reinforced);
    assert_eq!(say(&db, episode()).memory.usage.verified_count, 2);
    let ended_well = Draft { status: Some(Status::Success), ..episode() };
    assert_eq!(say(&db, ended_well).outcome, Outcome::Created);
    assert_eq!(get(&db, &first).usage.verified_count, 2);
}

/// A chain of near neighbours does not become one memory.
#[test]
fn w6_a_chain_of_neighbours_stays_a_chain() {
    let db = Db::new();
    for count in 0..40 {
        let text = format!("The quota of the gateway is {} requests", 500 + count);
        let angle = f64::from(count) * 0.05;
        #[expect(clippy::cast_possible_truncation, reason = "a direction")]
        let vector = vectors("mine", &[angle.cos() as f32, angle.sin() as f32]);
        assert_eq!(db.try_write(fact(&text), vector).unwrap().outcome, Outcome::Created, "{text}");
    }
    assert_eq!(active(&db).len(), 40);
}

#[test]
fn w7_the_newer_of_two_values_wins_and_the_older_is_history() {
    let db = Db::new();
    let berlin = say(&db, with_claim("I live in Berlin", ["user", "home_city", "Berlin"])).memory;
    let munich = say(&db, with_claim("I moved to Munich", ["user", "home city", "Munich"]));
    assert_eq!(munich.outcome, Outcome::Superseded);
    let [neighbor] = &munich.neighbors[..] else { panic!("{:?}", munich.neighbors) };
    assert_eq!((neighbor.id, neighbor.relation), (berlin.id, Relation::Superseded));
    assert_eq!((neighbor.about.as_str(), neighbor.old.as_str()), ("user / home city", "Berlin"));
    let old = get(&db, &berlin);
    assert_eq!((old.state, old.superseded_by), (State::Superseded, Some(munich.memory.id)));
    assert_eq!(old.valid_to, Some(munich.memory.created_at));
    assert!((berlin.confidence - old.confidence - 0.3).abs() < 1e-6);
    assert_eq!((old.version, old.content.as_str()), (2, "I live in Berlin"));
    assert_eq!(db.contents("Berlin or Munich"), ["I moved to Munich"]);
    let recall =
        Recall { query: "Berlin".to_owned(), include_history: true, observe: true, ..Recall::default() };
    assert!(db.recall(&recall).hits.iter().any(|hit| hit.memory.id == berlin.id));
    // Back again: the first one stays history.
    let back = say(&db, with_claim("I live in Berlin", ["user", "home city", "Berlin"]));
    assert_eq!((back.outcome, back.memory.version), (Outcome::Superseded, 1));
    assert_eq!(active(&db), ["I live in Berlin"]);
    let (db, _) = db.reopen();
    assert_eq!(get(&db, &berlin), old);
    assert_eq!(active(&db), ["I live in Berlin"]);
}

#[test]
fn w7_a_changed_limit_replaces_the_old_one() {
    let db = Db::new();
    for limit in ["500", "600", "800"] {
        say(&db, with_claim(&format!("The API limit is {limit}"), ["api", "limit", limit]));
    }
    assert_eq!(active(&db), ["The API limit is 800"]);
}

/// Each single-valued claim has exactly one valid head, in whatever order its values arrive.
#[test]
fn w7_a_value_of_an_earlier_time_is_stored_as_history() {
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let db = Db::new();
        for at in order {
            let occurred_at = Some(Timestamp::from_ms(1_600_000_000_000 + 86_400_000 * at));
            let city = ["Rome", "Oslo", "Bern"][usize::try_from(at).unwrap()];
            say(
                &db,
                Draft { occurred_at, ..with_claim(&format!("lives in {city}"), ["user", "city", city]) },
            );
        }
        assert_eq!(active(&db), ["lives in Bern"], "{order:?}");
        let all = db.list(hindsight_core::Filter::default());
        assert_eq!(all.len(), 3);
        assert!(
            all.iter().all(|memory| (memory.superseded_by.is_none()) == (memory.content == "lives in Bern"))
        );
    }
}

#[test]
fn w7_what_only_words_show_is_reported_and_nothing_is_replaced() {
    for (old, new) in [
        ("我想减脂", "我想增肌"),
        ("I want to lose fat", "I want to gain muscle"),
        ("I'm allergic to peanuts", "I love peanuts"),
        ("Agents may deploy on Friday", "Agents must not deploy on Friday"),
    ] {
        let db = Db::new();
        let known = say(&db, fact(old)).memory;
        let written = say(&db, fact(new));
        assert_eq!(written.outcome, Outcome::Created, "{new}");
        let [neighbor] = &written.neighbors[..] else { panic!("{new}: {:?}", written.neighbors) };
        assert_eq!(
            (neighbor.id, neighbor.relation, neighbor.similarity),
            (known.id, Relation::Conflict, None)
        );
        assert_eq!((neighbor.old.as_str(), neighbor.new.as_str()), (old, new));
        assert_eq!(get(&db, &known), known);
    }
    // Far vectors say that they are not about the same.
    let db = Db::new();
    db.try_write(fact("I like coffee"), vectors("mine", &[1.0, 0.0])).unwrap();
    let far = db.try_write(fact("I don't like coffee"), vectors("mine", &[0.0, 1.0])).unwrap();
    assert_eq!(far.neighbors, []);
    let near = db.try_write(fact("I dislike coffee"), vectors("mine", &[1.0, 0.1])).unwrap();
    let [neighbor] = &near.neighbors[..] else { panic!("{:?}", near.neighbors) };
    assert!(neighbor.similarity.is_some_and(|similarity| similarity > 0.99));
}

/// A value that is not true yet, or not any more, replaces nothing that is now.
#[test]
fn w7_what_is_not_true_now_replaces_nothing() {
    let db = Db::new();
    say(&db, with_claim("lives in Bern", ["user", "city", "Bern"]));
    let next_year = Some(Timestamp::from_ms(4_000_000_000_000));
    let later = Draft { valid_from: next_year, ..with_claim("will live in Rome", ["user", "city", "Rome"]) };
    let later = say(&db, later);
    assert_eq!((later.outcome, later.neighbors[0].relation), (Outcome::Superseded, Relation::Superseded));
    let before = Some(Timestamp::from_ms(1_000_000_000_000));
    let earlier = Draft { valid_to: before, ..with_claim("lived in Oslo", ["user", "city", "Oslo"]) };
    assert_eq!(say(&db, earlier).outcome, Outcome::Created);
    assert_eq!(db.contents("where lives"), ["lives in Bern"]);
}

#[test]
fn w3_items_of_a_batch_meet_those_before_them() {
    let db = Db::new();
    let drafts = [
        fact("the sky is blue"),
        fact("The sky is blue."),
        with_claim("lives in Bern", ["user", "city", "Bern"]),
        with_claim("lives in Rome", ["user", "city", "Rome"]),
        fact("The sky is blue!"),
    ];
    let batch = || BatchRequest {
        items: drafts.iter().map(|draft| WriteItem::new(draft.clone(), None)).collect(),
        request_id: Some("b1".to_owned()),
        ..BatchRequest::default()
    };
    let written = db.engine.write_batch(&ns("ops"), batch()).unwrap().wait().unwrap();
    let results: Vec<_> = written.results.iter().map(|result| *result.as_ref().unwrap()).collect();
    use Outcome::{Created, Reinforced, Superseded};
    let outcomes: Vec<Outcome> = results.iter().map(|item| item.outcome).collect();
    assert_eq!(outcomes, [Created, Reinforced, Created, Superseded, Reinforced]);
    assert!(results[0].id == results[1].id && results[0].id == results[4].id);
    let sky = db.engine.get(&ns("ops"), results[0].id, None).unwrap().wait().unwrap().memory;
    assert_eq!((sky.version, sky.usage.verified_count), (3, 2));
    assert_eq!(active(&db), ["the sky is blue", "lives in Rome"]);
    // W9: sent again, also after a restart, it says the same and does nothing.
    let (db, _) = db.reopen();
    let again = db.engine.write_batch(&ns("ops"), batch()).unwrap().wait().unwrap();
    assert!(again.replayed);
    let replayed: Vec<_> = again.results.iter().map(|result| *result.as_ref().unwrap()).collect();
    assert_eq!(replayed, results);
    assert_eq!(get(&db, &sky), sky);
}

#[test]
fn w9_a_repeated_write_says_what_it_did() {
    let db = Db::new();
    let write = |request: &str, draft: Draft| {
        let options = WriteOptions { request_id: Some(request.to_owned()), ..WriteOptions::default() };
        db.engine.write(&ns("ops"), WriteItem::new(draft, None), options).unwrap().wait().unwrap()
    };
    let city = |name: &str| with_claim(&format!("lives in {name}"), ["user", "city", name]);
    let requests = [("a", city("Bern")), ("b", city("Bern")), ("c", city("Rome")), ("d", city("Rome"))];
    let first: Vec<Written> = requests.iter().map(|(id, draft)| write(id, draft.clone())).collect();
    let again: Vec<Written> = requests.iter().map(|(id, draft)| write(id, draft.clone())).collect();
    use Outcome::{Created, Reinforced, Superseded};
    let outcomes = |all: &[Written]| all.iter().map(|one| one.outcome).collect::<Vec<_>>();
    assert_eq!(outcomes(&first), [Created, Reinforced, Superseded, Reinforced]);
    assert_eq!(outcomes(&again), outcomes(&first));
    assert!(again.iter().all(|one| one.replayed));
}

#[test]
fn w7_l3_a_forgotten_piece_of_history_comes_back_as_history() {
    let db = Db::new();
    let bern = say(&db, with_claim("lives in Bern", ["user", "city", "Bern"])).memory;
    say(&db, with_claim("lives in Rome", ["user", "city", "Rome"]));
    let target = hindsight_engine::ForgetTarget::Ids(vec![bern.id]);
    let forget = hindsight_engine::ForgetRequest {
        target,
        validate_only: false,
        request_id: None,
        with_derived: false,
    };
    db.engine.forget(&ns("ops"), forget).unwrap().wait().unwrap();
    db.engine
        .restore(&ns("ops"), RestoreRequest { ids: vec![bern.id], request_id: None })
        .unwrap()
        .wait()
        .unwrap();
    assert_eq!(get(&db, &bern).state, State::Superseded);
    assert_eq!(active(&db), ["lives in Rome"]);
}

/// W8: what failed and then works is less of a warning.
#[test]
fn w8_a_later_success_lowers_the_failure() {
    let db = Db::new();
    let episode = |status: Status, error: Option<&str>, seconds: i64| {
        let action = Action {
            tool: "update_status".to_owned(),
            error_code: error.map(str::to_owned),
            ..Action::default()
        };
        Draft {
            kind: Some(Kind::Episode),
            status: Some(status),
            task_type: Some("order".to_owned()),
            content: format!("order {status} {seconds}"),
            episode: Some(EpisodeDraft { actions: vec![action], ..EpisodeDraft::default() }),
            occurred_at: Some(Timestamp::from_ms(1_700_000_000_000 + seconds * 1_000)),
            ..Draft::default()
        }
    };
    let failure = say(&db, episode(Status::Failure, Some("permission_denied"), 10)).memory;
    let later = say(&db, episode(Status::Failure, Some("permission_denied"), 30)).memory;
    say(&db, episode(Status::Success, None, 20));
    assert!((get(&db, &failure).confidence - (failure.confidence - 0.1)).abs() < 1e-6);
    assert_eq!(get(&db, &later), later, "it failed after that");
    let (db, _) = db.reopen();
    assert!(get(&db, &failure).confidence < failure.confidence);
}

/// W6: how near two memories have to be is a setting of the namespace.
#[test]
fn w6_a_namespace_says_how_near_the_same_is() {
    let db = Db::new();
    let set = |share: Option<u32>| {
        let patch =
            SettingsPatch { likeness: [(LikenessKey::Duplicate, share)].into(), ..SettingsPatch::default() };
        db.engine
            .update_namespace(&ns("ops"), SettingsRequest { patch, request_id: None })
            .unwrap()
            .wait()
            .unwrap();
    };
    let tell =
        |x: f32| db.try_write(fact("The backup runs at night"), vectors("mine", &[1.0, x])).unwrap().outcome;
    assert_eq!(tell(0.0), Outcome::Created);
    // A cosine of 0.95.
    set(Some(99));
    assert_eq!(tell(0.33), Outcome::Created);
    set(Some(60));
    assert_eq!(tell(0.33), Outcome::Reinforced);
    // Far from both by the numbers that hold where nothing is set.
    set(None);
    assert_eq!(tell(3.0), Outcome::Created);
    let (db, _) = db.reopen();
    let wrong =
        SettingsPatch { likeness: [(LikenessKey::Conflict, Some(101))].into(), ..SettingsPatch::default() };
    let request = SettingsRequest { patch: wrong, request_id: None };
    assert_eq!(
        crate::support::fields(db.engine.update_namespace(&ns("ops"), request).unwrap_err()),
        ["likeness.conflict"]
    );
}

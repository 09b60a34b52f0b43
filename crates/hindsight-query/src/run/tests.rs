mod plans;

use hindsight_core::{Embedding, Filter, Fusion, Kind, Mode, Polarity, Recall, RuleState, Status, Weights};

use super::*;
use crate::VectorWay;
use crate::testing::{Shelf, fact, now};
use hindsight_core::draft::{Draft, EpisodeDraft, RuleDraft, SourceDraft};

fn ask(shelf: &Shelf, request: &Recall) -> Recalled {
    recall(shelf, request, now()).unwrap()
}

fn contents(recalled: &Recalled) -> Vec<&str> {
    recalled.hits.iter().map(|hit| hit.memory.content.as_str()).collect()
}

fn query(text: &str) -> Recall {
    Recall { query: text.to_owned(), ..Recall::default() }
}

fn vector(values: [f32; 2]) -> Option<Embedding> {
    Some(Embedding::new(&values).unwrap())
}

fn pets() -> Shelf {
    let mut shelf = Shelf::default();
    shelf.add(fact("the cat sleeps"), 1, Some([1.0, 0.0]));
    shelf.add(fact("a dog barks"), 1, Some([0.9, 0.1]));
    shelf.add(fact("stocks fell"), 1, Some([0.0, 1.0]));
    shelf
}

#[test]
fn r1_each_mode_asks_its_channels() {
    let shelf = pets();
    let mut request = Recall { vector: vector([0.0, 1.0]), ..query("cat") };
    assert_eq!(contents(&ask(&shelf, &request))[..2], ["the cat sleeps", "stocks fell"]);
    request.mode = Mode::Keyword;
    assert_eq!(contents(&ask(&shelf, &request)), ["the cat sleeps"]);
    request.mode = Mode::Vector;
    let hits = ask(&shelf, &request).hits;
    assert_eq!(hits[0].memory.content, "stocks fell");
    assert!(hits[0].breakdown.parts.iter().all(|part| part.name != "keyword"));
}

#[test]
fn r5_a_hit_of_one_channel_is_scored_on_the_other_too() {
    let shelf = pets();
    let hits = ask(&shelf, &Recall { vector: vector([1.0, 0.0]), ..query("dog") }).hits;
    let dog = hits.iter().find(|hit| hit.memory.content == "a dog barks").unwrap();
    let part = |name: &str| dog.breakdown.parts.iter().find(|part| part.name == name).unwrap();
    assert!((part("keyword").raw - 1.0).abs() < 1e-9 && part("vector").raw > 0.99);
    assert!((part("vector").weight - 0.25).abs() < 1e-9 && (part("keyword").weight - 0.45).abs() < 1e-9);
    assert_eq!(dog.breakdown.matched_terms, ["dog"]);
}

#[test]
fn r5_a_channel_that_did_not_run_gives_its_weight_to_the_others() {
    let hits = ask(&pets(), &query("dog")).hits;
    let weights: Vec<f64> = hits[0].breakdown.parts.iter().map(|part| part.weight).collect();
    assert!((weights[0] - 0.7).abs() < 1e-9, "{weights:?}");
}

#[test]
fn r5_reciprocal_ranks_join_channels_too() {
    let shelf = pets();
    let request = Recall { fusion: Fusion::Rrf, vector: vector([1.0, 0.0]), ..query("dog") };
    let recalled = ask(&shelf, &request);
    assert_eq!(contents(&recalled)[0], "a dog barks");
    let relevance = |hit: &hindsight_core::Hit| -> f64 {
        hit.breakdown
            .parts
            .iter()
            .filter(|part| ["vector", "keyword"].contains(&part.name.as_str()))
            .map(|p| p.contribution)
            .sum()
    };
    assert!((relevance(&recalled.hits[0]) - 0.7).abs() < 1e-9, "the best has all of relevance");
}

#[test]
fn r3_the_named_time_decides_between_equals() {
    let mut shelf = Shelf::default();
    shelf.add(fact("backup ran early"), 3, None);
    shelf.add(fact("backup ran late"), 30, None);
    shelf.add(fact("something else"), 4, None);
    let recalled = ask(&shelf, &query("last week backup"));
    assert_eq!(contents(&recalled)[0], "backup ran early");
    let window = recalled.window.as_ref().unwrap();
    assert_eq!(
        (window.from.to_string(), window.to.to_string()),
        ("2026-11-23T00:00:00Z".to_owned(), "2026-11-30T00:00:00Z".to_owned())
    );
    let old = recalled.hits.iter().find(|hit| hit.memory.content == "backup ran late").unwrap();
    assert_eq!(old.breakdown.matched_terms, ["backup"], "the words of time are not what it is about");
    let monthly = ask(&shelf, &query("backup"));
    assert!(monthly.window.is_none());
}

#[test]
fn r10_top_k_budget_and_floor_cut_by_rank() {
    let shelf = pets();
    let all = Recall { vector: vector([1.0, 0.0]), ..query("cat") };
    assert_eq!(ask(&shelf, &all).hits.len(), 3);
    let two = ask(&shelf, &Recall { top_k: 2, ..all.clone() });
    assert_eq!((two.hits.len(), two.omitted), (2, 1));
    let floor = ask(&shelf, &Recall { min_score: Some(0.95), ..all.clone() });
    assert_eq!(contents(&floor), ["the cat sleeps", "a dog barks"]);
    let nothing = ask(&shelf, &Recall { min_score: Some(0.5), ..query("zebra") });
    assert_eq!((nothing.hits.len(), nothing.omitted), (0, 0));
    let budget = ask(&shelf, &Recall { token_budget: Some(4), ..all.clone() });
    assert_eq!(contents(&budget), ["the cat sleeps"]);
}

#[test]
fn a_query_that_nothing_can_look_for_finds_nothing_and_an_absent_one_means_the_newest() {
    let shelf = pets();
    assert!(ask(&shelf, &query("zebra")).hits.is_empty());
    let newest = ask(&shelf, &query(""));
    assert_eq!(newest.hits.len(), 3);
}

#[test]
fn r1_the_filter_is_exact_and_counted() {
    let mut shelf = pets();
    let episode = Draft {
        kind: Some(Kind::Episode),
        status: Some(Status::Failure),
        task_type: Some("feeding".to_owned()),
        episode: Some(EpisodeDraft::default()),
        ..fact("the cat would not eat")
    };
    shelf.add(episode, 2, Some([1.0, 0.0]));
    let filter = Filter { statuses: vec![Status::Failure], ..Filter::default() };
    let recalled = ask(&shelf, &Recall { filter, vector: vector([1.0, 0.0]), ..query("cat") });
    assert_eq!((contents(&recalled), recalled.allowed), (vec!["the cat would not eat"], 1));
}

#[test]
fn r8_a_trusted_source_comes_before_an_equal_one_that_is_not() {
    let mut shelf = Shelf::default();
    let from = |kind| Draft {
        source: Some(SourceDraft { kind: Some(kind), ..SourceDraft::default() }),
        ..fact("tea at five")
    };
    shelf.add(from(hindsight_core::SourceKind::External), 1, None);
    shelf.add(from(hindsight_core::SourceKind::Admin), 1, None);
    let hits = ask(&shelf, &Recall { keep_alike: true, ..query("tea") }).hits;
    assert_eq!(hits[0].memory.source.kind, hindsight_core::SourceKind::Admin);
    assert!((hits[1].score / hits[0].score - 0.5).abs() < 1e-9);
}

#[test]
fn r13_of_equal_score_a_rule_comes_first_then_the_newer_then_the_smaller_id() {
    let mut shelf = Shelf::default();
    let even = |draft: Draft| Draft { importance: Some(0.5), ..draft };
    shelf.add(even(fact("same words")), 0, None);
    shelf.add(even(fact("same words")), 0, None);
    let rule = RuleDraft {
        polarity: Some(Polarity::Do),
        advice: "x".to_owned(),
        rule_state: Some(RuleState::Active),
        ..RuleDraft::default()
    };
    shelf.add(even(Draft { kind: Some(Kind::Rule), rule: Some(rule), ..fact("same words") }), 0, None);
    let request = Recall { keep_alike: true, ..query("same") };
    let ids: Vec<u128> = ask(&shelf, &request).hits.iter().map(|hit| hit.memory.id.as_u128()).collect();
    assert_eq!(ids, [3, 1, 2]);
}

#[test]
fn explain_prints_what_was_done() {
    let shelf = pets();
    let request = Recall { explain: true, vector: vector([1.0, 0.0]), ..query("cat yesterday") };
    assert_eq!(
        ask(&shelf, &request).plan.unwrap(),
        "recall: 3 returned of 3 candidates\n\
         ├─ rank: min-max, weighted mean\n\
         ├─ vector: 3 found of at most 20, share 0.28, by scan\n\
         ├─ keyword: 1 found of at most 20, share 0.50\n\
         ├─ window: 3 found of at most 10, share 0.22\n\
         ├─ neighbours in the session: 0.40 beside a memory's own 1\n\
         ├─ time words \"yesterday\": 2026-11-29T00:00:00Z to 2026-11-30T00:00:00Z\n\
         └─ filter: 3 allowed, exact"
    );
}

#[test]
fn the_plan_says_which_way_the_nearest_were_found_and_exact_is_handed_on() {
    let way = VectorWay::Graph { ef: 112, covered: 90_000, newer: 7 };
    let shelf = Shelf { way, ..pets() };
    let mut request = Recall { explain: true, vector: vector([1.0, 0.0]), ..query("") };
    let line = |request: &Recall| ask(&shelf, request).plan.unwrap().lines().nth(2).unwrap().to_owned();
    assert_eq!(
        line(&request),
        "├─ vector: 3 found of at most 20, share 1.00, through the graph: best 112 of 90000 vectors, 7 newer by scan"
    );
    request.exact = true;
    assert_eq!(line(&request), "├─ vector: 3 found of at most 20, share 1.00, by scan");
}

#[test]
fn r17_the_same_question_gets_the_same_answer_bit_for_bit() {
    let shelf = pets();
    let request = Recall { vector: vector([0.3, 0.7]), ..query("the dog sleeps") };
    let (a, b) = (ask(&shelf, &request), ask(&shelf, &request));
    assert_eq!(a, b);
    assert!(a.hits.iter().zip(&b.hits).all(|(a, b)| a.score.to_bits() == b.score.to_bits()));
}

#[test]
fn a_weight_of_zero_switches_a_channel_off() {
    let weights = Weights { vector: 0.0, ..Weights::default() };
    let recalled = ask(&pets(), &Recall { weights, vector: vector([0.0, 1.0]), ..query("cat") });
    assert_eq!(contents(&recalled), ["the cat sleeps"]);
}

#[test]
fn r3_time_words_are_taken_out_of_what_is_searched_for() {
    let left = |query: &str| {
        let window = timewords::window(query, now(), &jiff::tz::TimeZone::UTC);
        without_time_words(query, window.as_ref()).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(left("What failed Yesterday and on Friday?"), "What failed ?");
    assert_eq!(left("上周的备份"), "的备份");
    assert_eq!(left("the last mile"), "the last mile");
}

#[test]
fn what_stands_beside_a_find_in_its_session_is_lifted_and_shown_as_such() {
    let mut shelf = Shelf::default();
    let said = |content: &str, session: &str| Draft { session_id: Some(session.to_owned()), ..fact(content) };
    shelf.add(said("where did you buy the lamp", "a"), 2, None);
    shelf.add(said("at the flea market", "a"), 2, None);
    shelf.add(said("at the harbour", "b"), 2, None);
    shelf.add(said("a lamp, of all things", "c"), 2, None);
    let hits = ask(&shelf, &query("lamp")).hits;
    let place = |content: &str| hits.iter().position(|hit| hit.memory.content == content);
    let answer = &hits[place("at the flea market").unwrap()];
    let part = answer.breakdown.parts.iter().find(|part| part.name == "neighbour").unwrap();
    assert!((part.raw - 1.0).abs() < 1e-9 && (part.weight - 0.7 * 0.4 / 1.4).abs() < 1e-9, "{part:?}");
    assert!(place("at the harbour").is_none());
    // Switched off, or too far apart in time, it does not come up.
    let off = Recall { weights: Weights { neighbour: 0.0, ..Weights::default() }, ..query("lamp") };
    assert_eq!(ask(&shelf, &off).hits.len(), 2);
    shelf.rows[1].0.occurred_at = now();
    assert_eq!(ask(&shelf, &query("lamp")).hits.len(), 2);
}

#[test]
fn a_neighbour_that_the_filter_refuses_does_not_come_in() {
    let mut shelf = Shelf::default();
    let said = |content: &str, tag: &str| Draft {
        session_id: Some("a".to_owned()),
        tags: vec![tag.to_owned()],
        ..fact(content)
    };
    shelf.add(said("where is the lamp", "yes"), 2, None);
    shelf.add(said("under the stairs", "no"), 2, None);
    let filter = Filter { tags: vec!["yes".to_owned()], ..Filter::default() };
    assert_eq!(contents(&ask(&shelf, &Recall { filter, ..query("lamp") })), ["where is the lamp"]);
}

fn about(content: &str, names: &[&str]) -> Draft {
    let entity = |name: &&str| hindsight_core::Entity { name: (*name).to_owned(), kind: String::new() };
    Draft { entities: names.iter().map(entity).collect(), ..fact(content) }
}

#[test]
fn r4_a_memory_of_whom_the_query_names_comes_first_and_says_so() {
    let mut shelf = Shelf::default();
    shelf.add(about("went to the lake", &["Melanie"]), 2, None);
    shelf.add(about("went to the lake", &["Caroline"]), 2, None);
    shelf.add(about("bought a lamp", &["Caroline"]), 2, None);
    shelf.add(fact("went home"), 2, None);
    let request = Recall { explain: true, ..query("what did Caroline do at the lake") };
    let recalled = ask(&shelf, &request);
    let ids: Vec<u128> = recalled.hits.iter().map(|hit| hit.memory.id.as_u128()).collect();
    assert_eq!(ids[..2], [2, 1], "{recalled:?}");
    let part =
        |hit: &hindsight_core::Hit| hit.breakdown.parts.iter().find(|part| part.name == "entity").cloned();
    let (first, second) = (part(&recalled.hits[0]).unwrap(), part(&recalled.hits[1]).unwrap());
    assert_eq!((first.raw, first.normalized, second.raw), (1.0, 1.0, 0.0));
    assert!((first.weight - 0.7 * 0.1 / 0.55).abs() < 1e-9, "{first:?}");
    assert_eq!(
        (recalled.hits[0].breakdown.path.as_slice(), recalled.hits[1].breakdown.path.len()),
        (&["Caroline".to_owned()][..], 0)
    );
    assert!(ids.contains(&3), "a memory without a word of the query is found by whom it names");
    assert_eq!(
        recalled.plan.unwrap(),
        "recall: 3 returned of 3 candidates\n\
         ├─ rank: min-max, weighted mean\n\
         ├─ keyword: 2 found of at most 20, share 0.82\n\
         ├─ entity: 2 found of at most 10, share 0.18\n\
         ├─ neighbours in the session: 0.40 beside a memory's own 1\n\
         ├─ names: Caroline\n\
         └─ filter: 4 allowed, exact"
    );
}

#[test]
fn names_are_looked_for_in_hybrid_recall_only_and_not_at_a_weight_of_zero() {
    let mut shelf = Shelf::default();
    shelf.add(about("bought a lamp", &["Caroline"]), 2, None);
    let found = |request: &Recall| ask(&shelf, request).hits.len();
    assert_eq!(found(&query("Caroline")), 1);
    assert_eq!(found(&Recall { mode: Mode::Keyword, ..query("Caroline") }), 0);
    let weights = Weights { entity: 0.0, ..Weights::default() };
    assert_eq!(found(&Recall { weights, ..query("Caroline") }), 0);
}

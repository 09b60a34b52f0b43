//! Names and claims: what a query names, who bears it, and what lies beside it.

use std::fmt::Write as _;

use hindsight_core::scoring::bm25::idf;
use hindsight_core::{Claim, Entity, Record, State};
use hindsight_index::{EntityPart, EntityQuery, NamespaceIndex, Selection, Shelf};

use crate::golden::check;
use crate::support::{fact, id};

/// A fact with its names and its claims, each `subject / attribute / value`.
fn named(number: u128, content: &str, names: &[&str], claims: &[&str]) -> Record {
    let mut record = fact(number, content);
    let entity = |name: &&str| Entity { name: (*name).to_owned(), kind: String::new() };
    record.memory.entities = names.iter().map(entity).collect();
    let claim = |text: &&str| {
        let parts: Vec<&str> = text.split(" / ").collect();
        Claim {
            subject: parts[0].to_owned(),
            attribute: parts[1].to_owned(),
            value: parts[2].to_owned(),
            single_valued: false,
        }
    };
    record.memory.claims = claims.iter().map(claim).collect();
    record
}

fn index(records: &[Record]) -> NamespaceIndex {
    let mut index = NamespaceIndex::default();
    records.iter().for_each(|record| index.apply(record).unwrap());
    index
}

/// The best of some memories of a shelf, with the ways to them.
fn ask(shelf: &Shelf, allowed: &Selection, text: &str, k: usize) -> Vec<(u128, f32, Vec<String>)> {
    let query = EntityQuery::new(text, &[EntityPart { shelf, allowed }]);
    let search = shelf.entity_search(&query);
    let found = shelf.entity_top(allowed, &search, k).into_iter();
    found.map(|one| (shelf.id(one.ordinal).as_u128(), one.score, search.paths(&query, one.ordinal))).collect()
}

#[test]
fn golden_entities() {
    let mut index = NamespaceIndex::default();
    let mut texts = vec![String::new()];
    check("entities.txt", &['+', '?'], |kind, text| {
        let shelf = index.active();
        if kind == '+' {
            let mut parts = text.split('|').map(str::trim);
            let content = parts.next().unwrap();
            let mut list = || -> Vec<&str> {
                parts.next().unwrap_or_default().split(", ").filter(|one| !one.is_empty()).collect()
            };
            let (names, claims) = (list(), list());
            index.apply(&named(texts.len() as u128, content, &names, &claims)).unwrap();
            texts.push(content.to_owned());
            return String::new();
        }
        let all = shelf.all();
        let query = EntityQuery::new(text, &[EntityPart { shelf, allowed: &all }]);
        if query.is_empty() {
            return "  names nothing\n".to_owned();
        }
        let mut answer = format!("  names: {}\n", query.names().join(" | "));
        for (number, score, paths) in ask(shelf, &all, text, 3) {
            let content = &texts[usize::try_from(number).unwrap()];
            writeln!(answer, "  {score:.3}  {content}  [{}]", paths.join(" | ")).unwrap();
        }
        answer
    });
}

/// Twelve memories: who is allergic to peanuts, what else is known of them, and eight that have nothing to do with it.
fn allergies() -> Vec<Record> {
    let mut records = vec![
        named(1, "no satay", &["peanuts"], &["user / allergic_to / Peanuts"]),
        named(2, "the user moved", &["user"], &[]),
        named(3, "a cat person", &[], &["user / likes / cats"]),
        named(4, "cats sleep", &["cats"], &[]),
    ];
    records.extend((5..13).map(|number| named(number, "other", &[&format!("other {number}")], &[])));
    records
}

#[test]
fn a_walk_goes_over_claims_and_weakens_with_each_hop() {
    let index = index(&allergies());
    let shelf = index.active();
    let found = ask(shelf, &shelf.all(), "what about peanuts?", 10);
    let (one, three) = (idf(1, 12), idf(3, 12));
    let way = |path: &str| vec![path.to_owned()];
    let user = "peanuts → allergic to → user";
    let expected = [
        (1, 1.0, way("peanuts")),
        (3, 0.5 * three / one, way(user)),
        (2, 0.5 * three / one, way(user)),
        (4, 0.25 * three / one, way(&format!("{user} → likes → cats"))),
    ];
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for (found, expected) in found.iter().zip(&expected) {
        assert_eq!((found.0, &found.2), (expected.0, &expected.2));
        assert!((f64::from(found.1) - expected.1).abs() < 1e-6, "{found:?} is not {expected:?}");
    }
}

#[test]
fn a_claim_is_named_by_its_attribute_beside_either_end() {
    let index = index(&allergies());
    let shelf = index.active();
    let names = |text: &str| {
        let all = shelf.all();
        EntityQuery::new(text, &[EntityPart { shelf, allowed: &all }]).names()
    };
    assert_eq!(names("who is allergic to peanuts"), ["peanuts", "allergic to / peanuts"]);
    assert_eq!(names("what is the USER allergic to?"), ["user / allergic to", "user"]);
    let found = ask(shelf, &shelf.all(), "what is the user allergic to?", 3);
    assert_eq!((found[0].0, found[0].1), (1, 1.0));
    let share = idf(3, 12) / (idf(3, 12) + idf(1, 12));
    assert!((f64::from(found[1].1) - share).abs() < 1e-6, "{found:?}");
}

#[test]
fn nothing_is_learnt_from_what_may_not_be_returned() {
    let index = index(&allergies());
    let shelf = index.active();
    let hidden = shelf.ordinal(id(1)).unwrap();
    let allowed: Selection = shelf.all().iter().filter(|ordinal| *ordinal != hidden).collect();
    assert!(ask(shelf, &allowed, "what about peanuts?", 10).is_empty());
    let user = ask(shelf, &allowed, "the user", 10);
    assert!(user.iter().all(|(_, _, paths)| !paths[0].contains("peanuts")), "{user:?}");
}

#[test]
fn what_is_changed_or_forgotten_names_nothing_any_more() {
    let mut index = index(&allergies());
    let stated = |index: &NamespaceIndex, attribute: &str| {
        let shelf = index.active();
        let found = shelf.entities().stated("User", attribute);
        found.into_iter().map(|ordinal| shelf.id(ordinal).as_u128()).collect::<Vec<_>>()
    };
    assert_eq!((stated(&index, "allergic to"), stated(&index, "likes")), (vec![1], vec![3]));
    index.apply(&named(1, "satay is fine", &["satay"], &["user / likes / satay"])).unwrap();
    assert_eq!((stated(&index, "allergic_to"), stated(&index, "Likes")), (vec![], vec![1, 3]));
    assert_eq!(
        (index.active().entities().named("peanuts"), index.active().entities().named("SATAY")),
        (0, 1)
    );
    for record in allergies() {
        let mut forgotten = record;
        forgotten.memory.state = State::Forgotten;
        index.apply(&forgotten).unwrap();
    }
    let stats = index.stats().active;
    assert_eq!((stats.names, stats.claims, index.active().entities().is_empty()), (0, 0, true));
}

#[test]
fn a_name_of_a_crowd_counts_and_brings_nobody() {
    let names = |number: u128| -> Vec<&'static str> {
        if number == 7 { vec!["Caroline", "Oscar"] } else { vec!["Caroline"] }
    };
    let mut records: Vec<Record> = (0..70).map(|number| named(number, "said", &names(number), &[])).collect();
    records.extend((70..200).map(|number| named(number, "said", &["Melanie"], &[])));
    let index = index(&records);
    let shelf = index.active();
    assert!(ask(shelf, &shelf.all(), "Caroline", 10).is_empty());
    assert_eq!(ask(shelf, &shelf.all(), "Caroline and Oscar", 10).len(), 1);
    let all = shelf.all();
    let query = EntityQuery::new("Caroline", &[EntityPart { shelf, allowed: &all }]);
    let search = shelf.entity_search(&query);
    let score = |number| search.score(shelf.ordinal(id(number)).unwrap());
    assert_eq!((score(3), score(100)), (1.0, 0.0));
}

#[test]
fn a_name_that_everybody_bears_is_not_asked_for() {
    let records: Vec<Record> = (0..9).map(|number| named(number, "said", &["Bart"], &[])).collect();
    let index = index(&records);
    let shelf = index.active();
    let all = shelf.all();
    assert!(EntityQuery::new("what did Bart say", &[EntityPart { shelf, allowed: &all }]).is_empty());
}

#[test]
fn names_of_both_shelves_are_weighed_together() {
    let mut archived = named(2, "old", &["Oscar"], &["Oscar / lives in / Bern"]);
    archived.memory.state = State::Archived;
    let index = index(&[named(1, "new", &["Oscar"], &[]), archived, named(3, "none", &[], &[])]);
    let shelves = [index.active(), index.inactive()];
    let all = shelves.map(Shelf::all);
    let parts: Vec<EntityPart<'_>> =
        shelves.iter().zip(&all).map(|(shelf, allowed)| EntityPart { shelf, allowed }).collect();
    let query = EntityQuery::new("where does oscar live, in BERN?", &parts);
    assert_eq!(query.names(), ["bern", "oscar"]);
    let score = |shelf: &Shelf, number| shelf.entity_search(&query).score(shelf.ordinal(id(number)).unwrap());
    let (one, two) = (idf(1, 3), idf(2, 3));
    let hop = 0.5 * two;
    assert!((score(index.inactive(), 2) - 1.0).abs() < 1e-12);
    assert!((score(index.active(), 1) - (two + hop) / (one + two)).abs() < 1e-12);
}

#[test]
fn a_code_inside_a_longer_name_is_not_named_by_itself() {
    let mut records = allergies();
    records.push(named(20, "order A1042 is late", &["order A1042"], &[]));
    let index = index(&records);
    let (shelf, all) = (index.active(), index.active().all());
    let names = |text: &str| EntityQuery::new(text, &[EntityPart { shelf, allowed: &all }]).names();
    assert_eq!(names("where is Order A1042?"), ["order a1042"]);
    assert_eq!(names("where is A1042?"), ["A1042"]);
}

/// Somebody with three names over two claims, and six who have nothing to do with it.
fn names_of_one() -> Vec<Record> {
    let mut records = vec![
        named(1, "called Liz", &[], &["Elizabeth / alias / Liz"]),
        named(2, "also Betty", &[], &["Betty / Also_Known_As / liz"]),
        named(3, "moved to Bern", &["Elizabeth"], &[]),
        named(4, "no walnuts", &[], &["Betty / allergic_to / walnuts"]),
    ];
    records.extend((5..11).map(|number| named(number, "other", &[&format!("other {number}")], &[])));
    records
}

#[test]
fn r4_an_alias_is_the_same_name_and_no_hop() {
    let index = index(&names_of_one());
    let shelf = index.active();
    for name in ["Liz", "elizabeth", "BETTY"] {
        let found = ask(shelf, &shelf.all(), &format!("where does {name} live?"), 10);
        let full: Vec<u128> = found.iter().filter(|one| one.1 == 1.0).map(|one| one.0).collect();
        assert_eq!(full, [4, 3, 2, 1], "{name}: {found:?}");
    }
    let found = ask(shelf, &shelf.all(), "where does Betty live?", 10);
    let moved = found.iter().find(|one| one.0 == 3).unwrap();
    assert_eq!(moved.2, ["betty → also known as → liz → alias → elizabeth"]);
    let all = shelf.all();
    let names =
        EntityQuery::new("what is Elizabeth allergic to", &[EntityPart { shelf, allowed: &all }]).names();
    assert_eq!(names, ["betty / allergic to", "elizabeth"], "what is stated of one name is stated of all");
}

#[test]
fn an_alias_is_read_off_what_may_be_returned_and_goes_with_its_claim() {
    let mut index = index(&names_of_one());
    let shelf = index.active();
    let hidden = shelf.ordinal(id(1)).unwrap();
    let allowed: Selection = shelf.all().iter().filter(|ordinal| *ordinal != hidden).collect();
    let found = ask(shelf, &allowed, "Betty", 10);
    assert!(found.iter().all(|one| one.0 != 3), "{found:?}");
    index.apply(&named(2, "no longer", &[], &[])).unwrap();
    let shelf = index.active();
    let found = ask(shelf, &shelf.all(), "Liz", 10);
    let full: Vec<u128> = found.iter().filter(|one| one.1 == 1.0).map(|one| one.0).collect();
    assert_eq!(full, [3, 1], "{found:?}");
}

#[test]
fn an_alias_that_a_crowd_states_or_that_leads_in_a_circle_does_no_harm() {
    let mut records =
        vec![named(1, "a", &[], &["Ann / alias / Bea", "Bea / alias / Cleo", "Cleo / alias / Ann"])];
    records
        .extend((2..30).map(|number| named(number, "b", &[], &[&format!("Bea / aka / name {number:02}")])));
    records.extend((30..2_000).map(|number| named(number, "c", &[], &["someone / alias / anyone"])));
    let index = index(&records);
    let shelf = index.active();
    let found = ask(shelf, &shelf.all(), "Ann", 100);
    // Of the 30 other names 16 count: those of the first step, then the first in the order of letters.
    assert_eq!(found.iter().filter(|one| one.1 == 1.0).count(), 29, "they bear Bea too: {}", found.len());
    let all = shelf.all();
    let query = EntityQuery::new("someone", &[EntityPart { shelf, allowed: &all }]);
    assert!(query.is_empty(), "nine in ten bear the name");
}

//! The contract of every index: over any history, it answers what a look at each memory would answer.

use std::collections::BTreeMap;

use hindsight_core::{
    Filter, Kind, Layer, MemoryId, Record, SourceKind, State, Status, Timestamp, time::Span,
};
use hindsight_index::{
    EntityPart, EntityQuery, IndexError, NamespaceIndex, Scored, Selection, Shelf, Shelves,
};
use proptest::prelude::*;

use crate::support::*;

/// One change of a history.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    Apply(Box<Record>),
    Remove(u128),
}

pub(crate) fn history() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        5 => records().prop_map(|record| Step::Apply(Box::new(record))),
        1 => (0_u128..30).prop_map(Step::Remove),
    ];
    prop::collection::vec(step, 0..60)
}

/// The index after a history, and what it should hold: the last version of every memory that is neither removed nor forgotten.
pub(crate) fn replay(history: Vec<Step>) -> (NamespaceIndex, BTreeMap<MemoryId, Record>) {
    let (mut index, mut held) = (NamespaceIndex::default(), BTreeMap::new());
    for step in history {
        match step {
            Step::Apply(record) => {
                index.apply(&record).unwrap();
                held.remove(&record.memory.id);
                if record.memory.state != State::Forgotten {
                    held.insert(record.memory.id, *record);
                }
            }
            Step::Remove(number) => {
                assert_eq!(index.remove(id(number)), held.remove(&id(number)).is_some());
            }
        }
    }
    (index, held)
}

fn one_of<T: Clone + std::fmt::Debug + 'static>(of: &'static [T]) -> impl Strategy<Value = Vec<T>> {
    prop_oneof![4 => Just(Vec::new()), 1 => prop::collection::vec(prop::sample::select(of), 1..3)]
}

fn words(of: &'static [&'static str]) -> impl Strategy<Value = Vec<String>> {
    prop_oneof![5 => Just(Vec::new()), 1 => prop::collection::vec(word(of), 1..3), 1 => Just(vec!["nobody".to_owned()])]
        .prop_map(|words| words)
}

fn seldom<T: Clone + std::fmt::Debug + 'static>(
    value: impl Strategy<Value = T>,
) -> impl Strategy<Value = Option<T>> {
    prop::option::weighted(0.3, value)
}

prop_compose! {
    fn closed_words()(
        kinds in one_of(Kind::ALL), layers in one_of(Layer::ALL), statuses in one_of(Status::ALL),
        states in one_of(State::ALL), source_kinds in one_of(SourceKind::ALL), transient in seldom(any::<bool>()),
    ) -> Filter {
        Filter { kinds, layers, statuses, states, source_kinds, transient, ..Filter::default() }
    }
}

prop_compose! {
    fn free_words()(
        task_types in words(TASKS), tags in words(TAGS), entities in words(NAMES), tools in words(TOOLS),
        error_codes in words(CODES), root_causes in words(CAUSES), sessions in words(SESSIONS), agents in words(AGENTS),
    ) -> Filter {
        Filter { task_types, tags, entities, tools, error_codes, root_causes, sessions, agents, ..Filter::default() }
    }
}

prop_compose! {
    fn numbers()(
        from in seldom(times()), to in seldom(times()), last in seldom((0_i64..60 * 24).prop_map(|hours| Span::from_ms(hours * 3_600_000))),
        importance in seldom(0_u8..=4), confidence in seldom(0_u8..=4),
    ) -> Filter {
        let share = |quarters: Option<u8>| quarters.map(|quarters| f32::from(quarters) / 4.0);
        Filter { from, to, last, min_importance: share(importance), min_confidence: share(confidence), ..Filter::default() }
    }
}

pub(crate) fn filters() -> impl Strategy<Value = Filter> {
    let leaf =
        (closed_words(), free_words(), numbers(), 0_u8..4).prop_map(|(closed, free, numbers, which)| {
            match which {
                0 => closed,
                1 => free,
                2 => numbers,
                _ => Filter {
                    kinds: closed.kinds,
                    transient: closed.transient,
                    tags: free.tags,
                    tools: free.tools,
                    from: numbers.from,
                    ..Filter::default()
                },
            }
        });
    leaf.prop_recursive(3, 12, 3, |inner| {
        let parts = || prop::collection::vec(inner.clone(), 0..3);
        (inner.clone(), parts(), parts(), parts()).prop_map(|(node, all, any, not)| Filter {
            all,
            any,
            not,
            ..node
        })
    })
}

pub(crate) fn ids(shelf: &Shelf, selection: &Selection) -> Vec<MemoryId> {
    let mut ids: Vec<MemoryId> = selection.iter().map(|ordinal| shelf.id(ordinal)).collect();
    ids.sort();
    ids
}

pub(crate) fn ranked(shelf: &Shelf, found: &[Scored]) -> Vec<(MemoryId, f32)> {
    found.iter().map(|scored| (shelf.id(scored.ordinal), scored.score)).collect()
}

/// A memory, its score, and the ways that led to it.
pub(crate) type Led = (MemoryId, f32, Vec<String>);

/// What a text names, and the best memories of both shelves by it with their ways, by id.
pub(crate) fn named(
    index: &NamespaceIndex,
    text: &str,
    filter: &Filter,
    now: Timestamp,
    k: usize,
) -> (Vec<String>, Vec<Led>) {
    let shelves = [index.active(), index.inactive()];
    let allowed = shelves.map(|shelf| shelf.select(filter, now));
    let parts: Vec<EntityPart<'_>> =
        shelves.iter().zip(&allowed).map(|(shelf, allowed)| EntityPart { shelf, allowed }).collect();
    let query = EntityQuery::new(text, &parts);
    let mut found = Vec::new();
    for part in &parts {
        let search = part.shelf.entity_search(&query);
        for scored in part.shelf.entity_top(part.allowed, &search, k) {
            assert!((search.score(scored.ordinal) - f64::from(scored.score)).abs() < 1e-6);
            assert!(part.allowed.contains(scored.ordinal) && scored.score > 0.0);
            found.push((part.shelf.id(scored.ordinal), scored.score, search.paths(&query, scored.ordinal)));
        }
    }
    (query.names(), found)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn a_selection_is_what_the_filter_matches(history in history(), filter in filters(), now in times(), agent in prop::option::of(word(AGENTS))) {
        let (index, held) = replay(history);
        for (shelf, is_active) in [(index.active(), true), (index.inactive(), false)] {
            let here = || held.values().map(|record| &record.memory).filter(|memory| (memory.state == State::Active) == is_active);
            let expected = |holds: &dyn Fn(&hindsight_core::Memory) -> bool| {
                here().filter(|memory| holds(memory)).map(|memory| memory.id).collect::<Vec<_>>()
            };
            prop_assert_eq!(ids(shelf, &shelf.all()), expected(&|_| true));
            prop_assert_eq!(shelf.len(), shelf.all().len());
            prop_assert_eq!(ids(shelf, &shelf.select(&filter, now)), expected(&|memory| filter.matches(memory, now)));
            prop_assert_eq!(
                ids(shelf, &shelf.current_at(now)),
                expected(&|memory| memory.is_valid_at(now) && !memory.is_expired_at(now))
            );
            let agent = agent.as_deref();
            prop_assert_eq!(ids(shelf, &shelf.visible_to(agent)), expected(&|memory| memory.is_visible_to(agent)));
            prop_assert_eq!(
                ids(shelf, &shelf.created_between(Some(now), None)),
                expected(&|memory| now <= memory.created_at)
            );
        }
    }

    #[test]
    fn what_is_named_after_a_history_is_what_a_fresh_build_names(history in history(), tagged in any::<bool>(), k in 1_usize..8, now in times()) {
        let (index, held) = replay(history);
        let mut fresh = NamespaceIndex::default();
        held.values().for_each(|record| fresh.apply(record).unwrap());
        let filter = Filter { tags: if tagged { vec!["billing".to_owned()] } else { Vec::new() }, ..Filter::default() };
        for text in ["does Caroline like cats?", "花生和Bart", "\"permission_denied\" or E1042, Bart"] {
            prop_assert_eq!(named(&index, text, &filter, now, k), named(&fresh, text, &filter, now, k));
        }
        for name in ["caroline", "花生", "Bart", "cats"] {
            let key = hindsight_core::filter::entity_key(name);
            let bears = |memory: &hindsight_core::Memory| {
                memory.entities.iter().any(|entity| hindsight_core::filter::entity_key(&entity.name) == key)
                    || memory.claims.iter().any(|claim| [&claim.subject, &claim.value].iter().any(|end| hindsight_core::filter::entity_key(end) == key))
            };
            let expected = held.values().filter(|record| bears(&record.memory)).count();
            prop_assert_eq!(index.active().entities().named(name) + index.inactive().entities().named(name), expected);
        }
    }

    #[test]
    fn a_history_leaves_what_a_fresh_build_has(history in history(), query in records(), k in 1_usize..8, now in times()) {
        let (index, held) = replay(history);
        let mut fresh = NamespaceIndex::default();
        held.values().for_each(|record| fresh.apply(record).unwrap());
        let text = "the payments of Caroline, 花生 E1042 退款";
        let filter = Filter { tags: vec!["billing".to_owned()], ..Filter::default() };
        for (old, new) in [(index.active(), fresh.active()), (index.inactive(), fresh.inactive())] {
            let counts = |shelf: &Shelf| {
                let stats = shelf.stats();
                let lexical = (stats.lexical.docs, stats.lexical.terms, stats.lexical.postings);
                (stats.memories, stats.vectors, stats.values, stats.names, stats.claims, lexical)
            };
            prop_assert_eq!(counts(old), counts(new));
            let words = (index.keyword_query(text, Shelves::Both), fresh.keyword_query(text, Shelves::Both));
            prop_assert_eq!(&words.0, &words.1);
            for (all_old, all_new) in [(old.all(), new.all()), (old.select(&filter, now), new.select(&filter, now))] {
                prop_assert_eq!(
                    ranked(old, &old.keyword_top(&all_old, &words.0, k)),
                    ranked(new, &new.keyword_top(&all_new, &words.1, k))
                );
                let names = |shelf: &Shelf, newest: Vec<hindsight_index::Ordinal>| {
                    newest.into_iter().map(|ordinal| shelf.id(ordinal)).collect::<Vec<_>>()
                };
                prop_assert_eq!(names(old, old.newest(&all_old, k)), names(new, new.newest(&all_new, k)));
                if let Some(vector) = query.vectors.first() {
                    let near = (index.vector_query(&vector.embedding).unwrap(), fresh.vector_query(&vector.embedding).unwrap());
                    prop_assert_eq!(
                        ranked(old, &old.vector_top(&all_old, &near.0, k)),
                        ranked(new, &new.vector_top(&all_new, &near.1, k))
                    );
                }
            }
            for record in held.values() {
                let (old_at, new_at) = (old.ordinal(record.memory.id), new.ordinal(record.memory.id));
                prop_assert_eq!(old_at.is_some(), new_at.is_some());
                prop_assert_eq!(old_at.and_then(|at| old.hot(at)), new_at.and_then(|at| new.hot(at)));
            }
        }
    }
}

#[test]
fn what_is_not_active_is_outside_the_active_shelf() {
    let mut index = NamespaceIndex::default();
    let mut record = fact(1, "Caroline is allergic to peanuts");
    record.vectors = vec![vector(&[1.0, 0.0])];
    for state in State::ALL {
        record.memory.state = *state;
        index.apply(&record).unwrap();
        let active = index.active();
        let words = index.keyword_query("peanuts", Shelves::Both);
        let near = index.vector_query(&record.vectors[0].embedding).unwrap();
        let found = active.keyword_top(&active.all(), &words, 5).len()
            + active.vector_top(&active.all(), &near, 5).len();
        assert_eq!(found, if *state == State::Active { 2 } else { 0 }, "{state}");
        let elsewhere = !matches!(state, State::Active | State::Forgotten);
        assert_eq!(index.inactive().len(), usize::from(elsewhere), "{state}");
    }
    assert_eq!(index.stats().active.lexical.terms, 0, "no word of a forgotten memory is left");
    assert!(!index.remove(id(1)));
}

#[test]
fn a_vector_of_another_dimension_changes_nothing() {
    let mut index = NamespaceIndex::default();
    let mut first = fact(1, "one");
    first.vectors = vec![vector(&[1.0, 0.0])];
    first.memory.state = State::Archived;
    index.apply(&first).unwrap();
    assert_eq!(index.dimension(), Some(2), "the archive's vectors fix it too");
    let mut second = fact(1, "two");
    second.vectors = vec![vector(&[1.0, 0.0]), vector(&[1.0, 0.0, 0.0])];
    assert_eq!(index.apply(&second), Err(IndexError::Dimension { expected: 2, found: 3 }));
    assert_eq!((index.active().len(), index.inactive().len()), (0, 1));
    assert!(index.vector_query(&second.vectors[1].embedding).is_err());
}

#[test]
fn equal_scores_go_to_the_newer_memory() {
    let mut index = NamespaceIndex::default();
    for number in [5, 9, 7] {
        let mut record = fact(number, "thanks for the refund");
        record.vectors = vec![vector(&[0.6, 0.8])];
        index.apply(&record).unwrap();
    }
    let shelf = index.active();
    let words = index.keyword_query("refund", Shelves::Active);
    let near = index.vector_query(&vector(&[1.0, 0.0]).embedding).unwrap();
    for found in [shelf.keyword_top(&shelf.all(), &words, 2), shelf.vector_top(&shelf.all(), &near, 2)] {
        let order: Vec<u128> = found.iter().map(|scored| shelf.id(scored.ordinal).as_u128()).collect();
        assert_eq!(order, [9, 7]);
    }
}

#[test]
fn the_speaker_and_the_error_are_among_the_words() {
    let mut index = NamespaceIndex::default();
    let mut record = fact(1, "it did not work");
    record.memory.source.speaker = Some("Melanie".to_owned());
    let action = hindsight_core::Action {
        tool: "issueRefund".to_owned(),
        error_code: Some("permission_denied".to_owned()),
        error_message: Some("Caller lacks the role".to_owned()),
        ..hindsight_core::Action::default()
    };
    let episode = hindsight_core::Episode {
        actions: vec![action],
        resolution: Some("ask 财务".to_owned()),
        ..Default::default()
    };
    record.memory.episode = Some(Box::new(episode));
    index.apply(&record).unwrap();
    let shelf = index.active();
    for text in ["melanie", "refunds", "issueRefund", "denied", "roles", "财务", "permission_denied"] {
        let query = index.keyword_query(text, Shelves::Active);
        assert_eq!(shelf.keyword_top(&shelf.all(), &query, 3).len(), 1, "{text}");
    }
    let query = index.keyword_query("Was the Permission denied again?", Shelves::Active);
    let ordinal = shelf.ordinal(id(1)).unwrap();
    assert_eq!(shelf.lexical().search(&query).matched_terms(ordinal), ["Permission", "denied"]);
    let _: Timestamp = shelf.hot(ordinal).unwrap().occurred_at;
}

//! The lists against a search that has no tricks, over random histories.

use std::collections::{BTreeMap, BTreeSet};

use hindsight_core::scoring::bm25;
use proptest::prelude::*;

use super::*;
use crate::top::Ties;
use crate::{Scored, Selection};

const NEWEST: Ties<'static> = &|ordinal: Ordinal| ordinal.0 as u128;

fn terms(text: &str) -> Vec<String> {
    let mut terms = Vec::new();
    tokenise(text, &mut |token| terms.push(token.term.to_owned()));
    terms
}

fn insert(index: &mut LexicalIndex, slot: u32, text: &str) {
    index.set(Ordinal(slot), |take| take(text));
}

fn top(index: &LexicalIndex, text: &str, selection: &Selection, k: usize) -> Vec<Scored> {
    let query = KeywordQuery::new(text, &[index]);
    index.search(&query).top(selection, k, NEWEST)
}

/// BM25 straight from its definition.
fn brute_force(texts: &BTreeMap<u32, String>, query: &str, allowed: &BTreeSet<u32>) -> Vec<(u32, f64)> {
    let split: BTreeMap<u32, Vec<String>> = texts
        .iter()
        .map(|(slot, text)| (*slot, terms(text)))
        .filter(|(_, terms)| !terms.is_empty())
        .collect();
    let docs = u32::try_from(split.len()).unwrap();
    let mean = split.values().map(|terms| terms.len() as f64).sum::<f64>() / f64::from(docs);
    let wanted: BTreeSet<String> = terms(query).into_iter().collect();
    let mut scores: Vec<(u32, f64)> = Vec::new();
    for (slot, held) in split.iter().filter(|(slot, _)| allowed.contains(slot)) {
        let score: f64 = wanted
            .iter()
            .map(|term| {
                let df = split.values().filter(|other| other.contains(term)).count();
                let tf = held.iter().filter(|other| *other == term).count();
                let [df, tf, len] = [df, tf, held.len()].map(|count| u32::try_from(count).unwrap());
                bm25::term_score(bm25::idf(df, docs), tf, len, mean)
            })
            .sum();
        if score > 0.0 {
            scores.push((*slot, score));
        }
    }
    scores.sort_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
    scores
}

/// Texts of few words, so that lists overlap, texts repeat, and some are empty.
fn texts() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "timeout",
        "payment",
        "refund",
        "the",
        "user",
        "花生",
        "过敏",
        "update_status",
        "E1042",
        "deploy",
        "deploying",
        "上线",
    ]);
    prop::collection::vec(word, 0..9).prop_map(|words| words.join(" "))
}

fn steps() -> impl Strategy<Value = Vec<(u32, Option<String>)>> {
    prop::collection::vec((0_u32..30, prop::option::weighted(0.75, texts())), 0..60)
}

proptest! {
    #[test]
    fn any_history_leaves_the_index_of_a_fresh_build(steps in steps(), query in texts(), k in 0_usize..10, odd in any::<bool>()) {
        let mut index = LexicalIndex::default();
        let mut held: BTreeMap<u32, String> = BTreeMap::new();
        for (slot, text) in steps {
            if let Some(text) = text {
                insert(&mut index, slot, &text);
                held.insert(slot, text);
            } else {
                index.remove(Ordinal(slot));
                held.remove(&slot);
            }
        }
        let mut fresh = LexicalIndex::default();
        held.iter().for_each(|(slot, text)| insert(&mut fresh, *slot, text));
        let (stats, expected) = (index.stats(), fresh.stats());
        prop_assert_eq!((stats.docs, stats.terms, stats.postings, stats.length_sum),
            (expected.docs, expected.terms, expected.postings, expected.length_sum));

        let allowed: BTreeSet<u32> = (0..30).filter(|slot| !odd || slot % 2 == 1).collect();
        let selection: Selection = allowed.iter().map(|slot| Ordinal(*slot)).collect();
        let found = top(&index, &query, &selection, k);
        prop_assert_eq!(&found, &top(&fresh, &query, &selection, k));
        let expected = brute_force(&held, &query, &allowed);
        prop_assert_eq!(found.len(), k.min(expected.len()));
        let prepared = KeywordQuery::new(&query, &[&index]);
        for (scored, (_, score)) in found.iter().zip(&expected) {
            prop_assert!((f64::from(scored.score) - score).abs() < 1e-5, "{:?} {:?}", found, expected);
            prop_assert_eq!(index.search(&prepared).score(scored.ordinal), Some(scored.score));
        }
    }
}

/// Far more memories than a window holds: the walk with its resting lists must find what scoring everybody finds.
#[test]
fn the_walk_finds_what_scoring_everybody_finds() {
    let mut index = LexicalIndex::default();
    let words = ["timeout", "payment", "refund", "deploy", "gateway", "花生过敏", "E1042"];
    let mut state = 7_u64;
    let mut next = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    for slot in 0..20_000 {
        let mut text = String::new();
        for (rarity, word) in words.iter().enumerate() {
            if next(1 << (rarity * 2 + 1)) == 0 {
                (0..=next(3)).for_each(|_| text.push_str(&format!("{word} ")));
            }
        }
        (0..next(12)).for_each(|_| text.push_str("filler "));
        insert(&mut index, slot, &text);
    }
    let all: Selection = (0..20_000).map(Ordinal).collect();
    let third: Selection = (0..20_000).step_by(3).map(Ordinal).collect();
    for text in
        ["timeout payment refund deploy", "花生过敏 timeout", "E1042 gateway timeout payment", "timeout"]
    {
        let query = KeywordQuery::new(text, &[&index]);
        let search = index.search(&query);
        for selection in [&all, &third] {
            let mut everybody: Vec<Scored> = selection
                .iter()
                .filter_map(|ordinal| Some(Scored { ordinal, score: search.score(ordinal)? }))
                .collect();
            everybody.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.ordinal.cmp(&a.ordinal)));
            for k in [1, 20, 300] {
                assert_eq!(
                    search.top(selection, k, NEWEST),
                    everybody[..k.min(everybody.len())],
                    "{text} {k}"
                );
            }
        }
    }
}

#[test]
fn what_is_nowhere_matches_nobody() {
    let mut index = LexicalIndex::default();
    insert(&mut index, 0, "the payment gateway timed out");
    for text in ["", "the", "的", "zebra"] {
        assert!(KeywordQuery::new(text, &[&index]).is_empty(), "{text:?}");
    }
    let query = KeywordQuery::new("Payments, zebra and GATEWAYS", &[&index]);
    let search = index.search(&query);
    assert_eq!(search.matched_terms(Ordinal(0)), ["Payments", "GATEWAYS"]);
    assert_eq!(search.score(Ordinal(1)), None);
    assert!(search.top(&Selection::default(), 5, NEWEST).is_empty());
}

#[test]
fn one_query_over_two_indexes_has_one_scale() {
    let (mut active, mut inactive) = (LexicalIndex::default(), LexicalIndex::default());
    insert(&mut active, 0, "refund failed");
    insert(&mut active, 1, "payment failed");
    insert(&mut inactive, 0, "refund failed");
    let query = KeywordQuery::new("refund", &[&active, &inactive]);
    assert_eq!(active.search(&query).score(Ordinal(0)), inactive.search(&query).score(Ordinal(0)));
    assert!((query.terms()[0].idf - bm25::idf(2, 3)).abs() < 1e-12);
}

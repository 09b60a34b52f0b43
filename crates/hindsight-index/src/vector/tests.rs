//! The scan against a search that has no tricks.

use hindsight_core::Embedding;
use proptest::prelude::*;

use super::*;

/// Vectors whose components lie on a coarse grid, so that equal scores and duplicates are common.
fn vectors(dimension: usize) -> impl Strategy<Value = Vec<Embedding>> {
    let vector = proptest::collection::vec(-4_i8..=4, dimension)
        .prop_filter_map("has a direction", |levels| {
            Embedding::new(&levels.iter().map(|level| f32::from(*level)).collect::<Vec<_>>()).ok()
        });
    proptest::collection::vec(vector, 0..3)
}

#[derive(Debug, Clone)]
enum Step {
    Put(u32, Vec<Embedding>),
    Remove(u32),
}

fn steps(dimension: usize) -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => (0_u32..40, vectors(dimension)).prop_map(|(slot, vectors)| Step::Put(slot, vectors)),
        1 => (0_u32..40).prop_map(Step::Remove),
    ];
    proptest::collection::vec(step, 0..80)
}

/// The same search with a sort.
fn brute_force(held: &[(u32, Vec<Embedding>)], query: &Embedding, k: usize) -> Vec<(u32, f32)> {
    let mut all: Vec<(u32, f32)> = held
        .iter()
        .filter_map(|(slot, vectors)| {
            let score = vectors.iter().map(|vector| kernel::dot(&vector.components(), &query.components()));
            Some((*slot, score.max_by(f32::total_cmp)?))
        })
        .collect();
    all.sort_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
    all.truncate(k);
    all
}

const NEWEST: Ties<'static> = &|ordinal: Ordinal| ordinal.0 as u128;

fn pairs(found: &[Scored]) -> Vec<(u32, f32)> {
    found.iter().map(|scored| (scored.ordinal.0, scored.score)).collect()
}

proptest! {
    #[test]
    fn any_history_searches_like_brute_force(steps in steps(19), query in vectors(19), k in 0_usize..12, odd in any::<bool>()) {
        let Some(query) = query.first() else { return Ok(()) };
        let mut index = VectorIndex::default();
        let mut held = std::collections::BTreeMap::new();
        for step in steps {
            match step {
                Step::Put(slot, vectors) => {
                    index.set(Ordinal(slot), vectors.iter());
                    held.insert(slot, vectors);
                }
                Step::Remove(slot) => {
                    index.remove(Ordinal(slot));
                    held.remove(&slot);
                }
            }
        }
        let held: Vec<_> = held.into_iter().filter(|(slot, _)| !odd || slot % 2 == 1).collect();
        let selection: Selection = (0..40).filter(|slot| !odd || slot % 2 == 1).map(Ordinal).collect();
        let prepared = VectorQuery::new(query);
        prop_assert_eq!(pairs(&index.top(&selection, &prepared, k, NEWEST)), brute_force(&held, query, k));
        for (slot, _) in &held {
            let alone = brute_force(&held.iter().filter(|(other, _)| other == slot).cloned().collect::<Vec<_>>(), query, 1);
            prop_assert_eq!(index.score(Ordinal(*slot), &prepared), alone.first().map(|(_, score)| *score));
        }
    }
}

/// Numbers that look random and are the same every time.
fn noise(seed: u64) -> impl FnMut() -> f32 {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / (1 << 23) as f32 - 1.0
    }
}

/// Above the limit of the full scan the eight-bit rows decide who is looked at: the answer must not change by a bit,
/// also where many vectors crowd within the error of their copies, and many are equal.
#[test]
fn a_large_set_gives_the_bits_of_brute_force() {
    let mut next = noise(5);
    let mut index = VectorIndex::default();
    let mut held: Vec<(u32, Vec<Embedding>)> = Vec::new();
    let centre: Vec<f32> = (0..96).map(|_| next()).collect();
    for slot in 0..6_000_u32 {
        let spread = if slot % 3 == 0 { 0.02 } else { 1.0 };
        let mut vectors: Vec<Embedding> = (0..1 + slot % 2)
            .map(|_| Embedding::new(&centre.iter().map(|c| c + spread * next()).collect::<Vec<_>>()).unwrap())
            .collect();
        if slot % 50 == 49 {
            vectors = held[slot as usize - 30].1.clone();
        }
        index.set(Ordinal(slot), vectors.iter());
        held.push((slot, vectors));
    }
    let selection: Selection = (0..6_000).map(Ordinal).collect();
    for spread in [0.0, 0.05, 3.0] {
        let query = Embedding::new(&centre.iter().map(|c| c + spread * next()).collect::<Vec<_>>()).unwrap();
        for k in [1, 8, 100] {
            let found = index.top(&selection, &VectorQuery::new(&query), k, NEWEST);
            assert_eq!(pairs(&found), brute_force(&held, &query, k));
        }
    }
}

#[test]
fn a_vector_of_another_dimension_is_refused_with_both_numbers() {
    let mut index = VectorIndex::default();
    let unit = |len: usize| Embedding::new(&vec![1.0; len]).unwrap();
    assert!(index.query(&unit(7)).is_ok(), "an empty index takes any");
    index.set(Ordinal(0), [unit(4)].iter());
    let error = index.query(&unit(7)).unwrap_err();
    assert_eq!(error, IndexError::Dimension { expected: 4, found: 7 });
}

#[test]
fn how_alike_two_memories_are() {
    let mut index = VectorIndex::default();
    index.set(Ordinal(0), [Embedding::new(&[3.0, 4.0]).unwrap()].iter());
    index
        .set(Ordinal(1), [Embedding::new(&[4.0, 3.0]).unwrap(), Embedding::new(&[3.0, 4.0]).unwrap()].iter());
    assert!(
        (index.similarity(Ordinal(0), Ordinal(1)).unwrap() - 0.96).abs() < 1e-6,
        "the first vectors count"
    );
    assert_eq!(index.similarity(Ordinal(0), Ordinal(2)), None);
}

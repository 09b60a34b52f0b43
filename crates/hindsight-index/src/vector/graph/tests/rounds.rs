//! Whether a graph stays as good as it was: over rounds of replacing half of the vectors, and built anew as after a restart.

use super::*;

const COUNT: u32 = 700;

/// The recall of the best ten over all, where every search walks.
fn recall_at_10(index: &VectorIndex) -> f64 {
    let all = chosen(0..COUNT, |_| true);
    let (recall, walked) = compare(index, &all, &queries(&mut Noise(21), 40), 10);
    assert_eq!(walked, 40);
    recall
}

/// The same vectors, as a start reads them: in the order of their slots, without a past.
fn reopened(index: &VectorIndex) -> VectorIndex {
    let mut again = VectorIndex::default();
    for slot in (0..COUNT).map(Ordinal) {
        let vectors: Vec<Embedding> =
            index.vectors(slot).map(|values| Embedding::new(values).unwrap()).collect();
        again.set(slot, vectors.iter());
    }
    again
}

#[test]
fn r1_recall_stays_over_three_rounds_of_replacing_half_and_restarts() {
    let mut noise = Noise(20);
    let mut index = clustered(&mut noise, COUNT);
    build(&mut index);
    let rule = GraphRule { least: 100, step_cost: 0 };
    assert!(recall_at_10(&index) >= 0.99, "at first: {}", recall_at_10(&index));
    for round in 0..3 {
        let mut built = 0;
        for slot in (0..COUNT).filter(|slot| (slot.wrapping_mul(2_654_435_761) >> (7 + round)) % 2 == 0) {
            index.set(Ordinal(slot), [noise.clustered(slot + round + 1)].iter());
            // As the engine does it: whenever a fifth is gone or came beside it.
            if index.graph_need(rule) == GraphNeed::Build {
                build(&mut index);
                built += 1;
            }
        }
        assert!(built >= 2, "half of all is more than two fifths: built {built} times");
        let recall = recall_at_10(&index);
        assert!(recall >= 0.99, "round {round}: {recall}");
        let mut again = reopened(&index);
        build(&mut again);
        let recall = recall_at_10(&again);
        assert!(recall >= 0.99, "restarted after round {round}: {recall}");
    }
}

#[test]
fn r1_what_is_allowed_far_from_the_query_is_found_whole_by_the_scan() {
    let mut noise = Noise(22);
    let index = {
        let mut index = clustered(&mut noise, 2_000);
        build(&mut index);
        index
    };
    let mut given_up = 0;
    for query in queries(&mut noise, 12) {
        let prepared = VectorQuery::new(&query);
        let mut far: Vec<u32> = (0..2_000).collect();
        far.sort_by(|a, b| {
            let score = |slot: u32| index.score(Ordinal(slot), &prepared).unwrap();
            score(*a).total_cmp(&score(*b))
        });
        let allowed: Selection = far.into_iter().take(1_000).map(Ordinal).collect();
        let exact = index.top(&allowed, &prepared, 10, NEWEST);
        let (found, way) = index.top_by_graph(&allowed, &prepared, 10, NEWEST);
        given_up += usize::from(way == VectorWay::GaveUp);
        assert_eq!((exact.len(), found), (10, exact), "{way:?}");
    }
    assert!(given_up >= 10, "{given_up} of 12 walks were given up");
}

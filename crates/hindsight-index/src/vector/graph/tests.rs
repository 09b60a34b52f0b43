//! The graph against the exact scan.

mod rounds;

use std::cell::Cell;

use hindsight_core::Embedding;
use proptest::prelude::*;

use super::native::{EF_MAX, GraphError, Native, Nodes};
use super::rule::{GraphNeed, GraphRule};
use super::search::VectorWay;
use crate::top::Ties;
use crate::vector::VectorIndex;
use crate::vector::quantised::{QuantisedQuery, RowScale};
use crate::vector::scan::VectorQuery;
use crate::{Ordinal, Scored, Selection};

/// Whoever can walk does.
const ALWAYS: GraphRule = GraphRule { least: 1, step_cost: 0 };
const NEWEST: Ties<'static> = &|ordinal: Ordinal| ordinal.0 as u128;
const DIMENSION: usize = 16;

/// Numbers that look random and are the same every time.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 40) as f32 / (1 << 23) as f32 - 1.0
    }

    /// A vector near one of forty centres.
    fn clustered(&mut self, number: u32) -> Embedding {
        let mut centre = Noise(u64::from(number % 40 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let values: Vec<f32> = (0..DIMENSION).map(|_| centre.next() + 0.4 * self.next()).collect();
        Embedding::new(&values).unwrap()
    }
}

fn clustered(noise: &mut Noise, count: u32) -> VectorIndex {
    let mut index = VectorIndex::default();
    for slot in 0..count {
        index.set(Ordinal(slot), [noise.clustered(slot)].iter());
    }
    index
}

fn build(index: &mut VectorIndex) {
    let mut build = index.begin_graph(ALWAYS);
    while index.fetch_for_graph(&mut build, 50).unwrap() {
        build.add(50).unwrap();
    }
    index.install_graph(build.finish().unwrap());
}

fn chosen(range: std::ops::Range<u32>, keep: impl Fn(u32) -> bool) -> Selection {
    range.filter(|slot| keep(*slot)).map(Ordinal).collect()
}

/// How many of the exact best `k` the graph finds, and how many searches walked. What it finds is held against the scan:
/// right members, right scores, right order.
fn compare(index: &VectorIndex, selection: &Selection, queries: &[Embedding], k: usize) -> (f64, usize) {
    let (mut had, mut wanted, mut walked) = (0, 0, 0);
    for query in queries {
        let query = VectorQuery::new(query);
        let exact = index.top(selection, &query, k, NEWEST);
        let (found, way) = index.top_by_graph(selection, &query, k, NEWEST);
        assert_eq!(found.len(), exact.len());
        assert!(found.iter().all(|one| selection.contains(one.ordinal)));
        assert!(found.iter().all(|one| index.score(one.ordinal, &query) == Some(one.score)));
        let order = |a: &Scored, b: &Scored| b.score.total_cmp(&a.score).then(b.ordinal.cmp(&a.ordinal));
        assert!(found.is_sorted_by(|a, b| order(a, b).is_lt()));
        walked += usize::from(matches!(way, VectorWay::Graph { .. }));
        wanted += exact.len();
        had += exact.iter().filter(|one| found.contains(one)).count();
    }
    (had as f64 / wanted as f64, walked)
}

fn queries(noise: &mut Noise, count: u32) -> Vec<Embedding> {
    (0..count).map(|number| noise.clustered(number)).collect()
}

#[test]
fn r1_filters_of_any_share_find_what_the_scan_finds() {
    let mut noise = Noise(7);
    let mut index = clustered(&mut noise, 2_400);
    build(&mut index);
    let queries = queries(&mut noise, 40);
    for percent in [100, 70, 40, 20, 10, 3, 1] {
        let selection = chosen(0..2_400, |slot| slot.wrapping_mul(2_654_435_761) % 100 < percent);
        let (recall, walked) = compare(&index, &selection, &queries, 8);
        assert!(recall >= 0.98, "{percent} %: {recall}");
        assert!(percent < 40 || walked == 40, "{percent} %: {walked} walked");
    }
    // All that is allowed lies far from the query: the walk is given up, and nothing is lost.
    let far = chosen(0..2_400, |slot| slot % 40 >= 30);
    let (recall, _) = compare(&index, &far, &queries[..30], 8);
    assert!(recall >= 0.98, "{recall}");
    assert_eq!(compare(&index, &Selection::default(), &queries[..1], 8).1, 0);
}

#[test]
fn what_is_removed_is_not_found_and_the_rest_still_is() {
    let mut noise = Noise(8);
    let mut index = clustered(&mut noise, 1_200);
    build(&mut index);
    let queries = queries(&mut noise, 40);
    // A fifth is gone, one whole cluster among it.
    let is_gone = |slot: u32| slot % 40 == 3 || slot % 6 == 5;
    let gone = (0..1_200).filter(|slot| is_gone(*slot)).count();
    (0..1_200).filter(|slot| is_gone(*slot)).for_each(|slot| index.remove(Ordinal(slot)));
    let left = chosen(0..1_200, |slot| !is_gone(slot));
    let (recall, walked) = compare(&index, &left, &queries, 8);
    assert!(recall >= 0.98 && walked >= 35, "{recall}, {walked}");
    assert_eq!(index.graph_need(ALWAYS), GraphNeed::None);
    // Slots are given out again, rows that the graph has nodes for are not.
    for slot in (0..1_200).filter(|slot| is_gone(*slot)) {
        index.set(Ordinal(slot), [noise.clustered(slot + 17)].iter());
    }
    let (recall, _) = compare(&index, &chosen(0..1_200, |_| true), &queries, 8);
    assert!(recall >= 0.98, "{recall}");
    let stats = index.graph_stats().unwrap();
    assert_eq!((stats.covered, stats.dead, stats.newer), (1_200, gone, gone));
    (0..60).for_each(|slot| index.set(Ordinal(1_200 + slot), [noise.clustered(slot)].iter()));
    assert_eq!(index.graph_need(ALWAYS), GraphNeed::Build, "a fifth came beside it");
    build(&mut index);
    let stats = index.graph_stats().unwrap();
    assert_eq!((stats.covered, stats.dead, stats.newer), (1_260, 0, 0));
    let rows = index.rows.len();
    let bytes = index.rows.bytes();
    (0..200).for_each(|slot| index.set(Ordinal(slot + 1_260), [noise.clustered(slot)].iter()));
    assert_eq!((index.rows.len(), index.graph_stats().unwrap().newer), (rows + 200, 200));
    assert!(index.rows.bytes() < bytes + 8_192, "freed rows of the old graph serve again");
}

#[test]
fn a_crowd_of_identical_rows_hides_nobody_and_all_of_it_is_found() {
    let mut noise = Noise(9);
    let mut index = clustered(&mut noise, 900);
    let same = noise.clustered(1);
    for slot in 300..700 {
        index.set(Ordinal(slot), [same.clone()].iter());
    }
    build(&mut index);
    assert_eq!(index.graph_stats().unwrap().nodes, 501);
    let all = chosen(0..900, |_| true);
    let (recall, walked) = compare(&index, &all, &queries(&mut noise, 40), 8);
    assert!(recall >= 0.98 && walked == 40, "{recall}, {walked}");
    // Of equal ones the newest, whoever of them the node was made for, and though others of it are not allowed.
    let last = chosen(0..900, |slot| !(320..650).contains(&slot));
    for remove in [300, 301, 699] {
        assert_eq!(compare(&index, &last, std::slice::from_ref(&same), 20), (1.0, 1));
        index.remove(Ordinal(remove));
    }
    let left = chosen(0..900, |slot| ![300, 301, 699].contains(&slot));
    assert_eq!(compare(&index, &left, std::slice::from_ref(&same), 20), (1.0, 1));
    (300..699).for_each(|slot| index.remove(Ordinal(slot)));
    let left = chosen(0..900, |slot| !(300..700).contains(&slot));
    assert!(compare(&index, &left, &[same], 8).0 >= 0.98);
}

#[test]
fn changes_during_a_build_are_seen_at_once_and_after_it() {
    let mut noise = Noise(10);
    let mut index = clustered(&mut noise, 600);
    let mut build = index.begin_graph(ALWAYS);
    assert_eq!(index.graph_need(ALWAYS), GraphNeed::None, "one at a time");
    let (mut next, mut all) = (600, chosen(0..600, |_| true));
    while index.fetch_for_graph(&mut build, 20).unwrap() {
        build.add(20).unwrap();
        // One that is fetched and one that is not yet are replaced, one is removed, one comes.
        for slot in [next % 600, (next * 7) % 600] {
            index.set(Ordinal(slot), [noise.clustered(slot)].iter());
        }
        let gone = Ordinal((next * 13) % 600);
        index.remove(gone);
        all.retain(|ordinal| ordinal != gone);
        index.set(Ordinal(next), [noise.clustered(next)].iter());
        all = all.or(&[Ordinal(next), Ordinal(next % 600), Ordinal((next * 7) % 600)].into_iter().collect());
        all.retain(|ordinal| ordinal != gone || index.vectors(ordinal).next().is_some());
        next += 1;
    }
    let queries = queries(&mut noise, 40);
    assert_eq!(compare(&index, &all, &queries, 8), (1.0, 0), "no graph is in use");
    index.install_graph(build.finish().unwrap());
    let (recall, walked) = compare(&index, &all, &queries, 8);
    assert!(recall >= 0.98 && walked == 40, "{recall}, {walked}");
    let newest = index.vectors(Ordinal(next - 1)).next().unwrap().to_vec();
    let query = VectorQuery::new(&Embedding::new(&newest).unwrap());
    let (found, _) = index.top_by_graph(&all, &query, 1, NEWEST);
    assert_eq!(found[0].ordinal, Ordinal(next - 1), "what came last is found beside the graph");
}

#[test]
fn a_graph_of_other_vectors_is_handed_back() {
    let mut noise = Noise(11);
    let (mut here, mut there) = (clustered(&mut noise, 60), clustered(&mut noise, 60));
    let mut build = here.begin_graph(ALWAYS);
    assert_eq!(there.fetch_for_graph(&mut build, 9), Err(GraphError::Foreign));
    while here.fetch_for_graph(&mut build, 9).unwrap() {
        build.add(9).unwrap();
    }
    let built = build.finish().unwrap();
    let built = there.install_graph(built).unwrap();
    assert_eq!(there.graph_stats(), None);
    here.refuse_graph();
    assert!(here.install_graph(built).is_some(), "it was given up");
    assert_eq!((here.graph_stats(), here.graph_need(ALWAYS)), (None, GraphNeed::None));
    (60..73).for_each(|slot| here.set(Ordinal(slot), [noise.clustered(slot)].iter()));
    assert_eq!(here.graph_need(ALWAYS), GraphNeed::Build);
    self::build(&mut here);
    assert_eq!(here.graph_need(GraphRule::NEVER), GraphNeed::Drop);
    assert!(here.drop_graph().is_some());
    let all = chosen(0..73, |_| true);
    assert_eq!(compare(&here, &all, &queries(&mut noise, 9), 8), (1.0, 0));
}

#[test]
fn r17_the_same_history_gives_the_same_graph() {
    let find = || {
        let mut noise = Noise(12);
        let mut index = clustered(&mut noise, 500);
        build(&mut index);
        let all = chosen(0..500, |_| true);
        let found = queries(&mut noise, 30)
            .into_iter()
            .map(|query| index.top_by_graph(&all, &VectorQuery::new(&query), 100, NEWEST).0);
        found.collect::<Vec<_>>()
    };
    assert_eq!(find(), find());
}

#[derive(Debug, Clone)]
enum Step {
    Put(u32, Vec<Embedding>),
    Remove(u32),
    Begin,
    Fetch(usize),
    Install,
    Refuse,
    Drop,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let vector = proptest::collection::vec(-3_i8..=3, 5).prop_filter_map("has a direction", |levels| {
        Embedding::new(&levels.iter().map(|level| f32::from(*level)).collect::<Vec<_>>()).ok()
    });
    let vectors = proptest::collection::vec(vector, 0..3);
    let step = prop_oneof![
        12 => (0_u32..24, vectors).prop_map(|(slot, vectors)| Step::Put(slot, vectors)),
        4 => (0_u32..24).prop_map(Step::Remove),
        2 => Just(Step::Begin),
        3 => (1_usize..20).prop_map(Step::Fetch),
        3 => Just(Step::Install),
        1 => Just(Step::Refuse),
        1 => Just(Step::Drop),
    ];
    proptest::collection::vec(step, 0..120)
}

proptest! {
    /// A graph of so few nodes is walked through as a whole, so nothing may be missed: every history, with builds that
    /// come to an end or don't, must answer as the scan does.
    #[test]
    fn any_history_answers_as_the_scan_does(steps in steps(), odd in any::<bool>(), k in 1_usize..9) {
        let mut index = VectorIndex::default();
        let mut building = None;
        for step in steps {
            match step {
                Step::Put(slot, vectors) => index.set(Ordinal(slot), vectors.iter()),
                Step::Remove(slot) => index.remove(Ordinal(slot)),
                Step::Begin => building = Some(index.begin_graph(ALWAYS)),
                Step::Fetch(count) => if let Some(build) = &mut building
                    && index.fetch_for_graph(build, count).unwrap()
                {
                    build.add(count).unwrap();
                },
                Step::Install => if let Some(mut build) = building.take() {
                    while index.fetch_for_graph(&mut build, 7).unwrap() {
                        build.add(7).unwrap();
                    }
                    index.install_graph(build.finish().unwrap());
                },
                Step::Refuse => if building.take().is_some() { index.refuse_graph() },
                Step::Drop => drop(index.drop_graph()),
            }
            let held: usize = (0..24).map(|slot| index.vectors(Ordinal(slot)).count()).sum();
            prop_assert_eq!(index.len(), held);
        }
        let selection = chosen(0..24, |slot| !odd || slot % 2 == 1);
        for slot in 0..24 {
            let Some(query) = index.vectors(Ordinal(slot)).next() else { continue };
            let query = VectorQuery::new(&Embedding::new(query).unwrap());
            let (found, _) = index.top_by_graph(&selection, &query, k, NEWEST);
            prop_assert_eq!(found, index.top(&selection, &query, k, NEWEST));
        }
    }
}

/// Three rows, of which one panics.
struct Bad(Cell<u32>);

impl Nodes for Bad {
    fn row(&self, node: u32) -> (&[i8], RowScale) {
        assert!(node != self.0.get(), "a bug");
        (&[1, 2, 3], RowScale { scale: 0.1, lost: 0.0 })
    }
}

#[test]
fn a_panic_does_not_cross_the_library_and_limits_hold() {
    let nodes = Bad(Cell::new(9));
    let mut native = Native::new(3).unwrap();
    (0..3).for_each(|_| native.add(&nodes).unwrap());
    assert!(matches!(native.add(&nodes), Err(GraphError::Refused { what: "add", .. })), "no place is left");
    let query = QuantisedQuery::new(&[0.6, 0.8, 0.0]);
    let walk = |ef, budget, wanted: &dyn Fn(u32) -> bool| native.walk(&nodes, &query, ef, budget, wanted);
    assert_eq!(walk(usize::MAX, 99, &|_| true).unwrap().unwrap().len(), 3, "at most {EF_MAX}");
    assert_eq!(walk(0, 99, &|_| true).unwrap().unwrap().len(), 1);
    assert_eq!(walk(8, 99, &|node| node == 1).unwrap(), Some(vec![1]));
    assert_eq!(walk(8, 2, &|_| false).unwrap(), None, "the budget is used up");
    assert_eq!(walk(8, 99, &|node| panic!("of {node}")), Err(GraphError::Panicked));
    nodes.0.set(2);
    assert_eq!(walk(8, 99, &|_| true), Err(GraphError::Panicked));
    let mut native = Native::new(3).unwrap();
    nodes.0.set(0);
    native.add(&nodes).unwrap();
    assert_eq!(native.add(&nodes), Err(GraphError::Panicked));
    nodes.0.set(9);
    assert_eq!(native.walk(&nodes, &query, 8, 99, &|_| true).unwrap().map(|found| found.len()), Some(2));
}

#[test]
fn more_walks_at_once_than_contexts_are_turned_away_and_none_is_hurt() {
    let nodes = Bad(Cell::new(9));
    let mut native = Native::new(3).unwrap();
    (0..3).for_each(|_| native.add(&nodes).unwrap());
    let query = QuantisedQuery::new(&[0.6, 0.8, 0.0]);
    // Each walk begins the next from inside of its predicate, as deep as it goes.
    fn deeper(native: &Native, nodes: &Bad, query: &QuantisedQuery, depth: &Cell<usize>) {
        let inside = Cell::new(false);
        let wanted = |_| {
            if !inside.replace(true) {
                deeper(native, nodes, query, depth);
            }
            true
        };
        if native.walk(nodes, query, 8, 99, &wanted).unwrap().is_some() {
            depth.set(depth.get() + 1);
        }
    }
    let depth = Cell::new(0);
    deeper(&native, &nodes, &query, &depth);
    assert_eq!(depth.get(), 64);
}

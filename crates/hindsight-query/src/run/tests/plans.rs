//! Golden plans: what `explain` prints of each sort of recall.
//!
//! `UPDATE_GOLDEN=1 cargo test -p hindsight-query plans` writes the file anew; the difference is reviewed.

use std::fmt::Write as _;
use std::path::Path;

use hindsight_core::{AsOf, Axis, Prohibition};

use super::*;

/// Ten memories, of which two say the same, some name somebody, and one advises to pay.
fn house() -> Shelf {
    let mut shelf = Shelf { way: VectorWay::Graph { ef: 112, covered: 90_000, newer: 7 }, ..Shelf::default() };
    shelf.add(about("Caroline bought a lamp", &["Caroline"]), 1, Some([1.0, 0.0]));
    shelf.add(about("Caroline went to the lake", &["Caroline"]), 40, Some([0.9, 0.4]));
    shelf.add(fact("the lamp fell"), 3, Some([0.8, 0.6]));
    shelf.add(fact("the lamp fell"), 9, Some([0.8, 0.6]));
    shelf.add(fact("用户对花生过敏"), 5, Some([0.0, 1.0]));
    let pay = Draft { kind: Some(Kind::Procedure), ..fact("pay for the lamp with the card") };
    shelf.add(pay, 2, Some([0.7, 0.7]));
    for age in 0..4 {
        shelf.add(fact(&format!("day {age} of nothing")), age, None);
    }
    shelf
}

fn requests() -> Vec<(&'static str, Recall)> {
    let lamp = || Recall { vector: vector([1.0, 0.1]), ..query("lamp") };
    let at = now().plus_ms(-4 * crate::testing::DAY);
    let weights = Weights { neighbour: 0.0, entity: 0.0, ..Weights::default() };
    vec![
        ("the newest", query("")),
        ("nothing that is known", query("zebra")),
        ("words alone", query("lamp")),
        ("words and a vector, through the graph", lamp()),
        ("the same, by scan", Recall { exact: true, ..lamp() }),
        ("a vector alone", Recall { mode: Mode::Vector, ..lamp() }),
        ("keywords alone, though there is a vector", Recall { mode: Mode::Keyword, ..lamp() }),
        ("a name and a time", query("what did Caroline buy yesterday")),
        ("Chinese, with a time", query("上周 用户对花生过敏")),
        ("reciprocal ranks", Recall { fusion: Fusion::Rrf, ..lamp() }),
        ("a filter", Recall { filter: Filter { kinds: vec![Kind::Procedure], ..Filter::default() }, ..lamp() }),
        ("without names and neighbours", Recall { weights, ..query("Caroline lamp") }),
        ("a policy, and hits that differ", Recall { policy: vec![Prohibition::NoMoney], diversity: Some(0.3), ..lamp() }),
        ("as it was known four days ago", Recall { as_of: Some(AsOf { at, axis: Axis::Known }), now: Some(now()), ..lamp() }),
        ("as it was true four days ago", Recall { as_of: Some(AsOf { at, axis: Axis::Valid }), ..lamp() }),
        ("many", Recall { top_k: 50, ..lamp() }),
        ("few", Recall { top_k: 1, min_score: Some(0.5), ..lamp() }),
    ]
}

#[test]
fn golden_plans() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/plans.txt");
    let shelf = house();
    let mut plans = String::from("# The plan of each sort of recall, over ten memories.\n");
    for (name, request) in requests() {
        let answer = recall(&shelf, &Recall { explain: true, ..request }, now());
        let plan = answer.map_or_else(|refused| refused.to_string(), |recalled| recalled.plan.unwrap());
        write!(plans, "\n> {name}\n{plan}\n").unwrap();
    }
    let gave_up = Shelf { way: VectorWay::GaveUp, ..house() };
    let request = Recall { explain: true, vector: vector([1.0, 0.1]), ..query("lamp") };
    let plan = ask(&gave_up, &request).plan.unwrap();
    write!(plans, "\n> a walk that was given up\n{plan}\n").unwrap();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &plans).unwrap();
        return;
    }
    assert_eq!(plans, std::fs::read_to_string(&path).unwrap(), "{} differs", path.display());
}

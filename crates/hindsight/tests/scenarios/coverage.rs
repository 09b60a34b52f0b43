//! Which requirements have a scene, and why some have none here.

use std::collections::BTreeSet;

use crate::script::Script;
use crate::sessions;

/// Requirements of the write path, of recall and of a memory's life that are shown elsewhere, or not at all.
const ELSEWHERE: [(&str, &str); 4] = [
    ("W10", "conversations are not taken in"),
    ("W11", "what an embedding costs is seen in vectors, not in answers: the server's tests (w11_…)"),
    ("W12", "foreign vectors are too long to be read in a session: the server's and engine's tests (w12_…)"),
    ("R14", "there is no reranker"),
];

fn rows() -> impl Iterator<Item = String> {
    let all = [('W', 12), ('R', 17), ('L', 9)];
    all.into_iter().flat_map(|(letter, last)| (1..=last).map(move |number| format!("{letter}{number}")))
}

#[test]
fn every_requirement_has_a_scene_or_a_reason() {
    let scripts: Vec<Script> = sessions().iter().map(|(_, text)| Script::parse(text)).collect();
    let named: BTreeSet<&str> =
        scripts.iter().flat_map(Script::scenes).flat_map(str::split_whitespace).collect();
    let excused: BTreeSet<&str> = ELSEWHERE.iter().map(|(id, _)| *id).collect();
    let missing: Vec<String> = rows().filter(|id| !named.contains(id.as_str())).collect();
    let unexcused: Vec<&String> = missing.iter().filter(|id| !excused.contains(id.as_str())).collect();
    assert!(unexcused.is_empty(), "no scene shows {unexcused:?}");
    let shown: Vec<&&str> = excused.iter().filter(|id| named.contains(**id)).collect();
    assert!(shown.is_empty(), "excused, and shown all the same: {shown:?}");
}

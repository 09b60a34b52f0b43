use hindsight_core::draft::EpisodeDraft;
use hindsight_core::{Draft, Filter, Kind, Memory, Status};

use super::*;
use crate::{BatchRequest, Engine, ListRequest, Options, WriteItem};

fn open(dir: &std::path::Path) -> Engine {
    Engine::open(dir, Options::default()).unwrap().0
}

/// Three episodes each of so many causes.
fn fill(engine: &Engine, namespace: &Namespace, causes: usize) {
    let draft = |number: usize| Draft {
        kind: Some(Kind::Episode),
        content: format!("task {number} failed"),
        task_type: Some("deploy".to_owned()),
        status: Some(Status::Failure),
        episode: Some(EpisodeDraft {
            root_cause: Some(format!("cause_{}", number / 3)),
            resolution: Some("roll back".to_owned()),
            ..EpisodeDraft::default()
        }),
        ..Draft::default()
    };
    let items = (0..causes * 3).map(|number| WriteItem::new(draft(number), None)).collect();
    let batch = BatchRequest { items, all_or_nothing: true, ..BatchRequest::default() };
    engine.write_batch(namespace, batch).unwrap().wait().unwrap();
}

fn rules(engine: &Engine, namespace: &Namespace) -> Vec<Memory> {
    let filter = Filter { kinds: vec![Kind::Rule], ..Filter::default() };
    let list = ListRequest { filter, page_size: 1_000, ..ListRequest::default() };
    let mut rules = engine.list(namespace, &list).unwrap().wait().unwrap().memories;
    rules.sort_by(|one, other| one.content.cmp(&other.content));
    rules
}

/// A run that a restart cuts off after its first batch is made good by the next one; the rules are those of one whole run.
#[test]
fn l5_a_run_that_was_cut_off_is_gone_on_with() {
    let namespace: Namespace = "ops".parse().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    fill(&engine, &namespace, 11);
    let cell = engine.loaded(&namespace).unwrap().unwrap();
    let mut run = Consolidation::new(RuleTuning::default(), false, None);
    while run.done.created == 0 {
        assert!(run.step(&engine, &cell).unwrap());
    }
    let some = rules(&engine, &namespace).len();
    assert!((1..11).contains(&some), "{some}");
    drop((cell, run));
    drop(engine);
    let engine = open(dir.path());
    assert_eq!(rules(&engine, &namespace).len(), some);
    let done = engine.consolidate(&namespace, ConsolidateRequest::default()).unwrap().wait().unwrap();
    assert_eq!(done.created, u64::try_from(11 - some).unwrap());
    let texts: Vec<String> = rules(&engine, &namespace).into_iter().map(|rule| rule.content).collect();
    assert_eq!(texts.len(), 11);
    let whole: Namespace = "whole".parse().unwrap();
    fill(&engine, &whole, 11);
    let _ = engine.consolidate(&whole, ConsolidateRequest::default()).unwrap().wait().unwrap();
    let expected: Vec<String> = rules(&engine, &whole).into_iter().map(|rule| rule.content).collect();
    assert_eq!(texts, expected);
}

/// Two runs that were both begun before either logged anything make one rule a case.
#[test]
fn l5_two_runs_at_once_make_no_second_rule() {
    let namespace: Namespace = "ops".parse().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    fill(&engine, &namespace, 3);
    let cell = engine.loaded(&namespace).unwrap().unwrap();
    let mut runs = [(); 2].map(|()| Consolidation::new(RuleTuning::default(), false, None));
    for run in &mut runs {
        while !matches!(run.phase, Phase::Decide { .. }) {
            assert!(run.step(&engine, &cell).unwrap());
        }
    }
    for run in &mut runs {
        while run.step(&engine, &cell).unwrap() {}
    }
    assert_eq!((runs[0].done.created, runs[1].done.created), (3, 0));
    assert_eq!(rules(&engine, &namespace).len(), 3);
}

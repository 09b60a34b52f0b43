//! What happens to memories before and after.

use hindsight_core::{Filter, Patch, Recall};
use hindsight_engine::{Engine, ListRequest, Maker, Unsynced, UpdateRequest};

use super::CONTROLS;
use super::canary::{Canary, control_text};
use crate::support::ns;

/// Changes every canary; its text stands in what is new, too.
pub(super) fn update_each(engine: &Engine, space: &str, canaries: &[Canary]) {
    let mut last = None;
    for canary in canaries {
        let summary = Some(format!("summary of {}", canary.text));
        let update = UpdateRequest {
            id: canary.id.unwrap(),
            patch: Patch { summary, ..Patch::default() },
            version: None,
            vectors: Some(super::raw_vectors(canary)),
            maker: Maker::Caller,
            allow_forgotten: false,
            request_id: Some(format!("update-{}-{}", canary.number, engine.revision())),
        };
        last = Some(engine.update(&ns(space), update).unwrap());
    }
    last.map(Unsynced::wait).transpose().unwrap();
}

/// Every control record is there, as it was written, and is recalled.
pub(super) fn all_controls_answer(engine: &Engine, space: &str) {
    let filter = Filter { tags: vec!["control".to_owned()], ..Filter::default() };
    let (mut after, mut number) = (None, 0);
    loop {
        let list = ListRequest { filter: filter.clone(), page_size: 1_000, after, ..ListRequest::default() };
        let page = engine.list(&ns(space), &list).and_then(Unsynced::wait).unwrap();
        for memory in &page.memories {
            assert_eq!(memory.content, control_text(number));
            number += 1;
        }
        after = page.memories.last().map(|memory| memory.id);
        if !page.more {
            break;
        }
    }
    assert_eq!(number, CONTROLS);
    for number in [0, CONTROLS / 2, CONTROLS - 1] {
        let recall = Recall { query: format!("number{number}"), ..Recall::default() };
        let found = engine.recall(&ns(space), &recall).and_then(Unsynced::wait).unwrap();
        assert_eq!(found.hits.first().map(|hit| hit.memory.content.clone()), Some(control_text(number)));
    }
    let all = engine.stats(&ns(space)).and_then(Unsynced::wait).unwrap();
    assert_eq!(
        all.by_state.iter().map(|(_, count)| count).sum::<u64>(),
        u64::from(CONTROLS) + left(engine, space)
    );
}

/// Canaries that are still there.
fn left(engine: &Engine, space: &str) -> u64 {
    let filter = Filter { tags: vec!["canary".to_owned()], ..Filter::default() };
    let list = ListRequest { filter, page_size: 1_000, ..ListRequest::default() };
    engine.list(&ns(space), &list).and_then(Unsynced::wait).unwrap().memories.len() as u64
}

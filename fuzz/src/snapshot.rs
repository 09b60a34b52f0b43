//! A namespace's index as it lies on disk: derived, so that nothing may depend on its being right but the next start's speed.

use hindsight_core::draft::Moment;
use hindsight_core::{Draft, Embedding, MemoryId, NamedVector, Record, Timestamp, VectorRole};
use hindsight_index::{NamespaceIndex, Shelves};

use crate::memory::bounded;

/// It is an index or it is not. What is one is written in one form, can be asked, and goes on: a memory comes and goes.
pub fn snapshot_load(data: &[u8]) {
    let Ok(mut index) = bounded(data.len(), || NamespaceIndex::from_bytes(data)) else { return };
    let bytes = index.to_bytes();
    let again = NamespaceIndex::from_bytes(&bytes).expect("what was written can be read");
    assert!(again.to_bytes() == bytes, "the same index gives the same bytes");
    let words = index.keyword_query("the payments of Caroline, 花生", Shelves::Both);
    for shelf in [index.active(), index.inactive()] {
        let all = shelf.all();
        assert!(shelf.keyword_top(&all, &words, 5).len() <= 5);
    }
    let record = remembered();
    // Whether it fits depends on the vectors that are there; either way the index stays one.
    let _fits = index.apply(&record);
    let _was_there = index.remove(record.memory.id);
    let left = index.to_bytes();
    assert!(NamespaceIndex::from_bytes(&left).is_ok(), "what goes on can be written and read");
}

fn remembered() -> Record {
    let draft = Draft { content: "Caroline is allergic to peanuts".to_owned(), ..Draft::default() };
    let moment = Moment {
        namespace: "fuzz".parse().expect("a right name"),
        id: MemoryId::from_u128(1),
        now: Timestamp::from_ms(1_796_029_200_000),
        embedding_model: Some("m".to_owned()),
    };
    let memory = draft.check().expect("a right draft").into_memory(moment);
    let embedding = Embedding::new(&[0.6, 0.8]).expect("a direction");
    Record { memory, vectors: vec![NamedVector { role: VectorRole::Content, embedding }] }
}

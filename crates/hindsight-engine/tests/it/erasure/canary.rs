//! Memories with a text that stands nowhere else, and memories without.

use hindsight_core::{Draft, MemoryId, OnDuplicate, RawVector, RawVectors, VectorRole};
use hindsight_engine::{BatchRequest, Engine, WriteItem};

use crate::support::ns;

const MODEL: &str = "canary-embed";

/// A memory that will be purged.
#[derive(Debug, Clone)]
pub(super) struct Canary {
    pub(super) number: u32,
    /// 32 letters, no 16 of which are like any others.
    pub(super) text: String,
    pub(super) id: Option<MemoryId>,
}

impl Canary {
    pub(super) fn new(number: u32) -> Canary {
        let hash = blake3::hash(&number.to_le_bytes());
        let text = hash.as_bytes().iter().map(|byte| char::from(b'a' + byte % 26)).collect();
        Canary { number, text, id: None }
    }

    /// 16 numbers with a pattern of bits of their own.
    pub(super) fn vector(&self) -> Vec<f32> {
        let hash = blake3::hash(self.text.as_bytes());
        hash.as_bytes()[..16].iter().map(|byte| f32::from(*byte) / 97.0 + 0.013).collect()
    }
}

pub(super) fn draft(canary: &Canary) -> Draft {
    let text = &canary.text;
    let mut draft = Draft {
        content: format!("the customer 客户 {text} asked for a refund"),
        tags: vec!["canary".to_owned(), format!("tag-{text}")],
        session_id: Some(format!("session-{text}")),
        ..Draft::default()
    };
    draft.metadata.insert(format!("key-{text}"), format!("value-{text}").into());
    draft
}

pub(super) fn raw_vectors(canary: &Canary) -> RawVectors {
    vectors(canary.vector())
}

pub(super) fn vectors(values: Vec<f32>) -> RawVectors {
    let vector = RawVector { role: VectorRole::Content, values };
    RawVectors { model: MODEL.to_owned(), vectors: vec![vector] }
}

pub(super) fn control_text(number: u32) -> String {
    format!("control number{number} stays where it is")
}

/// A memory that stays.
pub(super) fn control(number: u32) -> (Draft, RawVectors) {
    let content = control_text(number);
    let values = (0..16_u16).map(|at| f32::from(at) + number as f32 / 1_000.0 + 1.0).collect();
    (Draft { content, tags: vec!["control".to_owned()], ..Draft::default() }, vectors(values))
}

pub(super) fn write_all(engine: &Engine, space: &str, drafts: Vec<(Draft, RawVectors)>) -> Vec<MemoryId> {
    let mut ids = Vec::new();
    for drafts in drafts.chunks(500) {
        let items =
            drafts.iter().map(|(draft, vectors)| WriteItem::new(draft.clone(), Some(vectors.clone())));
        let request_id = Some(format!("batch-{}-{}", space.len(), ids.len() + drafts.len() * 7));
        let items = items.collect();
        // Controls say nearly the same, and each shall be a memory of its own.
        let on_duplicate = Some(OnDuplicate::Allow);
        let batch =
            BatchRequest { items, all_or_nothing: true, on_duplicate, request_id, allow_forgotten: false };
        let written = engine.write_batch(&ns(space), batch).unwrap().wait().unwrap();
        ids.extend(written.results.into_iter().map(|item| item.unwrap().id));
    }
    ids
}

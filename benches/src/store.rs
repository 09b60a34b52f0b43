//! Memories of a dataset in an engine, embedded with the built-in model as the server does it.

use std::collections::{BTreeMap, HashMap};

use anyhow::Context;
use hindsight_core::draft::SourceDraft;
use hindsight_core::likeness::Thresholds;
use hindsight_core::limits::BATCH_ITEMS_MAX;
use hindsight_core::{
    Draft, Embedding, Entity, Hit, Kind, MemoryId, Namespace, Outcome, RawVector, RawVectors, SourceKind,
    VectorRole,
};
use hindsight_embed::{Embedder, StaticEmbedder};
use hindsight_engine::{BatchRequest, Engine, Nearness, Options, WriteItem};

use crate::dataset::Item;

/// What a memory tells besides its text. All of it, unless something is left out to see what it is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signals {
    /// The importance that the database works out; else all have the same.
    pub importance: bool,
    /// The confidence that follows from the outcome; else all have the same.
    pub confidence: bool,
    /// Who said it.
    pub speaker: bool,
    /// Whom and what it names.
    pub entities: bool,
    /// In which session it was said.
    pub session: bool,
}

impl Default for Signals {
    fn default() -> Self {
        Signals { importance: true, confidence: true, speaker: true, entities: true, session: true }
    }
}

/// A loaded dataset.
pub struct Store {
    /// The engine that holds it.
    pub engine: Engine,
    /// The built-in model.
    pub embedder: StaticEmbedder,
    /// The dataset's ids of each memory; several where the same was said again.
    pub ids: HashMap<MemoryId, Vec<String>>,
    /// Items that say what an item before them says.
    pub reinforced: usize,
    /// The engine's directory, removed with the store.
    _dir: tempfile::TempDir,
}

impl Store {
    /// Loads all items, each into its namespace.
    ///
    /// # Errors
    /// When an item is refused, or the temporary directory can't be used.
    pub fn load(items: &[Item]) -> anyhow::Result<Store> {
        Store::load_with(items, Signals::default())
    }

    /// As [`Store::load`], with these signals alone.
    ///
    /// # Errors
    /// As [`Store::load`].
    pub fn load_with(items: &[Item], signals: Signals) -> anyhow::Result<Store> {
        let dir = tempfile::tempdir()?;
        let embedder = StaticEmbedder::load()?;
        let of_model = [(embedder.model().to_owned(), Thresholds::BUILT_IN)].into();
        let nearness = Nearness { of_model, ..Nearness::default() };
        let (engine, _) = Engine::open(dir.path(), Options { nearness, ..Options::default() })?;
        let mut store = Store { engine, embedder, ids: HashMap::new(), reinforced: 0, _dir: dir };
        let mut namespaces: BTreeMap<&str, Vec<&Item>> = BTreeMap::new();
        for item in items {
            namespaces.entry(&item.namespace).or_default().push(item);
        }
        for (name, items) in namespaces {
            let namespace: Namespace = name.parse()?;
            for chunk in items.chunks(BATCH_ITEMS_MAX) {
                store.write(&namespace, chunk, signals)?;
            }
        }
        Ok(store)
    }

    fn write(&mut self, namespace: &Namespace, chunk: &[&Item], signals: Signals) -> anyhow::Result<()> {
        let texts: Vec<&str> = chunk.iter().map(|item| item.text.as_str()).collect();
        let vectors = self.embedder.embed(&texts)?;
        let model = || self.embedder.model().to_owned();
        let raw = |values| RawVectors {
            model: model(),
            vectors: vec![RawVector { role: VectorRole::Content, values }],
        };
        let items = chunk
            .iter()
            .zip(vectors)
            .map(|(item, values)| WriteItem::new(draft(item, signals), values.map(raw)));
        let request = BatchRequest { items: items.collect(), ..BatchRequest::default() };
        let written = self.engine.write_batch(namespace, request)?.wait()?;
        for (item, result) in chunk.iter().zip(written.results) {
            let written = result.with_context(|| format!("{} was refused", item.id))?;
            self.reinforced += usize::from(written.outcome == Outcome::Reinforced);
            self.ids.entry(written.id).or_default().push(item.id.clone());
        }
        Ok(())
    }

    /// The dataset's id of a hit. What was said several times is one hit: it stands for the item that is wanted, if it is
    /// one of them.
    #[must_use]
    pub fn name(&self, hit: &Hit, wanted: &[String]) -> String {
        let memories = std::iter::once(&hit.memory.id).chain(&hit.collapsed);
        let ids: Vec<&String> = memories.filter_map(|id| self.ids.get(id)).flatten().collect();
        let found = ids.iter().find(|id| wanted.contains(id));
        found.or(ids.first()).map(|id| (*id).clone()).unwrap_or_default()
    }

    /// A query's vector; absent when the model knows no piece of it.
    ///
    /// # Errors
    /// When the model fails.
    pub fn embed(&self, text: &str) -> anyhow::Result<Option<Embedding>> {
        let values = self.embedder.embed_one(text)?;
        Ok(values.map(|values| Embedding::new(&values)).transpose()?)
    }
}

fn draft(item: &Item, signals: Signals) -> Draft {
    let session = item.session.as_ref().filter(|_| signals.session).map(|session| match session {
        serde_json::Value::String(word) => format!("{}/{word}", item.namespace),
        other => format!("{}/{other}", item.namespace),
    });
    let entity = |name: &String| Entity { name: name.clone(), kind: String::new() };
    Draft {
        kind: Some(if item.outcome.is_some() { Kind::Episode } else { Kind::Fact }),
        status: item.outcome,
        content: item.text.clone(),
        entities: item.entities.iter().filter(|_| signals.entities).map(entity).collect(),
        source: Some(SourceDraft {
            kind: Some(SourceKind::UserInput),
            speaker: item.speaker.clone().filter(|_| signals.speaker),
            ..SourceDraft::default()
        }),
        session_id: session,
        occurred_at: Some(item.timestamp),
        importance: (!signals.importance).then_some(0.2),
        confidence: (!signals.confidence).then_some(0.8),
        ..Draft::default()
    }
}

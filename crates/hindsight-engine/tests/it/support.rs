//! A data directory in a temporary folder, and short words for the calls that tests make often.

use hindsight_core::{
    Draft, Filter, Invalid, Memory, Namespace, RawVector, RawVectors, Recall, Recalled, VectorRole,
};
use hindsight_engine::{
    Engine, EngineError, ListRequest, OpenReport, Options, WriteItem, WriteOptions, Written,
};

pub(crate) struct Db {
    pub(crate) engine: Engine,
    // Goes after the engine, whose threads would put files into a folder that is being removed.
    pub(crate) dir: tempfile::TempDir,
}

pub(crate) fn ns(name: &str) -> Namespace {
    name.parse().unwrap()
}

impl Db {
    pub(crate) fn new() -> Db {
        let dir = tempfile::tempdir().unwrap();
        let (engine, _) = open(dir.path());
        Db { dir, engine }
    }

    /// Closes in order and opens again.
    pub(crate) fn reopen(self) -> (Db, OpenReport) {
        let Db { dir, engine } = self;
        engine.close().unwrap();
        drop(engine);
        let (engine, report) = open(dir.path());
        (Db { dir, engine }, report)
    }

    pub(crate) fn write(&self, draft: Draft) -> Memory {
        self.try_write(draft, None).unwrap().memory
    }

    pub(crate) fn try_write(
        &self,
        draft: Draft,
        vectors: Option<RawVectors>,
    ) -> Result<Written, EngineError> {
        self.engine.write(&ns("ops"), WriteItem::new(draft, vectors), WriteOptions::default())?.wait()
    }

    pub(crate) fn list(&self, filter: Filter) -> Vec<Memory> {
        let list = ListRequest { filter, page_size: 1_000, ..ListRequest::default() };
        self.engine.list(&ns("ops"), &list).unwrap().wait().unwrap().memories
    }

    pub(crate) fn recall(&self, recall: &Recall) -> Recalled {
        self.engine.recall(&ns("ops"), recall).unwrap().wait().unwrap()
    }

    pub(crate) fn contents(&self, query: &str) -> Vec<String> {
        let recalled = self.recall(&Recall { query: query.to_owned(), observe: true, ..Recall::default() });
        recalled.hits.into_iter().map(|hit| hit.memory.content).collect()
    }
}

pub(crate) fn open(dir: &std::path::Path) -> (Engine, OpenReport) {
    Engine::open(dir, Options::default()).unwrap()
}

pub(crate) fn fact(content: &str) -> Draft {
    Draft { content: content.to_owned(), ..Draft::default() }
}

pub(crate) fn vectors(model: &str, values: &[f32]) -> Option<RawVectors> {
    let vector = RawVector { role: VectorRole::Content, values: values.to_vec() };
    Some(RawVectors { model: model.to_owned(), vectors: vec![vector] })
}

pub(crate) fn fields(error: EngineError) -> Vec<String> {
    match error {
        EngineError::Invalid(Invalid { violations }) => violations.into_iter().map(|v| v.field).collect(),
        other => panic!("not about a field: {other}"),
    }
}

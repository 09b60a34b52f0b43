//! Calls that change memories.

use hindsight_core::{
    Invalid, Kind, Namespace, OnDuplicate, Patch, draft::flat_names, limits::BATCH_ITEMS_MAX,
};
use hindsight_engine::{
    Affected, BatchRequest, BatchWritten, EngineError, ForgetRequest, Maker, RestoreRequest, Unsynced,
    UpdateRequest, Updated, WriteItem, WriteOptions, Written,
};

use super::embedding::Texts;
use super::{App, AppError, Worker};
use crate::access;

/// How often an update is embedded anew because somebody else changed the memory's texts meanwhile.
const EMBED_ATTEMPTS_MAX: usize = 3;

/// A batch as a front read it: an item that could not be read is refused by itself.
pub(crate) struct Batch {
    pub(crate) items: Vec<Result<WriteItem, Invalid>>,
    pub(crate) all_or_nothing: bool,
    pub(crate) on_duplicate: Option<OnDuplicate>,
    pub(crate) allow_forgotten: bool,
    pub(crate) request_id: Option<String>,
}

impl App {
    /// Stores one memory.
    pub(crate) async fn write(
        &self,
        namespace: Namespace,
        mut item: WriteItem,
        options: WriteOptions,
    ) -> Result<Written, AppError> {
        access::bound_draft(&mut item.draft)?;
        let stores = !options.validate_only;
        let written = self.run(move |worker| worker.write(&namespace, item, options)).await;
        let outcome = written.as_ref().ok().map(|written| written.outcome);
        if stores {
            self.metrics.memories.written(outcome);
        }
        access::note(usize::from(stores && outcome.is_some()));
        written
    }

    /// Stores a finished task. What is wrong with the episode is named as the flat record call names it.
    pub(crate) async fn record(
        &self,
        namespace: Namespace,
        item: WriteItem,
        options: WriteOptions,
    ) -> Result<Written, AppError> {
        self.write(namespace, item, options).await.map_err(|error| match error {
            AppError::Engine(EngineError::Invalid(invalid)) => flat_names(invalid).into(),
            error => error,
        })
    }

    /// Stores many memories with one sync.
    pub(crate) async fn write_batch(
        &self,
        namespace: Namespace,
        batch: Batch,
    ) -> Result<BatchWritten, AppError> {
        let Batch { items, all_or_nothing, on_duplicate, allow_forgotten, request_id } = batch;
        let count = items.len();
        if count > BATCH_ITEMS_MAX {
            let problem = format!("has {count} memories: at most {BATCH_ITEMS_MAX}; send them in parts");
            return Err(Invalid::one("items", problem).into());
        }
        let mut good = Vec::with_capacity(count);
        let mut bad = Vec::new();
        for (index, item) in items.into_iter().enumerate() {
            match item {
                Ok(mut item) => {
                    access::bound_draft(&mut item.draft)?;
                    good.push(item);
                }
                Err(invalid) => bad.push((index, invalid)),
            }
        }
        if all_or_nothing && !bad.is_empty() {
            let under =
                |(index, invalid): (usize, Invalid)| invalid.under(&format!("items[{index}].")).violations;
            return Err(Invalid { violations: bad.into_iter().flat_map(under).collect() }.into());
        }
        let mut written = if good.is_empty() && !bad.is_empty() {
            let revision = self.worker.engine.revision();
            BatchWritten { results: Vec::new(), replayed: false, revision }
        } else {
            let request =
                BatchRequest { items: good, all_or_nothing, on_duplicate, request_id, allow_forgotten };
            self.run(move |worker| worker.write_batch(&namespace, request)).await?
        };
        access::note(written.results.iter().filter(|result| result.is_ok()).count());
        // Bad items come in rising order, so each lands where it stood in the request.
        for (index, invalid) in bad {
            let at = index.min(written.results.len());
            written.results.insert(at, Err(EngineError::Invalid(invalid)));
        }
        for result in &written.results {
            self.metrics.memories.written(result.as_ref().ok().map(|item| item.outcome));
        }
        Ok(written)
    }

    /// Changes fields of a memory; a text that changes is embedded anew. Rules are for those who may decide on them: by its
    /// advice alone a rule that is in force would say something else.
    pub(crate) async fn update(
        &self,
        namespace: Namespace,
        request: UpdateRequest,
    ) -> Result<Updated, AppError> {
        self.reaches(&namespace, &[request.id]).await?;
        if !access::may_decide_rules()? {
            let (place, id) = (namespace.clone(), request.id);
            let found = self.run(move |worker| Ok(worker.engine.get(&place, id, None)?)).await;
            if found.is_ok_and(|got| got.memory.kind == Kind::Rule) {
                let message =
                    "changing a rule needs the right rules, and this token does not have it: propose another";
                return Err(access::rules_missing(message));
            }
        }
        let updated = self.on_worker(move |worker| worker.update(&namespace, request)).await?;
        access::note(1);
        Ok(updated)
    }

    /// Takes memories out of recall.
    pub(crate) async fn forget(
        &self,
        namespace: Namespace,
        request: ForgetRequest,
    ) -> Result<Affected, AppError> {
        let mut agent = None;
        access::as_agent(&mut agent)?;
        let does = !request.validate_only;
        let forget =
            move |worker: &Worker| Ok(worker.engine.forget_as(&namespace, request, agent.as_deref())?);
        let affected = self.run(forget).await?;
        access::note(if does { affected.count as usize } else { 0 });
        Ok(affected)
    }

    /// Brings forgotten memories back.
    pub(crate) async fn restore(
        &self,
        namespace: Namespace,
        request: RestoreRequest,
    ) -> Result<Affected, AppError> {
        self.reaches(&namespace, &request.ids).await?;
        let affected = self.run(move |worker| Ok(worker.engine.restore(&namespace, request)?)).await?;
        access::note(affected.count as usize);
        Ok(affected)
    }
}

impl Worker {
    pub(super) fn write(
        &self,
        namespace: &Namespace,
        mut item: WriteItem,
        options: WriteOptions,
    ) -> Result<Unsynced<Written>, AppError> {
        let model_is_fixed = self.engine.model(namespace).is_some();
        let ours = !self.embed_items(namespace, std::slice::from_mut(&mut item))?.is_empty();
        if model_is_fixed || !ours {
            return Ok(self.engine.write(namespace, item, options)?);
        }
        match self.engine.write(namespace, item.clone(), options.clone()) {
            // Somebody else's vectors came first and fixed another model: the caller sent none, so it is not told.
            Err(EngineError::ModelMismatch { .. } | EngineError::DimensionMismatch { .. }) => {
                item.vectors = None;
                Ok(self.engine.write(namespace, item, options)?)
            }
            result => Ok(result?),
        }
    }

    fn write_batch(
        &self,
        namespace: &Namespace,
        mut request: BatchRequest,
    ) -> Result<Unsynced<BatchWritten>, AppError> {
        self.embed_items(namespace, &mut request.items)?;
        Ok(self.engine.write_batch(namespace, request)?)
    }

    fn update(&self, namespace: &Namespace, mut request: UpdateRequest) -> Result<Updated, AppError> {
        if request.vectors.is_some() || !request.patch.changes_text() || !self.fits(namespace) {
            return Ok(self.engine.update(namespace, request)?.wait()?);
        }
        let (old_content, old_summary) = self.present_texts(namespace, request.id).unwrap_or_default();
        let mut content = request.patch.content.clone().unwrap_or(old_content);
        let mut summary = request.patch.summary.clone().unwrap_or(old_summary);
        request.vectors = self.vectors_of_one(&content, &summary)?;
        request.maker = Maker::Server;
        let id = request.id;
        let mut written = self.engine.update(namespace, request)?.wait()?;
        // The texts may have changed between reading and updating, or were not to be read: the vectors then depict
        // another text and are made again.
        for _ in 0..EMBED_ATTEMPTS_MAX {
            let memory = &written.memory;
            if written.replayed || (memory.content == content && memory.summary == summary) {
                break;
            }
            content.clone_from(&memory.content);
            summary.clone_from(&memory.summary);
            let again = UpdateRequest {
                id,
                patch: Patch { summary: Some(summary.clone()), ..Patch::default() },
                version: Some(memory.version),
                vectors: self.vectors_of_one(&content, &summary)?,
                maker: Maker::Server,
                // It says what it says already.
                allow_forgotten: true,
                request_id: None,
            };
            match self.engine.update(namespace, again) {
                Ok(update) => written = update.wait()?,
                // Whoever changed it since has embedded what it holds now.
                Err(EngineError::VersionMismatch { .. } | EngineError::MemoryNotFound { .. }) => break,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(written)
    }

    fn vectors_of_one(
        &self,
        content: &str,
        summary: &str,
    ) -> Result<Option<hindsight_core::RawVectors>, AppError> {
        Ok(self.vectors_of(&[Texts { content, summary }])?.pop().flatten())
    }
}

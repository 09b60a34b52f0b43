//! Recall: the query gets a vector, where the namespace's model is the server's.

use std::time::Instant;

use hindsight_core::scoring::tokens;
use hindsight_core::{
    Embedding, Explanation, Hit, Invalid, MemoryId, Mode, Namespace, Recall, Recalled, prompt,
};
use hindsight_engine::EngineError;

use super::{App, AppError, Worker, read};
use crate::access;

impl App {
    /// The few memories that matter now. Hits that would make the answer too large count as omitted.
    pub(crate) async fn recall(
        &self,
        namespace: Namespace,
        mut recall: Recall,
    ) -> Result<Recalled, AppError> {
        let began = Instant::now();
        access::as_agent(&mut recall.agent_id)?;
        let mut recalled = self
            .run(move |worker| {
                worker.embed_query(&namespace, &mut recall)?;
                worker.engine.recall(&namespace, &recall).map_err(of_query)
            })
            .await?;
        let fitting = fitting(&recalled.hits, recalled.text.is_some());
        let cut = recalled.hits.len() - fitting;
        recalled.omitted = recalled.omitted.saturating_add(u64::try_from(cut).unwrap_or(u64::MAX));
        recalled.hits.truncate(fitting);
        if cut > 0 && recalled.text.is_some() {
            let text = prompt::render(&recalled.hits);
            recalled.text_tokens = u64::try_from(tokens::estimate(&text)).ok();
            recalled.text = Some(text);
        }
        access::note(recalled.hits.len());
        self.metrics.memories.recalled(&recalled, began.elapsed());
        Ok(recalled)
    }

    /// What becomes of one memory in a recall, and why.
    pub(crate) async fn explain(
        &self,
        namespace: Namespace,
        mut recall: Recall,
        id: MemoryId,
    ) -> Result<Explanation, AppError> {
        access::as_agent(&mut recall.agent_id)?;
        self.run(move |worker| {
            worker.embed_query(&namespace, &mut recall)?;
            worker.engine.explain(&namespace, &recall, id).map_err(of_query)
        })
        .await
    }
}

/// How many of the hits one answer takes, with their rendering where there is one: all that fit, and at least one.
fn fitting(hits: &[Hit], as_text: bool) -> usize {
    let bytes =
        |hit: &Hit| read::json_bytes(&hit.memory) + if as_text { prompt::block(hit).len() } else { 0 };
    let mut total = 0_usize;
    let fits = |hit: &&Hit| {
        total = total.saturating_add(bytes(hit));
        total <= read::ANSWER_JSON_BYTES_MAX
    };
    hits.iter().take_while(fits).count().max(1).min(hits.len())
}

fn of_query(error: EngineError) -> AppError {
    match error {
        EngineError::ModelMismatch { .. } | EngineError::DimensionMismatch { .. } => {
            AppError::QueryVector(error)
        }
        error => AppError::Engine(error),
    }
}

impl Worker {
    /// Embeds the query, unless the caller sent a vector or wants keywords only. A hybrid recall without a vector is
    /// one by keywords; a recall by vector without one is refused.
    fn embed_query(&self, namespace: &Namespace, recall: &mut Recall) -> Result<(), AppError> {
        if recall.vector.is_some() {
            if recall.embedding_model.as_deref().is_none_or(|model| model.trim().is_empty()) {
                let problem = "is missing: name the model that made the vector";
                return Err(Invalid::one("embedding_model", problem).into());
            }
            return Ok(());
        }
        if recall.mode == Mode::Keyword || recall.query.trim().is_empty() {
            return Ok(());
        }
        // A query that is too long is refused by its length, not embedded first.
        Recall { mode: Mode::Keyword, ..recall.clone() }.check()?;
        let needed = recall.mode == Mode::Vector;
        if !self.fits(namespace) {
            let expected = self.engine.model(namespace).map(|model| model.name).unwrap_or_default();
            let ours = self.embedder.model().to_owned();
            let namespace = namespace.clone();
            return if needed { Err(AppError::ForeignModel { namespace, expected, ours }) } else { Ok(()) };
        }
        let model = self.embedder.model().to_owned();
        match self.embedder.embed_one(&recall.query)? {
            Some(values) => {
                let vector = Embedding::new(&values).map_err(|bad| Invalid::one("query", bad.to_string()))?;
                recall.vector = Some(vector);
                recall.embedding_model = Some(model);
                Ok(())
            }
            None if needed => Err(AppError::NothingToEmbed { model }),
            None => Ok(()),
        }
    }
}

//! Recall: the query gets a vector, where the namespace's model is the server's.

use hindsight_core::{Embedding, Invalid, Mode, Namespace, Recall, Recalled};
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
        access::as_agent(&mut recall.agent_id)?;
        let mut recalled = self
            .run(move |worker| {
                worker.embed_query(&namespace, &mut recall)?;
                worker.engine.recall(&namespace, &recall).map_err(of_query)
            })
            .await?;
        let fitting = read::fitting(recalled.hits.iter().map(|hit| &hit.memory));
        let cut = recalled.hits.len() - fitting;
        recalled.omitted = recalled.omitted.saturating_add(u64::try_from(cut).unwrap_or(u64::MAX));
        recalled.hits.truncate(fitting);
        access::note(recalled.hits.len());
        Ok(recalled)
    }
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

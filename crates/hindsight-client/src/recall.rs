//! A question, built step by step.

use std::collections::BTreeMap;
use std::future::IntoFuture;
use std::pin::Pin;
use std::time::Duration;

use hindsight_core::{
    AsOf, Axis, Decay, Embedding, Explanation, Filter, Fusion, Invalid, Lsn, MemoryId, Mode, Prohibition,
    Recall, Recalled, Timestamp, Weights,
};

use crate::{Error, NamespaceHandle};

/// The answer that has no hits.
pub(crate) fn nothing(revision: Lsn) -> Recalled {
    Recalled {
        hits: Vec::new(),
        recall_id: None,
        revision,
        allowed: 0,
        omitted: 0,
        held_back: BTreeMap::new(),
        text: None,
        text_tokens: None,
        window: None,
        plan: None,
    }
}

/// What a recall can begin with: the words of a query, or a [`Recall`] with every choice made.
pub trait IntoRecall {
    /// The question.
    fn into_recall(self) -> Recall;
}

impl IntoRecall for Recall {
    fn into_recall(self) -> Recall {
        self
    }
}

impl IntoRecall for String {
    fn into_recall(self) -> Recall {
        Recall { query: self, ..Recall::default() }
    }
}

impl IntoRecall for &str {
    fn into_recall(self) -> Recall {
        self.to_owned().into_recall()
    }
}

impl IntoRecall for &String {
    fn into_recall(self) -> Recall {
        self.clone().into_recall()
    }
}

/// A question that is sent with [`RecallBuilder::send`], or by awaiting it.
///
/// ```no_run
/// # async fn example(ops: hindsight_client::NamespaceHandle) -> Result<(), hindsight_client::Error> {
/// use hindsight_client::{Filter, Status};
///
/// let failures = Filter { statuses: vec![Status::Failure], ..Filter::default() };
/// let answer = ops.recall("deploy failed with permission denied").filter(failures).top_k(5).explain().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use = "a recall does nothing until it is sent or awaited"]
pub struct RecallBuilder {
    handle: NamespaceHandle,
    recall: Recall,
    /// What is wrong with it so far; said when it is sent.
    invalid: Option<Invalid>,
}

impl RecallBuilder {
    pub(crate) fn new(handle: NamespaceHandle, recall: Recall) -> RecallBuilder {
        RecallBuilder { handle, recall, invalid: None }
    }

    fn with(mut self, change: impl FnOnce(&mut Recall)) -> RecallBuilder {
        change(&mut self.recall);
        self
    }

    /// The query as a vector that the caller made, and the name of the model that made it; without one the server
    /// embeds the query. Numbers that are no vector are refused when the question is sent.
    pub fn vector(mut self, values: &[f32], model: &str) -> RecallBuilder {
        match Embedding::new(values) {
            Ok(vector) => {
                self.recall.vector = Some(vector);
                self.recall.embedding_model = Some(model.to_owned());
            }
            Err(bad) => self.invalid = Some(Invalid::one("vector", bad.to_string())),
        }
        self
    }

    /// Which channels look for candidates.
    pub fn mode(self, mode: Mode) -> RecallBuilder {
        self.with(|recall| recall.mode = mode)
    }

    /// Which memories may be returned.
    pub fn filter(self, filter: Filter) -> RecallBuilder {
        self.with(|recall| recall.filter = filter)
    }

    /// Archived memories may be returned.
    pub fn include_archived(self) -> RecallBuilder {
        self.with(|recall| recall.include_archived = true)
    }

    /// Superseded, expired and no longer valid memories may be returned.
    pub fn include_history(self) -> RecallBuilder {
        self.with(|recall| recall.include_history = true)
    }

    /// What was true in the world at `at`, by what is known today.
    pub fn as_of(self, at: Timestamp) -> RecallBuilder {
        self.with(|recall| recall.as_of = Some(AsOf { at, axis: Axis::Valid }))
    }

    /// What the database knew at `at`, right or wrong.
    pub fn as_known_at(self, at: Timestamp) -> RecallBuilder {
        self.with(|recall| recall.as_of = Some(AsOf { at, axis: Axis::Known }))
    }

    /// Most hits, 1–100; 8 unless said.
    pub fn top_k(self, top_k: usize) -> RecallBuilder {
        self.with(|recall| recall.top_k = top_k)
    }

    /// Most tokens that the texts of the hits may cost together, or with [`RecallBuilder::as_text`] the whole rendering.
    pub fn token_budget(self, tokens: usize) -> RecallBuilder {
        self.with(|recall| recall.token_budget = Some(tokens))
    }

    /// Least similarity of a hit, 0–1.
    pub fn min_score(self, least: f64) -> RecallBuilder {
        self.with(|recall| recall.min_score = Some(least))
    }

    /// The weights of the channels.
    pub fn weights(self, weights: Weights) -> RecallBuilder {
        self.with(|recall| recall.weights = weights)
    }

    /// How the channels are joined.
    pub fn fusion(self, fusion: Fusion) -> RecallBuilder {
        self.with(|recall| recall.fusion = fusion)
    }

    /// How recency falls; by kind unless said.
    pub fn decay(self, decay: Decay) -> RecallBuilder {
        self.with(|recall| recall.decay = Some(decay))
    }

    /// How much the hits shall differ from each other, 0–1, beside how well they rank.
    pub fn diversity(self, share: f64) -> RecallBuilder {
        self.with(|recall| recall.diversity = Some(share))
    }

    /// Hits that say the same stay apart; else they collapse into the newest.
    pub fn keep_alike(self) -> RecallBuilder {
        self.with(|recall| recall.keep_alike = true)
    }

    /// What the task must not do: memories that advise it are held back and counted.
    pub fn policy(self, policy: impl Into<Vec<Prohibition>>) -> RecallBuilder {
        self.with(|recall| recall.policy = policy.into())
    }

    /// The answer shall hold the hits as a text for a prompt, too: fenced data, with id, date and trust.
    ///
    /// ```no_run
    /// # async fn example(ops: hindsight_client::NamespaceHandle) -> Result<(), hindsight_client::Error> {
    /// let answer = ops.recall("how do we deploy").as_text().token_budget(800).await?;
    /// let prompt = format!("{}\n\nDeploy the order service.", answer.text.unwrap_or_default());
    /// # Ok(())
    /// # }
    /// ```
    pub fn as_text(self) -> RecallBuilder {
        self.with(|recall| recall.as_text = true)
    }

    /// The agent that asks; it sees its own memories beside the shared ones.
    pub fn agent(self, agent_id: impl Into<String>) -> RecallBuilder {
        self.with(|recall| recall.agent_id = Some(agent_id.into()))
    }

    /// The time zone that words like "yesterday" are meant in, as an IANA name; UTC unless said.
    pub fn time_zone(self, name: impl Into<String>) -> RecallBuilder {
        self.with(|recall| recall.time_zone = Some(name.into()))
    }

    /// The time to answer as of "now"; for tests and replays.
    pub fn now(self, now: Timestamp) -> RecallBuilder {
        self.with(|recall| recall.now = Some(now))
    }

    /// The answer shall say how it was found.
    pub fn explain(self) -> RecallBuilder {
        self.with(|recall| recall.explain = true)
    }

    /// The nearest vectors shall be found by the exact scan, whatever it costs: through the graph of a large namespace one
    /// can be missed now and then.
    pub fn exact(self) -> RecallBuilder {
        self.with(|recall| recall.exact = true)
    }

    /// Only look: nothing is counted, and there is no id to give feedback on.
    pub fn observe(self) -> RecallBuilder {
        self.with(|recall| recall.observe = true)
    }

    /// The deadline of this question.
    pub fn timeout(mut self, timeout: Duration) -> RecallBuilder {
        self.handle = self.handle.with_timeout(timeout);
        self
    }

    /// Asks.
    ///
    /// # Errors
    /// What is wrong with the question, what the server answers, or that it can't be reached.
    pub async fn send(self) -> Result<Recalled, Error> {
        if let Some(invalid) = self.invalid {
            return Err(invalid.into());
        }
        self.handle.ask(self.recall).await
    }

    /// Asks what becomes of one memory in this recall, and why: at which rank it is returned, or what keeps it out. Nothing
    /// is counted.
    ///
    /// ```no_run
    /// # async fn example(ops: hindsight_client::NamespaceHandle) -> Result<(), Box<dyn std::error::Error>> {
    /// let why = ops.recall("how do we deploy").why("mem_01k9zq4t8rc5d2v7n3hx6w0jab".parse()?).await?;
    /// println!("{}: {}", why.reason, why.detail);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`RecallBuilder::send`].
    pub async fn why(self, id: MemoryId) -> Result<Explanation, Error> {
        if let Some(invalid) = self.invalid {
            return Err(invalid.into());
        }
        self.handle.explain(self.recall, id).await
    }
}

impl IntoFuture for RecallBuilder {
    type Output = Result<Recalled, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.send())
    }
}

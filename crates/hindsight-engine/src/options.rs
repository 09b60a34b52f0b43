//! How an engine is opened, and what it found.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use hindsight_core::consolidate::RuleTuning;
use hindsight_core::likeness::Thresholds;
use hindsight_core::{Job, Life, Lsn, Memory, RawVectors, Schedule};
use hindsight_index::GraphRule;

use crate::state::NamespaceState;

/// How to open a data directory.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// How the log is kept.
    pub storage: hindsight_storage::StorageOptions,
    /// When a namespace gets a graph over its vectors.
    pub graph: GraphRule,
    /// From which cosine on two memories are compared.
    pub nearness: Nearness,
    /// What tells the time; the machine's own clock unless said. [`EngineOver::open_with`](crate::EngineOver::open_with)
    /// takes that of its `Io`.
    pub clock: hindsight_storage::Clock,
    /// How rules are found and live.
    pub rules: RuleTuning,
    /// Who makes vectors for rules and summaries.
    pub embed: Embed,
    /// How long memories live in a namespace that sets nothing else.
    pub life: Life,
    /// When jobs run by themselves, if somebody drives [`crate::EngineOver::job_step`]; a job that is missing runs on demand
    /// only. By default none does.
    pub schedules: BTreeMap<Job, Schedule>,
    /// Bytes that namespaces in memory may take, estimated; those that were touched longest ago go first. None by default:
    /// a namespace that was loaded stays.
    pub memory_budget: Option<u64>,
    /// Which namespaces get an index snapshot.
    pub snapshots: SnapshotRule,
}

/// Which namespaces a checkpoint writes an index snapshot of: large ones, once enough of them has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SnapshotRule {
    /// Memories from which on a namespace has one. A smaller one is loaded from its records about as fast. Default 1,000.
    pub memories: usize,
    /// How many hundredths of its memories have to have changed for a new one; the others are brought up to date when it is
    /// loaded. Default 25.
    pub changed_percent: usize,
}

impl Default for SnapshotRule {
    fn default() -> Self {
        SnapshotRule { memories: 1_000, changed_percent: 25 }
    }
}

/// Makes vectors for texts that the engine writes itself: rules and summaries. The engine embeds nothing; whoever opens it
/// can lend it an embedder.
#[derive(Clone, Default)]
pub struct Embed(Option<Arc<Vectors>>);

type Vectors = dyn Fn(&str) -> Option<RawVectors> + Send + Sync;

impl Embed {
    /// An embedder: a text in, its vectors out, where it has any.
    #[must_use]
    pub fn new(vectors: impl Fn(&str) -> Option<RawVectors> + Send + Sync + 'static) -> Embed {
        Embed(Some(Arc::new(vectors)))
    }

    /// The vectors of a text; none without an embedder.
    pub(crate) fn vectors_of(&self, text: &str) -> Option<RawVectors> {
        self.0.as_ref().and_then(|vectors| vectors(text))
    }
}

impl fmt::Debug for Embed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Embed").field(&self.0.is_some()).finish()
    }
}

/// From which cosine on two memories are compared: what is near differs from model to model.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Nearness {
    /// For vectors of these models.
    pub of_model: BTreeMap<String, Thresholds>,
    /// For all others.
    pub default: Thresholds,
}

impl Nearness {
    /// The thresholds for vectors of a model.
    #[must_use]
    pub fn of_model(&self, model: Option<&str>) -> Thresholds {
        model.and_then(|model| self.of_model.get(model)).copied().unwrap_or(self.default)
    }

    /// The thresholds for a memory, by what its namespace has set.
    pub(crate) fn of(&self, memory: &Memory, state: &NamespaceState) -> Thresholds {
        self.of_model(memory.embedding_model.as_deref()).with(&state.settings.likeness)
    }
}

/// What opening a data directory found.
#[derive(Debug, Clone)]
pub struct OpenReport {
    /// Namespaces.
    pub namespaces: usize,
    /// Memories, without the forgotten ones; of a namespace that lies in record files as many as these hold, whatever the
    /// log changed since.
    pub memories: u64,
    /// The newest batch of the log.
    pub last_lsn: Lsn,
    /// How long the replay took.
    pub replay: Duration,
    /// What the log's recovery found and did.
    pub recovered: hindsight_storage::Recovered,
}

impl OpenReport {
    /// How the directory was left, in a sentence for the log.
    #[must_use]
    pub fn last_stop(&self) -> String {
        let hindsight_storage::Recovered { last_lsn, batches, clean_shutdown, torn, .. } = &self.recovered;
        let replayed = format!("log replayed {batches} batches");
        match (clean_shutdown, torn) {
            _ if *last_lsn == Lsn(0) => "the log is empty".to_owned(),
            (true, _) if *batches == 0 => format!("clean stop at lsn {last_lsn}"),
            (true, _) => format!("clean stop at lsn {last_lsn}, {replayed}"),
            (false, None) => format!("{replayed} up to lsn {last_lsn} after an unclean stop"),
            (false, Some(torn)) => format!(
                "{replayed} up to lsn {last_lsn} after an unclean stop; a commit that was never acknowledged is kept in {}",
                torn.saved_to.display()
            ),
        }
    }
}

impl fmt::Display for OpenReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let OpenReport { namespaces, memories, last_lsn, replay, .. } = self;
        write!(
            f,
            "{memories} memories in {namespaces} namespaces at lsn {last_lsn}, replayed in {} ms",
            replay.as_millis()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_stop_is_told() {
        let told = |last_lsn, batches, clean_shutdown| {
            let recovered = hindsight_storage::Recovered {
                last_lsn: Lsn(last_lsn),
                batches,
                clean_shutdown,
                ..hindsight_storage::Recovered::default()
            };
            let (namespaces, memories, replay) = (0, 0, Duration::ZERO);
            OpenReport { namespaces, memories, last_lsn: Lsn(last_lsn), replay, recovered }.last_stop()
        };
        assert_eq!(told(0, 0, false), "the log is empty");
        assert_eq!(told(7, 0, true), "clean stop at lsn 7");
        assert_eq!(told(7, 2, true), "clean stop at lsn 7, log replayed 2 batches");
        assert_eq!(told(7, 2, false), "log replayed 2 batches up to lsn 7 after an unclean stop");
    }
}

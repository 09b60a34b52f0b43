//! What calls did: recalls, writes, feedback, backups.

use std::sync::atomic::AtomicU64;
use std::time::Duration;

use hindsight_core::{Outcome, Recalled, Verdict};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

/// Upper bounds of the classes of recall times, in seconds.
const RECALL_SECONDS: [f64; 12] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0];

/// Upper bounds of the classes of hit counts.
const HITS: [f64; 8] = [0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 100.0];

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ByOutcome {
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ByVerdict {
    verdict: &'static str,
}

/// Counts what calls did, over all fronts.
pub(crate) struct Memories {
    recalls: Histogram,
    hits: Histogram,
    empty: Counter,
    truncated: Counter,
    writes: Family<ByOutcome, Counter>,
    feedback: Family<ByVerdict, Counter>,
    backup_at: Gauge<f64, AtomicU64>,
    backup_bytes: Gauge,
}

impl Memories {
    pub(super) fn new(registry: &mut Registry) -> Memories {
        let memories = Memories {
            recalls: Histogram::new(RECALL_SECONDS),
            hits: Histogram::new(HITS),
            empty: Counter::default(),
            truncated: Counter::default(),
            writes: Family::default(),
            feedback: Family::default(),
            backup_at: Gauge::default(),
            backup_bytes: Gauge::default(),
        };
        let help = "How long recalls took, with embedding the query and waiting for the engine";
        registry.register("recall_duration_seconds", help, memories.recalls.clone());
        registry.register("recall_hits", "How many memories a recall returned", memories.hits.clone());
        registry.register("recall_empty", "Recalls that returned nothing", memories.empty.clone());
        let help = "Recalls that left candidates out because of top_k, min_score or a budget";
        registry.register("recall_truncated", help, memories.truncated.clone());
        registry.register(
            "write_outcomes",
            "What became of memories that were written",
            memories.writes.clone(),
        );
        let help = "What became of what recalls returned, as agents said";
        registry.register("recall_feedback", help, memories.feedback.clone());
        let help = "When the last backup was whole; 0 where none was since the start";
        registry.register("snapshot_last_success_timestamp_seconds", help, memories.backup_at.clone());
        registry.register("snapshot_bytes", "Bytes of the last backup", memories.backup_bytes.clone());
        for outcome in Outcome::ALL {
            drop(memories.writes.get_or_create(&ByOutcome { outcome: outcome.as_str() }));
        }
        drop(memories.writes.get_or_create(&ByOutcome { outcome: REFUSED }));
        for verdict in Verdict::ALL {
            drop(memories.feedback.get_or_create(&ByVerdict { verdict: verdict.as_str() }));
        }
        memories
    }

    /// A recall was answered.
    pub(crate) fn recalled(&self, recalled: &Recalled, took: Duration) {
        self.recalls.observe(took.as_secs_f64());
        let hits = u32::try_from(recalled.hits.len()).unwrap_or(u32::MAX);
        self.hits.observe(f64::from(hits));
        if hits == 0 {
            self.empty.inc();
        }
        if recalled.omitted > 0 {
            self.truncated.inc();
        }
    }

    /// A memory was written with this outcome; none where it was refused.
    pub(crate) fn written(&self, outcome: Option<Outcome>) {
        let outcome = outcome.map_or(REFUSED, |outcome| outcome.as_str());
        self.writes.get_or_create(&ByOutcome { outcome }).inc();
    }

    /// An agent said what became of a memory.
    pub(crate) fn judged(&self, verdict: Verdict) {
        self.feedback.get_or_create(&ByVerdict { verdict: verdict.as_str() }).inc();
    }

    /// A backup is whole, at `at_ms` after the epoch.
    pub(crate) fn backed_up(&self, at_ms: i64, bytes: u64) {
        #[expect(clippy::cast_precision_loss, reason = "milliseconds since the epoch are below 2^53")]
        self.backup_at.set(at_ms as f64 / 1_000.0);
        self.backup_bytes.set(i64::try_from(bytes).unwrap_or(i64::MAX));
    }
}

/// The outcome of a memory that was not taken.
const REFUSED: &str = "refused";

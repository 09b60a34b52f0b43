//! What is read off the engine, the jobs and the audit trail when somebody asks.

use std::fmt;
use std::sync::{Arc, Weak};

use hindsight_engine::{Engine, Figures, MemoryStats};
use hindsight_storage::SYNC_BOUNDS_US;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, NoLabelSet};
use prometheus_client::metrics::{MetricType, counter::ConstCounter, gauge::ConstGauge};

use crate::access::Access;
use crate::app::App;

/// Namespaces that have a label of their own; all others are `other` together.
const NAMESPACES_MAX: usize = 100;

/// Whom to ask. It keeps none of them alive: a server that stops waits until nobody has its engine.
pub(crate) struct Source {
    engine: Weak<Engine>,
    app: Weak<App>,
    access: Weak<Access>,
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source").finish_non_exhaustive()
    }
}

impl Source {
    pub(crate) fn new(engine: &Arc<Engine>, app: &Arc<App>, access: &Arc<Access>) -> Source {
        Source { engine: Arc::downgrade(engine), app: Arc::downgrade(app), access: Arc::downgrade(access) }
    }
}

impl Collector for Source {
    fn encode(&self, mut encoder: DescriptorEncoder) -> fmt::Result {
        let (Some(engine), Some(app), Some(access)) =
            (self.engine.upgrade(), self.app.upgrade(), self.access.upgrade())
        else {
            return Ok(());
        };
        let figures = engine.figures(NAMESPACES_MAX);
        memories(&mut encoder, &figures)?;
        budget(&mut encoder, &engine.memory_stats())?;
        log(&mut encoder, &figures)?;
        disk(&mut encoder, &figures)?;
        graphs(&mut encoder, &figures)?;
        jobs(&mut encoder, &engine)?;
        gauge(&mut encoder, "watchers", "Open watches of the change feed", whole(app.watchers()))?;
        let (inside, waiting) = app.load();
        gauge(&mut encoder, "engine_calls", "Calls inside the engine", whole(inside))?;
        gauge(&mut encoder, "engine_queue", "Calls that wait for a place in the engine", whole(waiting))?;
        let help = "Events that could not be written to the audit trail and are not noted there yet";
        gauge(&mut encoder, "audit_lost", help, number(access.audit_lost()))
    }
}

fn memories(encoder: &mut DescriptorEncoder, figures: &Figures) -> fmt::Result {
    let help =
        "Memories without the forgotten ones; of a namespace that is not in memory as of its last checkpoint";
    gauge(encoder, "memories", help, number(figures.memories))?;
    gauge(encoder, "namespaces", "Namespaces that hold memories", number(figures.namespaces))?;
    gauge(encoder, "namespaces_loaded", "Namespaces that are in memory", number(figures.loaded))?;
    let help = "Memories of the 100 largest namespaces, and of all others together as \"other\"";
    let mut family = encoder.encode_descriptor("namespace_memories", help, None, MetricType::Gauge)?;
    let mut others = figures.memories;
    for (name, count) in &figures.largest {
        others = others.saturating_sub(*count);
        let labels = [("namespace", name.as_str())];
        ConstGauge::new(number(*count)).encode(family.encode_family(&labels)?)?;
    }
    ConstGauge::new(number(others)).encode(family.encode_family(&[("namespace", "other")])?)
}

fn budget(encoder: &mut DescriptorEncoder, stats: &MemoryStats) -> fmt::Result {
    let help = "Bytes that namespaces in memory take, estimated";
    gauge(encoder, "namespaces_memory_bytes", help, number(stats.used_bytes))?;
    let help = "Bytes that namespaces in memory may take; 0 is any number";
    gauge(encoder, "namespaces_memory_budget_bytes", help, number(stats.budget_bytes))?;
    counter(encoder, "namespace_loads", "Namespaces loaded from their files", stats.loads)?;
    let help = "Namespaces let go of, because of the memory budget";
    counter(encoder, "namespace_evictions", help, stats.evictions)?;
    let help = "Namespaces whose index came from a snapshot";
    counter(encoder, "index_snapshot_loads", help, stats.snapshot_loads)?;
    let help = "Index snapshots that could not be used, so that the index was made of the records";
    counter(encoder, "index_snapshots_doubted", help, stats.snapshots_doubted)
}

fn log(encoder: &mut DescriptorEncoder, figures: &Figures) -> fmt::Result {
    gauge(encoder, "revision", "The newest durable position of the log", number(figures.revision.0))?;
    let help = "Bytes that were replayed at the start or logged since";
    counter(encoder, "wal_bytes", help, figures.logged_bytes)?;
    let help = "Bytes of the log that no checkpoint has stored: what a start replays";
    gauge(encoder, "wal_unstored_bytes", help, number(figures.checkpoint_behind_bytes))?;
    let classes: Vec<(f64, u64)> =
        SYNC_BOUNDS_US.iter().map(|us| seconds(*us)).chain([f64::MAX]).zip(figures.syncs.classes).collect();
    let count = figures.syncs.classes.iter().sum();
    let help = "How long syncs of the log took";
    encoder
        .encode_descriptor("wal_fsync_duration_seconds", help, None, MetricType::Histogram)?
        .encode_histogram::<NoLabelSet>(figures.syncs.sum.as_secs_f64(), count, &classes, None)?;
    let running = figures.syncs.running.unwrap_or_default().as_secs_f64();
    let help = "How long the sync under way has been taking; 0 while there is none";
    gauge(encoder, "wal_fsync_running_seconds", help, running)?;

    let counts = &figures.checkpoints;
    let mut family =
        encoder.encode_descriptor("checkpoints", "Checkpoints since the start", None, MetricType::Counter)?;
    for (result, count) in [("ok", counts.done), ("failed", counts.failed)] {
        ConstCounter::new(count).encode(family.encode_family(&[("result", result)])?)?;
    }
    let help = "How long all checkpoints since the start took together";
    counter(encoder, "checkpoint_seconds", help, counts.took.as_secs_f64())?;
    let help = "How long ago the last checkpoint was taken, or the database opened where none was since";
    gauge(encoder, "checkpoint_age_seconds", help, counts.last.as_secs_f64())
}

fn disk(encoder: &mut DescriptorEncoder, figures: &Figures) -> fmt::Result {
    if let Some(free) = figures.free_bytes {
        let help = "Bytes that are free on the disk of the data directory";
        gauge(encoder, "disk_free_bytes", help, number(free))?;
    }
    let help = "1 while what stores something new is refused because the disk is full";
    gauge(encoder, "disk_full", help, i64::from(figures.is_full))?;
    let help = "1 after a write or sync of the log failed: nothing is acknowledged until a restart";
    gauge(encoder, "poisoned", help, i64::from(figures.is_poisoned))
}

fn graphs(encoder: &mut DescriptorEncoder, figures: &Figures) -> fmt::Result {
    gauge(encoder, "vector_graphs", "Namespaces in memory that have a vector graph", number(figures.graphs))?;
    let help = "Estimated bytes of the vector graphs beside the vectors";
    gauge(encoder, "vector_graph_bytes", help, number(figures.graph.bytes))?;
    let help = "Newest answers through graphs that were compared with the exact scan";
    gauge(encoder, "vector_graph_compared", help, i64::from(figures.graph.sampled))?;
    let recalls = [("all", figures.graph.recall()), ("worst", figures.worst_graph_recall)];
    let help =
        "Share that graphs find of what the exact scan finds, measured: of all together, and the worst one's";
    let mut family = encoder.encode_descriptor("vector_graph_recall", help, None, MetricType::Gauge)?;
    for (of, recall) in recalls {
        // Before an answer was compared nothing is known to be missed.
        ConstGauge::new(recall.unwrap_or(1.0)).encode(family.encode_family(&[("of", of)])?)?;
    }
    Ok(())
}

fn jobs(encoder: &mut DescriptorEncoder, engine: &Engine) -> fmt::Result {
    let jobs = engine.jobs();
    let ended = |status: &hindsight_core::JobStatus| Some(status.last.as_ref()?.ended_at?.as_ms());
    let mut family =
        encoder.encode_descriptor("job_running", "1 while a job runs by itself", None, MetricType::Gauge)?;
    for status in &jobs {
        let labels = [("job", status.job.as_str())];
        ConstGauge::new(i64::from(status.is_running)).encode(family.encode_family(&labels)?)?;
    }
    let help = "When a job last ended; 0 where it did not since the start";
    let mut family =
        encoder.encode_descriptor("job_last_end_timestamp_seconds", help, None, MetricType::Gauge)?;
    for status in &jobs {
        let at = ended(status).unwrap_or_default() / 1_000;
        ConstGauge::new(at).encode(family.encode_family(&[("job", status.job.as_str())])?)?;
    }
    let help = "Namespaces in which a job's last run went wrong";
    let mut family = encoder.encode_descriptor("job_last_errors", help, None, MetricType::Gauge)?;
    for status in &jobs {
        let errors = status.last.as_ref().map_or(0, |last| last.errors.len());
        ConstGauge::new(whole(errors)).encode(family.encode_family(&[("job", status.job.as_str())])?)?;
    }
    Ok(())
}

fn gauge<N>(encoder: &mut DescriptorEncoder, name: &str, help: &str, value: N) -> fmt::Result
where
    ConstGauge<N>: EncodeMetric,
{
    let gauge = ConstGauge::new(value);
    gauge.encode(encoder.encode_descriptor(name, help, None, MetricType::Gauge)?)
}

fn counter<N>(encoder: &mut DescriptorEncoder, name: &str, help: &str, value: N) -> fmt::Result
where
    ConstCounter<N>: EncodeMetric,
{
    let counter = ConstCounter::new(value);
    counter.encode(encoder.encode_descriptor(name, help, None, MetricType::Counter)?)
}

fn whole(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn number(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn seconds(us: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a few constants, the largest of them a second")]
    let us = us as f64;
    us / 1e6
}

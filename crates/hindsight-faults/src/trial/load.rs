//! Eight writers and a reader at work, until they are stopped or the server is gone.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::Context as _;
use hindsight_client::{Error, MemoryId, NamespaceHandle};
use tokio::runtime::Runtime;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::{Mix, namespace_of, writer};
use crate::model::{Finding, Ledger};
use crate::server::Served;

/// How often progress is looked at.
const POLL: Duration = Duration::from_micros(500);
/// How long writers may take for what is asked of them, before that is taken for a server that hangs.
const PROGRESS_MAX: Duration = Duration::from_secs(120);
/// Ids that wait for the reader.
const ANNOUNCED_MAX: usize = 4;
/// How often the reader asks for a memory that is being written.
const LOOKS_MAX: usize = 20;

/// What writers, reader and the one who breaks the server share.
#[derive(Debug)]
pub(super) struct Shared {
    /// Memories that were acknowledged: written, changed or forgotten.
    pub(super) acknowledged: AtomicU64,
    /// Requests that were acknowledged.
    pub(super) calls: AtomicU64,
    /// The writers shall end after the request they are at.
    pub(super) stop: AtomicBool,
    /// The server is being broken: errors are no longer its fault.
    pub(super) broken: AtomicBool,
    /// Writers that still write.
    pub(super) writing: AtomicU64,
    /// What readers were shown.
    pub(super) seen: Mutex<HashSet<MemoryId>>,
    pub(super) findings: Mutex<Vec<Finding>>,
    /// The first error that each writer ended with.
    pub(super) errors: Mutex<Vec<Error>>,
}

/// Why waiting ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// As many memories as wanted were acknowledged.
    Reached,
    /// No writer writes any more.
    AllEnded,
}

/// Writers at work.
#[derive(Debug)]
pub struct Load {
    writers: Vec<JoinHandle<Ledger>>,
    reader: JoinHandle<()>,
    shared: Arc<Shared>,
}

/// What a load left behind.
#[derive(Debug)]
pub struct Aftermath {
    /// Memories that were acknowledged.
    pub acknowledged: u64,
    /// Requests that were acknowledged.
    pub calls: u64,
    /// What was wrong while the server ran.
    pub findings: Vec<Finding>,
    /// The errors that writers ended with.
    pub errors: Vec<Error>,
}

impl Load {
    pub(super) fn begin(
        runtime: &Runtime,
        served: &Served,
        ledgers: Vec<Ledger>,
        mix: Mix,
    ) -> anyhow::Result<Load> {
        // Clients connect inside the runtime.
        let _inside = runtime.enter();
        let shared = Arc::new(Shared {
            acknowledged: AtomicU64::new(0),
            calls: AtomicU64::new(0),
            stop: AtomicBool::new(false),
            broken: AtomicBool::new(false),
            writing: AtomicU64::new(u64::try_from(ledgers.len())?),
            seen: Mutex::default(),
            findings: Mutex::default(),
            errors: Mutex::default(),
        });
        let (announce, announced) = mpsc::channel(ANNOUNCED_MAX);
        let mut writers = Vec::new();
        for mut ledger in ledgers {
            // A connection each, as clients in different processes would have.
            let namespace = served.client()?.namespace(&namespace_of(ledger.writer))?;
            ledger.times.clear();
            let work = writer::work(ledger, namespace, mix, Arc::clone(&shared), announce.clone());
            writers.push(tokio::spawn(work));
        }
        let reader = tokio::spawn(read(served.client()?, announced, Arc::clone(&shared)));
        Ok(Load { writers, reader, shared })
    }

    /// Waits until that many memories were acknowledged in this load, or nobody writes any more.
    ///
    /// # Errors
    /// When neither happens for long.
    pub fn wait(&self, acknowledged: u64) -> anyhow::Result<Until> {
        let began = Instant::now();
        loop {
            if self.shared.acknowledged.load(Ordering::Relaxed) >= acknowledged {
                return Ok(Until::Reached);
            }
            if self.shared.writing.load(Ordering::Relaxed) == 0 {
                return Ok(Until::AllEnded);
            }
            anyhow::ensure!(began.elapsed() < PROGRESS_MAX, "the server neither answers nor refuses");
            std::thread::sleep(POLL);
        }
    }

    /// Whether no writer writes any more.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.shared.writing.load(Ordering::Relaxed) == 0
    }

    /// From now on errors are expected. Writers go on until they have one.
    pub fn expect_errors(&self) {
        self.shared.broken.store(true, Ordering::SeqCst);
    }

    /// The writers end after the request they are at.
    pub fn stop(&self) {
        self.shared.stop.store(true, Ordering::SeqCst);
    }

    /// Waits until all have ended.
    pub(super) async fn end(self) -> anyhow::Result<(Vec<Ledger>, Aftermath)> {
        let mut ledgers = Vec::new();
        for writer in self.writers {
            ledgers.push(writer.await.context("a writer")?);
        }
        // The writers' ends of its channel are gone, so it ends by itself.
        self.reader.await.context("the reader")?;
        let seen = self.shared.seen.lock().unwrap_or_else(PoisonError::into_inner);
        for ledger in &mut ledgers {
            let id = ledger.open.as_ref().and_then(|open| writer::chosen_id(&open.request));
            if let (Some(open), Some(id)) = (&mut ledger.open, id) {
                open.was_seen = seen.contains(&id);
            }
        }
        let take = |findings: &Mutex<Vec<Finding>>| {
            std::mem::take(&mut *findings.lock().unwrap_or_else(PoisonError::into_inner))
        };
        let errors = std::mem::take(&mut *self.shared.errors.lock().unwrap_or_else(PoisonError::into_inner));
        let aftermath = Aftermath {
            acknowledged: self.shared.acknowledged.load(Ordering::SeqCst),
            calls: self.shared.calls.load(Ordering::SeqCst),
            findings: take(&self.shared.findings),
            errors,
        };
        drop(seen);
        Ok((ledgers, aftermath))
    }
}

/// Asks for memories while they are being written. What it is shown must survive, acknowledged or not.
async fn read(
    client: hindsight_client::Client,
    mut announced: mpsc::Receiver<(usize, MemoryId)>,
    shared: Arc<Shared>,
) {
    let namespaces: Vec<Option<NamespaceHandle>> =
        (0..super::NAMESPACES).map(|index| client.namespace(&namespace_of(index)).ok()).collect();
    while let Some((writer, id)) = announced.recv().await {
        let Some(Some(namespace)) = namespaces.get(writer % super::NAMESPACES) else { continue };
        for _ in 0..LOOKS_MAX {
            match namespace.get(id).await {
                Ok(_) => {
                    shared.seen.lock().unwrap_or_else(PoisonError::into_inner).insert(id);
                    break;
                }
                Err(Error::NotFound { .. }) => tokio::task::yield_now().await,
                Err(_) => break,
            }
        }
    }
}

/// The clock that system calls are traced with, in microseconds since the Unix epoch.
#[must_use]
pub fn clock_us() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}

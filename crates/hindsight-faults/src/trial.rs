//! One data directory and those who write to it, over any number of crashes.

mod load;
mod repeat;
mod writer;

use std::fs::DirEntry;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use hindsight_client::{Client, Error, Filter, State};

pub use load::{Aftermath, Load, Until, clock_us};

use crate::Setting;
use crate::model::{Fault, Finding, Found, Ledger, compare};
use crate::server::{Launch, Served};

/// Namespaces, which the writers share: a batch of the log belongs to one of them, a commit of the log to all.
const NAMESPACES: usize = 3;
/// Memories of a page. A page of large ones must fit into an answer.
const PAGE: usize = 250;
/// How long large writes may go on without a checkpoint.
const CHECKPOINT_MAX: Duration = Duration::from_secs(60);
/// Log positions and answers are compared for all writers together.
pub(crate) const WRITERS: usize = 8;

/// How large memories are, and whether some are refused.
#[derive(Debug, Clone, Copy, Default)]
pub struct Mix {
    /// Ballast of single writes, in bytes.
    pub ballast_bytes: usize,
    /// Nothing but single writes with that ballast.
    pub only_large: bool,
}

/// A data directory and its writers.
#[derive(Debug)]
pub struct Trial {
    /// The data directory.
    pub data: PathBuf,
    /// Where the server's log and the file with its ports go.
    pub beside: PathBuf,
    /// What the writers know; empty while they write.
    ledgers: Vec<Ledger>,
    /// Requests that were repeated after a crash: those that had been carried out before it, and those that had not.
    pub repeated: [u64; 2],
    /// The log positions that others than the writers were told.
    pub others: Vec<u64>,
    is_fresh: bool,
}

impl Trial {
    /// A new data directory.
    #[must_use]
    pub fn new(data: PathBuf, beside: PathBuf, writers: usize, random: &mut fastrand::Rng) -> Trial {
        let ledgers = (0..writers).map(|writer| Ledger::new(writer, random.fork())).collect();
        Trial { data, beside, ledgers, repeated: [0; 2], others: Vec::new(), is_fresh: true }
    }

    /// How the server is started on it.
    #[must_use]
    pub fn launch<'a>(&'a self, setting: &'a Setting) -> Launch<'a> {
        Launch { program: &setting.program, data: &self.data, beside: &self.beside, under: Vec::new() }
    }

    /// A copy of the data directory, and what its writers knew when the log ended at that position. To be made before what
    /// is open is looked for in the database itself.
    #[must_use]
    pub fn copied(&self, data: PathBuf, beside: PathBuf, position: u64) -> Trial {
        let ledgers = self.ledgers.iter().map(|ledger| ledger.at(position)).collect();
        Trial { data, beside, ledgers, repeated: [0; 2], others: Vec::new(), is_fresh: false }
    }

    /// Whether nothing was ever written to it.
    #[must_use]
    pub fn is_fresh(&self) -> bool {
        self.is_fresh
    }

    /// What the writers know.
    #[must_use]
    pub fn ledgers(&self) -> &[Ledger] {
        &self.ledgers
    }

    /// Forgets when requests were sent and answered: those that come count.
    pub fn forget_times(&mut self) {
        self.ledgers.iter_mut().for_each(|ledger| ledger.times.clear());
    }

    /// Lets the writers begin.
    ///
    /// # Errors
    /// When there is no client for the server.
    pub fn load(&mut self, setting: &Setting, served: &Served, mix: Mix) -> anyhow::Result<Load> {
        self.is_fresh = false;
        Load::begin(&setting.runtime, served, std::mem::take(&mut self.ledgers), mix)
    }

    /// Takes the ledgers back when the writers have ended.
    ///
    /// # Errors
    /// When a writer panicked.
    pub fn end_load(&mut self, setting: &Setting, load: Load) -> anyhow::Result<Aftermath> {
        let (ledgers, aftermath) = setting.runtime.block_on(load.end())?;
        self.ledgers = ledgers;
        Ok(aftermath)
    }

    /// Waits until the server takes a checkpoint: a file comes up that is not finished. Tells whether one did before
    /// the writers ended.
    ///
    /// # Errors
    /// When none comes up for long.
    pub fn wait_for_checkpoint(&self, load: &Load) -> anyhow::Result<bool> {
        let began = Instant::now();
        while !self.has_unfinished_file() {
            if load.has_ended() {
                return Ok(false);
            }
            anyhow::ensure!(began.elapsed() < CHECKPOINT_MAX, "the server takes no checkpoint");
            std::thread::sleep(Duration::from_micros(500));
        }
        Ok(true)
    }

    /// Whether there is a record file without its final name (`docs/disk-format.md`).
    #[must_use]
    pub fn has_unfinished_file(&self) -> bool {
        let entries = |folder: &Path| std::fs::read_dir(folder).into_iter().flatten().flatten();
        let is_unfinished = |entry: DirEntry| entry.path().extension().is_some_and(|end| end == "tmp");
        entries(&self.data.join("ns")).any(|namespace| entries(&namespace.path()).any(is_unfinished))
    }

    /// Holds everything that the server has against the ledgers, then repeats each open request with its id: it must
    /// say whether it had been carried out, and must not do it twice. That is seen by the next call.
    ///
    /// # Errors
    /// When the server can't be asked at all.
    pub fn verify(&mut self, setting: &Setting, served: &Served) -> anyhow::Result<Vec<Finding>> {
        setting.runtime.block_on(async {
            // Clients connect inside the runtime.
            let client = served.client()?;
            let found = everything(&client).await?;
            let mut findings = compare(&mut self.ledgers, &found, &self.others);
            for ledger in &mut self.ledgers {
                let namespace = client.namespace(&namespace_of(ledger.writer))?;
                if let Some(open) = ledger.open.take() {
                    self.repeated[usize::from(open.applied != Some(true))] += 1;
                    findings.extend(repeat::repeat(ledger, open, &namespace).await);
                }
            }
            Ok(findings)
        })
    }

    /// As [`Trial::verify`] with a server of its own, twice, so that a repeated request that was carried out twice is
    /// seen; then stops the server in order.
    ///
    /// # Errors
    /// When the server does not start, answer or stop.
    pub fn settle(&mut self, setting: &Setting) -> anyhow::Result<Vec<Finding>> {
        if self.is_fresh {
            return Ok(Vec::new());
        }
        let served = self.launch(setting).start()?;
        let mut findings = self.verify(setting, &served)?;
        if findings.is_empty() {
            findings = self.verify(setting, &served)?;
        }
        served.stop()?;
        Ok(findings)
    }
}

/// Every memory of every writer.
async fn everything(client: &Client) -> anyhow::Result<Found> {
    let mut found = Found::default();
    for index in 0..NAMESPACES {
        let namespace = client.namespace(&namespace_of(index))?;
        let every_state = Filter { states: State::ALL.to_vec(), ..Filter::default() };
        let mut memories = namespace.list(every_state).page_size(PAGE).all();
        while let Some(memory) = memories.next().await.context("cannot list what the server has")? {
            found.memories.push(memory);
        }
    }
    found.revision = client.server_info().await?.revision.0;
    Ok(found)
}

/// The namespace that a writer writes to.
pub(crate) fn namespace_of(writer: usize) -> String {
    format!("faults-{}", writer % NAMESPACES)
}

/// The findings as the outcome of one check.
///
/// # Errors
/// All of them, in a text.
pub fn outcome(findings: &[Finding]) -> Result<(), String> {
    if findings.is_empty() {
        return Ok(());
    }
    Err(findings.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
}

/// An error where none belongs.
pub(crate) fn unexpected(what: &str, error: &Error) -> Finding {
    Finding::new(Fault::Wrong, format!("{what}: {error} ({})", error.reason()))
}

//! The threads that work while the engine serves: one takes checkpoints, erases what was purged, logs access counts and
//! notices when a full disk has room again, one opens the directory and ends.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use hindsight_storage::Storage;
use hindsight_storage::directory::{DirectoryHome, OpenDirectoryError};
use hindsight_storage::io::Io;
use parking_lot::{Condvar, Mutex};

use crate::checkpoint::checkpoint;
use crate::erase;
use crate::error::EngineError;
use crate::feedback::log_accesses;
use crate::namespaces::Namespaces;

/// How often it looks whether something is to be done, and whether a full disk has room.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// How often it is logged how often memories were returned.
const COUNT_EVERY: Duration = Duration::from_secs(5);
/// How long what failed rests before it is tried again.
const REST: Duration = Duration::from_secs(10);

/// The running threads; dropping it stops them and waits for a checkpoint that is being taken.
#[derive(Debug)]
pub(crate) struct Maintenance {
    stop: Arc<Stop>,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Stop {
    is_asked: Mutex<bool>,
    asked: Condvar,
}

impl Stop {
    /// Sleeps; true when it is time to stop.
    fn wait(&self, time: Duration) -> bool {
        let mut is_asked = self.is_asked.lock();
        if !*is_asked {
            self.asked.wait_for(&mut is_asked, time);
        }
        *is_asked
    }
}

impl Maintenance {
    /// Starts the threads.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub(crate) fn start<I: Io>(duties: Duties<I>, home: DirectoryHome) -> Result<Maintenance, EngineError> {
        let stop = Arc::new(Stop::default());
        // Dropped on the way out with an error, it stops what has been started.
        let mut maintenance = Maintenance { stop, threads: Vec::new() };
        let (asked, of_storage) = (Arc::clone(&maintenance.stop), Arc::clone(&duties.storage));
        maintenance.spawn("directory", move || open_directory(&of_storage, &home, &asked))?;
        let asked = Arc::clone(&maintenance.stop);
        let run = move || {
            let began = Instant::now();
            let (mut checkpoint_at, mut erase_at) = (began, began);
            let mut count_at = began + COUNT_EVERY;
            let mut relieve_at = began + REST;
            while !asked.wait(LOOK_EVERY) {
                if let Err(error) = duties.storage.space_step() {
                    tracing::debug!(%error, "the log takes nothing more");
                }
                let now = Instant::now();
                duties.budget(&mut relieve_at, now);
                if now >= count_at {
                    count_at = now + COUNT_EVERY;
                    duties.count();
                }
                if now >= checkpoint_at && !duties.checkpoint() {
                    checkpoint_at = now + REST;
                }
                if now >= erase_at && !duties.erase() {
                    erase_at = now + REST;
                }
            }
        };
        maintenance.spawn("checkpoint", run)?;
        Ok(maintenance)
    }

    fn spawn(&mut self, name: &str, run: impl FnOnce() + Send + 'static) -> Result<(), EngineError> {
        let thread = std::thread::Builder::new().name(name.to_owned()).spawn(run);
        self.threads.push(thread.map_err(EngineError::NoThread)?);
        Ok(())
    }
}

/// Without a directory everything is answered all the same, so its failure is only reported.
fn open_directory<I: Io>(storage: &Storage<Arc<I>>, home: &DirectoryHome, stop: &Stop) {
    match storage.open_directory(home, &|| *stop.is_asked.lock()) {
        Ok(report) => tracing::info!(%report, "the directory is open"),
        Err(OpenDirectoryError::Stopped) => {}
        Err(error) => tracing::warn!(
            error = &error as &dyn std::error::Error,
            "no directory: a namespace is loaded when a memory of it is asked for"
        ),
    }
}

/// What the thread sees to.
pub(crate) struct Duties<I: Io> {
    pub(crate) io: Arc<I>,
    pub(crate) storage: Arc<Storage<Arc<I>>>,
    pub(crate) namespaces: Arc<Namespaces>,
    /// Bytes of the log after which a checkpoint is taken.
    pub(crate) checkpoint_bytes: u64,
}

impl<I: Io> Duties<I> {
    /// Takes a checkpoint when one is due; false when that failed.
    fn checkpoint(&self) -> bool {
        if self.storage.log_bytes() < self.checkpoint_bytes {
            return true;
        }
        match checkpoint(&self.storage, &self.namespaces) {
            Ok(report) => {
                tracing::info!(?report, "checkpoint");
                true
            }
            Err(error) => warn(&error, "no checkpoint: the log keeps growing"),
        }
    }

    /// Keeps the memory budget. When too many namespaces hold what no record file has, a checkpoint makes them fit to go,
    /// though not more often than every [`REST`].
    fn budget(&self, relieve_at: &mut Instant, now: Instant) {
        let files = self.storage.records();
        if self.namespaces.budget_step(files) || now < *relieve_at {
            return;
        }
        *relieve_at = now + REST;
        self.count();
        match checkpoint(&self.storage, &self.namespaces) {
            Ok(report) => {
                tracing::info!(?report, "checkpoint, because of the memory budget");
                self.namespaces.budget_step(files);
            }
            Err(error) => drop(warn(&error, "no checkpoint: the memory budget is exceeded")),
        }
    }

    /// Logs how often memories were returned since the last time.
    fn count(&self) {
        if let Err(error) = log_accesses(&*self.io, &self.storage, &self.namespaces) {
            warn(&error, "how often memories were returned could not be logged");
        }
    }

    /// Goes on with an erasure that a crash or an obstacle has left; false when something is in the way.
    fn erase(&self) -> bool {
        if self.storage.poison().is_some() || !erase::is_due(&self.storage, &self.namespaces) {
            return true;
        }
        match erase::erase(&self.storage, &self.namespaces) {
            Ok(erased) => erased.waits_for.is_none_or(|waits_for| {
                tracing::info!(waits_for, "an erasure waits");
                false
            }),
            Err(error) => warn(&error, "what was purged is not erased: it is tried again"),
        }
    }
}

fn warn(error: &EngineError, what: &str) -> bool {
    tracing::warn!(error = error as &dyn std::error::Error, "{what}");
    false
}

impl Drop for Maintenance {
    fn drop(&mut self) {
        *self.stop.is_asked.lock() = true;
        self.stop.asked.notify_all();
        for thread in self.threads.drain(..) {
            // A panic of the thread was reported where it happened.
            let _ = thread.join();
        }
    }
}

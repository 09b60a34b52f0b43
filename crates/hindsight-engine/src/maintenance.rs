//! The threads that work while the engine serves: one takes checkpoints, logs access counts and notices when a full disk
//! has room again, one opens the directory and ends.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use hindsight_storage::Storage;
use hindsight_storage::directory::{DirectoryHome, OpenDirectoryError};
use hindsight_storage::io::Io;
use parking_lot::{Condvar, Mutex};

use crate::checkpoint::checkpoint;
use crate::error::EngineError;
use crate::feedback::log_accesses;
use crate::namespaces::Namespaces;

/// How often the length of the log is looked at, and whether a full disk has room.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// How many looks lie between two times that access counts are logged: 5 seconds.
const LOOKS_PER_COUNT: u32 = 10;
/// How long a failed checkpoint rests before it is tried again.
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
    pub(crate) fn start<I: Io>(
        io: Arc<I>,
        storage: Arc<Storage<Arc<I>>>,
        namespaces: Arc<Namespaces>,
        checkpoint_bytes: u64,
        home: DirectoryHome,
    ) -> Result<Maintenance, EngineError> {
        let stop = Arc::new(Stop::default());
        // Dropped on the way out with an error, it stops what has been started.
        let mut maintenance = Maintenance { stop, threads: Vec::new() };
        let (asked, of_storage) = (Arc::clone(&maintenance.stop), Arc::clone(&storage));
        maintenance.spawn("directory", move || open_directory(&of_storage, &home, &asked))?;
        let asked = Arc::clone(&maintenance.stop);
        let run = move || {
            let (mut rests_until, mut looks): (Option<Instant>, u32) = (None, 0);
            while !asked.wait(LOOK_EVERY) {
                looks = looks.wrapping_add(1);
                if let Err(error) = storage.space_step() {
                    tracing::debug!(%error, "the log takes nothing more");
                }
                if looks.is_multiple_of(LOOKS_PER_COUNT)
                    && let Err(error) = log_accesses(&*io, &storage, &namespaces)
                {
                    let error = &error as &dyn std::error::Error;
                    tracing::warn!(error, "how often memories were returned could not be logged");
                }
                let rests = rests_until.is_some_and(|until| Instant::now() < until);
                if rests || storage.log_bytes() < checkpoint_bytes {
                    continue;
                }
                rests_until = match checkpoint(&storage, &namespaces) {
                    Ok(report) => {
                        tracing::info!(?report, "checkpoint");
                        None
                    }
                    Err(error) => {
                        tracing::warn!(
                            error = &error as &dyn std::error::Error,
                            "no checkpoint: the log keeps growing"
                        );
                        Some(Instant::now() + REST)
                    }
                };
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

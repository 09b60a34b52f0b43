//! The thread that takes checkpoints while the engine serves, and notices when a full disk has room again.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use hindsight_storage::Storage;
use hindsight_storage::io::Io;
use parking_lot::{Condvar, Mutex};

use crate::checkpoint::checkpoint;
use crate::error::EngineError;
use crate::namespaces::Namespaces;

/// How often the length of the log is looked at, and whether a full disk has room.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// How long a failed checkpoint rests before it is tried again.
const REST: Duration = Duration::from_secs(10);

/// The running thread; dropping it stops it and waits for a checkpoint that is being taken.
#[derive(Debug)]
pub(crate) struct Maintenance {
    stop: Arc<Stop>,
    thread: Option<JoinHandle<()>>,
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
    /// Starts the thread.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub(crate) fn start<I: Io>(
        storage: Arc<Storage<Arc<I>>>,
        namespaces: Arc<Namespaces>,
        checkpoint_bytes: u64,
    ) -> Result<Maintenance, EngineError> {
        let stop = Arc::new(Stop::default());
        let asked = Arc::clone(&stop);
        let run = move || {
            let mut rests_until: Option<Instant> = None;
            while !asked.wait(LOOK_EVERY) {
                if let Err(error) = storage.space_step() {
                    tracing::debug!(%error, "the log takes nothing more");
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
        let thread = std::thread::Builder::new().name("checkpoint".to_owned()).spawn(run);
        Ok(Maintenance { stop, thread: Some(thread.map_err(EngineError::NoThread)?) })
    }
}

impl Drop for Maintenance {
    fn drop(&mut self) {
        *self.stop.is_asked.lock() = true;
        self.stop.asked.notify_all();
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was reported where it happened.
            let _ = thread.join();
        }
    }
}

//! What the database does by itself: running it on demand, and driving the schedule.

use std::sync::Arc;
use std::time::Duration;

use hindsight_core::{JobReport, JobStatus};
use hindsight_engine::Engine;
use hindsight_proto::call::RunJobCall;
use tokio::sync::watch;

use super::{App, AppError};
use crate::net::Phase;

/// How often it is looked whether a job is due.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// Between two steps of a run, so that it never has a processor to itself.
const PAUSE: Duration = Duration::from_millis(2);
/// Steps that are made in one go.
const STEPS: usize = 4;

impl App {
    /// Runs a job to its end.
    pub(crate) async fn run_job(&self, call: RunJobCall) -> Result<JobReport, AppError> {
        let RunJobCall { job, namespace, validate_only } = call;
        self.run(move |worker| Ok(worker.engine.run_job(job, namespace.as_ref(), validate_only)?)).await
    }

    /// All jobs, and how they stand.
    pub(crate) async fn jobs(&self) -> Result<Vec<JobStatus>, AppError> {
        self.on_worker(|worker| Ok(worker.engine.jobs())).await
    }
}

/// Drives the schedule until the server stops.
pub(crate) async fn drive(engine: Arc<Engine>, mut phase: watch::Receiver<Phase>) {
    let mut pause = LOOK_EVERY;
    loop {
        let stopping = phase.wait_for(|phase| *phase >= Phase::Draining);
        if tokio::time::timeout(pause, stopping).await.is_ok() {
            return;
        }
        let engine = Arc::clone(&engine);
        let steps = tokio::task::spawn_blocking(move || (0..STEPS).all(|_| engine.job_step()));
        // A panic was reported where it happened; the next look tries again.
        pause = if steps.await.unwrap_or(false) { PAUSE } else { LOOK_EVERY };
    }
}

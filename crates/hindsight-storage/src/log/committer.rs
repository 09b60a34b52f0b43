//! The thread that commits: it sleeps while nothing is pending, and polls nothing.

use std::time::{Duration, Instant};

use super::{Shared, pending::Work};
use crate::io::Io;

/// Commits until the log takes nothing more. A failure ends it, too: whoever waits has the error already.
pub(super) fn run<I: Io>(shared: &Shared<I>) {
    let quiet_time = Duration::from_millis(shared.options.witness_after_ms);
    // What recovery found durable may not be witnessed either.
    let mut witness_at = Some(Instant::now() + quiet_time);
    loop {
        let result = match shared.pending.wait_for_work(witness_at) {
            Work::Commit => shared.commit_step().map(|committed| {
                witness_at = committed.is_witness_due.then(|| Instant::now() + quiet_time);
            }),
            Work::Quiet => {
                witness_at = None;
                shared.witness_step()
            }
            Work::Stop => return,
        };
        if result.is_err() {
            return;
        }
    }
}

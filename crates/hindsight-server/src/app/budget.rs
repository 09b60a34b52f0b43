//! Memory for reading requests. A message of a few bytes can become hundreds: an empty part of a protobuf message is two bytes
//! on the wire and a whole structure in memory. So whoever reads one takes its share of a budget first.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::Refusal;

/// So many bytes of memory are set aside for each byte of a request.
const SWELLS: u64 = 64;
/// The budget is counted in so many bytes.
const UNIT: u64 = 1 << 10;

/// The budget of one server. Clones are the same.
#[derive(Debug, Clone)]
pub(crate) struct Budget {
    units: Arc<Semaphore>,
    most: u32,
    wait: Duration,
}

/// A share of the budget, until it is dropped: a request holds it until it is answered.
#[derive(Debug)]
pub(crate) struct Share(#[expect(dead_code, reason = "held, not read")] OwnedSemaphorePermit);

impl Budget {
    /// A budget of so many bytes; who wants a share waits for so long.
    pub(crate) fn new(bytes: u64, wait: Duration) -> Budget {
        let most = u32::try_from(bytes / UNIT).unwrap_or(u32::MAX).max(1);
        let units = usize::try_from(most).unwrap_or(Semaphore::MAX_PERMITS).min(Semaphore::MAX_PERMITS);
        Budget { units: Arc::new(Semaphore::new(units)), most, wait }
    }

    /// The share of a request of so many bytes; at most everything.
    ///
    /// # Errors
    /// When too much is being read, for too long.
    pub(crate) async fn share(&self, bytes: usize) -> Result<Share, Refusal> {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        let units = bytes.saturating_mul(SWELLS).div_ceil(UNIT).max(1);
        let units = u32::try_from(units).unwrap_or(u32::MAX).min(self.most);
        match timeout(self.wait, Arc::clone(&self.units).acquire_many_owned(units)).await {
            Ok(Ok(permit)) => Ok(Share(permit)),
            // The semaphore is never closed.
            Ok(Err(_)) | Err(_) => {
                Err(Refusal::overloaded("too many large requests are being read: try again in a moment"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn s6_large_requests_wait_for_each_other_and_small_ones_pass() {
        let budget = Budget::new(1 << 20, Duration::from_millis(20));
        let large = budget.share(10 << 10).await.unwrap();
        let small = budget.share(100).await.unwrap();
        let refused = budget.share(10 << 10).await.unwrap_err();
        assert_eq!((refused.reason, refused.retry_after.is_some()), ("OVERLOADED", true));
        drop(large);
        budget.share(10 << 10).await.unwrap();
        drop(small);
        // One that is larger than the budget takes all of it.
        budget.share(1 << 30).await.unwrap();
    }
}

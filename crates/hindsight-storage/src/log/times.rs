//! How long the log's syncs took: what a disk that is getting slow shows first.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Upper bounds of the classes into which syncs are counted, in microseconds; one more class has what took longer.
pub const SYNC_BOUNDS_US: [u64; 12] =
    [100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 1_000_000];

/// Counts syncs. Nobody who reads it waits for one that hangs.
#[derive(Debug)]
pub(super) struct SyncTimes {
    opened: Instant,
    classes: [AtomicU64; SYNC_BOUNDS_US.len() + 1],
    sum_us: AtomicU64,
    /// When the sync under way began, in microseconds after `opened` and 1 more; 0 while there is none.
    began_us: AtomicU64,
}

/// The syncs of a log since it was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SyncCounts {
    /// How many took at most as long as the bound at the same place of [`SYNC_BOUNDS_US`] and longer than the one before it;
    /// the last: longer than all.
    pub classes: [u64; SYNC_BOUNDS_US.len() + 1],
    /// How long all of them took together.
    pub sum: Duration,
    /// How long the one under way has been taking; none while there is none.
    pub running: Option<Duration>,
}

impl SyncTimes {
    pub(super) fn new() -> SyncTimes {
        SyncTimes {
            opened: Instant::now(),
            classes: Default::default(),
            sum_us: AtomicU64::new(0),
            began_us: AtomicU64::new(0),
        }
    }

    /// Carries out a sync and counts it, also one that fails.
    pub(super) fn of<T>(&self, sync: impl FnOnce() -> T) -> T {
        let began = self.now_us();
        self.began_us.store(began + 1, Ordering::Relaxed);
        let result = sync();
        self.began_us.store(0, Ordering::Relaxed);
        let took = self.now_us().saturating_sub(began);
        let class = SYNC_BOUNDS_US.partition_point(|bound| *bound < took);
        if let Some(count) = self.classes.get(class) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        self.sum_us.fetch_add(took, Ordering::Relaxed);
        result
    }

    pub(super) fn counts(&self) -> SyncCounts {
        let mut classes = [0; SYNC_BOUNDS_US.len() + 1];
        for (seen, count) in classes.iter_mut().zip(&self.classes) {
            *seen = count.load(Ordering::Relaxed);
        }
        let running = match self.began_us.load(Ordering::Relaxed) {
            0 => None,
            began => Some(Duration::from_micros(self.now_us().saturating_sub(began - 1))),
        };
        SyncCounts { classes, sum: Duration::from_micros(self.sum_us.load(Ordering::Relaxed)), running }
    }

    fn now_us(&self) -> u64 {
        u64::try_from(self.opened.elapsed().as_micros()).unwrap_or(u64::MAX - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn i7_a_sync_is_counted_in_its_class_and_one_that_hangs_is_seen() {
        let times = SyncTimes::new();
        assert_eq!(times.counts(), SyncCounts::default());
        let running = times.of(|| times.counts().running);
        assert!(running.is_some());
        times.of(|| std::thread::sleep(Duration::from_millis(3)));
        let counts = times.counts();
        assert_eq!((counts.classes.iter().sum::<u64>(), counts.running), (2, None));
        // It took at least 3 ms: none of the classes below has it.
        assert!(counts.classes[5..].iter().sum::<u64>() >= 1);
        assert!(counts.sum >= Duration::from_millis(3));
    }
}

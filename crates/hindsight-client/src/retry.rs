//! When a call is made again: while the server is unavailable, or asks to be called later; never otherwise.

use std::time::Duration;

use backon::{BackoffBuilder as _, ExponentialBuilder};

/// How often, and after which pauses.
#[derive(Debug, Clone)]
pub(crate) struct Retry {
    /// Attempts in all, at least 1.
    pub(crate) attempts: usize,
    pause_min: Duration,
    pause_max: Duration,
}

impl Default for Retry {
    fn default() -> Self {
        Retry { attempts: 3, pause_min: Duration::from_millis(50), pause_max: Duration::from_secs(2) }
    }
}

impl Retry {
    /// The pauses between attempts, each random between none and its full length ("full jitter"), so that clients that
    /// failed together do not come back together.
    pub(crate) fn pauses(&self) -> impl Iterator<Item = Duration> + Send + Sync + Unpin + use<> {
        ExponentialBuilder::new()
            .with_factor(2.0)
            .with_min_delay(self.pause_min)
            .with_max_delay(self.pause_max)
            .with_max_times(self.attempts.saturating_sub(1))
            .build()
            .map(jittered)
    }

    /// No pauses: one attempt.
    pub(crate) fn once(&self) -> Retry {
        Retry { attempts: 1, ..self.clone() }
    }
}

fn jittered(pause: Duration) -> Duration {
    // Without randomness the whole pause is the careful choice.
    let share = getrandom::u32().map_or(1.0, |random| f64::from(random) / f64::from(u32::MAX));
    pause.mul_f64(share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_up_to_their_limit_and_end() {
        let retry = Retry { attempts: 9, ..Retry::default() };
        for _ in 0..50 {
            let pauses: Vec<Duration> = retry.pauses().collect();
            assert_eq!(pauses.len(), 8);
            for (index, pause) in pauses.iter().enumerate() {
                let full = Duration::from_millis(50 << index).min(Duration::from_secs(2));
                assert!(*pause <= full, "{index}: {pause:?}");
            }
        }
        assert_eq!(Retry::default().pauses().count(), 2);
        assert_eq!(Retry::default().once().pauses().count(), 0);
    }
}

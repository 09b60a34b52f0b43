//! How often a token may call, and how often a namespace may be called: buckets that fill at a steady rate and hold what one
//! second brings, so that a short burst passes and a flood does not.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use hindsight_auth::TokenId;
use hindsight_core::Namespace;

use crate::app::{Code, Refusal};
use crate::config::Limits;

/// Buckets that are remembered of each kind. One that is full again is as good as one that is forgotten.
const BUCKETS_MAX: usize = 20_000;

/// The rates of one server.
#[derive(Debug)]
pub(super) struct Rates {
    tokens: Buckets<TokenId>,
    namespaces: Buckets<Namespace>,
}

impl Rates {
    pub(super) fn new(limits: &Limits) -> Rates {
        Rates {
            tokens: Buckets::new(limits.calls_per_second_of_token),
            namespaces: Buckets::new(limits.calls_per_second_of_namespace),
        }
    }

    /// A call with this token.
    ///
    /// # Errors
    /// `RATE_LIMITED`, with the time after which one more is taken.
    pub(super) fn of_token(&self, id: TokenId) -> Result<(), Refusal> {
        self.tokens.take(&id, Instant::now()).map_err(|wait| refused("this token", self.tokens.rate, wait))
    }

    /// A call in this namespace.
    ///
    /// # Errors
    /// As [`Rates::of_token`].
    pub(super) fn of_namespace(&self, namespace: &Namespace) -> Result<(), Refusal> {
        let taken = self.namespaces.take(namespace, Instant::now());
        taken.map_err(|wait| refused("this namespace", self.namespaces.rate, wait))
    }
}

fn refused(what: &str, rate: u32, wait: Duration) -> Refusal {
    let message =
        format!("{what} may have {rate} calls a second: try again in {} ms", wait.as_millis().max(1));
    let mut refusal = Refusal::new(Code::Exhausted, "RATE_LIMITED", message);
    refusal.metadata.insert("calls_per_second", rate.to_string());
    refusal.retry_after = Some(wait);
    refusal
}

/// A bucket each.
#[derive(Debug)]
struct Buckets<K> {
    /// Calls a second; 0 is any number.
    rate: u32,
    levels: Mutex<HashMap<K, (Instant, f64)>>,
}

impl<K: Hash + Eq + Clone> Buckets<K> {
    fn new(rate: u32) -> Buckets<K> {
        Buckets { rate, levels: Mutex::default() }
    }

    /// Takes a call out of a bucket, or says when there is one.
    fn take(&self, key: &K, now: Instant) -> Result<(), Duration> {
        if self.rate == 0 {
            return Ok(());
        }
        let rate = f64::from(self.rate);
        let level_now = |(at, level): &(Instant, f64)| {
            (level + now.saturating_duration_since(*at).as_secs_f64() * rate).min(rate)
        };
        let mut levels = self.levels.lock().unwrap_or_else(PoisonError::into_inner);
        if levels.len() >= BUCKETS_MAX && !levels.contains_key(key) {
            levels.retain(|_, bucket| level_now(bucket) < rate);
            if levels.len() >= BUCKETS_MAX {
                // More callers at once than are told apart: one that is new is not refused for that.
                return Ok(());
            }
        }
        let level = levels.get(key).map_or(rate, level_now);
        if level < 1.0 {
            return Err(Duration::from_secs_f64((1.0 - level) / rate));
        }
        levels.insert(key.clone(), (now, level - 1.0));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s6_a_second_s_worth_passes_at_once_and_then_as_much_as_comes_in() {
        let (buckets, now) = (Buckets::new(10), Instant::now());
        for _ in 0..10 {
            assert_eq!(buckets.take(&"a", now), Ok(()));
        }
        let wait = buckets.take(&"a", now).unwrap_err();
        assert!(wait > Duration::from_millis(90) && wait <= Duration::from_millis(101), "{wait:?}");
        assert_eq!(buckets.take(&"b", now), Ok(()));
        let later = now + Duration::from_millis(250);
        assert_eq!([buckets.take(&"a", later), buckets.take(&"a", later)], [Ok(()), Ok(())]);
        assert!(buckets.take(&"a", later).is_err());
    }

    #[test]
    fn s6_without_a_rate_nothing_is_counted_and_what_is_remembered_is_bounded() {
        let none: Buckets<u32> = Buckets::new(0);
        assert_eq!(none.take(&1, Instant::now()), Ok(()));
        assert!(none.levels.lock().unwrap().is_empty());
        let (buckets, now) = (Buckets::new(5), Instant::now());
        for key in 0..u32::try_from(BUCKETS_MAX).unwrap() + 50 {
            assert_eq!(buckets.take(&key, now), Ok(()));
        }
        assert_eq!(buckets.levels.lock().unwrap().len(), BUCKETS_MAX);
        assert_eq!(buckets.take(&u32::MAX, now + Duration::from_secs(1)), Ok(()));
        assert_eq!(buckets.levels.lock().unwrap().len(), 1);
    }
}

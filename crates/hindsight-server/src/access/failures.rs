//! Who fails often waits: ten wrong tokens a second of one address are answered at once, further ones after a second.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Failures of one address that are answered at once, in each second.
const FREE: u32 = 10;
/// In which time the count begins anew.
const WINDOW: Duration = Duration::from_secs(1);
/// How long a further one waits.
const DELAY: Duration = Duration::from_secs(1);
/// Addresses that are remembered.
const ADDRESSES_MAX: usize = 10_000;

/// The failures of the last second.
#[derive(Debug, Default)]
pub(super) struct Failures(Mutex<HashMap<IpAddr, (Instant, u32)>>);

impl Failures {
    /// Notes a failure; how long its answer is to wait.
    pub(super) fn note(&self, peer: Option<IpAddr>) -> Option<Duration> {
        self.note_at(peer?.to_canonical(), Instant::now())
    }

    fn note_at(&self, peer: IpAddr, now: Instant) -> Option<Duration> {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.len() >= ADDRESSES_MAX && !seen.contains_key(&peer) {
            seen.retain(|_, (began, _)| now.duration_since(*began) < WINDOW);
            if seen.len() >= ADDRESSES_MAX {
                return Some(DELAY);
            }
        }
        let (began, count) = seen.entry(peer).or_insert((now, 0));
        if now.duration_since(*began) >= WINDOW {
            (*began, *count) = (now, 0);
        }
        *count += 1;
        (*count > FREE).then_some(DELAY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s6_the_eleventh_failure_in_a_second_waits_and_only_its_address_does() {
        let (failures, now) = (Failures::default(), Instant::now());
        let (one, other) = ("10.0.0.1".parse().unwrap(), "10.0.0.2".parse().unwrap());
        for _ in 0..FREE {
            assert_eq!(failures.note_at(one, now), None);
        }
        assert_eq!(failures.note_at(one, now), Some(DELAY));
        assert_eq!(failures.note_at(other, now), None);
        assert_eq!(failures.note_at(one, now + WINDOW), None);
    }

    #[test]
    fn s6_what_is_remembered_is_bounded() {
        let (failures, now) = (Failures::default(), Instant::now());
        for number in 0..u32::try_from(ADDRESSES_MAX).unwrap() + 10 {
            failures.note_at(std::net::Ipv4Addr::from(number).into(), now);
        }
        assert_eq!(failures.0.lock().unwrap().len(), ADDRESSES_MAX);
        assert_eq!(failures.note_at("1.2.3.4".parse().unwrap(), now + WINDOW), None);
    }
}

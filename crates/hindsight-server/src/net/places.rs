//! How many connections may be open, in all and from one address.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Descriptors that connections leave to the log and everything else.
const RESERVED_FILES: usize = 64;

/// Open connections of each address that has some.
type Counts = Arc<Mutex<HashMap<IpAddr, usize>>>;

/// The places for connections of all listeners together.
#[derive(Clone)]
pub(crate) struct Places {
    all: Arc<Semaphore>,
    by_address: Counts,
    per_address_max: usize,
}

/// The place of one connection, until it is dropped.
pub(crate) struct Place {
    _permit: OwnedSemaphorePermit,
    /// The address that counts it, unless it is loopback.
    counted: Option<(IpAddr, Counts)>,
}

impl Places {
    /// Places for `all_max` connections, or fewer when the process may not open as many files.
    pub(crate) fn new(all_max: usize, per_address_max: usize) -> Places {
        let all_max = match open_files_max() {
            Some(files) if files.saturating_sub(RESERVED_FILES) < all_max => {
                let most = files.saturating_sub(RESERVED_FILES).max(1);
                tracing::warn!(
                    files,
                    connections = most,
                    "the limit of open files allows fewer connections than configured"
                );
                most
            }
            _ => all_max,
        };
        Places { all: Arc::new(Semaphore::new(all_max)), by_address: Arc::default(), per_address_max }
    }

    /// A place for a connection from `address`, as soon as there is one; none when that address has too many. All
    /// programs of this machine share the loopback address, so it is not counted.
    pub(crate) async fn take(&self, address: IpAddr) -> Option<Place> {
        // The semaphore is never closed, so waiting for it can't fail.
        let permit = Arc::clone(&self.all).acquire_owned().await.ok()?;
        let address = address.to_canonical();
        if address.is_loopback() {
            return Some(Place { _permit: permit, counted: None });
        }
        let mut counts = self.by_address.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(address).or_default();
        if *count >= self.per_address_max {
            return None;
        }
        *count += 1;
        Some(Place { _permit: permit, counted: Some((address, Arc::clone(&self.by_address))) })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let Some((address, counts)) = &self.counted else { return };
        let mut counts = counts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counts.get_mut(address) {
            *count -= 1;
            if *count == 0 {
                counts.remove(address);
            }
        }
    }
}

/// How many files the process may have open, where the system says so in `/proc`.
/// How many files this process may have open; none where the system does not say.
pub(crate) fn open_files_max() -> Option<usize> {
    let limits = std::fs::read_to_string("/proc/self/limits").ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn take(places: &Places, address: &str) -> Option<Place> {
        places.take(address.parse().unwrap()).await
    }

    #[tokio::test]
    async fn an_address_has_so_many_places_and_loopback_all() {
        let places = Places::new(10, 2);
        let first = take(&places, "10.0.0.1").await;
        let second = take(&places, "::ffff:10.0.0.1").await;
        assert!(first.is_some() && second.is_some());
        assert!(take(&places, "10.0.0.1").await.is_none());
        assert!(take(&places, "10.0.0.2").await.is_some());
        drop(first);
        assert!(take(&places, "10.0.0.1").await.is_some());
        let mut local = Vec::new();
        for _ in 0..5 {
            local.push(take(&places, "127.0.0.1").await.unwrap());
        }
        assert_eq!(places.all.available_permits(), 10 - 5 - 1);
    }
}

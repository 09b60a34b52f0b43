//! How many calls may be inside the engine, and how many may wait for it.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::AppError;

/// Lets a bounded number of calls in and a bounded number wait; who comes after that is told so at once.
pub(crate) struct Gate {
    /// One permit for each call that is inside or waits.
    places: Arc<Semaphore>,
    inside_max: usize,
    most: usize,
    /// One permit for each call inside.
    inside: Arc<Semaphore>,
}

/// The right to be inside, until it is dropped.
pub(crate) struct Pass {
    _place: OwnedSemaphorePermit,
    _inside: OwnedSemaphorePermit,
}

impl Gate {
    pub(crate) fn new(inside: usize, waiting: usize) -> Gate {
        let most = inside + waiting;
        let (places, within) = (Arc::new(Semaphore::new(most)), Arc::new(Semaphore::new(inside)));
        Gate { places, inside_max: inside, most, inside: within }
    }

    /// How many are inside, and how many wait.
    pub(crate) fn load(&self) -> (usize, usize) {
        let inside = self.inside_max.saturating_sub(self.inside.available_permits());
        let all = self.most.saturating_sub(self.places.available_permits());
        (inside, all.saturating_sub(inside))
    }

    /// Waits for a place inside.
    ///
    /// # Errors
    /// [`AppError::Overloaded`] when too many wait already.
    pub(crate) async fn enter(&self) -> Result<Pass, AppError> {
        let place = Arc::clone(&self.places).try_acquire_owned().map_err(|_| AppError::Overloaded)?;
        // The semaphore is never closed, so waiting for it can't fail.
        let inside = Arc::clone(&self.inside).acquire_owned().await.map_err(|_| AppError::Overloaded)?;
        Ok(Pass { _place: place, _inside: inside })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    #[test]
    fn one_is_inside_one_waits_the_third_is_sent_away() {
        let gate = Gate::new(1, 1);
        let first = gate.enter().now_or_never().unwrap().unwrap();
        let mut second = Box::pin(gate.enter());
        assert!(second.as_mut().now_or_never().is_none());
        assert!(matches!(gate.enter().now_or_never(), Some(Err(AppError::Overloaded))));
        drop(first);
        assert!(second.now_or_never().unwrap().is_ok());
        assert!(gate.enter().now_or_never().unwrap().is_ok());
    }
}

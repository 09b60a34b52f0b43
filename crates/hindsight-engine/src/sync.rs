//! The locks of a namespace. In tests with the feature `shuttle` they are shuttle's, which lets threads meet in one
//! random order after the other (`schedules.rs`); else they are what they look like.

#[cfg(not(all(test, feature = "shuttle")))]
pub(crate) use {
    parking_lot::{Mutex, MutexGuard, RwLock},
    std::sync::atomic::AtomicBool,
};

#[cfg(all(test, feature = "shuttle"))]
pub(crate) use {
    modelled::{Mutex, MutexGuard, RwLock},
    shuttle::sync::atomic::AtomicBool,
};

#[cfg(test)]
mod modelled;

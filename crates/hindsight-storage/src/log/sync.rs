//! The locks of the commit queue. In tests with the feature `loom` they are loom's, which tries every order in which
//! threads can take them (`schedules.rs`); else they are what they look like.

#[cfg(not(all(test, feature = "loom")))]
pub(super) use parking_lot::{Condvar, Mutex};

#[cfg(all(test, feature = "loom"))]
pub(super) use modelled::{Condvar, Mutex};

#[cfg(test)]
mod modelled;

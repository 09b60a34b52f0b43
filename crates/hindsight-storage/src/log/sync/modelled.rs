//! loom's locks in the shape of those that the log uses.
#![cfg(feature = "loom")]

use std::ops::{Deref, DerefMut};
use std::time::Instant;

use loom::sync::MutexGuard as LoomGuard;

#[derive(Debug)]
pub(in crate::log) struct Mutex<T>(loom::sync::Mutex<T>);

/// Empty only while a condition is waited for.
#[derive(Debug)]
pub(in crate::log) struct Guard<'a, T>(Option<LoomGuard<'a, T>>);

impl<T> Mutex<T> {
    pub(in crate::log) fn new(value: T) -> Mutex<T> {
        Mutex(loom::sync::Mutex::new(value))
    }

    pub(in crate::log) fn lock(&self) -> Guard<'_, T> {
        Guard(Some(self.0.lock().unwrap()))
    }
}

impl<T> Deref for Guard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0.as_ref().unwrap()
    }
}

impl<T> DerefMut for Guard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.0.as_mut().unwrap()
    }
}

#[derive(Debug)]
pub(in crate::log) struct Condvar(loom::sync::Condvar);

impl Condvar {
    pub(in crate::log) fn new() -> Condvar {
        Condvar(loom::sync::Condvar::new())
    }

    pub(in crate::log) fn wait<T>(&self, guard: &mut Guard<'_, T>) {
        guard.0 = Some(self.0.wait(guard.0.take().unwrap()).unwrap());
    }

    /// Time stands still in a model.
    pub(in crate::log) fn wait_until<T>(&self, guard: &mut Guard<'_, T>, _deadline: Instant) {
        self.wait(guard);
    }

    pub(in crate::log) fn notify_one(&self) {
        self.0.notify_one();
    }

    pub(in crate::log) fn notify_all(&self) {
        self.0.notify_all();
    }
}

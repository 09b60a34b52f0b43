//! Panics of sled that are caught, or that end a thread of its own, tell nobody anything by a backtrace on the standard
//! error: they are lines of the log.

use std::{cell::Cell, panic, sync::Once, thread};

use super::guarded::message_of;

/// The names that sled gives its threads begin with this.
const SLED_THREAD: &str = "sled-";

thread_local! {
    /// Whether a panic of this thread is caught and told by whoever catches it.
    static IS_CAUGHT: Cell<bool> = const { Cell::new(false) };
}

static HOOK: Once = Once::new();

/// Makes a call that catches its panics and tells them.
pub(super) fn during<T>(call: impl FnOnce() -> T) -> T {
    HOOK.call_once(put_before_the_hook);
    let before = IS_CAUGHT.replace(true);
    let result = call();
    IS_CAUGHT.set(before);
    result
}

/// Every other panic is told as it was before.
fn put_before_the_hook() {
    let next = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        let thread = thread::current();
        if IS_CAUGHT.get() {
            tracing::debug!(
                panic = message_of(info.payload()),
                "the directory's library panicked and was caught"
            );
        } else if thread.name().is_some_and(|name| name.starts_with(SLED_THREAD)) {
            tracing::warn!(
                panic = message_of(info.payload()),
                "a thread of the directory's library panicked: the directory is made anew when that harms it"
            );
        } else {
            next(info);
        }
    }));
}

//! Bugs that tests plant inside the product (A13): each has a test that must find it, or that test proves nothing.
//!
//! They exist with the feature `testing` only, which no build has but that of tests (`cargo xtask tidy` holds it, rule
//! `features`). Without it [`has`] is `false` and nothing of them is left. A planted bug acts on the thread that
//! planted it, so that tests beside it are not disturbed.

/// A bug.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sabotage {
    /// A batch is put into memory in two steps, between which readers look.
    ApplyInTwoSteps,
    /// The position of a batch in memory is the time of the clock.
    PositionFromClock,
    /// The time of a batch is that of the clock, though it was set back.
    TimeFromClock,
    /// A replay goes through all of the log that is left, and counts again what the record files have counted.
    CountTwice,
    /// A restart forgets which requests were carried out, so that what is sent again counts twice.
    ForgetRequestIds,
    /// What lies in record files is believed without holding it against the manifest.
    TrustRecordFiles,
    /// An index snapshot is believed without holding it against the manifest.
    TrustSnapshots,
    /// The directory is believed without holding it against the manifest.
    TrustDirectory,
    /// Recall looks into the first namespace, whichever was asked.
    RecallElsewhere,
    /// After a torn commit the log goes on in the same segment, with the torn bytes still in it.
    GoOnInTornSegment,
}

/// What a program with planted bugs has in it, and one without has not: hindsight-faults looks before it breaks a server.
pub const MARK: &str = "a bug acts that a test has planted";

#[cfg(any(test, feature = "testing"))]
mod planted {
    use std::cell::Cell;

    use super::{MARK, Sabotage};

    thread_local! {
        static PLANTED: Cell<Option<Sabotage>> = const { Cell::new(None) };
    }

    /// A planted bug; it goes with this value.
    #[derive(Debug)]
    #[must_use = "the bug goes with this value"]
    pub struct Planted(());

    /// Plants a bug on this thread.
    pub fn plant(sabotage: Sabotage) -> Planted {
        PLANTED.set(Some(sabotage));
        Planted(())
    }

    impl Drop for Planted {
        fn drop(&mut self) {
            PLANTED.set(None);
        }
    }

    /// Whether this bug is planted on this thread.
    #[must_use]
    pub fn has(sabotage: Sabotage) -> bool {
        let is_planted = PLANTED.get() == Some(sabotage);
        if is_planted {
            tracing::trace!(?sabotage, "{MARK}");
        }
        is_planted
    }
}

#[cfg(any(test, feature = "testing"))]
pub use planted::{Planted, has, plant};

/// No bug is planted in what is shipped.
#[cfg(not(any(test, feature = "testing")))]
#[must_use]
pub const fn has(_: Sabotage) -> bool {
    false
}

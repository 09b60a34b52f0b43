//! A memory that learns: what it must get right whatever happened, held by questions with one right answer and by random
//! histories. Both run by a clock that is set by hand.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may fail loudly")]

mod attempts;
mod histories;
mod settled;
mod state;
mod topics;
mod world;

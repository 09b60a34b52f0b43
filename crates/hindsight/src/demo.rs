//! The demonstration: everything a stranger should see in five minutes, on a sample that ships in the program.
//!
//! It starts a server in a process of its own ([`child`]), stores the sample ([`sample`]), asks telling questions
//! ([`questions`]), shows the answers ([`page`]), kills the server, starts it again and asks the same. It is a check too: an answer that is not
//! what the question expects, or not the same after the restart, ends it with exit code 1.

pub(crate) mod child;
pub(crate) mod page;
pub(crate) mod questions;
pub(crate) mod sample;

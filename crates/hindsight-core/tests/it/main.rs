//! What the crate promises, seen from outside.

mod likeness;
mod timewords;

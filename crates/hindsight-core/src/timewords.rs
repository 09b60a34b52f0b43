//! Time words.

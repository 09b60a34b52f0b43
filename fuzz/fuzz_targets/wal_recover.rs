//! Feeds libFuzzer's inputs to [`hindsight_fuzz::wal_recover`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hindsight_fuzz::wal_recover(data));

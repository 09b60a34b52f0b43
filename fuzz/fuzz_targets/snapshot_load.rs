//! Feeds libFuzzer's inputs to [`hindsight_fuzz::snapshot_load`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hindsight_fuzz::snapshot_load(data));

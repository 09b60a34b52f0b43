//! Feeds libFuzzer's inputs to [`hindsight_fuzz::manifest`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hindsight_fuzz::manifest(data));

//! Feeds libFuzzer's inputs to [`hindsight_fuzz::log_decode`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hindsight_fuzz::log_decode(data));

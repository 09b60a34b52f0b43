//! Feeds libFuzzer's inputs to [`hindsight_fuzz::batch_decode`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hindsight_fuzz::batch_decode(data));

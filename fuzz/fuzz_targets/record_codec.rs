//! Feeds libFuzzer's inputs to [`hindsight_fuzz::record_codec`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hindsight_fuzz::record_codec(data));

//! Feeds libFuzzer's inputs to [`hindsight_fuzz::draft_json`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hindsight_fuzz::draft_json(data));

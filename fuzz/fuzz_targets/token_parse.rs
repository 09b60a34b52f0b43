//! Feeds libFuzzer's inputs to [`hindsight_fuzz::token_parse`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hindsight_fuzz::token_parse(data));

//! Feeds libFuzzer's inputs to [`hindsight_fuzz::tokenizer`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hindsight_fuzz::tokenizer(data));

//! Feeds libFuzzer's inputs to [`hindsight_fuzz::filter_expr`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hindsight_fuzz::filter_expr(data));

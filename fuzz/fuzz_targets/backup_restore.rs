//! Feeds libFuzzer's inputs to [`hindsight_fuzz::backup_restore`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hindsight_fuzz::backup_restore(data));

//! Replays the committed corpus through the promises, without a fuzzer: it runs wherever `cargo test` runs.
//!
//! Each input is also damaged in a few thousand ways. That is no fuzzing, since nothing tells it which damage reaches
//! new code; it keeps what the fuzzers found from coming back, and catches the plain mistakes at once.

use std::fs;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Copies of each input. `HINDSIGHT_FUZZ_COPIES` sets another number, for a longer run.
const DAMAGED_COPIES: usize = 4_000;

/// Memory is counted for the whole process, so only one input is read at a time.
static ALONE: Mutex<()> = Mutex::new(());

fn replay(target: &str, promise: fn(&[u8])) {
    replay_copies(target, promise, DAMAGED_COPIES);
}

/// As [`replay`], for promises that take longer.
fn replay_copies(target: &str, promise: fn(&[u8]), copies: usize) {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let wanted = std::env::var("HINDSIGHT_FUZZ_COPIES").ok();
    let copies = wanted.map_or(copies, |wanted| wanted.parse().unwrap());

    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
    let mut paths: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(!paths.is_empty(), "no corpus in {}", folder.display());
    paths.sort();
    promise(b"");
    let mut dice = Dice(0x5eed);
    for path in paths {
        println!("{}", path.display());
        let input = fs::read(&path).unwrap();
        promise(&input);
        for copy in 0..copies {
            let mut damaged = input.clone();
            for _ in 0..=copy % 4 {
                damage(&mut damaged, &mut dice);
            }
            let kept = std::panic::catch_unwind(|| promise(&damaged));
            assert!(
                kept.is_ok(),
                "damaged copy {copy} of {} breaks the promise: {damaged:02x?}",
                path.display()
            );
        }
    }
}

/// One damage of the kind that disks, networks and people make.
fn damage(bytes: &mut Vec<u8>, dice: &mut Dice) {
    let at = dice.below(bytes.len() + 1);
    let end = (at + dice.below(16)).min(bytes.len());
    match dice.below(6) {
        0 => bytes.truncate(at),
        1 => drop(bytes.drain(at..end)),
        2 => bytes.insert(at, dice.byte()),
        3 => bytes.splice(at..at, bytes[at..end].to_vec()).for_each(drop),
        4 if at < bytes.len() => bytes[at] ^= 1 << dice.below(8),
        _ => bytes[at..end].fill(*[0, b'0', b'"', 0x7f, 0x80, 0xff].get(dice.below(6)).unwrap()),
    }
}

/// Pseudo-random numbers (xorshift64), the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % bound as u64).unwrap()
    }

    fn byte(&mut self) -> u8 {
        u8::try_from(self.below(256)).unwrap()
    }
}

#[test]
fn token_parse() {
    replay("token_parse", hindsight_fuzz::token_parse);
}

#[test]
fn draft_json() {
    replay("draft_json", hindsight_fuzz::draft_json);
}

#[test]
fn record_json() {
    replay("record_json", hindsight_fuzz::record_json);
}

#[test]
fn tokenizer() {
    replay_copies("tokenizer", hindsight_fuzz::tokenizer, 200);
}

#[test]
fn filter_expr() {
    replay("filter_expr", hindsight_fuzz::filter_expr);
}

#[test]
fn log_decode() {
    replay("log_decode", hindsight_fuzz::log_decode);
}

#[test]
fn batch_decode() {
    replay("batch_decode", hindsight_fuzz::batch_decode);
}

#[test]
fn record_codec() {
    replay_copies("record_codec", hindsight_fuzz::record_codec, 400);
}

#[test]
fn manifest() {
    replay_copies("manifest", hindsight_fuzz::manifest, 400);
}

#[test]
fn wal_recover() {
    replay_copies("wal_recover", hindsight_fuzz::wal_recover, 400);
}

#[test]
fn snapshot_load() {
    replay("snapshot_load", hindsight_fuzz::snapshot_load);
}

#[test]
fn backup_restore() {
    replay_copies("backup_restore", hindsight_fuzz::backup_restore, 400);
}

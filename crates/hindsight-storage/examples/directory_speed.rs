//! Measures the directory on this machine's disk.
//!
//! `cargo run --release -p hindsight-storage --example directory_speed [DIR [MEMORIES]]`

use std::{
    error::Error,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use hindsight_core::{Lsn, MemoryId};
use hindsight_storage::{
    NamespaceId, RecordPosition,
    directory::{
        Directory, DirectoryBatch, DirectoryOptions, MemoryKey, SledDirectory, Stamp, open_or_rebuild,
    },
};

const MEMORIES: u64 = 100_000;
const BATCH: u64 = 1_000;
const NAMESPACES: u32 = 100;
const GETS: u64 = 100_000;

type Fallible<T> = Result<T, Box<dyn Error>>;

fn main() -> Fallible<()> {
    let parent = std::env::args_os().nth(1).map_or_else(std::env::temp_dir, PathBuf::from);
    let memories = std::env::args().nth(2).map_or(Ok(MEMORIES), |text| text.parse())?;
    let dir = parent.join(format!("hindsight-directory-speed-{}", std::process::id()));
    let result = measure(&dir, memories);
    std::fs::remove_dir_all(&dir)?;
    result
}

fn measure(dir: &Path, memories: u64) -> Fallible<()> {
    let options = DirectoryOptions::default();
    let directory = SledDirectory::open(dir, options)?;
    let memory_before = resident_mib();
    let stamp = puts(&directory, memories)?;
    report_size(dir, memory_before)?;
    gets(&directory, memories)?;
    drop(directory);

    let start = Instant::now();
    let directory = SledDirectory::open(dir, options)?;
    println!("open: {} ms", start.elapsed().as_millis());
    let start = Instant::now();
    directory.check(stamp)?;
    println!("check of {memories} entries: {} ms", start.elapsed().as_millis());
    gets(&directory, memories)?;
    drop(directory);

    let entries = || (0..memories).map(|number| Ok(entry(number)));
    let elsewhere = Stamp { lsn: Lsn(stamp.lsn.0 + 1), ..stamp };
    let start = Instant::now();
    let (directory, state) = open_or_rebuild(dir, options, elsewhere, entries)?;
    println!("{state:?}\nrebuild of {memories} entries: {} ms", start.elapsed().as_millis());
    drop(directory);
    report_size(dir, memory_before)
}

/// Ids of one namespace rise, as those of memories do; the namespaces take turns.
fn entry(number: u64) -> (MemoryId, RecordPosition) {
    let namespace = NamespaceId(u32::try_from(number % u64::from(NAMESPACES)).unwrap_or(0));
    let random = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let id = MemoryId::from_u128((u128::from(number) << 80) | u128::from(random));
    let file = u32::try_from(number / 50_000).unwrap_or(u32::MAX);
    (id, RecordPosition { namespace, file, offset: number % 50_000 * 2_048 })
}

fn puts(directory: &SledDirectory, memories: u64) -> Fallible<Stamp> {
    let mut stamp = Stamp::EMPTY;
    let mut times = Vec::new();
    let start = Instant::now();
    for first in (0..memories).step_by(usize::try_from(BATCH)?) {
        let mut batch = DirectoryBatch::new(Lsn(first + 1));
        batch.puts.extend((first..memories.min(first + BATCH)).map(entry));
        let start = Instant::now();
        stamp = directory.apply(&batch)?;
        times.push(start.elapsed());
    }
    println!("{memories} puts in batches of {BATCH}, each durable: {} ms", start.elapsed().as_millis());
    report("apply of a batch", &mut times);
    Ok(stamp)
}

fn gets(directory: &SledDirectory, memories: u64) -> Fallible<()> {
    let mut times = Vec::new();
    let mut number = 1_u64;
    for _ in 0..GETS {
        number = number.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        let (id, position) = entry((number >> 20) % memories);
        let start = Instant::now();
        let found = directory.get(MemoryKey::of(id, position))?;
        times.push(start.elapsed());
        if found != Some(position) {
            return Err(format!("{id}: {found:?} instead of {position:?}").into());
        }
    }
    report("random get", &mut times);
    Ok(())
}

fn report(what: &str, times: &mut [Duration]) {
    times.sort_unstable();
    let at =
        |share: usize| times.get(times.len() * share / 1_000).map_or(0.0, |time| time.as_secs_f64() * 1e6);
    println!("{what:20} p50 {:8.1} µs   p90 {:8.1} µs   p99 {:8.1} µs", at(500), at(900), at(990));
}

fn report_size(dir: &Path, memory_before: u64) -> Fallible<()> {
    let bytes = std::fs::metadata(dir.join("db"))?.len();
    println!("on disk {} KiB; memory {} MiB more", bytes >> 10, resident_mib().saturating_sub(memory_before));
    Ok(())
}

/// Linux only; 0 elsewhere.
fn resident_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0) >> 10
}

//! Measures the log on this machine's disk, next to the bare system calls it is made of.
//!
//! `cargo run --release -p hindsight-storage --example log_speed [DIR]`

use std::{
    error::Error,
    fs::{File, OpenOptions},
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use hindsight_core::Lsn;
use hindsight_storage::{Floor, Log, LogOptions, RealIo, segment::SECTOR_BYTES};

/// Bytes of a batch with one memory and one vector of 384 numbers.
const PAYLOAD_BYTES: usize = 2_048;
const APPENDS: u64 = 3_000;
const WRITERS: u64 = 64;
const REPLAY_BATCHES: u64 = 150_000;

type Fallible<T> = Result<T, Box<dyn Error>>;

fn main() -> Fallible<()> {
    let parent = std::env::args_os().nth(1).map_or_else(std::env::temp_dir, PathBuf::from);
    let dir = parent.join(format!("hindsight-log-speed-{}", std::process::id()));
    std::fs::create_dir_all(&dir)?;
    let result = measure(&dir);
    std::fs::remove_dir_all(&dir)?;
    result
}

fn measure(dir: &Path) -> Fallible<()> {
    let payload = vec![0x5a; PAYLOAD_BYTES];
    // In turns, so that other load on the machine hits both alike.
    for round in 1..=3 {
        report(&format!("{round}: bare pwrite + fdatasync"), &mut bare(&dir.join("bare"), &payload)?);
        report(&format!("{round}: append + wait, 1 writer"), &mut one_writer(&fresh(dir, "one")?, &payload)?);
    }
    let alone = writers(dir, 1, &payload)?;
    let together = writers(dir, WRITERS, &payload)?;
    println!(
        "1 writer {alone:.0} batches/s, {WRITERS} writers {together:.0} batches/s ({:.1} times)",
        together / alone
    );
    replay(dir, &payload)
}

fn fresh(dir: &Path, name: &str) -> Fallible<PathBuf> {
    let dir = dir.join(name);
    if dir.exists() {
        std::fs::remove_dir_all(&dir)?;
    }
    std::fs::create_dir(&dir)?;
    Ok(dir)
}

fn open(dir: &Path, sink: &mut dyn FnMut(&[u8])) -> Fallible<Log<RealIo>> {
    let mut sink = |_: Lsn, payload: &[u8]| {
        sink(payload);
        Ok(())
    };
    Ok(Log::open(Arc::new(RealIo), dir, 1, LogOptions::default(), Floor::default(), &mut sink)?.0)
}

/// The same bytes at the same places into zeros written beforehand.
fn bare(path: &Path, payload: &[u8]) -> Fallible<Vec<Duration>> {
    let file: File = OpenOptions::new().write(true).create(true).truncate(true).open(path)?;
    let frame = [&[1; 40], payload].concat();
    let stride = (frame.len() as u64).next_multiple_of(SECTOR_BYTES);
    file.write_all_at(&vec![0; usize::try_from(stride * APPENDS)?], 0)?;
    file.sync_all()?;
    let mut times = Vec::new();
    for at in 0..APPENDS {
        let start = Instant::now();
        file.write_all_at(&frame, at * stride)?;
        file.sync_data()?;
        times.push(start.elapsed());
    }
    Ok(times)
}

fn one_writer(dir: &Path, payload: &[u8]) -> Fallible<Vec<Duration>> {
    let log = open(dir, &mut |_| {})?;
    log.spawn_committer()?;
    let mut times = Vec::new();
    for _ in 0..APPENDS {
        let start = Instant::now();
        let lsn = log.append(payload)?;
        log.wait_synced(lsn)?;
        times.push(start.elapsed());
    }
    log.close()?;
    Ok(times)
}

/// Batches per second when `count` writers each wait for their own.
fn writers(dir: &Path, count: u64, payload: &[u8]) -> Fallible<f64> {
    let log = open(&fresh(dir, "many")?, &mut |_| {})?;
    log.spawn_committer()?;
    let each = APPENDS * (1 + u64::from(count > 1) * 9) / count;
    let start = Instant::now();
    thread::scope(|scope| {
        for _ in 0..count {
            scope.spawn(|| {
                for _ in 0..each {
                    let waited = log.append(payload).and_then(|lsn| log.wait_synced(lsn));
                    if let Err(error) = waited {
                        eprintln!("{error}");
                        return;
                    }
                }
            });
        }
    });
    let elapsed = start.elapsed();
    log.close()?;
    Ok(f64::from(u32::try_from(each * count)?) / elapsed.as_secs_f64())
}

fn replay(dir: &Path, payload: &[u8]) -> Fallible<()> {
    let dir = fresh(dir, "replay")?;
    let log = open(&dir, &mut |_| {})?;
    for _ in 0..REPLAY_BATCHES {
        log.append(payload)?;
    }
    log.close()?;
    drop(log);
    let (mut batches, mut sum) = (0_u32, 0_u64);
    let start = Instant::now();
    drop(open(&dir, &mut |payload| {
        batches += 1;
        sum += u64::from(payload.iter().fold(0_u8, |sum, byte| sum ^ byte));
    })?);
    let elapsed = start.elapsed().as_secs_f64();
    let mib = f64::from(batches) * f64::from(u32::try_from(payload.len())?) / f64::from(1 << 20);
    println!(
        "replay: {batches} batches, {mib:.0} MiB in {elapsed:.2} s: {:.0} MiB/s (sum {sum})",
        mib / elapsed
    );
    Ok(())
}

fn report(what: &str, times: &mut [Duration]) {
    times.sort_unstable();
    let at = |share: usize| times.get(times.len() * share / 1_000).map_or(0, Duration::as_micros);
    println!("{what:32} p50 {:5} µs   p90 {:5} µs   p99 {:5} µs", at(500), at(900), at(990));
}

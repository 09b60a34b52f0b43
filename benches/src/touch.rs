//! The first touch of a stored namespace, with its index snapshot and without; what a namespace that is not loaded costs.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::ensure;
use clap::Args as ClapArgs;
use hindsight_core::{Namespace, Timestamp};
use hindsight_engine::{BatchRequest, Engine, Options, SnapshotRule};

use crate::synthetic::{Random, item};

/// What to measure.
#[derive(Debug, ClapArgs)]
pub struct Args {
    /// Memories of the namespace that is touched.
    #[arg(long, default_value_t = 10_000)]
    memories: usize,
    /// Numbers of each vector.
    #[arg(long, default_value_t = 384)]
    dimension: usize,
    /// Small namespaces that are never touched.
    #[arg(long, default_value_t = 10_000)]
    namespaces: usize,
    /// Memories of each of these.
    #[arg(long, default_value_t = 10)]
    each: usize,
    /// How often it is touched, with the snapshot and without by turns.
    #[arg(long, default_value_t = 7)]
    rounds: usize,
    /// Where the random memories begin.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Measures and prints.
///
/// # Errors
/// When the engine does, or the system shows no memory figures.
pub fn run(args: &Args) -> anyhow::Result<()> {
    let mut random = Random(args.seed);
    touch(args, &mut random)?;
    unloaded(args, &mut random)
}

fn touch(args: &Args, random: &mut Random) -> anyhow::Result<()> {
    let dir = tempfile::tempdir()?;
    let name: Namespace = "touched".parse()?;
    let without = SnapshotRule { memories: usize::MAX, ..SnapshotRule::default() };
    // The checkpoint of a clean stop is the same work twice, once without a snapshot.
    let plain = tempfile::tempdir()?;
    let began = stop(plain.path(), without, &name, (args.memories, args.dimension), &mut Random(args.seed))?;
    let with = stop(dir.path(), SnapshotRule::default(), &name, (args.memories, args.dimension), random)?;
    let (snapshot, records) = (sizes(dir.path(), "idx")?, sizes(dir.path(), "rec")?);
    println!(
        "checkpoint of {} memories x {} d: {:.0} ms without a snapshot, {:.0} ms with one; record files {:.1} MB, snapshot {:.1} MB",
        args.memories,
        args.dimension,
        began * 1e3,
        with * 1e3,
        records.1 / 1e6,
        snapshot.1 / 1e6,
    );
    let mut times = [Vec::new(), Vec::new()];
    for round in 0..args.rounds * 2 {
        let is_with = round % 2 == 0;
        let (engine, _) = Engine::open(if is_with { dir.path() } else { plain.path() }, Options::default())?;
        let began = Instant::now();
        ensure!(engine.model(&name).is_some(), "the namespace is there");
        times[usize::from(!is_with)].push(began.elapsed().as_secs_f64() * 1e3);
        ensure!(engine.memory_stats().snapshot_loads == u64::from(is_with), "{:?}", engine.memory_stats());
        let used = engine.memory_stats().used_bytes;
        engine.close()?;
        if round == 0 {
            println!("in memory: {:.1} MB by the budget's estimate", used as f64 / 1e6);
        }
    }
    let [with, without] = times.map(median);
    println!(
        "first touch: {with:.1} ms from the snapshot, {without:.1} ms from records alone; {:.2} x",
        without / with
    );
    Ok(())
}

/// Writes memories and stops. Returns how long the stop took, in seconds.
fn stop(
    dir: &Path,
    snapshots: SnapshotRule,
    name: &Namespace,
    (memories, dimension): (usize, usize),
    random: &mut Random,
) -> anyhow::Result<f64> {
    let (engine, _) = Engine::open(dir, Options { snapshots, ..Options::default() })?;
    write(&engine, name, memories, dimension, random)?;
    let began = Instant::now();
    engine.close()?;
    Ok(began.elapsed().as_secs_f64())
}

fn write(
    engine: &Engine,
    name: &Namespace,
    memories: usize,
    dimension: usize,
    random: &mut Random,
) -> anyhow::Result<()> {
    let now = Timestamp::from_ms(1_800_000_000_000);
    let mut left = memories;
    while left > 0 {
        let count = left.min(500);
        left -= count;
        let items = (0..count).map(|_| item(random, dimension, now)).collect();
        for result in
            engine.write_batch(name, BatchRequest { items, ..BatchRequest::default() })?.wait()?.results
        {
            result?;
        }
    }
    Ok(())
}

fn unloaded(args: &Args, random: &mut Random) -> anyhow::Result<()> {
    let dir = tempfile::tempdir()?;
    let (engine, _) = Engine::open(dir.path(), Options::default())?;
    for number in 0..args.namespaces {
        write(&engine, &format!("tenant-{number}").parse()?, args.each, 32, random)?;
    }
    engine.close()?;
    drop(engine);
    let empty = tempfile::tempdir()?;
    drop(Engine::open(empty.path(), Options::default())?);
    let began = Instant::now();
    let before = heap()?;
    let (engine, report) = Engine::open(dir.path(), Options::default())?;
    let took = began.elapsed().as_secs_f64() * 1e3;
    while !engine.is_directory_ready() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let after = heap()?;
    ensure!(engine.memory_stats().loaded == 0, "nothing was touched");
    println!(
        "{} namespaces of {} memories: ready in {took:.0} ms; {} bytes each while none is loaded, the directory's cache and the allocator's own included",
        report.namespaces,
        args.each,
        after.saturating_sub(before) / (report.namespaces as u64).max(1),
    );
    Ok(())
}

/// How many files of a kind there are in the folders of namespaces, and their bytes.
fn sizes(dir: &Path, extension: &str) -> anyhow::Result<(usize, f64)> {
    let (mut count, mut bytes) = (0, 0.0);
    for folder in std::fs::read_dir(dir.join("ns"))? {
        for file in std::fs::read_dir(folder?.path())? {
            let file = file?;
            if PathBuf::from(file.file_name()).extension().is_some_and(|found| found == extension) {
                count += 1;
                bytes += file.metadata()?.len() as f64;
            }
        }
    }
    Ok((count, bytes))
}

/// Resident bytes of this process.
fn heap() -> anyhow::Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap_or_default();
    let kib: u64 = line.split_whitespace().next().unwrap_or_default().parse()?;
    Ok(kib * 1024)
}

/// The middle one of some numbers; 0 of none.
fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(0.0)
}

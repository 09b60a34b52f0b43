//! The first touch of a stored namespace, with its index snapshot and without; what a namespace that is not loaded costs.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::ensure;
use clap::Args as ClapArgs;
use hindsight_core::{Namespace, Timestamp};
use hindsight_engine::{BatchRequest, Engine, Options, SnapshotRule};

use crate::storage::{cpu, median};
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
    /// Opens this directory and prints its resident bytes and seconds: what this program asks itself.
    #[arg(long, hide = true)]
    only_open: Option<PathBuf>,
}

/// Measures and prints.
///
/// # Errors
/// When the engine does, or the system shows no memory figures.
pub fn run(args: &Args) -> anyhow::Result<()> {
    if let Some(dir) = &args.only_open {
        return only_open(dir);
    }
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
    let (mut times, mut cpus) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
    for round in 0..args.rounds * 2 {
        let is_with = round % 2 == 0;
        let (engine, _) = Engine::open(if is_with { dir.path() } else { plain.path() }, Options::default())?;
        let (began, cpu) = (Instant::now(), cpu::of_process()?);
        ensure!(engine.model(&name).is_some(), "the namespace is there");
        times[usize::from(!is_with)].push(began.elapsed().as_secs_f64() * 1e3);
        cpus[usize::from(!is_with)].push((cpu::of_process()? - cpu).as_secs_f64() * 1e3);
        ensure!(engine.memory_stats().snapshot_loads == u64::from(is_with), "{:?}", engine.memory_stats());
        let used = engine.memory_stats().used_bytes;
        engine.close()?;
        if round == 0 {
            println!("in memory: {:.1} MB by the budget's estimate", used as f64 / 1e6);
        }
    }
    let ([with, without], [cpu_with, cpu_without]) = (times.map(median), cpus.map(median));
    println!(
        "first touch: {with:.1} ms ({cpu_with:.1} ms of the processor) from the snapshot, {without:.1} ms ({cpu_without:.1} ms) from records alone; {:.2} x",
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
    // In processes of their own, so that nothing counts that was in memory before.
    let empty = tempfile::tempdir()?;
    drop(Engine::open(empty.path(), Options::default())?);
    let [bytes, took] = in_another_process(dir.path())?;
    let [bytes_of_none, _] = in_another_process(empty.path())?;
    println!(
        "{} namespaces of {} memories: ready in {:.0} ms; {:.0} bytes each while none is loaded, the directory's cache and the allocator's own included",
        args.namespaces,
        args.each,
        took * 1e3,
        (bytes - bytes_of_none) / args.namespaces.max(1) as f64,
    );
    Ok(())
}

/// Opens a directory in another process. Returns its resident bytes, and how long it took, in seconds.
fn in_another_process(dir: &Path) -> anyhow::Result<[f64; 2]> {
    let output = Command::new(std::env::current_exe()?).arg("touch").arg("--only-open").arg(dir).output()?;
    let text = String::from_utf8(output.stdout)?;
    let numbers: Vec<f64> = text.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
    numbers.try_into().map_err(|_| anyhow::anyhow!("no two numbers: {text}"))
}

/// Opens a directory, waits until all of it is open, and prints its resident bytes and how long the first took.
fn only_open(dir: &Path) -> anyhow::Result<()> {
    let began = Instant::now();
    let (engine, _) = Engine::open(dir, Options::default())?;
    let took = began.elapsed().as_secs_f64();
    while !engine.is_directory_ready() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    ensure!(engine.memory_stats().loaded == 0, "nothing was touched");
    println!("{} {took}", heap()?);
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

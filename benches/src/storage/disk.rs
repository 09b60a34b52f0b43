//! Bytes on disk after a load and its compaction, and how fast a log is replayed.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::Instant;

use hindsight_core::{Namespace, Timestamp};
use hindsight_engine::{BatchRequest, Engine, Options, WriteItem};

use super::{Args, cpu, folder, median, real};
use crate::synthetic::{Random, item};

const MIB: f64 = 1_048_576.0;
/// Memories of a request.
const BATCH: usize = 500;

pub(super) fn run(args: &Args) -> anyhow::Result<()> {
    let dir = folder(args)?;
    let mut random = Random(args.seed);
    let data = dir.path().join("loaded");
    let (engine, _) = Engine::open(&data, Options::default())?;
    let (began, cpu) = (Instant::now(), cpu::of_process()?);
    let raw = load(&engine, args, &mut random)?;
    let took = (cpu::of_process()? - cpu).as_secs_f64();
    println!(
        "load of {} memories x {} d: {:.1} s, {:.0} memories per processor second, checkpoints included",
        args.memories,
        args.dimension,
        began.elapsed().as_secs_f64(),
        real(args.memories) / took
    );
    let began = Instant::now();
    engine.checkpoint()?;
    engine.close()?;
    println!("last checkpoint and close: {:.2} s", began.elapsed().as_secs_f64());
    drop(engine);
    let on_disk = allocated(&data)?;
    println!(
        "on disk: {:.1} MiB for {:.1} MiB of text and vectors, ratio {:.2} (log {:.1} MiB, records {:.1} MiB, directory {:.1} MiB)",
        on_disk / MIB,
        raw / MIB,
        on_disk / raw,
        allocated(&data.join("log"))? / MIB,
        allocated(&data.join("ns"))? / MIB,
        allocated(&data.join("directory"))? / MIB,
    );
    replay(args, &dir.path().join("replayed"), &mut random)
}

/// A log that no checkpoint has shortened, replayed by a start.
fn replay(args: &Args, data: &Path, random: &mut Random) -> anyhow::Result<()> {
    let mut options = Options::default();
    options.storage.checkpoint_bytes = u64::MAX;
    let (engine, _) = Engine::open(data, options.clone())?;
    load(&engine, args, random)?;
    // No close: that would take a checkpoint. What was acknowledged is in the log.
    drop(engine);
    let mut rates = Vec::new();
    let mut rates_of_cpu = Vec::new();
    for _ in 0..args.rounds {
        let (began, cpu) = (Instant::now(), cpu::of_process()?);
        let (engine, report) = Engine::open(data, options.clone())?;
        let (wall, cpu) = (began.elapsed().as_secs_f64(), (cpu::of_process()? - cpu).as_secs_f64());
        let mib = real(usize::try_from(report.recovered.bytes_replayed)?) / MIB;
        rates.push(mib / wall);
        rates_of_cpu.push(mib / cpu);
        drop(engine);
    }
    println!(
        "replay: {:.0} MiB/s, {:.0} MiB per processor second (median of {} rounds)",
        median(rates),
        median(rates_of_cpu),
        args.rounds
    );
    Ok(())
}

/// Returns the bytes of texts and vectors.
fn load(engine: &Engine, args: &Args, random: &mut Random) -> anyhow::Result<f64> {
    let namespace: Namespace = "load".parse()?;
    let now = Timestamp::from_ms(1_800_000_000_000);
    let mut raw = 0;
    let mut left = args.memories;
    while left > 0 {
        let count = left.min(BATCH);
        left -= count;
        let items: Vec<WriteItem> = (0..count).map(|_| item(random, args.dimension, now)).collect();
        raw += items.iter().map(|item| item.draft.content.len() + args.dimension * 4).sum::<usize>();
        engine.write_batch(&namespace, BatchRequest { items, ..BatchRequest::default() })?.wait()?;
    }
    Ok(real(raw))
}

/// The bytes that the files of a folder take on the disk.
fn allocated(dir: &Path) -> anyhow::Result<f64> {
    let mut bytes = 0.0;
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        bytes += if metadata.is_dir() {
            allocated(&entry.path())?
        } else {
            real(usize::try_from(metadata.blocks() * 512)?)
        };
    }
    Ok(bytes)
}

//! How fast a checkpoint writes, and how long readers wait while one runs and while many write.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use anyhow::Context as _;
use hindsight_core::{Embedding, Namespace, Recall, Timestamp};
use hindsight_engine::{BatchRequest, Engine, Options, WriteItem, WriteOptions};

use super::{Args, cpu, folder, median, real};
use crate::synthetic::{Random, item};

/// Who writes while others read.
const WRITERS: usize = 8;
/// Namespaces that are read and written, so that a reader seldom meets a writer of its own.
const NAMESPACES: usize = 16;

pub(super) fn run(args: &Args) -> anyhow::Result<()> {
    let dir = folder(args)?;
    let mut options = Options::default();
    // Checkpoints are taken when they are to be measured.
    options.storage.checkpoint_bytes = u64::MAX;
    let (engine, _) = Engine::open(dir.path(), options)?;
    let names = (0..NAMESPACES).map(|number| format!("busy-{number}").parse());
    let names: Vec<Namespace> = names.collect::<Result<_, _>>()?;
    let mut random = Random(args.seed);
    let (mut alone, mut beside_writers, mut beside_checkpoint) = (Vec::new(), Vec::new(), Vec::new());
    let (mut rates, mut rates_of_cpu) = (Vec::new(), Vec::new());
    let reads = args.reads / args.rounds.max(1);
    for _ in 0..args.rounds {
        load(&engine, &names, args, &mut random)?;
        alone.push(p99_of(&read(&engine, &names, args, &mut random, |done| done < reads)?));
        let stop = AtomicBool::new(false);
        beside_writers.push(std::thread::scope(|scope| {
            let writers = (0..WRITERS).map(|number| {
                let (engine, names, stop, seed) = (&engine, &names, &stop, random.bits());
                scope.spawn(move || write(engine, names, args, number, seed, stop))
            });
            let writers: Vec<_> = writers.collect();
            let times = read(&engine, &names, args, &mut random, |done| done < reads);
            stop.store(true, Ordering::Release);
            for writer in writers {
                writer.join().ok().context("a writer panicked")??;
            }
            anyhow::Ok(p99_of(&times?))
        })?);
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let checkpoint = scope.spawn(|| {
                let (began, cpu) = (Instant::now(), cpu::of_process()?);
                let bytes = engine.checkpoint().map(|report| report.bytes);
                stop.store(true, Ordering::Release);
                let took = (began.elapsed().as_secs_f64(), (cpu::of_process()? - cpu).as_secs_f64());
                anyhow::Ok((real(usize::try_from(bytes?)?) / 1e6, took))
            });
            let times = read(&engine, &names, args, &mut random, |_| !stop.load(Ordering::Acquire))?;
            beside_checkpoint.push(p99_of(&times));
            checkpoint.join().ok().context("the checkpoint panicked")??;
            anyhow::Ok(())
        })?;
        // Once more with nobody who reads.
        load(&engine, &names, args, &mut random)?;
        let (began, cpu) = (Instant::now(), cpu::of_process()?);
        let megabytes = real(usize::try_from(engine.checkpoint()?.bytes)?) / 1e6;
        rates.push(megabytes / began.elapsed().as_secs_f64());
        rates_of_cpu.push(megabytes / (cpu::of_process()? - cpu).as_secs_f64());
    }
    engine.close()?;
    println!(
        "checkpoint: {:.0} MB/s, {:.0} MB per processor second (medians of {} rounds)",
        median(rates),
        median(rates_of_cpu),
        args.rounds
    );
    println!(
        "recall, p99: {:.0} µs alone, {:.0} µs beside {WRITERS} writers, {:.0} µs beside a checkpoint (medians of {} rounds)",
        median(alone),
        median(beside_writers),
        median(beside_checkpoint),
        args.rounds
    );
    Ok(())
}

fn load(engine: &Engine, names: &[Namespace], args: &Args, random: &mut Random) -> anyhow::Result<()> {
    for name in names {
        let mut left = args.memories / names.len() / args.rounds.max(1);
        while left > 0 {
            let count = left.min(500);
            left -= count;
            let items: Vec<WriteItem> = (0..count).map(|_| item(random, args.dimension, now())).collect();
            engine.write_batch(name, BatchRequest { items, ..BatchRequest::default() })?.wait()?;
        }
    }
    Ok(())
}

/// How long recalls took, in microseconds, for as long as they are to go on.
fn read(
    engine: &Engine,
    names: &[Namespace],
    args: &Args,
    random: &mut Random,
    goes_on: impl Fn(usize) -> bool,
) -> anyhow::Result<Vec<f64>> {
    let mut times = Vec::new();
    while goes_on(times.len()) {
        let words: Vec<String> = (0..3).map(|_| random.word()).collect();
        let recall = Recall {
            query: words.join(" "),
            vector: Some(Embedding::new(&random.vector(args.dimension))?),
            embedding_model: Some("synthetic".to_owned()),
            now: Some(now()),
            observe: true,
            ..Recall::default()
        };
        let Some(name) = names.get(random.below(names.len())) else { break };
        let began = Instant::now();
        std::hint::black_box(engine.recall(name, &recall)?.wait()?);
        times.push(began.elapsed().as_secs_f64() * 1e6);
    }
    Ok(times)
}

/// Writes, each durable before the next, until told to stop.
fn write(
    engine: &Engine,
    names: &[Namespace],
    args: &Args,
    number: usize,
    seed: u64,
    stop: &AtomicBool,
) -> anyhow::Result<()> {
    let mut random = Random(seed);
    while let Some(name) = names.get(number % names.len()).filter(|_| !stop.load(Ordering::Acquire)) {
        engine.write(name, item(&mut random, args.dimension, now()), WriteOptions::default())?.wait()?;
    }
    Ok(())
}

fn now() -> Timestamp {
    Timestamp::from_ms(1_800_000_000_000)
}

fn p99_of(times: &[f64]) -> f64 {
    let mut times = times.to_vec();
    times.sort_by(f64::total_cmp);
    times.get(times.len() * 99 / 100).copied().unwrap_or(0.0)
}

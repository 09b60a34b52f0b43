//! A restart of many namespaces after a clean stop, and reads by id of what is not loaded.

use std::time::Instant;

use anyhow::ensure;
use hindsight_core::{MemoryId, Namespace, Timestamp};
use hindsight_engine::{BatchRequest, Engine, Options, WriteItem};

use super::{Args, cpu, folder, median, real};
use crate::synthetic::{Random, item};

pub(super) fn run(args: &Args) -> anyhow::Result<()> {
    let dir = folder(args)?;
    let mut random = Random(args.seed);
    let names = (0..args.restart_namespaces).map(|number| format!("agent-{number}").parse());
    let names: Vec<Namespace> = names.collect::<Result<_, _>>()?;
    let ids = load(args, dir.path(), &names, &mut random)?;
    let (mut walls, mut cpus, mut directories) = (Vec::new(), Vec::new(), Vec::new());
    let mut reads = Vec::new();
    for _ in 0..args.rounds {
        let (began, cpu) = (Instant::now(), cpu::of_process()?);
        let (engine, report) = Engine::open(dir.path(), Options::default())?;
        walls.push(began.elapsed().as_secs_f64());
        cpus.push((cpu::of_process()? - cpu).as_secs_f64());
        ensure!(report.recovered.batches == 0, "a clean stop leaves nothing to replay");
        while !engine.is_directory_ready() {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        directories.push(began.elapsed().as_secs_f64());
        for _ in 0..args.reads / args.rounds {
            let Some((name, id)) = ids.get(random.below(ids.len())) else { break };
            let name = &names[*name];
            let began = Instant::now();
            std::hint::black_box(engine.get(name, *id, None)?.wait()?);
            reads.push(began.elapsed().as_secs_f64() * 1e6);
            ensure!(!engine.is_loaded(name), "{name} was loaded for a read by id");
        }
        engine.close()?;
    }
    println!(
        "restart with {} memories x {} d in {} namespaces: ready in {:.3} s ({:.2} s of the processor); directory open after {:.2} s (medians of {} rounds)",
        ids.len(),
        args.restart_dimension,
        names.len(),
        median(walls),
        median(cpus),
        median(directories),
        args.rounds
    );
    reads.sort_by(f64::total_cmp);
    let p99 = reads.get(reads.len() * 99 / 100).copied().unwrap_or(0.0);
    println!("read by id of a namespace that is not loaded: median {:.1} µs, p99 {p99:.1} µs", median(reads));
    Ok(())
}

/// Writes the memories and closes in order. Returns the namespace and the id of each.
fn load(
    args: &Args,
    dir: &std::path::Path,
    names: &[Namespace],
    random: &mut Random,
) -> anyhow::Result<Vec<(usize, MemoryId)>> {
    let (engine, _) = Engine::open(dir, Options::default())?;
    let now = Timestamp::from_ms(1_800_000_000_000);
    let mut ids = Vec::with_capacity(args.restart_memories);
    let each = args.restart_memories / names.len().max(1);
    let (began, cpu) = (Instant::now(), cpu::of_process()?);
    for (number, name) in names.iter().enumerate() {
        let mut left = each;
        while left > 0 {
            let count = left.min(500);
            left -= count;
            let items: Vec<WriteItem> =
                (0..count).map(|_| item(random, args.restart_dimension, now)).collect();
            let request = BatchRequest { items, ..BatchRequest::default() };
            for result in engine.write_batch(name, request)?.wait()?.results {
                ids.push((number, result?.id));
            }
        }
    }
    engine.close()?;
    println!(
        "load of {} memories in {} namespaces: {:.0} s, {:.0} µs of the processor each, checkpoints included",
        ids.len(),
        names.len(),
        began.elapsed().as_secs_f64(),
        (cpu::of_process()? - cpu).as_secs_f64() * 1e6 / real(ids.len())
    );
    Ok(ids)
}

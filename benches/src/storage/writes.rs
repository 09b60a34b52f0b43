//! Durable writes: one client beside the bare calls, and many clients beside one.

use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use anyhow::Context as _;
use hindsight_core::{Batch, Change, Embedding, NamedVector, Namespace, Record, Timestamp, VectorRole};
use hindsight_engine::{Engine, Options, WriteItem, WriteOptions};
use hindsight_storage::{Log, RealIo, encode_batch, segment::SECTOR_BYTES};

use super::{Args, cpu, folder, median, real};
use crate::synthetic::{Random, item};

/// Bytes of a frame's header in the log.
const FRAME_HEADER_BYTES: usize = 40;

pub(super) fn run(args: &Args) -> anyhow::Result<()> {
    let dir = folder(args)?;
    let (engine, _) = Engine::open(&dir.path().join("data"), Options::default())?;
    let engine = Arc::new(engine);
    let mut random = Random(args.seed);
    let bytes = bytes_of_a_write(&engine, &mut random, args.dimension)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build()?;
    let mut rounds: Vec<Round> = Vec::new();
    for number in 0..args.rounds {
        let one =
            one_client(&engine, dir.path(), bytes, items(&mut random, args.writes, args.dimension), number)?;
        let alone = one_alone(&engine, items(&mut random, args.writes, args.dimension), number)?;
        let per_client = (args.writes / 4).max(50);
        let batches = (0..args.clients).map(|_| items(&mut random, per_client, args.dimension)).collect();
        let many = runtime.block_on(many_clients(&engine, batches))?;
        let one_log = runtime.block_on(at_the_log(dir.path(), bytes, 1, args.writes))?;
        let many_log = runtime.block_on(at_the_log(dir.path(), bytes, args.clients, per_client))?;
        rounds.push(Round { one, alone, many, one_log, many_log });
    }
    report(args, bytes, &rounds);
    engine.close()?;
    Ok(())
}

/// What one round gave.
struct Round {
    one: One,
    alone: Many,
    many: Many,
    /// Batches a second at the log.
    one_log: f64,
    many_log: f64,
}

/// Medians of one client's waits, in seconds.
struct One {
    bare: f64,
    log: f64,
    engine: f64,
}

/// What clients reach.
struct Many {
    per_second: f64,
    /// The engine's processor time a write.
    cpu_us: f64,
}

fn report(args: &Args, bytes: usize, rounds: &[Round]) {
    let all = |of: &dyn Fn(&Round) -> f64| median(rounds.iter().map(of).collect());
    println!("durable writes of {bytes} bytes ({} d), medians of {} rounds:", args.dimension, rounds.len());
    println!(
        "  one client: {:.0} µs, bare append and fdatasync {:.0} µs, ratio {:.2}; the log alone {:.0} µs, ratio {:.2}",
        all(&|round| round.one.engine) * 1e6,
        all(&|round| round.one.bare) * 1e6,
        all(&|round| round.one.engine / round.one.bare),
        all(&|round| round.one.log) * 1e6,
        all(&|round| round.one.log / round.one.bare),
    );
    println!(
        "  {} clients: {:.0} writes/s, one client {:.0}, ratio {:.1}; the log alone {:.0} and {:.0} batches/s, ratio {:.1}",
        args.clients,
        all(&|round| round.many.per_second),
        all(&|round| round.alone.per_second),
        all(&|round| round.many.per_second / round.alone.per_second),
        all(&|round| round.many_log),
        all(&|round| round.one_log),
        all(&|round| round.many_log / round.one_log),
    );
    println!(
        "  processor time of a write: {:.0} µs with one client, {:.0} µs with {}",
        all(&|round| round.alone.cpu_us),
        all(&|round| round.many.cpu_us),
        args.clients,
    );
}

fn items(random: &mut Random, count: usize, dimension: usize) -> Vec<WriteItem> {
    let now = Timestamp::from_ms(1_800_000_000_000);
    (0..count).map(|_| item(random, dimension, now)).collect()
}

/// The bytes that a typical write puts into the log.
fn bytes_of_a_write(engine: &Engine, random: &mut Random, dimension: usize) -> anyhow::Result<usize> {
    let namespace: Namespace = "size".parse()?;
    let mut all = Vec::new();
    for item in items(random, 51, dimension) {
        let values =
            item.vectors.as_ref().and_then(|raw| raw.vectors.first()).context("has a vector")?.values.clone();
        let memory = engine.write(&namespace, item, WriteOptions::default())?.wait()?.memory;
        let embedding = Embedding::new(&values)?;
        let vectors = vec![NamedVector { role: VectorRole::Content, embedding }];
        let at = memory.created_at;
        let changes = vec![Change::Put(Box::new(Record { memory, vectors }))];
        let batch = Batch { namespace: namespace.clone(), at, request: None, changes };
        all.push(real(encode_batch(&batch)?.len() + FRAME_HEADER_BYTES));
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a median of small counts")]
    Ok(median(all) as usize)
}

/// One client: the bare append to a file that was filled beforehand and its sync, the log alone, and the engine, each in turn
/// for every write, so that all three meet the same disk.
fn one_client(
    engine: &Engine,
    dir: &Path,
    bytes: usize,
    items: Vec<WriteItem>,
    number: usize,
) -> anyhow::Result<One> {
    let file = OpenOptions::new().create(true).truncate(true).write(true).open(dir.join("bare"))?;
    let step = (bytes as u64).next_multiple_of(SECTOR_BYTES);
    file.write_all_at(&vec![0; usize::try_from(step)? * items.len()], 0)?;
    file.sync_all()?;
    let (log, _dir) = log(dir)?;
    let frame = vec![0x5a; bytes];
    let payload = vec![0x5a; bytes - FRAME_HEADER_BYTES];
    let namespace: Namespace = format!("one-{number}").parse()?;
    let (mut bare, mut alone, mut whole) = (Vec::new(), Vec::new(), Vec::new());
    for (at, item) in items.into_iter().enumerate() {
        bare.push(timed(|| {
            file.write_all_at(&frame, at as u64 * step)?;
            Ok(file.sync_data()?)
        })?);
        alone.push(timed(|| Ok(log.wait_synced(log.append(&payload)?)?))?);
        whole.push(timed(|| {
            engine.write(&namespace, item, WriteOptions::default())?.wait()?;
            Ok(())
        })?);
    }
    Ok(One { bare: median(bare), log: median(alone), engine: median(whole) })
}

/// How long it takes, in seconds.
fn timed(call: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<f64> {
    let began = Instant::now();
    call()?;
    Ok(began.elapsed().as_secs_f64())
}

/// One client by itself: writes a second, and the engine's processor time for each.
fn one_alone(engine: &Engine, items: Vec<WriteItem>, number: usize) -> anyhow::Result<Many> {
    let namespace: Namespace = format!("alone-{number}").parse()?;
    let count = real(items.len());
    let (began, cpu) = (Instant::now(), cpu::of_process()?);
    for item in items {
        engine.write(&namespace, item, WriteOptions::default())?.wait()?;
    }
    let cpu_us = (cpu::of_process()? - cpu).as_secs_f64() * 1e6 / count;
    Ok(Many { per_second: count / began.elapsed().as_secs_f64(), cpu_us })
}

/// Each client writes to a namespace of its own and waits for each write, as calls of a server do.
async fn many_clients(engine: &Arc<Engine>, batches: Vec<Vec<WriteItem>>) -> anyhow::Result<Many> {
    let count = real(batches.iter().map(Vec::len).sum());
    let (began, cpu) = (Instant::now(), cpu::of_process()?);
    let mut clients = tokio::task::JoinSet::new();
    for (number, items) in batches.into_iter().enumerate() {
        let (engine, namespace) = (Arc::clone(engine), format!("many-{number}").parse::<Namespace>()?);
        clients.spawn(async move {
            for item in items {
                engine.write(&namespace, item, WriteOptions::default())?.synced().await?;
            }
            Ok::<(), anyhow::Error>(())
        });
    }
    while let Some(client) = clients.join_next().await {
        client??;
    }
    let cpu_us = (cpu::of_process()? - cpu).as_secs_f64() * 1e6 / count;
    Ok(Many { per_second: count / began.elapsed().as_secs_f64(), cpu_us })
}

fn log(dir: &Path) -> anyhow::Result<(Log<RealIo>, tempfile::TempDir)> {
    let dir = tempfile::tempdir_in(dir)?;
    let (log, _) =
        Log::open(Arc::new(RealIo), dir.path(), 1, Default::default(), Default::default(), &mut |_, _| {
            Ok(())
        })?;
    log.spawn_committer()?;
    Ok((log, dir))
}

/// Batches a second of so many clients at the log, without the engine's work.
async fn at_the_log(dir: &Path, bytes: usize, clients: usize, writes: usize) -> anyhow::Result<f64> {
    let (log, _dir) = log(dir)?;
    let log = Arc::new(log);
    let payload: Arc<[u8]> = vec![0x5a; bytes - FRAME_HEADER_BYTES].into();
    let began = Instant::now();
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..clients {
        let (log, payload) = (Arc::clone(&log), Arc::clone(&payload));
        tasks.spawn(async move {
            for _ in 0..writes {
                log.synced(log.append(&payload)?).await?;
            }
            Ok::<(), anyhow::Error>(())
        });
    }
    while let Some(task) = tasks.join_next().await {
        task??;
    }
    Ok(real(clients * writes) / began.elapsed().as_secs_f64())
}

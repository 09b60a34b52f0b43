//! How fast and how good the nearest vectors are found: by the exact scan, and through the graph.

use std::path::PathBuf;
use std::time::Instant;

use clap::Parser;
use hindsight_core::draft::Moment;
use hindsight_core::{Draft, Embedding, MemoryId, NamedVector, Namespace, Record, Timestamp, VectorRole};
use hindsight_index::{GraphRule, NamespaceIndex, Ordinal, Scored, Selection, VectorQuery, VectorWay};

use crate::figures::{at, resident_bytes, thread_ms};
use crate::npy;

/// What to measure on.
#[derive(Debug, Parser)]
pub struct Args {
    /// A folder with `base.i8.npy` and `queries.i8.npy`: int8 matrices of rows to be normalised.
    #[arg(long)]
    vectors: PathBuf,
    /// Most rows to take.
    #[arg(long, default_value_t = usize::MAX)]
    limit: usize,
    /// Queries of each sort.
    #[arg(long, default_value_t = 300)]
    queries: usize,
    /// How many nearest are asked for.
    #[arg(long, default_value_t = 20)]
    k: usize,
    /// How many rows are scanned in the time of one step of a walk; 0 walks always.
    #[arg(long, default_value_t = GraphRule::default().step_cost)]
    step_cost: usize,
}

/// Builds the graph and prints what it costs and what it finds.
///
/// # Errors
/// When the files can't be read, or no graph can be built.
pub fn run(args: &Args) -> anyhow::Result<()> {
    let rows = npy::embeddings(&args.vectors.join("base.i8.npy"), args.limit)?;
    let asked = npy::embeddings(&args.vectors.join("queries.i8.npy"), args.queries)?;
    let mut index = NamespaceIndex::default();
    let began = Instant::now();
    for (number, vector) in (1..).zip(&rows) {
        index.apply(&record(number, vector)?)?;
    }
    println!("{} rows applied in {:.2} s", rows.len(), began.elapsed().as_secs_f64());
    build(&mut index, GraphRule { step_cost: args.step_cost, ..GraphRule::default() })?;
    let queries: Vec<VectorQuery> =
        asked.iter().map(|vector| index.vector_query(vector)).collect::<Result<_, _>>()?;
    println!(
        "k = {}; {} queries, median times and mean processor times; recall against the exact scan",
        args.k,
        queries.len()
    );
    println!(
        "{:<44} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}",
        "selection", "allowed", "scan ms", "cpu", "ms", "cpu", "walked", "recall"
    );
    let all = index.active().all();
    measure(&index, "all", args.k, &queries, |_| all.clone());
    for percent in [90, 70, 50, 40, 35, 30, 27, 25, 20, 10, 5, 1] {
        let chosen: Selection = all.iter().filter(|ordinal| mixed(ordinal.get()) % 100 < percent).collect();
        measure(&index, &format!("{percent} % at random"), args.k, &queries, |_| chosen.clone());
    }
    for (percent, nearest) in [(30, true), (50, false), (30, false), (10, false)] {
        let name =
            format!("the {percent} % {} the query", if nearest { "nearest to" } else { "farthest from" });
        let some = queries.get(..40).unwrap_or(&queries);
        measure(&index, &name, args.k, some, |query| by_distance(&index, query, percent, nearest));
    }
    for gone in [5_u32, 10, 20] {
        for (number, _) in (1_u32..).zip(&rows).filter(|(number, _)| mixed(*number) % 100 < gone) {
            index.remove(MemoryId::from_u128(u128::from(number)));
        }
        let left = index.active().all();
        measure(&index, &format!("all, after {gone} % were removed at random"), args.k, &queries, |_| {
            left.clone()
        });
    }
    Ok(())
}

fn build(index: &mut NamespaceIndex, rule: GraphRule) -> anyhow::Result<()> {
    let (began, cpu, memory) = (Instant::now(), thread_ms(), resident_bytes());
    let mut build = index.begin_graph(rule);
    let begin_ms = began.elapsed().as_secs_f64() * 1e3;
    let mut fetch_ms: Vec<f64> = Vec::new();
    loop {
        let fetch = Instant::now();
        if !index.fetch_for_graph(&mut build, 64)? {
            break;
        }
        fetch_ms.push(fetch.elapsed().as_secs_f64() * 1e3);
        build.add(64)?;
    }
    let built = build.finish()?;
    let seconds = began.elapsed().as_secs_f64();
    let cpu_ms = thread_ms() - cpu;
    let install = Instant::now();
    drop(index.install_graph(built));
    let install_ms = install.elapsed().as_secs_f64() * 1e3;
    let stats = index.stats().active.graph.unwrap_or_default();
    let per_row = |total: f64| total / f64::from(u32::try_from(stats.covered.max(1)).unwrap_or(u32::MAX));
    println!(
        "graph: {} rows, {} nodes in {seconds:.1} s, {:.0} us of processor time a row",
        stats.covered,
        stats.nodes,
        per_row(cpu_ms * 1e3)
    );
    let grown = resident_bytes() - memory;
    println!("graph: the process has grown by {:.0} B a row", per_row(grown));
    println!(
        "graph: {:.0} B a row beside the rows",
        per_row(f64::from(u32::try_from(stats.bytes).unwrap_or(u32::MAX)))
    );
    println!(
        "locked: begin {begin_ms:.3} ms, fetch of 64 rows {:.3} ms (p99 {:.3}), install {install_ms:.3} ms",
        at(&mut fetch_ms, 50),
        at(&mut fetch_ms, 99)
    );
    Ok(())
}

fn measure(
    index: &NamespaceIndex,
    name: &str,
    k: usize,
    queries: &[VectorQuery],
    selection: impl Fn(&VectorQuery) -> Selection,
) {
    let shelf = index.active();
    let selections: Vec<Selection> = queries.iter().map(selection).collect();
    let asked = || queries.iter().zip(&selections);
    let mut exact = Vec::new();
    let scan = timed(asked(), |(query, selection)| exact.push(shelf.vector_top(selection, query, k)));
    let mut found = Vec::new();
    let walk =
        timed(asked(), |(query, selection)| found.push(shelf.vector_top_by_graph(selection, query, k)));
    let walked = found.iter().filter(|(_, way)| matches!(way, VectorWay::Graph { .. })).count();
    let had = |(exact, found): (&Vec<Scored>, &(Vec<Scored>, VectorWay))| {
        exact.iter().filter(|one| found.0.contains(one)).count()
    };
    let hits: usize = exact.iter().zip(&found).map(had).sum();
    let wanted: usize = exact.iter().map(Vec::len).sum();
    let share = |part: usize, whole: usize| part as f64 / whole.max(1) as f64;
    let (walked, recall) = (100.0 * share(walked, queries.len()), share(hits, wanted));
    let allowed = selections.last().map_or(0, Selection::len);
    println!(
        "{name:<44} {allowed:>8} {:>8.3} {:>8.3} {:>8.3} {:>8.3} {walked:>6.0} % {recall:>8.4}",
        scan.median_ms, scan.cpu_ms, walk.median_ms, walk.cpu_ms
    );
}

/// How long something took: the median of single ones, and the mean of this thread's processor time, which other
/// programs on the machine disturb less.
struct Timed {
    median_ms: f64,
    cpu_ms: f64,
}

fn timed<T>(inputs: impl Iterator<Item = T>, mut run: impl FnMut(T)) -> Timed {
    let (mut times, cpu) = (Vec::new(), thread_ms());
    for input in inputs {
        let began = Instant::now();
        run(input);
        times.push(began.elapsed().as_secs_f64() * 1e3);
    }
    let count = f64::from(u32::try_from(times.len().max(1)).unwrap_or(u32::MAX));
    let cpu_ms = (thread_ms() - cpu) / count;
    Timed { median_ms: at(&mut times, 50), cpu_ms }
}

fn by_distance(index: &NamespaceIndex, query: &VectorQuery, percent: usize, nearest: bool) -> Selection {
    let shelf = index.active();
    let score =
        |ordinal: Ordinal| Scored { ordinal, score: shelf.vectors().score(ordinal, query).unwrap_or(0.0) };
    let mut all: Vec<Scored> = shelf.all().iter().map(score).collect();
    all.sort_by(|a, b| a.score.total_cmp(&b.score));
    if nearest {
        all.reverse();
    }
    all.truncate(all.len() * percent / 100);
    all.into_iter().map(|one| one.ordinal).collect()
}

/// A memory that says nothing but its vector.
pub(crate) fn record(number: u128, vector: &Embedding) -> anyhow::Result<Record> {
    let namespace: Namespace = "vectors".parse()?;
    let (id, now) = (MemoryId::from_u128(number), Timestamp::from_ms(1_800_000_000_000));
    let moment = Moment { namespace, id, now, embedding_model: Some("measured".to_owned()) };
    let memory = Draft { content: "m".to_owned(), ..Draft::default() }.check()?.into_memory(moment);
    let vectors = vec![NamedVector { role: VectorRole::Content, embedding: vector.clone() }];
    Ok(Record { memory, vectors })
}

/// A number that looks random and is the same for the same one.
fn mixed(number: u32) -> u32 {
    let mut z = u64::from(number).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 32)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    u32::try_from(z >> 33).unwrap_or(0)
}

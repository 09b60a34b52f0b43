//! Whether the graph stays as good as it was: at first, as a restart builds it, and over rounds of replacing half.

use std::path::PathBuf;
use std::time::Instant;

use clap::Parser;
use hindsight_core::Embedding;
use hindsight_index::{GraphNeed, GraphRule, NamespaceIndex, Scored, VectorQuery, VectorWay};

use crate::npy;
use crate::synthetic::Random;
use crate::vectors::record;

/// What to measure on.
#[derive(Debug, Parser)]
pub struct Args {
    /// A folder with `base.i8.npy` and `queries.i8.npy`: int8 matrices of rows to be normalised. Without it vectors in
    /// clusters are made up.
    #[arg(long)]
    vectors: Option<PathBuf>,
    /// Most rows.
    #[arg(long, default_value_t = 100_000)]
    limit: usize,
    /// Queries.
    #[arg(long, default_value_t = 300)]
    queries: usize,
    /// How many nearest are asked for.
    #[arg(long, default_value_t = 10)]
    k: usize,
    /// Rounds; in each, half of the memories get other vectors.
    #[arg(long, default_value_t = 3)]
    rounds: u32,
}

/// Components of vectors that are made up, and clusters that they lie in.
const DIMENSION: usize = 384;
const CLUSTERS: usize = 500;

/// Builds, measures, replaces, measures again, and prints a line each time.
///
/// # Errors
/// When the files can't be read, or no graph can be built.
pub fn run(args: &Args) -> anyhow::Result<()> {
    let (mut rows, asked) = match &args.vectors {
        Some(dir) => (
            npy::embeddings(&dir.join("base.i8.npy"), args.limit)?,
            npy::embeddings(&dir.join("queries.i8.npy"), args.queries)?,
        ),
        None => (clustered(args.limit, 1)?, clustered(args.queries, 2)?),
    };
    println!("{} rows, {} queries, recall@{} against the exact scan", rows.len(), asked.len(), args.k);
    let mut index = filled(&rows)?;
    build(&mut index)?;
    measure("at first", &index, &asked, args.k)?;
    for round in 1..=args.rounds {
        let mut random = Random(u64::from(round));
        let replaced: Vec<usize> = (0..rows.len()).filter(|_| random.bits().is_multiple_of(2)).collect();
        // The vectors move on among those that are replaced, so that what there is to be found stays the same.
        let moved: Vec<Embedding> = replaced.iter().map(|row| rows[*row].clone()).collect();
        let from = moved.iter().cycle().skip(replaced.len() / 3 + 1);
        for (row, vector) in replaced.iter().zip(from) {
            rows[*row] = vector.clone();
            index.apply(&record(number(*row), vector)?)?;
            if index.graph_need(GraphRule::default()) == GraphNeed::Build {
                build(&mut index)?;
            }
        }
        let what = format!("after round {round}: {} replaced", replaced.len());
        measure(&what, &index, &asked, args.k)?;
    }
    let mut index = filled(&rows)?;
    build(&mut index)?;
    measure("after a restart", &index, &asked, args.k)
}

fn number(row: usize) -> u128 {
    u128::try_from(row).unwrap_or(u128::MAX) + 1
}

fn filled(rows: &[Embedding]) -> anyhow::Result<NamespaceIndex> {
    let mut index = NamespaceIndex::default();
    for (row, vector) in rows.iter().enumerate() {
        index.apply(&record(number(row), vector)?)?;
    }
    Ok(index)
}

fn build(index: &mut NamespaceIndex) -> anyhow::Result<()> {
    let mut build = index.begin_graph(GraphRule::default());
    while index.fetch_for_graph(&mut build, 64)? {
        build.add(64)?;
    }
    drop(index.install_graph(build.finish()?));
    Ok(())
}

fn measure(what: &str, index: &NamespaceIndex, asked: &[Embedding], k: usize) -> anyhow::Result<()> {
    let (shelf, all) = (index.active(), index.active().all());
    let (mut had, mut wanted, mut walked) = (0_u32, 0_u32, 0_u32);
    let began = Instant::now();
    for vector in asked {
        let query: VectorQuery = index.vector_query(vector)?;
        let exact: Vec<Scored> = shelf.vector_top(&all, &query, k);
        let (found, way) = shelf.vector_top_by_graph(&all, &query, k);
        walked += u32::from(matches!(way, VectorWay::Graph { .. }));
        for one in exact {
            wanted += 1;
            had += u32::from(found.contains(&one));
        }
    }
    let recall = f64::from(had) / f64::from(wanted.max(1));
    let stats = index.stats().active.graph.unwrap_or_default();
    println!(
        "{what:<34} recall {recall:.4}, {walked} walked, graph of {} with {} gone and {} beside it, {:.1} s",
        stats.covered,
        stats.dead,
        stats.newer,
        began.elapsed().as_secs_f64()
    );
    Ok(())
}

/// Vectors in clusters of Zipf sizes: the first has a hundred times as many as the hundredth.
fn clustered(count: usize, seed: u64) -> anyhow::Result<Vec<Embedding>> {
    let mut random = Random(7);
    let centres: Vec<Vec<f32>> = (0..CLUSTERS).map(|_| random.vector(DIMENSION)).collect();
    let mut random = Random(seed);
    let mut one = || {
        // A product of two shares falls off as Zipf's law does.
        let cluster = random.below(CLUSTERS) * random.below(CLUSTERS) / CLUSTERS;
        let spread = random.vector(DIMENSION);
        let values: Vec<f32> = centres[cluster].iter().zip(spread).map(|(at, off)| at + 0.6 * off).collect();
        Ok(Embedding::new(&values)?)
    };
    (0..count).map(|_| one()).collect()
}

//! Weights of the channels: chosen on one half of the datasets, held against the other.

use std::path::PathBuf;

use clap::Parser;
use hindsight_core::{Mode, Weights};

use crate::asking::{Set, Way, mean, print};
use crate::half::Half;

/// What to choose on.
#[derive(Debug, Parser)]
pub struct Args {
    /// A folder with memories.jsonl and queries.jsonl; may be given several times.
    #[arg(long, required = true)]
    dataset: Vec<PathBuf>,
    /// Most rounds; one tries every weight up and down, with the others as they are.
    #[arg(long, default_value_t = 4)]
    rounds: usize,
}

/// What is tried for each weight, in the order of [`set`]. Only proportions count, so keyword stays.
const TRIED: [(&str, &[f64]); 4] = [
    ("vector", &[0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.45, 0.6]),
    ("window", &[0.05, 0.1, 0.2, 0.3, 0.4]),
    ("entity", &[0.0, 0.05, 0.1, 0.15, 0.2]),
    ("neighbour", &[0.0, 0.2, 0.3, 0.4, 0.5, 0.7]),
];
/// What a step must gain: less is noise, and the simpler story is the weight that was there.
const LEAST_GAIN: f64 = 0.0005;

/// Begins at vector and keyword alike and nothing else, climbs on one half, and prints what came of it on both.
///
/// # Errors
/// When a dataset can't be read or loaded.
pub fn run(args: &Args) -> anyhow::Result<()> {
    let sets: Vec<Set> = args.dataset.iter().map(|dir| Set::load(dir)).collect::<anyhow::Result<_>>()?;
    let mut weights = Weights { vector: 0.45, keyword: 0.45, window: 0.1, entity: 0.0, neighbour: 0.0 };
    let mut best = goal(&sets, weights)?;
    println!("chosen by the mean of hit@5 and nDCG@10 over the sets, on every second conversation or person");
    println!("{}: {best:.4}", text(weights));
    for _ in 0..args.rounds {
        let before = best;
        for (at, (name, tried)) in TRIED.iter().enumerate() {
            for value in *tried {
                let mut other = weights;
                set(&mut other, at, *value);
                let reached = goal(&sets, other)?;
                if reached > best + LEAST_GAIN {
                    (best, weights) = (reached, other);
                    println!("{name} {value}: {best:.4}");
                }
            }
        }
        if best <= before {
            break;
        }
    }
    println!("chosen: {}\n", text(weights));
    for (half, title) in [(Half::Tune, "hit@5 where they were chosen"), (Half::Report, "hit@5 on the others")]
    {
        let mut rows = Vec::new();
        for (name, way) in [
            ("vector alone", Way { mode: Mode::Vector, ..Way::hybrid(weights) }),
            ("keyword alone", Way { mode: Mode::Keyword, ..Way::hybrid(weights) }),
            ("chosen", Way::hybrid(weights)),
            ("default", Way::hybrid(Weights::default())),
        ] {
            let asked = sets.iter().map(|set| Ok(set.ask(half, &way)?.means()[0]));
            rows.push((name.to_owned(), asked.collect::<anyhow::Result<Vec<f64>>>()?));
        }
        print(title, &sets, &rows);
    }
    Ok(())
}

/// What is climbed: each set counts the same, however many questions it has.
fn goal(sets: &[Set], weights: Weights) -> anyhow::Result<f64> {
    let of_set = |set: &Set| {
        let [hit5, _, ndcg10] = set.ask(Half::Tune, &Way::hybrid(weights))?.means();
        Ok(f64::midpoint(hit5, ndcg10))
    };
    Ok(mean(&sets.iter().map(of_set).collect::<anyhow::Result<Vec<f64>>>()?))
}

fn set(weights: &mut Weights, at: usize, value: f64) {
    let places = [&mut weights.vector, &mut weights.window, &mut weights.entity, &mut weights.neighbour];
    if let Some(place) = places.into_iter().nth(at) {
        *place = value;
    }
}

fn text(weights: Weights) -> String {
    let Weights { vector, keyword, window, entity, neighbour } = weights;
    format!("vector {vector}, keyword {keyword}, window {window}, entity {entity}, neighbour {neighbour}")
}

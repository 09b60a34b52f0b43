//! What each channel and each signal is worth: everything as it is, then without one, then one alone.

use std::path::PathBuf;

use clap::Parser;
use hindsight_core::{Decay, Fusion, Mode, Weights};

use crate::asking::{Set, Way, print};
use crate::half::Half;
use crate::store::Signals;

/// What to measure.
#[derive(Debug, Parser)]
pub struct Args {
    /// A folder with memories.jsonl and queries.jsonl; may be given several times.
    #[arg(long, required = true)]
    dataset: Vec<PathBuf>,
    /// Which conversations or people are asked about.
    #[arg(long, value_enum, default_value_t)]
    half: Half,
}

/// Prints hit@5 and nDCG@10 by what is left out, a column a dataset.
///
/// # Errors
/// When a dataset can't be read or loaded.
pub fn run(args: &Args) -> anyhow::Result<()> {
    let sets: Vec<Set> = args.dataset.iter().map(|dir| Set::load(dir)).collect::<anyhow::Result<_>>()?;
    let mut tables: [Vec<(String, Vec<f64>)>; 2] = [Vec::new(), Vec::new()];
    let mut add = |name: &str, asked: Vec<[f64; 3]>| {
        for (table, metric) in tables.iter_mut().zip([0, 2]) {
            table.push((name.to_owned(), asked.iter().map(|means| means[metric]).collect()));
        }
    };
    for (name, way) in ways() {
        let asked = sets.iter().map(|set| Ok(set.ask(args.half, &way)?.means()));
        add(name, asked.collect::<anyhow::Result<_>>()?);
    }
    let way = Way::hybrid(Weights::default());
    for (name, signals) in signals() {
        let ask = |set: &Set| {
            let store = set.store_without(signals)?;
            Ok(set.ask_of(&store, args.half, &way)?.means())
        };
        add(name, sets.iter().map(ask).collect::<anyhow::Result<_>>()?);
    }
    for (title, rows) in ["hit@5", "nDCG@10"].into_iter().zip(&tables) {
        print(title, &sets, rows);
    }
    Ok(())
}

/// Channels, and what a request can switch off.
fn ways() -> Vec<(&'static str, Way)> {
    let all = Weights::default();
    let nothing = Weights { vector: 0.0, keyword: 0.0, window: 0.0, entity: 0.0, neighbour: 0.0 };
    let of = Way::hybrid;
    vec![
        ("everything", of(all)),
        ("without vector", of(Weights { vector: 0.0, ..all })),
        ("without keyword", of(Weights { keyword: 0.0, ..all })),
        ("without time words (window)", of(Weights { window: 0.0, ..all })),
        ("without names (entity)", of(Weights { entity: 0.0, ..all })),
        ("without neighbours", of(Weights { neighbour: 0.0, ..all })),
        ("without recency", Way { decay: Some(Decay::Off), ..of(all) }),
        ("vector alone", Way { mode: Mode::Vector, ..of(Weights { vector: 1.0, ..nothing }) }),
        ("keyword alone", Way { mode: Mode::Keyword, ..of(Weights { keyword: 1.0, ..nothing }) }),
        ("names alone", of(Weights { entity: 1.0, ..nothing })),
        ("vector and keyword", of(Weights { window: 0.0, entity: 0.0, neighbour: 0.0, ..all })),
        ("reciprocal ranks", Way { fusion: Fusion::Rrf, ..of(all) }),
        (
            "reciprocal ranks of vector and keyword",
            Way { fusion: Fusion::Rrf, ..of(Weights { window: 0.0, entity: 0.0, neighbour: 0.0, ..all }) },
        ),
    ]
}

/// What is left out of the memories themselves.
fn signals() -> [(&'static str, Signals); 5] {
    let all = Signals::default();
    [
        ("importance the same for all", Signals { importance: false, ..all }),
        ("confidence the same for all", Signals { confidence: false, ..all }),
        ("without the speaker's name", Signals { speaker: false, ..all }),
        ("without declared entities", Signals { entities: false, ..all }),
        ("without sessions", Signals { session: false, ..all }),
    ]
}

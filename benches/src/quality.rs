//! How often the right memory comes back, per category and mode.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Parser;
use hindsight_core::{Fusion, Mode, Weights};

use crate::asking::{ADVERSARIAL, Sums, Way, ask, facts};
use crate::dataset::Dataset;
use crate::half::Half;
use crate::metrics::hit;
use crate::outcomes;
use crate::store::Store;

/// What to measure.
#[derive(Debug, Parser)]
pub struct Args {
    /// A folder with memories.jsonl and queries.jsonl; may be given several times.
    #[arg(long, required = true)]
    dataset: Vec<PathBuf>,
    /// The weights of vector, keyword, window, entity and neighbour, such as 0.5,0.2,0.1,0.1,0.4.
    #[arg(long, value_delimiter = ',')]
    weights: Option<Vec<f64>>,
    /// Join channels by reciprocal ranks.
    #[arg(long)]
    rrf: bool,
    /// Which conversations or people are asked about.
    #[arg(long, value_enum, default_value_t)]
    half: Half,
    /// Print a line a question that hybrid recall misses among its first five.
    #[arg(long)]
    misses: bool,
    /// Print JSON instead of a table.
    #[arg(long)]
    json: bool,
}

const MODES: [(&str, Mode); 3] =
    [("vector", Mode::Vector), ("keyword", Mode::Keyword), ("hybrid", Mode::Hybrid)];

/// Measures every dataset and prints a table a dataset.
///
/// # Errors
/// When a dataset can't be read or loaded.
pub fn run(args: &Args) -> anyhow::Result<()> {
    for dir in &args.dataset {
        let dataset = Dataset::read(dir)?;
        let store = Store::load(&dataset.items)?;
        let mut table: BTreeMap<(String, &str), Sums> = BTreeMap::new();
        for question in args.half.of(&dataset.questions) {
            let vector = store.embed(&question.text)?;
            for (name, mode) in MODES {
                let ranking = ask(&store, question, vector.as_ref(), &way(args, mode))?;
                let facts = facts(question);
                table.entry((question.category.clone(), name)).or_default().add(&ranking, &facts);
                if question.category != ADVERSARIAL {
                    table.entry(("all".to_owned(), name)).or_default().add(&ranking, &facts);
                }
                let names: Vec<&str> = ranking.iter().map(String::as_str).collect();
                if args.misses && mode == Mode::Hybrid && hit(&names, &facts, 5) < 0.5 {
                    eprintln!(
                        "{} {:?} {:?}: {ranking:?}",
                        question.namespace, question.text, question.relevant
                    );
                }
            }
        }
        let name = dir.display().to_string();
        if args.json {
            print_json(&name, &table)?;
        } else {
            print_table(&name, &dataset, &table);
            println!("{} items say what an item before them says\n", store.reinforced);
            outcomes::measure(&store, &dataset.questions)?.print();
        }
    }
    Ok(())
}

fn way(args: &Args, mode: Mode) -> Way {
    let weights = match args.weights.as_deref() {
        Some(&[vector, keyword, window, entity, neighbour]) => {
            Weights { vector, keyword, window, entity, neighbour }
        }
        _ => Weights::default(),
    };
    let fusion = if args.rrf { Fusion::Rrf } else { Fusion::Weighted };
    Way { mode, fusion, ..Way::hybrid(weights) }
}

fn print_table(name: &str, dataset: &Dataset, table: &BTreeMap<(String, &str), Sums>) {
    println!("{name}: {} memories, {} questions", dataset.items.len(), dataset.questions.len());
    println!(
        "{:<24}{:>10}  {:<8}{:>8}{:>11}{:>9}",
        "category", "questions", "mode", "hit@5", "recall@10", "nDCG@10"
    );
    for ((category, mode), sums) in table {
        let [hit5, recall10, ndcg10] = sums.means();
        println!("{category:<24}{:>10}  {mode:<8}{hit5:>8.3}{recall10:>11.3}{ndcg10:>9.3}", sums.questions);
    }
    println!();
}

fn print_json(name: &str, table: &BTreeMap<(String, &str), Sums>) -> anyhow::Result<()> {
    let rows: Vec<serde_json::Value> = table
        .iter()
        .map(|((category, mode), sums)| {
            let [hit5, recall10, ndcg10] = sums.means();
            serde_json::json!({"dataset": name, "category": category, "mode": mode, "questions": sums.questions,
                "hit@5": hit5, "recall@10": recall10, "ndcg@10": ndcg10})
        })
        .collect();
    println!("{}", serde_json::to_string(&rows)?);
    Ok(())
}

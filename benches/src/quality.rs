//! How often the right memory comes back, per category and mode.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Parser;
use hindsight_core::{Fusion, Mode, Recall, Weights};
use hindsight_embed::Embedder;

use crate::dataset::{Dataset, Question};
use crate::metrics::{Facts, hit, ndcg, recall};
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
    /// Print a line a question that hybrid recall misses among its first five.
    #[arg(long)]
    misses: bool,
    /// Print JSON instead of a table.
    #[arg(long)]
    json: bool,
}

/// Hits that are asked for: the metrics look at ten.
const TOP_K: usize = 10;
/// A category whose questions have a tempting wrong answer for evidence; it stays out of the overall figures.
const ADVERSARIAL: &str = "adversarial";
const MODES: [(&str, Mode); 3] =
    [("vector", Mode::Vector), ("keyword", Mode::Keyword), ("hybrid", Mode::Hybrid)];

/// Sums of the metrics over questions.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    questions: u32,
    hit5: f64,
    recall10: f64,
    ndcg10: f64,
}

impl Sums {
    fn add(&mut self, ranking: &[&str], facts: &Facts<'_>) {
        self.questions += 1;
        self.hit5 += hit(ranking, facts, 5);
        self.recall10 += recall(ranking, facts, 10);
        self.ndcg10 += ndcg(ranking, facts, 10);
    }

    fn means(&self) -> [f64; 3] {
        [self.hit5, self.recall10, self.ndcg10].map(|sum| sum / f64::from(self.questions.max(1)))
    }
}

/// Measures every dataset and prints a table a dataset.
///
/// # Errors
/// When a dataset can't be read or loaded.
pub fn run(args: &Args) -> anyhow::Result<()> {
    for dir in &args.dataset {
        let dataset = Dataset::read(dir)?;
        let store = Store::load(&dataset.items)?;
        let mut table: BTreeMap<(String, &str), Sums> = BTreeMap::new();
        for question in &dataset.questions {
            for (name, mode) in MODES {
                let ranking = ask(&store, question, mode, args)?;
                let ranking: Vec<&str> = ranking.iter().map(String::as_str).collect();
                let facts = facts(question);
                table.entry((question.category.clone(), name)).or_default().add(&ranking, &facts);
                if question.category != ADVERSARIAL {
                    table.entry(("all".to_owned(), name)).or_default().add(&ranking, &facts);
                }
                if args.misses && mode == Mode::Hybrid && hit(&ranking, &facts, 5) < 0.5 {
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

/// The facts that answer a question: the groups where the dataset has some, else each right memory by itself.
fn facts(question: &Question) -> Facts<'_> {
    if question.groups.is_empty() {
        question.relevant.iter().map(|id| vec![id.as_str()]).collect()
    } else {
        question.groups.iter().map(|group| group.iter().map(String::as_str).collect()).collect()
    }
}

fn ask(store: &Store, question: &Question, mode: Mode, args: &Args) -> anyhow::Result<Vec<String>> {
    let vector = if mode == Mode::Keyword { None } else { store.embed(&question.text)? };
    // A text that the model knows no piece of has no vector: there is nothing to look for in that mode.
    if mode == Mode::Vector && vector.is_none() {
        return Ok(Vec::new());
    }
    let weights = match args.weights.as_deref() {
        Some(&[vector, keyword, window, entity, neighbour]) => {
            Weights { vector, keyword, window, entity, neighbour }
        }
        _ => Weights::default(),
    };
    let request = Recall {
        query: question.text.clone(),
        vector,
        embedding_model: Some(store.embedder.model().to_owned()),
        mode,
        top_k: TOP_K,
        weights,
        fusion: if args.rrf { Fusion::Rrf } else { Fusion::Weighted },
        now: Some(question.as_of),
        observe: true,
        ..Recall::default()
    };
    let recalled = store.engine.recall(&question.namespace.parse()?, &request)?.wait()?;
    // What was said several times is one hit: it stands for the item that is asked for, if it is one of them.
    Ok(recalled.hits.iter().map(|hit| store.name(hit, &question.relevant)).collect())
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

//! Asking the questions of a dataset in many ways, and summing how good the answers were.

use std::path::Path;

use hindsight_core::{Decay, Embedding, Fusion, Mode, Recall, Weights};
use hindsight_embed::Embedder as _;

use crate::dataset::{Dataset, Question};
use crate::half::Half;
use crate::metrics::{Facts, hit, ndcg, recall};
use crate::store::{Signals, Store};

/// Hits that are asked for: the metrics look at ten.
const TOP_K: usize = 10;
/// A category whose questions have a tempting wrong answer for evidence; it stays out of the overall figures.
pub const ADVERSARIAL: &str = "adversarial";

/// One way to ask.
#[derive(Debug, Clone)]
pub struct Way {
    /// Which channels look.
    pub mode: Mode,
    /// What each counts.
    pub weights: Weights,
    /// How they are joined.
    pub fusion: Fusion,
    /// How recency falls; by kind when absent.
    pub decay: Option<Decay>,
}

impl Way {
    /// As a recall with these weights asks.
    #[must_use]
    pub fn hybrid(weights: Weights) -> Way {
        Way { mode: Mode::Hybrid, weights, fusion: Fusion::Weighted, decay: None }
    }
}

/// Sums of the metrics over questions.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sums {
    /// How many questions.
    pub questions: u32,
    hit5: f64,
    recall10: f64,
    ndcg10: f64,
}

impl Sums {
    /// Adds the answer to one question.
    pub fn add(&mut self, ranking: &[String], facts: &Facts<'_>) {
        let ranking: Vec<&str> = ranking.iter().map(String::as_str).collect();
        self.questions += 1;
        self.hit5 += hit(&ranking, facts, 5);
        self.recall10 += recall(&ranking, facts, 10);
        self.ndcg10 += ndcg(&ranking, facts, 10);
    }

    /// The means of hit@5, recall@10 and nDCG@10.
    #[must_use]
    pub fn means(&self) -> [f64; 3] {
        [self.hit5, self.recall10, self.ndcg10].map(|sum| sum / f64::from(self.questions.max(1)))
    }
}

/// The facts that answer a question: the groups where the dataset has some, else each right memory by itself.
#[must_use]
pub fn facts(question: &Question) -> Facts<'_> {
    if question.groups.is_empty() {
        question.relevant.iter().map(|id| vec![id.as_str()]).collect()
    } else {
        question.groups.iter().map(|group| group.iter().map(String::as_str).collect()).collect()
    }
}

/// The answer to a question, as ids of the dataset, best first.
///
/// # Errors
/// When the recall fails.
pub fn ask(
    store: &Store,
    question: &Question,
    vector: Option<&Embedding>,
    way: &Way,
) -> anyhow::Result<Vec<String>> {
    // A text that the model knows no piece of has no vector: there is nothing to look for in that mode.
    if way.mode == Mode::Vector && vector.is_none() {
        return Ok(Vec::new());
    }
    let request = Recall {
        query: question.text.clone(),
        vector: vector.filter(|_| way.mode != Mode::Keyword).cloned(),
        embedding_model: Some(store.embedder.model().to_owned()),
        mode: way.mode,
        top_k: TOP_K,
        weights: way.weights,
        fusion: way.fusion,
        decay: way.decay,
        now: Some(question.as_of),
        observe: true,
        ..Recall::default()
    };
    let recalled = store.engine.recall(&question.namespace.parse()?, &request)?.wait()?;
    // What was said several times is one hit: it stands for the item that is asked for, if it is one of them.
    Ok(recalled.hits.iter().map(|hit| store.name(hit, &question.relevant)).collect())
}

/// A dataset whose questions are embedded, to be asked again and again.
pub struct Set {
    /// The last part of its folder's path, or the last two where the last is shared.
    pub name: String,
    dataset: Dataset,
    vectors: Vec<Option<Embedding>>,
    store: Store,
}

impl Set {
    /// Reads a folder and loads its memories.
    ///
    /// # Errors
    /// When it can't be read or loaded.
    pub fn load(dir: &Path) -> anyhow::Result<Set> {
        let mut dataset = Dataset::read(dir)?;
        dataset.questions.retain(|question| question.category != ADVERSARIAL);
        let store = Store::load(&dataset.items)?;
        let vectors =
            dataset.questions.iter().map(|one| store.embed(&one.text)).collect::<anyhow::Result<_>>()?;
        let name = dir.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        Ok(Set { name, dataset, vectors, store })
    }

    /// Another store of the same memories, of which some signals are left out.
    ///
    /// # Errors
    /// When it can't be loaded.
    pub fn store_without(&self, signals: Signals) -> anyhow::Result<Store> {
        Store::load_with(&self.dataset.items, signals)
    }

    /// Asks the questions of a half.
    ///
    /// # Errors
    /// When a recall fails.
    pub fn ask(&self, half: Half, way: &Way) -> anyhow::Result<Sums> {
        self.ask_of(&self.store, half, way)
    }

    /// As [`Set::ask`], of another store.
    ///
    /// # Errors
    /// When a recall fails.
    pub fn ask_of(&self, store: &Store, half: Half, way: &Way) -> anyhow::Result<Sums> {
        let asked = half.of(&self.dataset.questions);
        let mut sums = Sums::default();
        for (question, vector) in self.dataset.questions.iter().zip(&self.vectors) {
            if asked.iter().any(|one| std::ptr::eq(*one, question)) {
                sums.add(&ask(store, question, vector.as_ref(), way)?, &facts(question));
            }
        }
        Ok(sums)
    }
}

/// Prints a table: a name a row, a set a column.
pub fn print(title: &str, sets: &[Set], rows: &[(String, Vec<f64>)]) {
    print!("{title:<44}");
    sets.iter().for_each(|set| print!("{:>14}", set.name));
    println!("{:>8}", "mean");
    for (name, values) in rows {
        print!("{name:<44}");
        values.iter().for_each(|value| print!("{value:>14.3}"));
        println!("{:>8.3}", mean(values));
    }
    println!();
}

/// The mean of some numbers; 0 of none.
#[must_use]
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / f64::from(u32::try_from(values.len().max(1)).unwrap_or(u32::MAX))
}

//! The memories and questions of the benches: seeded, with vectors in clusters as real ones are, or with real ones.

use std::path::Path;

use hindsight_core::time::{DAY_MS, Span};
use hindsight_core::{
    Embedding, Filter, Mode, Namespace, RawVector, RawVectors, Recall, Timestamp, VectorRole,
};
use hindsight_engine::{BatchRequest, Engine, WriteItem};

use crate::npy;
use crate::synthetic::{Random, item};

/// Clusters that made-up vectors lie in.
const CLUSTERS: usize = 500;
/// How far a made-up vector is from the centre of its cluster, for each component of at most 1.
const SPREAD: f32 = 0.5;
/// Memories of one request.
const BATCH: usize = 500;

/// Makes memories and questions.
pub struct Workload {
    random: Random,
    dimension: usize,
    centres: Vec<Vec<f32>>,
    real: Vec<Embedding>,
    asked: Vec<Embedding>,
    next: usize,
    now: Timestamp,
}

/// What a question asks with.
#[derive(Debug, Clone, Copy)]
pub enum Shape {
    /// The nearest vectors of all.
    Vector,
    /// The nearest vectors of one task type in some days.
    Filtered {
        /// How many days back.
        days: i64,
    },
    /// Words, vector, names, all signals.
    Hybrid,
}

impl Workload {
    /// A workload of vectors that are made up, or those of a folder with `base.i8.npy` and `queries.i8.npy`.
    ///
    /// # Errors
    /// When the folder can't be read.
    pub fn new(
        seed: u64,
        dimension: usize,
        vectors: Option<&Path>,
        limit: usize,
    ) -> anyhow::Result<Workload> {
        let mut random = Random(seed);
        let centres = (0..CLUSTERS).map(|_| random.vector(dimension)).collect();
        let read = |name: &str, limit| vectors.map(|dir| npy::embeddings(&dir.join(name), limit)).transpose();
        let real = read("base.i8.npy", limit)?.unwrap_or_default();
        let asked = read("queries.i8.npy", usize::MAX)?.unwrap_or_default();
        let dimension = real.first().map_or(dimension, Embedding::dimension);
        let now = Timestamp::from_ms(1_800_000_000_000);
        Ok(Workload { random, dimension, centres, real, asked, next: 0, now })
    }

    fn made_up(&mut self) -> Vec<f32> {
        // Low numbers are frequent: clusters are of very different sizes.
        let cluster = self.random.below(CLUSTERS) * self.random.below(CLUSTERS) / CLUSTERS;
        let noise = self.random.vector(self.dimension);
        let centre = self.centres.get(cluster).map(Vec::as_slice).unwrap_or_default();
        centre.iter().zip(noise).map(|(centre, noise)| centre + SPREAD * noise).collect()
    }

    /// The next memory.
    pub fn item(&mut self) -> WriteItem {
        let mut item = item(&mut self.random, self.dimension, self.now);
        let real = self.real.get(self.next % self.real.len().max(1)).map(|real| real.components().to_vec());
        let values = real.unwrap_or_else(|| self.made_up());
        self.next += 1;
        let vector = RawVector { role: VectorRole::Content, values };
        item.vectors = Some(RawVectors { model: "synthetic".to_owned(), vectors: vec![vector] });
        item
    }

    /// Writes so many memories in large requests.
    ///
    /// # Errors
    /// When the engine refuses them.
    pub fn load(&mut self, engine: &Engine, namespace: &Namespace, count: usize) -> anyhow::Result<()> {
        let mut left = count;
        while left > 0 {
            let items: Vec<WriteItem> = (0..left.min(BATCH)).map(|_| self.item()).collect();
            left -= items.len();
            engine.write_batch(namespace, BatchRequest { items, ..BatchRequest::default() })?.wait()?;
        }
        Ok(())
    }

    /// The next question.
    ///
    /// # Errors
    /// When a made-up vector is none, which does not happen.
    pub fn question(&mut self, shape: Shape) -> anyhow::Result<Recall> {
        let picked = self.random.below(self.asked.len().max(1));
        let vector = match self.asked.get(picked) {
            Some(asked) => asked.clone(),
            None => Embedding::new(&self.made_up())?,
        };
        let words: Vec<String> = (0..3).map(|_| self.random.word()).collect();
        let base = Recall {
            embedding_model: Some("synthetic".to_owned()),
            vector: Some(vector),
            now: Some(self.now),
            top_k: 8,
            observe: true,
            ..Recall::default()
        };
        Ok(match shape {
            Shape::Vector => Recall { mode: Mode::Vector, ..base },
            Shape::Hybrid => Recall { query: words.join(" "), ..base },
            Shape::Filtered { days } => {
                let filter = Filter {
                    task_types: vec![format!("task-{}", self.random.below(20))],
                    last: Some(Span::from_ms(days * DAY_MS)),
                    ..Filter::default()
                };
                Recall { mode: Mode::Vector, filter, ..base }
            }
        })
    }

    /// A number below `count`; n is as frequent as 1 / (n + 1).
    pub fn zipf(&mut self, count: usize) -> usize {
        let weights = (1..=count).map(|rank| 1.0 / rank as f64);
        let share = self.random.below(1 << 30) as f64 / f64::from(1 << 30);
        let mut left = weights.clone().sum::<f64>() * share;
        for (number, weight) in weights.enumerate() {
            left -= weight;
            if left <= 0.0 {
                return number;
            }
        }
        count.saturating_sub(1)
    }
}

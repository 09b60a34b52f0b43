//! A dataset: `memories.jsonl` and `queries.jsonl` in one folder.

use std::io::BufRead;
use std::path::Path;

use anyhow::Context;
use hindsight_core::Timestamp;
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// One text to remember. Keys that are not named here are passed over.
#[derive(Debug, Clone, Deserialize)]
pub struct Item {
    /// Its id in the dataset.
    pub id: String,
    /// The person or conversation it belongs to.
    pub namespace: String,
    /// What was said or happened.
    pub text: String,
    /// When.
    pub timestamp: Timestamp,
    /// Who said it.
    #[serde(default)]
    pub speaker: Option<String>,
    /// The session it was said in, as a number or a word.
    #[serde(default)]
    pub session: Option<serde_json::Value>,
    /// Names it mentions.
    #[serde(default)]
    pub entities: Vec<String>,
    /// How a task ended, where it is one.
    #[serde(default)]
    pub outcome: Option<hindsight_core::Status>,
}

/// One question with its right answers.
#[derive(Debug, Clone, Deserialize)]
pub struct Question {
    /// The person or conversation that is asked about.
    pub namespace: String,
    /// The question.
    pub text: String,
    /// When it is asked.
    pub as_of: Timestamp,
    /// What sort of question it is.
    pub category: String,
    /// The memories that answer it.
    pub relevant: Vec<String>,
    /// Facts that are said in several memories: a fact is found when one of them is.
    #[serde(default)]
    pub groups: Vec<Vec<String>>,
    /// Of the right memories, the tasks that went well.
    #[serde(default)]
    pub relevant_success: Vec<String>,
    /// Of the right memories, the tasks that failed.
    #[serde(default)]
    pub relevant_failure: Vec<String>,
}

/// Memories and questions.
#[derive(Debug)]
pub struct Dataset {
    /// In the order of the file.
    pub items: Vec<Item>,
    /// In the order of the file, without those that have no right answer.
    pub questions: Vec<Question>,
}

impl Dataset {
    /// Reads a folder.
    ///
    /// # Errors
    /// When a file is missing or a line can't be read, with its number.
    pub fn read(dir: &Path) -> anyhow::Result<Dataset> {
        let items = lines(&dir.join("memories.jsonl"))?;
        let mut questions: Vec<Question> = lines(&dir.join("queries.jsonl"))?;
        questions.retain(|question| !question.relevant.is_empty());
        Ok(Dataset { items, questions })
    }
}

fn lines<T: DeserializeOwned>(path: &Path) -> anyhow::Result<Vec<T>> {
    let file = std::fs::File::open(path).with_context(|| format!("can't open {}", path.display()))?;
    let mut rows = Vec::new();
    for (index, line) in std::io::BufReader::new(file).lines().enumerate() {
        let at = || format!("{}:{}", path.display(), index + 1);
        let line = line.with_context(at)?;
        if !line.trim().is_empty() {
            rows.push(serde_json::from_str(&line).with_context(at)?);
        }
    }
    Ok(rows)
}

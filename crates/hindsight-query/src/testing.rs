//! A namespace small enough to be understood at a glance: a list of memories, read by brute force.

use hindsight_core::draft::{Draft, Moment};
use hindsight_core::explain::Barrier;
use hindsight_core::{AsOf, Axis, Embedding, Lsn, Memory, MemoryId, Reason, State, Timestamp};

use crate::view::{Allowed, Facts, ReadView, VectorWay};

pub(crate) const DAY: i64 = hindsight_core::time::DAY_MS;

/// 2026-11-30T12:00:00Z, a Monday.
pub(crate) fn now() -> Timestamp {
    "2026-11-30T12:00:00Z".parse().unwrap()
}

/// Memories by position; a word matches where the content holds it, a vector has two numbers.
#[derive(Default)]
pub(crate) struct Shelf {
    pub(crate) rows: Vec<(Memory, Option<Embedding>)>,
    /// Which way it says it went.
    pub(crate) way: VectorWay,
}

impl Shelf {
    /// Adds a memory that happened `age_days` ago; its id counts up from 1.
    pub(crate) fn add(&mut self, draft: Draft, age_days: i64, vector: Option<[f32; 2]>) -> MemoryId {
        let id = MemoryId::from_u128(self.rows.len() as u128 + 1);
        let at = now().plus_ms(-age_days * DAY);
        let moment = Moment { namespace: "test".parse().unwrap(), id, now: now(), embedding_model: None };
        let memory = Draft { occurred_at: Some(at), ..draft }.check().unwrap().into_memory(moment);
        self.rows.push((memory, vector.map(|values| Embedding::new(&values).unwrap())));
        id
    }
}

pub(crate) fn fact(content: &str) -> Draft {
    Draft { content: content.to_owned(), confidence: Some(1.0), ..Draft::default() }
}

fn best(mut found: Vec<(usize, f32)>, limit: usize) -> Vec<(usize, f32)> {
    found.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    found.truncate(limit);
    found
}

impl ReadView for Shelf {
    type Id = usize;
    type Set = Vec<usize>;
    type Terms = Vec<String>;
    type Vector = Embedding;
    type Entities = Vec<String>;

    fn revision(&self) -> Lsn {
        Lsn(self.rows.len() as u64)
    }

    fn allowed(&self, allowed: &Allowed<'_>) -> Vec<usize> {
        let yes = |memory: &Memory| {
            memory.state == State::Active
                && memory.is_visible_to(allowed.agent)
                && match allowed.as_of {
                    Some(as_of) => as_of.counts(memory, None, []).is_ok(),
                    None => allowed.include_history || memory.is_valid_at(allowed.now),
                }
                && allowed.filter.matches(memory, allowed.now)
        };
        (0..self.rows.len()).filter(|row| yes(&self.rows[*row].0)).collect()
    }

    fn place(&self, set: &Vec<usize>, _: &Allowed<'_>, id: MemoryId) -> Result<usize, Barrier> {
        let row = self.rows.iter().position(|(memory, _)| memory.id == id);
        let row = row.ok_or_else(|| Barrier::new(Reason::NoSuchMemory, "there is none"))?;
        set.contains(&row).then_some(row).ok_or_else(|| Barrier::new(Reason::Filtered, "filter"))
    }

    fn first_at(&self, axis: Axis, _: Option<&str>) -> Option<Timestamp> {
        let at = |memory: &Memory| match axis {
            Axis::Valid => hindsight_core::learn::holds_from(memory),
            Axis::Known => memory.created_at,
        };
        self.rows.iter().map(|(memory, _)| at(memory)).min()
    }

    fn count(&self, set: &Vec<usize>) -> u64 {
        set.len() as u64
    }

    fn prepare(&self, query: &Embedding) -> Embedding {
        query.clone()
    }

    fn vector_top(
        &self,
        set: &Vec<usize>,
        query: &Embedding,
        limit: usize,
        exact: bool,
    ) -> (Vec<(usize, f32)>, VectorWay) {
        let scored = set.iter().filter_map(|row| Some((*row, self.vector_score(*row, query)?))).collect();
        (best(scored, limit), if exact { VectorWay::Scan } else { self.way })
    }

    fn vector_score(&self, id: usize, query: &Embedding) -> Option<f32> {
        let row = self.rows[id].1.as_ref()?;
        Some(row.components().iter().zip(query.components().iter()).map(|(a, b)| a * b).sum())
    }

    fn analyse(&self, text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_lowercase).collect()
    }

    fn keyword_bound(&self, terms: &Vec<String>) -> f64 {
        terms.iter().filter(|term| self.rows.iter().any(|(memory, _)| memory.content.contains(*term))).count()
            as f64
    }

    fn keyword_top(&self, set: &Vec<usize>, terms: &Vec<String>, limit: usize) -> Vec<(usize, f32)> {
        let scored = set.iter().map(|row| (*row, self.keyword_score(*row, terms)));
        best(scored.filter(|(_, score)| *score > 0.0).collect(), limit)
    }

    fn keyword_score(&self, id: usize, terms: &Vec<String>) -> f32 {
        terms.iter().filter(|term| self.rows[id].0.content.contains(*term)).count() as f32
    }

    fn matched_terms(&self, id: usize, terms: &Vec<String>) -> Vec<String> {
        terms.iter().filter(|term| self.rows[id].0.content.contains(*term)).cloned().collect()
    }

    fn entities(&self, _set: &Vec<usize>, text: &str) -> Vec<String> {
        let names =
            self.rows.iter().flat_map(|(memory, _)| &memory.entities).map(|entity| entity.name.clone());
        let mut names: Vec<String> = names.filter(|name| text.contains(name)).collect();
        names.sort();
        names.dedup();
        names
    }

    fn entity_names(&self, entities: &Vec<String>) -> Vec<String> {
        entities.clone()
    }

    fn entity_top(&self, set: &Vec<usize>, entities: &Vec<String>, limit: usize) -> Vec<(usize, f32)> {
        let share = |row: usize| self.entity_paths(row, entities).len() as f32 / entities.len() as f32;
        let scored = set.iter().map(|row| (*row, share(*row)));
        best(scored.filter(|(_, score)| *score > 0.0).collect(), limit)
    }

    fn entity_score(&self, id: usize, entities: &Vec<String>) -> f64 {
        self.entity_paths(id, entities).len() as f64 / entities.len().max(1) as f64
    }

    fn entity_paths(&self, id: usize, entities: &Vec<String>) -> Vec<String> {
        let names = &self.rows[id].0.entities;
        entities.iter().filter(|name| names.iter().any(|entity| entity.name == **name)).cloned().collect()
    }

    fn happened_between(&self, set: &Vec<usize>, from: Timestamp, to: Timestamp, limit: usize) -> Vec<usize> {
        let inside = |row: &usize| (from..to).contains(&self.rows[*row].0.occurred_at);
        self.newest(&set.iter().copied().filter(inside).collect(), limit)
    }

    fn newest(&self, set: &Vec<usize>, limit: usize) -> Vec<usize> {
        let mut rows = set.clone();
        rows.sort_by_key(|row| std::cmp::Reverse((self.rows[*row].0.occurred_at, *row)));
        rows.truncate(limit);
        rows
    }

    fn neighbours(&self, set: &Vec<usize>, id: usize, within_ms: i64) -> Vec<usize> {
        let place = |row: &usize| (self.rows[*row].0.occurred_at, *row);
        let session = &self.rows[id].0.session_id;
        let near = |row: &&usize| {
            let apart = self.rows[**row].0.occurred_at.as_ms() - self.rows[id].0.occurred_at.as_ms();
            session.is_some() && self.rows[**row].0.session_id == *session && apart.abs() <= within_ms
        };
        let before =
            set.iter().filter(near).filter(|row| place(row) < place(&id)).max_by_key(|row| place(row));
        let after =
            set.iter().filter(near).filter(|row| place(row) > place(&id)).min_by_key(|row| place(row));
        before.into_iter().chain(after).copied().collect()
    }

    fn facts(&self, id: usize) -> Facts {
        let memory = &self.rows[id].0;
        Facts {
            id: memory.id,
            kind: memory.kind,
            status: memory.status,
            source: memory.source.kind,
            importance: memory.importance,
            confidence: memory.confidence,
            occurred_at: memory.occurred_at,
            useful_at: memory.useful_at(),
            used_count: memory.usage.used_count,
            access_count: memory.usage.access_count,
            idle_since: hindsight_core::life::is_unrecalled(memory).then_some(memory.updated_at),
            transient_failure: memory.is_transient_failure(),
        }
    }

    fn memory(&self, id: usize) -> Option<&Memory> {
        Some(&self.rows[id].0)
    }

    fn content_vector(&self, id: usize) -> Option<Embedding> {
        self.rows[id].1.clone()
    }

    fn changed_since(&self, id: usize, as_of: AsOf) -> bool {
        as_of.changed_since(&self.rows[id].0, None)
    }
}

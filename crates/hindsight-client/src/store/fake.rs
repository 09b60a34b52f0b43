//! A store for the tests of agents: in memory, without a server, the same each time.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hindsight_core::draft::{Moment, RecordDraft};
use hindsight_core::{
    Breakdown, Draft, Filter, Hit, Invalid, Lsn, Memory, MemoryId, Namespace, Patch, Recall, RecallId,
    Recalled, RuleState, State, Status, Timestamp, Verdict,
};

use super::MemoryStore;
use crate::recall::nothing;
use crate::reply::Outcome;
use crate::{Error, Feedback, Forgotten, Judged, Restored, UpdateOptions, Updated, Written};

/// 2026-01-01: where the clock of a new fake stands.
const START_MS: i64 = 1_767_225_600_000;

/// Memories in a map. Drafts, filters and patches are checked as the server checks them, and versions count as they do there; what
/// it lacks is all that the server knows about meaning: recall goes by the words that a text shares with the query (of
/// Chinese, by pairs of characters), and nothing is ever found to be the same or a contradiction.
///
/// Its clock goes on by a second with each change and its ids are counted, so a test gives the same each time.
///
/// ```
/// use hindsight_client::{Draft, Error, Fake, MemoryStore};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Error> {
/// let memory = Fake::new("ops")?;
/// let down = Error::Unavailable { reason: "DRAINING".to_owned(), message: "stopping".to_owned(), retry_after: None };
/// memory.fail_next(down);
/// let draft = Draft { content: "我对花生过敏".to_owned(), ..Draft::default() };
/// assert!(memory.write(draft.clone()).await.is_err());
/// assert!(memory.write(draft).await.is_ok());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Fake {
    namespace: Namespace,
    shared: Arc<Mutex<Held>>,
}

#[derive(Debug, Default)]
struct Held {
    memories: BTreeMap<MemoryId, Memory>,
    recalls: BTreeSet<RecallId>,
    failures: VecDeque<Error>,
    changes: u64,
    now_ms: i64,
}

impl Fake {
    /// An empty one.
    ///
    /// # Errors
    /// [`Error::Invalid`] when the name can't be that of a namespace.
    pub fn new(name: &str) -> Result<Fake, Error> {
        let namespace = hindsight_proto::call::namespace(name)?;
        let held = Held { now_ms: START_MS, ..Held::default() };
        Ok(Fake { namespace, shared: Arc::new(Mutex::new(held)) })
    }

    /// Lets the next call fail with this error; several are used up in their order.
    pub fn fail_next(&self, error: Error) {
        self.held().failures.push_back(error);
    }

    /// Sets its clock.
    pub fn set_now(&self, now: Timestamp) {
        self.held().now_ms = now.as_ms();
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        // What it holds is whole between any two lines; a test that panicked elsewhere must not hide behind this.
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The state, for a call; a planned failure comes first.
    fn call(&self) -> Result<MutexGuard<'_, Held>, Error> {
        let mut held = self.held();
        match held.failures.pop_front() {
            Some(error) => Err(error),
            None => Ok(held),
        }
    }

    fn store(&self, draft: Draft) -> Result<Written, Error> {
        let mut held = self.call()?;
        let checked = draft.check()?;
        let (now, revision) = held.change();
        let id = MemoryId::new(now, u128::from(revision.0));
        let moment = Moment { namespace: self.namespace.clone(), id, now, embedding_model: None };
        let memory = checked.into_memory(moment);
        if held.memories.contains_key(&memory.id) {
            let message = format!("there is a memory {} already", memory.id);
            return Err(Error::AlreadyExists { reason: "MEMORY_EXISTS".to_owned(), message });
        }
        held.memories.insert(memory.id, memory.clone());
        Ok(Written { outcome: Outcome::Created, memory, neighbors: Vec::new(), replayed: false, revision })
    }
}

impl Held {
    fn now(&self) -> Timestamp {
        Timestamp::from_ms(self.now_ms)
    }

    /// The time and position of a change.
    fn change(&mut self) -> (Timestamp, Lsn) {
        self.changes += 1;
        self.now_ms += 1_000;
        (self.now(), Lsn(self.changes))
    }

    fn find(&mut self, id: MemoryId) -> Result<&mut Memory, Error> {
        self.memories.get_mut(&id).ok_or_else(|| Error::NotFound {
            reason: "MEMORY_NOT_FOUND".to_owned(),
            message: format!("there is no memory {id}"),
        })
    }

    /// Moves memories from one state to another; those in any other are refused.
    fn set_state(&mut self, ids: &[MemoryId], from: State, to: State) -> Result<u32, Error> {
        for id in ids {
            let found = self.find(*id)?.state;
            if found != from && found != to {
                let message = format!("{id} is {found}");
                return Err(Error::Conflict { reason: "WRONG_STATE".to_owned(), message });
            }
        }
        let mut count = 0;
        for id in ids {
            let memory = self.find(*id)?;
            if memory.state == from {
                (memory.state, memory.version) = (to, memory.version + 1);
                count += 1;
            }
        }
        Ok(count)
    }
}

impl MemoryStore for Fake {
    fn name(&self) -> &Namespace {
        &self.namespace
    }

    async fn write(&self, draft: Draft) -> Result<Written, Error> {
        self.store(draft)
    }

    async fn record(&self, record: RecordDraft) -> Result<Written, Error> {
        self.store(record.into_draft()?)
    }

    async fn recall(&self, recall: Recall) -> Result<Recalled, Error> {
        let mut held = self.call()?;
        recall.check()?;
        let now = recall.now.unwrap_or(held.now());
        let agent = recall.agent_id.as_deref();
        let words = words(&recall.query);
        let seen = |memory: &&Memory| {
            let is_at_rest = memory.rule.as_ref().is_some_and(|rule| rule.rule_state != RuleState::Active);
            let shows =
                memory.state == State::Active || (recall.include_archived && memory.state == State::Archived);
            let holds = memory.is_valid_at(now) && !memory.is_expired_at(now) || recall.include_history;
            shows && holds && !is_at_rest && memory.is_visible_to(agent) && recall.filter.matches(memory, now)
        };
        let allowed: Vec<&Memory> = held.memories.values().filter(seen).collect();
        let mut answer = nothing(Lsn(held.changes));
        answer.allowed = u64::try_from(allowed.len()).unwrap_or(u64::MAX);
        let hits = allowed.into_iter().filter_map(|memory| hit(memory, &words, now));
        let mut hits: Vec<Hit> =
            hits.filter(|hit| recall.min_score.is_none_or(|least| hit.similarity >= least)).collect();
        hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.memory.id.cmp(&a.memory.id)));
        answer.omitted = u64::try_from(hits.len().saturating_sub(recall.top_k)).unwrap_or(u64::MAX);
        hits.truncate(recall.top_k);
        if !hits.is_empty() && !recall.observe {
            held.changes += 1;
            let id = RecallId::new(now, u128::from(held.changes));
            held.recalls.insert(id);
            answer.recall_id = Some(id);
        }
        answer.hits = hits;
        Ok(answer)
    }

    async fn get(&self, id: MemoryId) -> Result<Memory, Error> {
        self.call()?.find(id).cloned()
    }

    async fn list(&self, filter: Filter) -> Result<Vec<Memory>, Error> {
        let held = self.call()?;
        filter.check("filter.")?;
        let now = held.now();
        let wanted = |memory: &&Memory| {
            (memory.state != State::Forgotten || filter.states.contains(&State::Forgotten))
                && filter.matches(memory, now)
        };
        Ok(held.memories.values().filter(wanted).cloned().collect())
    }

    async fn update(&self, id: MemoryId, patch: Patch, options: UpdateOptions) -> Result<Updated, Error> {
        let mut held = self.call()?;
        let memory = held.find(id)?.clone();
        if let Some(version) = options.version.filter(|version| *version != memory.version) {
            let message = format!("{id} has version {}, not {version}", memory.version);
            return Err(Error::VersionMismatch { current: Some(memory.version), message });
        }
        let (now, revision) = held.change();
        let memory = patch.apply(&memory, now)?;
        held.memories.insert(id, memory.clone());
        Ok(Updated { memory, replayed: false, revision })
    }

    async fn forget(&self, ids: Vec<MemoryId>) -> Result<Forgotten, Error> {
        let mut held = self.call()?;
        let count = held.set_state(&ids, State::Active, State::Forgotten)?;
        let (_, revision) = held.change();
        Ok(Forgotten { count, ids, derived: Vec::new(), replayed: false, revision })
    }

    async fn restore(&self, ids: Vec<MemoryId>) -> Result<Restored, Error> {
        let mut held = self.call()?;
        let count = held.set_state(&ids, State::Forgotten, State::Active)?;
        let (_, revision) = held.change();
        Ok(Restored { count, replayed: false, revision })
    }

    async fn feedback(&self, feedback: Feedback) -> Result<Judged, Error> {
        let mut held = self.call()?;
        if feedback.recall_id.is_some_and(|id| !held.recalls.contains(&id)) {
            let message = "that recall is not remembered".to_owned();
            return Err(Error::NotFound { reason: "RECALL_NOT_FOUND".to_owned(), message });
        }
        if feedback.items.is_empty() {
            return Err(Invalid::one("items", "is empty: expected at least one memory").into());
        }
        let (now, revision) = held.change();
        let mut memories = Vec::new();
        for (id, verdict) in feedback.items {
            let memory = held.find(id)?;
            match verdict {
                Verdict::Used => {
                    memory.usage.used_count += 1;
                    memory.usage.last_used_at = Some(now);
                    match feedback.task_status {
                        Some(Status::Success) => memory.usage.success_after_use += 1,
                        Some(Status::Failure) => memory.usage.failure_after_use += 1,
                        _ => {}
                    }
                }
                Verdict::Outdated => memory.valid_to = Some(now),
                _ => {}
            }
            memories.push(memory.clone());
        }
        Ok(Judged { memories, replayed: false, revision })
    }
}

/// A memory as a hit: its score is the share of the query's words that it holds. Without a common word it is none, unless nothing
/// was asked for in words.
fn hit(memory: &Memory, words: &BTreeSet<String>, now: Timestamp) -> Option<Hit> {
    let text = format!(
        "{} {} {} {}",
        memory.content,
        memory.summary,
        memory.keywords.join(" "),
        memory.tags.join(" ")
    );
    let own = self::words(&text);
    let matched: Vec<String> = words.intersection(&own).cloned().collect();
    if matched.is_empty() && !words.is_empty() {
        return None;
    }
    #[expect(clippy::cast_precision_loss, reason = "a query has few words")]
    let share = matched.len() as f64 / words.len().max(1) as f64;
    let breakdown = Breakdown {
        parts: Vec::new(),
        confidence: f64::from(memory.confidence),
        source_weight: 1.0,
        transient: 1.0,
        unused: 1.0,
        score: share,
        matched_terms: matched,
        path: Vec::new(),
    };
    Some(Hit {
        score: share,
        similarity: share,
        age_days: memory.occurred_at.days_until(now),
        breakdown,
        verified_count: memory.usage.verified_count,
        collapsed: Vec::new(),
        changed_since: false,
        memory: memory.clone(),
    })
}

/// The words of a text in lower case; where words are not set apart, pairs of characters.
fn words(text: &str) -> BTreeSet<String> {
    let lower = text.to_lowercase();
    let mut found = BTreeSet::new();
    for word in lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let chars: Vec<char> = word.chars().collect();
        if word.is_ascii() || chars.len() == 1 {
            found.insert(word.to_owned());
        } else {
            found.extend(chars.windows(2).map(|pair| pair.iter().collect::<String>()));
        }
    }
    found
}

#[cfg(test)]
mod tests;

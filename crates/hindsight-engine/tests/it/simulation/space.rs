//! A namespace as it should be, and what a request does to it.

use std::collections::BTreeMap;
use std::sync::Arc;

use hindsight_core::{State, Timestamp, Verdict};
use hindsight_engine::ErrorKind;

use super::known::{Known, claimed, confirmed, echoed, is_true, judged, replaced, step, written};
use super::life::{Values, is_echo, values};
use super::model::{Commit, Gone, Images};
use super::request::{Call, Item, MODEL, Request, chosen_id, patch};
use super::settle::{Wins, settled};

#[derive(Debug, Clone, Default)]
pub(super) struct Space {
    pub(super) items: BTreeMap<Item, Arc<Known>>,
    /// The batch of each item's newest change.
    pub(super) changed: BTreeMap<Item, u64>,
    /// The newest batch of the namespace; 0 when there is none.
    pub(super) applied: u64,
    /// The batch that dropped it; 0 when none did.
    dropped: u64,
    pub(super) last_at: Option<Timestamp>,
    /// Request ids with the batch that carried them out, and the memories that it changed.
    pub(super) requests: BTreeMap<u32, (u64, Vec<Item>)>,
    /// Those of purges.
    pub(super) purges: BTreeMap<u32, u64>,
    /// What purged memories said. It outlives the namespace.
    pub(super) purged_values: Values,
    /// Whether writes are acknowledged before they are durable.
    pub(super) is_async: bool,
    /// The batch that said so last; 0 when none did.
    settings_at: u64,
}

/// How long the engine keeps what is forgotten.
const FORGOTTEN_MS: i64 = 30 * 24 * 3_600_000;

impl Space {
    pub(super) fn add(&mut self, lsn: u64, commit: &Commit) {
        for (item, known) in &commit.images {
            self.items.insert(*item, Arc::clone(known));
            self.changed.insert(*item, lsn);
        }
        if let Call::Settings { is_async } = commit.request.call {
            (self.is_async, self.settings_at) = (is_async, lsn);
        }
        match &commit.gone {
            Gone::Nothing => {}
            Gone::Purged(items) => {
                let said = items.iter().filter_map(|item| self.items.get(item));
                self.purged_values.extend(said.flat_map(|known| values(&known.memory)));
                self.items.retain(|item, _| !items.contains(item));
                self.changed.retain(|item, _| !items.contains(item));
                self.requests.retain(|_, (_, changed)| !changed.iter().any(|item| items.contains(item)));
            }
            Gone::PurgedAll(_) | Gone::Dropped => {
                let purges = std::mem::take(&mut self.purges);
                let purged_values = std::mem::take(&mut self.purged_values);
                *self = Space { purges, purged_values, dropped: lsn, ..Space::default() };
            }
        }
        self.applied = lsn;
        self.last_at = if self.exists() { self.last_at.max(Some(commit.at)) } else { None };
        match commit.request.id {
            Some(id) if commit.request.call.is_purge() => drop(self.purges.insert(id, lsn)),
            Some(id) => {
                let changed = commit.images.iter().map(|(item, _)| *item).collect();
                self.requests.insert(id, (lsn, changed));
            }
            None => {}
        }
    }

    pub(super) fn exists(&self) -> bool {
        self.applied > self.dropped
    }

    /// D1: up to where the log must be durable before an answer is shown that reflects this namespace up to `lsn`.
    pub(super) fn shown_after(&self, lsn: u64) -> u64 {
        if self.is_async { lsn.min(self.settings_at) } else { lsn }
    }

    /// What a request takes away when the clock stands at `now`.
    pub(super) fn gone(&self, request: &Request, now: Timestamp) -> Result<Gone, ErrorKind> {
        let some = |items: Vec<Item>| if items.is_empty() { Gone::Nothing } else { Gone::Purged(items) };
        let all = |is_one: &dyn Fn(Item, &Known) -> bool| -> Vec<Item> {
            self.items.iter().filter(|(item, known)| is_one(**item, known)).map(|(item, _)| *item).collect()
        };
        Ok(match &request.call {
            Call::Purge { items } => {
                self.all_known(items)?;
                some(items.clone())
            }
            // By its tag, which a memory that was said again as another has of both.
            Call::PurgeGroup { group } => {
                let tag = format!("group-{group}");
                some(all(&|_, known| known.memory.tags.contains(&tag)))
            }
            Call::Expire => some(all(&|_, known| {
                let memory = &known.memory;
                memory.state == State::Forgotten && memory.updated_at < now.plus_ms(-FORGOTTEN_MS)
            })),
            Call::PurgeAll | Call::Drop if !self.exists() => return Err(ErrorKind::NotFound),
            Call::PurgeAll => Gone::PurgedAll(all(&|_, _| true)),
            Call::Drop => Gone::Dropped,
            _ => Gone::Nothing,
        })
    }

    pub(super) fn images(
        &self,
        request: &Request,
        at: Timestamp,
        now: Timestamp,
    ) -> Result<Images, ErrorKind> {
        match &request.call {
            Call::Write { item, .. } if self.is_taken(*item) => Err(ErrorKind::AlreadyExists),
            Call::Write { item, dry } => {
                let (item, new) = written(request.space, *item, at);
                match self.is_tombstoned(item, &new.memory, None, at) {
                    true => Err(ErrorKind::Precondition),
                    false if *dry => Ok(Vec::new()),
                    false => Ok(vec![(item, new)]),
                }
            }
            Call::Echo { item, of } => {
                let new = echoed(request.space, *item, *of, at);
                let says_it =
                    |known: &Known| is_true(known, at) && known.memory.content == new.memory.content;
                let said = self.items.iter().filter(|(_, known)| says_it(known));
                let said = said.filter(|(_, known)| known.memory.kind == new.memory.kind);
                match said.max_by_key(|(_, known)| known.memory.created_at) {
                    Some((_, known)) if is_echo(&known.memory, at) => Ok(Vec::new()),
                    Some((item, known)) => Ok(vec![(*item, Arc::new(confirmed(known, &new.memory, at)))]),
                    None if self.is_tombstoned(*item, &new.memory, None, at) => Err(ErrorKind::Precondition),
                    None => Ok(vec![(*item, Arc::new(new))]),
                }
            }
            Call::Claim { item, .. } if self.is_taken(*item) => Err(ErrorKind::AlreadyExists),
            Call::Claim { item, slot } => {
                let (item, new) = claimed(request.space, *item, *slot, at);
                if self.is_tombstoned(item, &new.memory, None, at) {
                    return Err(ErrorKind::Precondition);
                }
                let subject = &new.memory.claims[0].subject;
                let says_other = |known: &Known| {
                    is_true(known, at) && known.memory.claims.iter().any(|claim| claim.subject == *subject)
                };
                let older = self.items.iter().filter(|(_, known)| is_true(&new, at) && says_other(known));
                let id = chosen_id(item).unwrap();
                let older = older.map(|(older, known)| (*older, Arc::new(replaced(known, id, at))));
                let older: Images = older.collect();
                Ok(std::iter::once((item, new)).chain(older).collect())
            }
            Call::Feedback { items, task } => {
                let items: Vec<(Item, Verdict)> = items.clone();
                let is_there = |item: &Item| {
                    self.items.get(item).is_some_and(|known| known.memory.state != State::Forgotten)
                };
                if !self.exists() || !items.iter().all(|(item, _)| is_there(item)) {
                    return Err(ErrorKind::NotFound);
                }
                let judge = |(item, verdict): &(Item, Verdict)| {
                    Some((*item, Arc::new(judged(&self.items[item], *verdict, *task, at)?)))
                };
                Ok(items.iter().filter_map(judge).collect())
            }
            Call::Rollback { item } => self.taken_back(*item, at),
            Call::Archive => Ok(self.archived(now, at)),
            Call::Accesses { counts } => Ok(counts
                .iter()
                .filter(|(item, _, _)| self.items[item].memory.state != State::Forgotten)
                .map(|(item, count, last)| {
                    let mut known = Known::clone(&self.items[item]);
                    known.memory.usage.access_count += count;
                    known.memory.usage.last_accessed_at =
                        known.memory.usage.last_accessed_at.max(Some(*last));
                    (*item, Arc::new(known))
                })
                .collect()),
            Call::Batch { items, all_or_nothing, is_spoiled } => {
                let free = items.iter().filter(|item| !self.is_taken(**item));
                let free = free.map(|item| written(request.space, *item, at));
                let free: Images =
                    free.filter(|(item, new)| !self.is_tombstoned(*item, &new.memory, None, at)).collect();
                if *all_or_nothing && (*is_spoiled || free.len() < items.len()) {
                    return Err(ErrorKind::Invalid);
                }
                Ok(free)
            }
            Call::Update { item, change, version } => self.updated(*item, *change, *version, at),
            Call::Forget { items } => {
                self.all_known(items)?;
                Ok(self.with_state(items, State::Forgotten, at))
            }
            Call::ForgetGroup { group } => {
                let tag = format!("group-{group}");
                let tagged = self.items.iter().filter(|(_, known)| known.memory.tags.contains(&tag));
                let items: Vec<Item> = tagged.map(|(item, _)| *item).collect();
                Ok(self.with_state(&items, State::Forgotten, at))
            }
            Call::Restore { items } => {
                self.all_known(items)?;
                let is_out =
                    |item: &Item| matches!(self.items[item].memory.state, State::Forgotten | State::Archived);
                if !items.iter().all(is_out) {
                    return Err(ErrorKind::Precondition);
                }
                let images = self.with_state(items, State::Active, at);
                Ok(settled(&self.items, images, Wins::Later, at))
            }
            Call::Purge { .. }
            | Call::PurgeGroup { .. }
            | Call::PurgeAll
            | Call::Expire
            | Call::Drop
            | Call::Settings { .. } => Ok(Vec::new()),
        }
    }

    /// W7: what a memory replaced is valid again, and it is history. Only claims replace, and those have chosen ids.
    fn taken_back(&self, item: Item, at: Timestamp) -> Result<Images, ErrorKind> {
        let known = self.items.get(&item).filter(|known| known.memory.state != State::Forgotten);
        let memory = &known.ok_or(ErrorKind::NotFound)?.memory;
        let by = memory.superseded_by.filter(|_| memory.state == State::Superseded);
        let Some(newer_id) = by.or(chosen_id(item)) else { return Err(ErrorKind::Precondition) };
        let is_replaced = |known: &Known| {
            known.memory.state == State::Superseded && known.memory.superseded_by == Some(newer_id)
        };
        let older: Vec<Item> =
            self.items.iter().filter(|(_, known)| is_replaced(known)).map(|(item, _)| *item).collect();
        let newer = self.items.iter().find(|(item, _)| chosen_id(**item) == Some(newer_id));
        if older.is_empty() || newer.is_some_and(|(_, newer)| newer.memory.superseded_by.is_some()) {
            return Err(ErrorKind::Precondition);
        }
        let mut images = Images::new();
        let place = |item: &Item| (self.items[item].memory.occurred_at, chosen_id(*item));
        let value = |item: &Item| self.items[item].memory.claims.first().map(|claim| claim.value.clone());
        // Of values that were learned out of order only the latest comes back; all of them speak of one property.
        let outdone =
            |item: &Item| older.iter().any(|other| place(other) > place(item) && value(other) != value(item));
        for item in older.iter().filter(|item| !outdone(item)) {
            let mut known = Known::clone(&self.items[item]);
            let memory = &mut known.memory;
            memory.state = State::Active;
            memory.superseded_by = None;
            memory.valid_to = None;
            memory.confidence = step(memory.confidence, 0.3);
            memory.version += 1;
            memory.updated_at = at;
            images.push((*item, Arc::new(known)));
        }
        let latest = older.iter().max_by_key(|item| (self.items[item].memory.occurred_at, chosen_id(**item)));
        if let Some((item, newer)) =
            newer.filter(|(_, newer)| matches!(newer.memory.state, State::Active | State::Archived))
        {
            let mut known = Known::clone(newer);
            let memory = &mut known.memory;
            memory.state = State::Superseded;
            memory.superseded_by = latest.and_then(|item| chosen_id(*item));
            memory.valid_to = Some(memory.valid_to.map_or(at, |to| to.min(at)));
            memory.confidence = step(memory.confidence, -0.3);
            memory.version += 1;
            memory.updated_at = at;
            images.push((*item, Arc::new(known)));
        }
        Ok(settled(&self.items, images, Wins::Risen, at))
    }

    /// Whether the id that the caller chooses for it is taken.
    fn is_taken(&self, item: Item) -> bool {
        chosen_id(item).is_some() && self.items.contains_key(&item)
    }

    fn all_known(&self, items: &[Item]) -> Result<(), ErrorKind> {
        let known = self.exists() && items.iter().all(|item| self.items.contains_key(item));
        if known { Ok(()) } else { Err(ErrorKind::NotFound) }
    }

    fn updated(
        &self,
        item: Item,
        change: u32,
        version: Option<u64>,
        at: Timestamp,
    ) -> Result<Images, ErrorKind> {
        let old = self.items.get(&item).filter(|old| old.memory.state != State::Forgotten);
        let old = old.ok_or(ErrorKind::NotFound)?;
        if version.is_some_and(|version| version != old.memory.version) {
            return Err(ErrorKind::Conflict);
        }
        let (patch, vectors) = patch(item, change);
        let changes_text = patch.changes_text();
        let mut memory = patch.apply(&old.memory, at).unwrap();
        if self.is_tombstoned(item, &memory, Some(&old.memory), at) {
            return Err(ErrorKind::Precondition);
        }
        let mut vector = old.vector;
        if vectors.is_some() {
            memory.embedding_model = Some(MODEL.to_owned());
            vector = Some(change);
        } else if changes_text {
            memory.embedding_model = None;
            vector = None;
        }
        Ok(vec![(item, Arc::new(Known { memory, vector }))])
    }

    /// Those of the items that are not in the state yet, brought into it.
    fn with_state(&self, items: &[Item], state: State, at: Timestamp) -> Images {
        let mut items = items.to_vec();
        items.sort_unstable();
        items.dedup();
        let olds = items.iter().map(|item| (*item, &self.items[item]));
        let changed = olds.filter(|(_, old)| old.memory.state != state).map(|(item, old)| {
            let mut known = Known::clone(old);
            let is_history = state == State::Active && known.memory.superseded_by.is_some();
            known.memory.state = if is_history { State::Superseded } else { state };
            known.memory.version += 1;
            known.memory.updated_at = at;
            (item, Arc::new(known))
        });
        changed.collect()
    }
}

//! The database as it should be: a list of committed batches, and what they add up to. It is the answer key, so it is
//! written without the engine: only the checks of drafts and patches, which are pure, are the product's own.

use std::collections::BTreeMap;
use std::sync::Arc;

use hindsight_core::draft::Moment;
use hindsight_core::{Draft, Memory, MemoryId, State, Status, Timestamp, Verdict};
use hindsight_engine::ErrorKind;

use super::life::{Values, is_echo, values};
use super::request::{
    Call, Item, MODEL, NAMESPACES, Request, chosen_id, claim, draft, echo, has_vector, namespace, patch,
};
use super::settle::{Wins, settled};

/// A memory as it should be. Its id is only a stand-in until the database has told which one it chose.
#[derive(Debug, Clone)]
pub(super) struct Known {
    pub(super) memory: Memory,
    /// The change that its vector came with, 0 for the write; none when it has no vector.
    pub(super) vector: Option<u32>,
}

/// One committed batch: memories as they are after it.
#[derive(Debug, Clone)]
pub(super) struct Commit {
    pub(super) request: Request,
    at: Timestamp,
    pub(super) images: Images,
    pub(super) gone: Gone,
}

/// What a batch takes away.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) enum Gone {
    #[default]
    Nothing,
    /// These, without a trace.
    Purged(Vec<Item>),
    /// The namespace, in which these were; without a trace.
    PurgedAll(Vec<Item>),
    /// The namespace.
    Dropped,
}

/// Memories as they are after a batch.
pub(super) type Images = Vec<(Item, Arc<Known>)>;

/// What a namespace holds after some number of batches.
#[derive(Debug, Clone, Default)]
pub(super) struct Space {
    pub(super) items: BTreeMap<Item, Arc<Known>>,
    /// The batch of each item's newest change.
    pub(super) changed: BTreeMap<Item, u64>,
    /// The newest batch of the namespace; 0 when there is none.
    pub(super) applied: u64,
    /// The batch that dropped it; 0 when none did.
    dropped: u64,
    last_at: Option<Timestamp>,
    /// Request ids with the batch that carried them out, and the memories that it changed.
    requests: BTreeMap<u32, (u64, Vec<Item>)>,
    /// Those of purges.
    purges: BTreeMap<u32, u64>,
    /// What purged memories said. It outlives the namespace.
    pub(super) purged_values: Values,
    /// Whether writes are acknowledged before they are durable.
    pub(super) is_async: bool,
    /// The batch that said so last; 0 when none did.
    settings_at: u64,
}

/// All namespaces after some number of batches.
pub(super) type World = [Space; NAMESPACES.len()];

/// What a request will do.
#[derive(Debug)]
pub(super) enum Foreseen {
    /// It is refused with an error of this kind.
    Refused(ErrorKind),
    /// It changes nothing. The answer reflects the namespace as it is.
    Nothing,
    /// It was carried out before, by this batch.
    Replayed(u64),
    /// It makes a batch.
    Commit(Commit),
}

#[derive(Debug, Clone, Default)]
pub(super) struct Model {
    commits: Vec<Commit>,
    /// All of the commits together.
    pub(super) world: World,
    /// The ids that are known: chosen ones, and those that an acknowledged answer or a recovery told.
    ids: BTreeMap<Item, MemoryId>,
}

impl Space {
    fn add(&mut self, lsn: u64, commit: &Commit) {
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
}

impl Model {
    pub(super) fn sent(&self) -> u64 {
        self.commits.len() as u64
    }

    pub(super) fn push(&mut self, commit: Commit) {
        let lsn = self.sent() + 1;
        self.world[commit.request.space].add(lsn, &commit);
        self.commits.push(commit);
    }

    /// What the first `count` batches add up to.
    pub(super) fn world_at(&self, count: u64) -> World {
        let mut world = World::default();
        for (lsn, commit) in (1..=count).zip(&self.commits) {
            world[commit.request.space].add(lsn, commit);
        }
        world
    }

    /// What was purged in the first `count` batches and was not written again.
    pub(super) fn purged(&self, count: u64) -> Vec<Item> {
        let commits = self.commits.iter().take(usize::try_from(count).unwrap());
        let mut purged: Vec<Item> = commits
            .flat_map(|commit| match &commit.gone {
                Gone::Purged(items) | Gone::PurgedAll(items) => items.as_slice(),
                Gone::Nothing | Gone::Dropped => &[],
            })
            .copied()
            .collect();
        let world = self.world_at(count);
        purged.retain(|item| !world.iter().any(|space| space.items.contains_key(item)));
        purged
    }

    /// Whether a batch behind `lsn` dropped a namespace.
    pub(super) fn drops_after(&self, lsn: u64) -> bool {
        let commits = self.commits.iter().skip(usize::try_from(lsn).unwrap());
        commits.into_iter().any(|commit| matches!(commit.gone, Gone::PurgedAll(_) | Gone::Dropped))
    }

    /// Items whose words another one repeated: these may stay when they are purged, as the other's.
    pub(super) fn repeated(&self) -> Vec<Item> {
        let calls = self.commits.iter().map(|commit| &commit.request.call);
        calls.filter_map(|call| if let Call::Echo { of, .. } = call { Some(*of) } else { None }).collect()
    }

    /// A crash took everything behind the first `count` batches. Ids that the database had chosen in them are gone too.
    pub(super) fn forget_after(&mut self, count: u64) {
        self.commits.truncate(usize::try_from(count).unwrap());
        self.world = self.world_at(count);
        let world = &self.world;
        self.ids.retain(|item, _| world.iter().any(|space| space.items.contains_key(item)));
    }

    pub(super) fn id(&self, item: Item) -> Option<MemoryId> {
        chosen_id(item).or_else(|| self.ids.get(&item).copied())
    }

    /// The database said which id it chose.
    pub(super) fn learn(&mut self, item: Item, id: MemoryId) -> Result<(), String> {
        match self.id(item) {
            Some(known) if known != id => Err(format!("item {item} is {id}, and was {known} before")),
            _ => {
                self.ids.insert(item, id);
                Ok(())
            }
        }
    }

    /// The memories as a batch left them.
    pub(super) fn images(&self, lsn: u64) -> &[(Item, Arc<Known>)] {
        &self.commits[usize::try_from(lsn - 1).unwrap()].images
    }

    /// The batch that carried out a request which came before.
    pub(super) fn lsn_of(&self, request: &Request) -> u64 {
        request.id.map_or(0, |id| self.world[request.space].requests[&id].0)
    }

    /// What the request will do, now that the clock stands at `now_ms`.
    pub(super) fn foresee(&self, request: &Request, now_ms: u64) -> Foreseen {
        let space = &self.world[request.space];
        let seen = request.id.and_then(|id| {
            if request.call.is_purge() {
                space.purges.get(&id)
            } else {
                space.requests.get(&id).map(|(lsn, _)| lsn)
            }
        });
        if let Some(lsn) = seen {
            let before = &self.commits[usize::try_from(lsn - 1).unwrap()].request;
            let same = before.call == request.call;
            return if same { Foreseen::Replayed(*lsn) } else { Foreseen::Refused(ErrorKind::AlreadyExists) };
        }
        let now = Timestamp::from_ms(i64::try_from(now_ms).unwrap());
        // D9: later than the batch before, whatever the clock says.
        let at = space.last_at.map_or(now, |last| now.max(last.plus_ms(1)));
        let gone = match space.gone(request, now) {
            Ok(gone) => gone,
            Err(kind) => return Foreseen::Refused(kind),
        };
        match space.images(request, at, now) {
            Ok(images) if images.is_empty() && gone == Gone::Nothing && !request.call.is_settings() => {
                Foreseen::Nothing
            }
            Ok(images) => Foreseen::Commit(Commit { request: request.clone(), at, images, gone }),
            Err(kind) => Foreseen::Refused(kind),
        }
    }
}

/// How long the engine keeps what is forgotten.
const FORGOTTEN_MS: i64 = 30 * 24 * 3_600_000;

impl Space {
    pub(super) fn exists(&self) -> bool {
        self.applied > self.dropped
    }

    /// D1: up to where the log must be durable before an answer is shown that reflects this namespace up to `lsn`.
    pub(super) fn shown_after(&self, lsn: u64) -> u64 {
        if self.is_async { lsn.min(self.settings_at) } else { lsn }
    }

    /// What a request takes away when the clock stands at `now`.
    fn gone(&self, request: &Request, now: Timestamp) -> Result<Gone, ErrorKind> {
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

    fn images(&self, request: &Request, at: Timestamp, now: Timestamp) -> Result<Images, ErrorKind> {
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
        for item in &older {
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

/// Whether a memory can be confirmed or contradicted.
pub(super) fn is_true(known: &Known, at: Timestamp) -> bool {
    let memory = &known.memory;
    memory.state == State::Active && memory.is_valid_at(at) && !memory.is_expired_at(at)
}

/// W6: surer by a tenth, verified once more, its time refreshed, what is new added.
fn confirmed(known: &Known, new: &Memory, at: Timestamp) -> Known {
    let mut known = known.clone();
    let memory = &mut known.memory;
    memory.confidence = step(memory.confidence, 0.1);
    memory.usage.verified_count += 1;
    memory.occurred_at = memory.occurred_at.max(at);
    memory.updated_at = at;
    memory.version += 1;
    memory.importance = memory.importance.max(new.importance);
    // What is said again without an end has none.
    memory.expires_at = None;
    for tag in &new.tags {
        if !memory.tags.contains(tag) && memory.tags.len() < 64 {
            memory.tags.push(tag.clone());
        }
    }
    known
}

/// L1: what was used counts, and rises or falls with the task; what is wrong falls; what is outdated ends.
fn judged(known: &Known, verdict: Verdict, task: Option<Status>, at: Timestamp) -> Option<Known> {
    let mut known = known.clone();
    let memory = &mut known.memory;
    match (verdict, task) {
        (Verdict::Ignored, _) => return None,
        (Verdict::Used, task) => {
            memory.usage.used_count += 1;
            memory.usage.last_used_at = memory.usage.last_used_at.max(Some(at));
            memory.usage.success_after_use += u32::from(task == Some(Status::Success));
            memory.usage.failure_after_use += u32::from(task == Some(Status::Failure));
            // No failure of these runs says what helped.
            let by = match task {
                Some(Status::Success) if memory.status != Some(Status::Failure) => 0.1,
                Some(Status::Success | Status::Failure) => -0.1,
                _ => 0.0,
            };
            memory.confidence = step(memory.confidence, by);
        }
        (Verdict::Wrong, _) if memory.confidence <= 0.0 => return None,
        (Verdict::Wrong, _) => memory.confidence = step(memory.confidence, -0.3),
        (Verdict::Outdated, _) if memory.valid_to.is_some_and(|to| to <= at) => return None,
        (Verdict::Outdated, _) => memory.valid_to = Some(at),
    }
    memory.version += 1;
    memory.updated_at = at;
    Some(known)
}

/// W7: history, less sure by three tenths.
pub(super) fn replaced(known: &Known, by: MemoryId, at: Timestamp) -> Known {
    let mut known = known.clone();
    let memory = &mut known.memory;
    memory.state = State::Superseded;
    memory.superseded_by = Some(by);
    memory.confidence = step(memory.confidence, -0.3);
    memory.valid_to = Some(memory.valid_to.map_or(at, |to| to.min(at)));
    memory.updated_at = at;
    memory.version += 1;
    known
}

/// Confidences are counted in millionths.
#[expect(clippy::cast_possible_truncation, reason = "the nearest f32 is what is stored")]
pub(super) fn step(confidence: f32, by: f64) -> f32 {
    (((f64::from(confidence) + f64::from(by as f32)) * 1e6).round() / 1e6).clamp(0.0, 1.0) as f32
}

fn echoed(space: usize, item: Item, of: Item, at: Timestamp) -> Known {
    Known { memory: memory(space, echo(item, of), None, at), vector: None }
}

fn claimed(space: usize, item: Item, slot: u32, at: Timestamp) -> (Item, Arc<Known>) {
    let vector = has_vector(item).then_some(0);
    (item, Arc::new(Known { memory: memory(space, claim(item, slot), vector, at), vector }))
}

fn written(space: usize, item: Item, at: Timestamp) -> (Item, Arc<Known>) {
    let vector = has_vector(item).then_some(0);
    (item, Arc::new(Known { memory: memory(space, draft(item), vector, at), vector }))
}

fn memory(space: usize, draft: Draft, vector: Option<u32>, at: Timestamp) -> Memory {
    let moment = Moment {
        namespace: namespace(space),
        id: MemoryId::from_u128(0),
        now: at,
        embedding_model: vector.map(|_| MODEL.to_owned()),
    };
    draft.check().unwrap().into_memory(moment)
}

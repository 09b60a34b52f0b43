//! The database as it should be: a list of committed batches, and what they add up to. It is the answer key, so it is
//! written without the engine: only the checks of drafts and patches, which are pure, are the product's own.

use std::collections::BTreeMap;
use std::sync::Arc;

use hindsight_core::draft::Moment;
use hindsight_core::{Memory, MemoryId, State, Timestamp};
use hindsight_engine::ErrorKind;

use super::request::{
    Call, Item, MODEL, NAMESPACES, Request, chosen_id, draft, group_of, has_vector, namespace, patch,
};

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
}

/// Memories as they are after a batch.
type Images = Vec<(Item, Arc<Known>)>;

/// What a namespace holds after some number of batches.
#[derive(Debug, Clone, Default)]
pub(super) struct Space {
    pub(super) items: BTreeMap<Item, Arc<Known>>,
    /// The batch of each item's newest change.
    pub(super) changed: BTreeMap<Item, u64>,
    /// The newest batch of the namespace; 0 when there is none.
    pub(super) applied: u64,
    last_at: Option<Timestamp>,
    /// Request ids with the batch that carried them out.
    requests: BTreeMap<u32, u64>,
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
        self.applied = lsn;
        self.last_at = self.last_at.max(Some(commit.at));
        if let Some(id) = commit.request.id {
            self.requests.insert(id, lsn);
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

    /// What the request will do, now that the clock stands at `now_ms`.
    pub(super) fn foresee(&self, request: &Request, now_ms: u64) -> Foreseen {
        let space = &self.world[request.space];
        if let Some(lsn) = request.id.and_then(|id| space.requests.get(&id)) {
            let before = &self.commits[usize::try_from(lsn - 1).unwrap()].request;
            let same = before.call == request.call;
            return if same { Foreseen::Replayed(*lsn) } else { Foreseen::Refused(ErrorKind::AlreadyExists) };
        }
        let now = Timestamp::from_ms(i64::try_from(now_ms).unwrap());
        // D9: later than the batch before, whatever the clock says.
        let at = space.last_at.map_or(now, |last| now.max(last.plus_ms(1)));
        match space.images(request, at) {
            Ok(images) if images.is_empty() => Foreseen::Nothing,
            Ok(images) => Foreseen::Commit(Commit { request: request.clone(), at, images }),
            Err(kind) => Foreseen::Refused(kind),
        }
    }
}

impl Space {
    fn exists(&self) -> bool {
        self.applied > 0
    }

    fn images(&self, request: &Request, at: Timestamp) -> Result<Images, ErrorKind> {
        match &request.call {
            Call::Write { item, .. } if self.is_taken(*item) => Err(ErrorKind::AlreadyExists),
            Call::Write { dry: true, .. } => Ok(Vec::new()),
            Call::Write { item, .. } => Ok(vec![written(request.space, *item, at)]),
            Call::Batch { items, all_or_nothing, is_spoiled } => {
                let is_bad = *is_spoiled || items.iter().any(|item| self.is_taken(*item));
                if *all_or_nothing && is_bad {
                    return Err(ErrorKind::Invalid);
                }
                let free = items.iter().filter(|item| !self.is_taken(**item));
                Ok(free.map(|item| written(request.space, *item, at)).collect())
            }
            Call::Update { item, change, version } => self.updated(*item, *change, *version, at),
            Call::Forget { items } => {
                self.all_known(items)?;
                Ok(self.with_state(items, State::Forgotten, at))
            }
            Call::ForgetGroup { group } => {
                let items: Vec<Item> =
                    self.items.keys().copied().filter(|item| group_of(*item) == *group).collect();
                Ok(self.with_state(&items, State::Forgotten, at))
            }
            Call::Restore { items } => {
                self.all_known(items)?;
                if items.iter().any(|item| self.items[item].memory.state != State::Forgotten) {
                    return Err(ErrorKind::Precondition);
                }
                Ok(self.with_state(items, State::Active, at))
            }
        }
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
            known.memory.state = state;
            known.memory.version += 1;
            known.memory.updated_at = at;
            (item, Arc::new(known))
        });
        changed.collect()
    }
}

fn written(space: usize, item: Item, at: Timestamp) -> (Item, Arc<Known>) {
    let vector = has_vector(item).then_some(0);
    let moment = Moment {
        namespace: namespace(space),
        id: MemoryId::from_u128(0),
        now: at,
        embedding_model: vector.map(|_| MODEL.to_owned()),
    };
    let memory = draft(item).check().unwrap().into_memory(moment);
    (item, Arc::new(Known { memory, vector }))
}

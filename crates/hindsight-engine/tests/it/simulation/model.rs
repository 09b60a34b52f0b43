//! The database as it should be: a list of committed batches, and what they add up to. It is the answer key, so it is
//! written without the engine: only the checks of drafts and patches, which are pure, are the product's own.

use std::collections::BTreeMap;
use std::sync::Arc;

use hindsight_core::{MemoryId, Timestamp};
use hindsight_engine::ErrorKind;

use super::known::Known;
use super::request::{Call, Item, NAMESPACES, Request, chosen_id};
use super::space::Space;

/// One committed batch: memories as they are after it.
#[derive(Debug, Clone)]
pub(super) struct Commit {
    pub(super) request: Request,
    pub(super) at: Timestamp,
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

//! What happens next, and sending requests: each is foreseen by the model, sent, and its answer kept.

use hindsight_core::{Durability, Memory, MemoryId, Outcome as Did, Recall, SettingsPatch, State, Timestamp};
use hindsight_engine::{
    Affected, BatchRequest, BatchWritten, EngineError, FeedbackRequest, ForgetRequest, ForgetTarget, Maker,
    RestoreRequest, RollbackRequest, SettingsRequest, UpdateRequest, WriteItem, WriteOptions, Written,
};

use super::expect::{self, Outcome, every_state};
use super::model::{Foreseen, Model};
use super::request::{
    Call, Item, NAMESPACES, Request, chunk_of, chunk_tag, claim, echo, group_filter, item_of, namespace,
    patch, request_id, tagged, write_item,
};
use super::sim::{End, Sim};

const HOUR_MS: u64 = 3_600_000;

/// What an answer must say beside its content.
#[derive(Debug, Clone, Copy)]
pub(super) struct Told {
    pub(super) replayed: bool,
    /// None when nothing was done, and the answer is about whatever is there.
    pub(super) revision: Option<u64>,
}

impl Sim {
    /// One step of the run.
    pub(super) fn step(&mut self) -> Outcome {
        if self.config.is_crowded && self.random.percent(12) {
            return self.crowd();
        }
        match self.random.below(100) {
            0..19 => self.send_new(Sim::write),
            19..24 => self.send_new(Sim::echo),
            24..28 => self.send_new(Sim::claim),
            28..36 => self.send_new(Sim::batch),
            36..38 => self.send_new(Sim::purge),
            38..44 => self.send_new(Sim::update),
            44..48 => self.send_new(Sim::feedback),
            48..51 => self.send_new(Sim::rollback),
            51 => self.count(),
            52 => self.archive(),
            53..58 => self.send_new(Sim::forget),
            58..63 => self.send_new(Sim::restore),
            63..67 => self.send_again(),
            67 => self.send_new(Sim::settings),
            68 => self.drop_namespace(),
            69..71 => self.read(),
            71..75 => self.read_one(),
            75..76 => self.open_directory(),
            76..77 => self.move_clock(),
            77..89 => self.commit(),
            89..92 => self.witness(),
            92..94 => self.checkpoint(),
            94 => self.erase_or_expire(),
            95..97 => self.reopen(End::Close),
            97..99 => self.reopen(End::Kill),
            _ => self.reopen(End::PowerCut),
        }
    }

    fn move_clock(&mut self) -> Outcome {
        let now = self.now_ms();
        let now = match self.random.below(20) {
            0..10 => now + self.random.below(5_000),
            10..14 => now - self.random.below(HOUR_MS),
            14..18 => now + self.random.below(48 * HOUR_MS),
            18 => now,
            _ => now + 365 * 24 * HOUR_MS,
        };
        self.io.disk().set_now_ms(now);
        Ok(())
    }

    /// What the engine's threads do by themselves.
    fn witness(&mut self) -> Outcome {
        self.look_for_room()?;
        match self.engine().witness_step() {
            Ok(()) => Ok(()),
            Err(error) => self.failed(&error),
        }
    }

    /// Looks at a namespace: all of it, and what one recall finds.
    fn read(&mut self) -> Outcome {
        let (engine, space) = (self.engine(), self.random.index(NAMESPACES.len()));
        let (name, expected) = (namespace(space), self.model.world[space].clone());
        // What was dropped is seen to be gone only when that is durable.
        let exists = expected.exists() || expected.applied > engine.revision().0;
        let lsn = if exists { expected.applied } else { engine.revision().0 };
        let page = match engine.list(&name, &every_state()) {
            Ok(page) => page,
            Err(error) => return self.failed(&error),
        };
        let now = Timestamp::from_ms(i64::try_from(self.now_ms()).unwrap());
        let chunk = expected.items.keys().next_back().map_or(0, |item| chunk_of(*item));
        let recall =
            Recall { filter: tagged(chunk_tag(chunk)), top_k: 100, observe: true, ..Recall::default() };
        let recalled = match engine.recall(&name, &recall) {
            Ok(recalled) => recalled,
            Err(error) => return self.failed(&error),
        };
        let recalled_lsn = if exists { lsn } else { 0 };
        let promised = expected.shown_after(lsn).max(engine.revision().0);
        if page.shown_after().0.max(engine.revision().0) != promised {
            return Err(format!("a read of lsn {lsn} is shown after {}", page.shown_after()));
        }
        if page.lsn().0 != lsn || recalled.lsn().0 != recalled_lsn {
            return Err(format!("a read of lsn {lsn} waits for {} and {}", page.lsn(), recalled.lsn()));
        }
        let tag = chunk_tag(chunk);
        let active = expected.items.iter().filter(|(_, known)| known.memory.tags.contains(&tag));
        let active: Vec<Item> =
            active.filter(|(_, known)| expect::is_recalled(known, now)).map(|(item, _)| *item).collect();
        self.later(recalled, move |_, recalled| {
            let mut found: Vec<Item> =
                recalled.hits.iter().filter_map(|hit| item_of(&hit.memory.tags)).collect();
            found.sort_unstable();
            if found == active { Ok(()) } else { Err(format!("recall finds {found:?}, expected {active:?}")) }
        });
        self.later(page, move |model, page| {
            let ids = expect::list(model, &expected, &page.memories)?;
            ids.into_iter().try_for_each(|(item, id)| model.learn(item, id))
        });
        Ok(())
    }

    pub(super) fn send_new(&mut self, call: fn(&mut Sim, usize) -> Option<Call>) -> Outcome {
        let space = self.random.index(NAMESPACES.len());
        let Some(call) = call(self, space) else { return Ok(()) };
        let id = self.random.percent(40).then(|| {
            self.counters.request += 1;
            self.counters.request
        });
        let request = Request { space, call, id };
        if id.is_some() {
            self.requests.push(request.clone());
        }
        self.send(request)
    }

    /// A client that got no answer, or did not hear it; sometimes one that uses an id twice.
    fn send_again(&mut self) -> Outcome {
        let newest = self.requests.len().min(25);
        if newest == 0 {
            return Ok(());
        }
        let at = self.requests.len() - 1 - self.random.index(newest);
        let mut request = self.requests[at].clone();
        if self.random.percent(10) {
            request.call = Call::Write { item: self.new_item(), dry: false };
        }
        self.send(request)
    }

    /// Sends a request and holds what the engine does against what the model says.
    pub(super) fn send(&mut self, request: Request) -> Outcome {
        if !self.can_be_named(&request.call) {
            return Ok(());
        }
        let foreseen = self.model.foresee(&request, self.now_ms());
        let applied = self.model.world[request.space].applied;
        // Where nothing was ever written, or what was is dropped, an answer reflects whatever is synced.
        let (exists, synced) = (self.model.world[request.space].exists(), self.engine().revision().0);
        let nothing = if exists || applied > synced { applied } else { synced };
        let told = match &foreseen {
            Foreseen::Commit(_) => Told { replayed: false, revision: Some(self.model.sent() + 1) },
            Foreseen::Replayed(lsn) => Told { replayed: true, revision: Some(*lsn) },
            Foreseen::Nothing | Foreseen::Refused(_) => Told { replayed: false, revision: None },
        };
        self.shown_after = None;
        let was_degraded = self.engine().degraded().is_some();
        match (self.call(&request, &foreseen, told), foreseen) {
            (Err(error), foreseen) if error.reason() == "DISK_FULL" => {
                self.without_room(&request, &foreseen, &error)
            }
            (Err(EngineError::Storage(error)), _) => self.failed(&EngineError::Storage(error)),
            (Err(error), Foreseen::Refused(kind)) if error.kind() == kind => {
                self.checked.tombstoned += u64::from(error.reason() == "TOMBSTONED_VALUE");
                Ok(())
            }
            (Err(error), foreseen) => Err(format!("{request:?} says {error:?}, expected {foreseen:?}")),
            (Ok(_), Foreseen::Refused(kind)) => Err(format!("{request:?} is accepted, expected {kind:?}")),
            (Ok(lsn), Foreseen::Commit(commit)) if Some(lsn) == told.revision => {
                self.is_taken_rightly(&request, was_degraded)?;
                self.give_up(request.space, &commit.gone);
                self.model.push(commit);
                self.is_promised(request.space, lsn)
            }
            // A dry run in a namespace that is not there.
            (Ok(0), Foreseen::Nothing) if !exists => Ok(()),
            (Ok(lsn), Foreseen::Nothing) if lsn == nothing || lsn == applied => {
                self.is_promised(request.space, lsn)
            }
            (Ok(lsn), Foreseen::Replayed(_)) => self.is_safe_to_show(&request, lsn),
            (Ok(lsn), foreseen) => Err(format!("{request:?} waits for lsn {lsn}, expected {foreseen:?}")),
        }
    }

    /// D1: the newest answer waits for what its namespace's durability promises, no less and no more.
    fn is_promised(&self, space: usize, lsn: u64) -> Outcome {
        let synced = self.engine().revision().0;
        let promised = self.model.world[space].shown_after(lsn);
        // A purge answers when everything is done.
        match self.shown_after {
            Some(shown_after) if shown_after.max(synced) != promised.max(synced) => {
                Err(format!("an answer of lsn {lsn} is shown after {shown_after}, expected {promised}"))
            }
            _ => Ok(()),
        }
    }

    /// An answer to a repeated request that shows the memory as it is now waits for the memory's newest change.
    fn is_safe_to_show(&self, request: &Request, lsn: u64) -> Outcome {
        let space = &self.model.world[request.space];
        let changed = match &request.call {
            Call::Write { item, .. } | Call::Claim { item, .. } | Call::Update { item, .. } => {
                space.changed[item]
            }
            Call::Echo { .. } => space.changed[&self.model.images(self.model.lsn_of(request))[0].0],
            _ => 0,
        };
        if (changed..=space.applied).contains(&lsn) {
            return Ok(());
        }
        Err(format!("{request:?} shows what changed at lsn {changed}, and waits for lsn {lsn}"))
    }

    /// Whether the caller knows every id that the call needs.
    fn can_be_named(&self, call: &Call) -> bool {
        match call {
            Call::Write { .. }
            | Call::Echo { .. }
            | Call::Claim { .. }
            | Call::Batch { .. }
            | Call::ForgetGroup { .. } => true,
            Call::PurgeGroup { .. }
            | Call::PurgeAll
            | Call::Expire
            | Call::Archive
            | Call::Drop
            | Call::Settings { .. } => true,
            Call::Update { item, .. } | Call::Rollback { item } => self.model.id(*item).is_some(),
            Call::Feedback { items, .. } => items.iter().all(|(item, _)| self.model.id(*item).is_some()),
            Call::Accesses { .. } => false,
            Call::Forget { items } | Call::Restore { items } | Call::Purge { items } => {
                self.ids(items).len() == items.len()
            }
        }
    }

    pub(super) fn ids(&self, items: &[Item]) -> Vec<MemoryId> {
        items.iter().filter_map(|item| self.model.id(*item)).collect()
    }

    /// Keeps the answer to a write of which only the model knows what it does.
    fn answered_write(
        &mut self,
        unsynced: hindsight_engine::Unsynced<Written, super::disk::SimIo>,
        item: Item,
        foreseen: &Foreseen,
        told: Told,
        space: usize,
    ) -> u64 {
        if matches!(foreseen, Foreseen::Nothing) {
            return self.later(unsynced, |_, written| match written.outcome {
                Did::Echoed => Ok(()),
                other => Err(format!("what a recall had told was {other}")),
            });
        }
        let images = match foreseen {
            Foreseen::Commit(commit) => commit.images.clone(),
            Foreseen::Replayed(lsn) => self.model.images(*lsn).to_vec(),
            Foreseen::Nothing | Foreseen::Refused(_) => Vec::new(),
        };
        let outcome = match &images[..] {
            [(_, first), ..] if first.memory.version > 1 => Did::Reinforced,
            [_, _, ..] => Did::Superseded,
            _ => Did::Created,
        };
        let item = images.first().map_or(item, |(item, _)| *item);
        let known = match foreseen {
            Foreseen::Replayed(_) => self.model.world[space].items.get(&item).cloned(),
            _ => images.first().map(|(_, known)| known.clone()),
        };
        self.later(unsynced, move |model, written| {
            if written.outcome != outcome {
                return Err(format!("item {item} was {}, expected {outcome}", written.outcome));
            }
            is_written(
                model,
                item,
                known.as_deref(),
                told,
                (&written.memory, written.replayed, written.revision.0),
            )
        })
    }

    /// The call itself. Returns the lsn that its answer waits for.
    fn call(&mut self, request: &Request, foreseen: &Foreseen, told: Told) -> Result<u64, EngineError> {
        let (engine, name) = (self.engine(), namespace(request.space));
        let id = request_id(request.id);
        let world = &self.model.world[request.space];
        let world_count = world.items.len();
        Ok(match &request.call {
            Call::Write { item, dry } => {
                let options = WriteOptions {
                    validate_only: *dry,
                    request_id: id,
                    on_duplicate: None,
                    allow_forgotten: false,
                };
                let unsynced = engine.write(&name, write_item(*item), options)?;
                let (item, known) = (*item, known(foreseen, world, *item));
                self.later(unsynced, move |model, written| {
                    let answer = (&written.memory, written.replayed, written.revision.0);
                    is_written(model, item, known.as_deref(), told, answer)
                })
            }
            Call::Echo { item, of } => {
                let options = WriteOptions { request_id: id, ..WriteOptions::default() };
                let unsynced = engine.write(&name, WriteItem::new(echo(*item, *of), None), options)?;
                self.answered_write(unsynced, *item, foreseen, told, request.space)
            }
            Call::Claim { item, slot } => {
                let options = WriteOptions { request_id: id, ..WriteOptions::default() };
                let vectors = write_item(*item).vectors;
                let unsynced = engine.write(&name, WriteItem::new(claim(*item, *slot), vectors), options)?;
                self.answered_write(unsynced, *item, foreseen, told, request.space)
            }
            Call::Update { item, change, version } => {
                let (patch, vectors) = patch(*item, *change);
                let (id_of, version) = (self.model.id(*item).unwrap(), *version);
                let maker = Maker::Caller;
                let update = UpdateRequest {
                    id: id_of,
                    patch,
                    version,
                    vectors,
                    maker,
                    request_id: id,
                    allow_forgotten: false,
                };
                let unsynced = engine.update(&name, update)?;
                let (item, known) = (*item, known(foreseen, world, *item));
                self.later(unsynced, move |model, written| {
                    let answer = (&written.memory, written.replayed, written.revision.0);
                    is_written(model, item, known.as_deref(), told, answer)
                })
            }
            Call::Batch { items, all_or_nothing, is_spoiled } => {
                let mut all: Vec<WriteItem> = items.iter().map(|item| write_item(*item)).collect();
                if *is_spoiled {
                    all.push(WriteItem::default());
                }
                let batch = BatchRequest {
                    items: all,
                    all_or_nothing: *all_or_nothing,
                    request_id: id,
                    on_duplicate: None,
                    allow_forgotten: false,
                };
                let unsynced = engine.write_batch(&name, batch)?;
                let (items, stored) = (items.clone(), stored(foreseen));
                self.later(unsynced, move |model, written| is_batch(model, &items, &stored, told, &written))
            }
            Call::Forget { .. } | Call::ForgetGroup { .. } => {
                let target = match &request.call {
                    Call::ForgetGroup { group } => {
                        ForgetTarget::Matching { filter: group_filter(*group), expected_count: None }
                    }
                    Call::Forget { items } => ForgetTarget::Ids(self.ids(items)),
                    _ => unreachable!(),
                };
                let unsynced = engine.forget(
                    &name,
                    ForgetRequest { target, validate_only: false, request_id: id, with_derived: false },
                )?;
                let stored = stored(foreseen);
                self.later(unsynced, move |_, affected| is_affected(&stored, told, &affected))
            }
            Call::Feedback { items, task } => {
                let items = items.iter().map(|(item, verdict)| (self.model.id(*item).unwrap(), *verdict));
                let feedback = FeedbackRequest {
                    items: items.collect(),
                    task_status: *task,
                    request_id: id,
                    ..FeedbackRequest::default()
                };
                let unsynced = engine.feedback(&name, feedback)?;
                let stored = stored(foreseen).len();
                self.later(unsynced, move |_, judged| {
                    is_told(told, judged.replayed, judged.revision.0)?;
                    let found = judged.memories.len();
                    if judged.replayed || found == stored {
                        Ok(())
                    } else {
                        Err(format!("feedback changed {found} memories, expected {stored}"))
                    }
                })
            }
            Call::Rollback { item } => {
                let rollback = RollbackRequest { id: self.model.id(*item).unwrap(), request_id: id };
                let unsynced = engine.rollback(&name, rollback)?;
                let images = if let Foreseen::Commit(commit) = foreseen { &commit.images[..] } else { &[] };
                let valid = images.iter().filter(|(_, known)| known.memory.state == State::Active).count();
                let has_history = valid < images.len();
                self.later(unsynced, move |_, done| {
                    is_told(told, done.replayed, done.revision.0)?;
                    let found = (done.restored.len(), done.invalidated.is_some());
                    if done.replayed || found == (valid, has_history) {
                        Ok(())
                    } else {
                        Err(format!(
                            "a rollback did {found:?}, expected {valid} valid, history {has_history}"
                        ))
                    }
                })
            }
            Call::Accesses { .. } | Call::Archive => unreachable!("no client asks for it"),
            Call::Restore { items } => {
                let unsynced =
                    engine.restore(&name, RestoreRequest { ids: self.ids(items), request_id: id })?;
                // What gives way to them is not named.
                let stored: Vec<Item> =
                    stored(foreseen).into_iter().filter(|item| items.contains(item)).collect();
                self.later(unsynced, move |_, affected| is_affected(&stored, told, &affected))
            }
            Call::Settings { is_async } => {
                let durability = if *is_async { Durability::Async } else { Durability::Sync };
                let patch = SettingsPatch { durability: Some(Some(durability)), ..SettingsPatch::default() };
                let unsynced = engine.update_namespace(&name, SettingsRequest { patch, request_id: id })?;
                self.later(unsynced, move |_, info| {
                    is_told(told, info.replayed, info.revision.0)?;
                    if info.replayed || info.settings.durability == durability {
                        Ok(())
                    } else {
                        Err(format!("{durability} was set, and it is {}", info.settings.durability))
                    }
                })
            }
            Call::Drop => self.call_drop(&name, world_count, told)?,
            Call::Purge { .. } | Call::PurgeGroup { .. } | Call::PurgeAll | Call::Expire => {
                self.call_purge(&name, &request.call, id)?
            }
        })
    }
}

/// The memory that an answer must show: as the batch makes it, or as it is now when the request is repeated.
fn known(
    foreseen: &Foreseen,
    space: &super::model::Space,
    item: Item,
) -> Option<std::sync::Arc<super::model::Known>> {
    match foreseen {
        Foreseen::Commit(commit) => commit.images.first().map(|(_, known)| known.clone()),
        Foreseen::Replayed(_) => space.items.get(&item).cloned(),
        Foreseen::Nothing | Foreseen::Refused(_) => None,
    }
}

fn stored(foreseen: &Foreseen) -> Vec<Item> {
    match foreseen {
        Foreseen::Commit(commit) => commit.images.iter().map(|(item, _)| *item).collect(),
        _ => Vec::new(),
    }
}

fn is_told(expected: Told, replayed: bool, revision: u64) -> Outcome {
    if expected.replayed == replayed && expected.revision.is_none_or(|expected| expected == revision) {
        return Ok(());
    }
    Err(format!("an answer says replayed {replayed}, revision {revision}; expected {expected:?}"))
}

fn is_written(
    model: &mut Model,
    item: Item,
    known: Option<&super::model::Known>,
    told: Told,
    (memory, replayed, revision): (&Memory, bool, u64),
) -> Outcome {
    is_told(told, replayed, revision)?;
    match known {
        Some(known) => {
            expect::same(item, known, memory)?;
            model.learn(item, memory.id)
        }
        None if memory.version == 0 => Ok(()),
        None => Err("a dry run answers with a version".to_owned()),
    }
}

fn is_batch(
    model: &mut Model,
    items: &[Item],
    stored: &[Item],
    told: Told,
    written: &BatchWritten,
) -> Outcome {
    is_told(told, written.replayed, written.revision.0)?;
    if written.replayed {
        return Ok(());
    }
    for (item, result) in items.iter().zip(&written.results) {
        match result {
            Ok(written) if stored.contains(item) => model.learn(*item, written.id)?,
            Err(_) if !stored.contains(item) => {}
            other => return Err(format!("item {item} of a batch: {other:?}")),
        }
    }
    let is_spoiled = written.results.len() > items.len();
    if is_spoiled && written.results.last().is_none_or(Result::is_ok) {
        return Err("a bad item of a batch is accepted".to_owned());
    }
    Ok(())
}

fn is_affected(stored: &[Item], told: Told, affected: &Affected) -> Outcome {
    is_told(told, affected.replayed, affected.revision.0)?;
    if !affected.replayed && affected.ids.len() != stored.len() {
        return Err(format!("{} memories changed, expected {}", affected.ids.len(), stored.len()));
    }
    Ok(())
}

//! The calls themselves, and what their answers are held against.

use hindsight_core::{Durability, Outcome as Did, SettingsPatch, State};
use hindsight_engine::{
    BatchRequest, EngineError, FeedbackRequest, ForgetRequest, ForgetTarget, Maker, RestoreRequest,
    RollbackRequest, SettingsRequest, UpdateRequest, WriteItem, WriteOptions, Written,
};

use super::answer::{Told, is_affected, is_batch, is_told, is_written, known, stored};
use super::model::Foreseen;
use super::request::{
    Call, Item, Request, claim, echo, group_filter, namespace, patch, request_id, write_item,
};
use super::sim::Sim;

impl Sim {
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
        // A repeated request is answered by what is there now: what was made true again is not superseded any more.
        let id = known.as_ref().map(|known| known.memory.id);
        let mut others = self.model.world[space].items.values();
        let is_undone = matches!(foreseen, Foreseen::Replayed(_))
            && !others.any(|other| other.memory.superseded_by.is_some() && other.memory.superseded_by == id);
        self.later(unsynced, move |model, written| {
            let may_be_undone = is_undone && outcome == Did::Superseded && written.outcome == Did::Created;
            if written.outcome != outcome && !may_be_undone {
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
    pub(super) fn call(
        &mut self,
        request: &Request,
        foreseen: &Foreseen,
        told: Told,
    ) -> Result<u64, EngineError> {
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

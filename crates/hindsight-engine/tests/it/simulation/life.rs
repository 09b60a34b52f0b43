//! What is archived by itself, and what does not come back (L2, L4): the rules once more, written without the engine.

use std::collections::BTreeSet;
use std::sync::Arc;

use hindsight_core::{Job, Kind, Memory, State, Timestamp};

use super::disk::Plan;
use super::expect::Outcome;
use super::known::{Known, is_true};
use super::model::{Foreseen, Images};
use super::request::{Call, Item, NAMESPACES, Request, namespace};
use super::sim::Sim;
use super::space::Space;

/// So many are archived in one batch; which these are follows from ids that a client may not know, so a job that needs
/// several is not run.
const ARCHIVED_MAX: usize = 32;
const DAY_MS: i64 = 86_400_000;

/// Something that was said, word for word; of an episode with its time.
type Value = (bool, String, Option<Timestamp>);

pub(super) type Values = BTreeSet<Value>;

pub(super) fn values(memory: &Memory) -> Values {
    let when = (memory.kind == Kind::Episode).then_some(memory.occurred_at);
    let claims =
        memory.claims.iter().map(|claim| (true, format!("{}: {}", claim.subject, claim.value), None));
    claims.chain([(false, memory.content.clone(), when)]).collect()
}

/// L1: a recall returned it within the last day. All of these clients are agents.
pub(super) fn is_echo(memory: &Memory, at: Timestamp) -> bool {
    memory.usage.last_accessed_at.is_some_and(|last| last >= at.plus_ms(-DAY_MS))
}

impl Space {
    /// Whether a memory says what was forgotten or purged, which no other says now, and did not say it `before`.
    pub(super) fn is_tombstoned(
        &self,
        item: Item,
        new: &Memory,
        before: Option<&Memory>,
        at: Timestamp,
    ) -> bool {
        let before = before.map(values).unwrap_or_default();
        let says = |memory: &Memory, value: &Value| values(memory).contains(value);
        values(new).difference(&before).any(|value| {
            let is_gone =
                |known: &Arc<Known>| known.memory.state == State::Forgotten && says(&known.memory, value);
            let is_said = |(other, known): (&Item, &Arc<Known>)| {
                let is_met = value.0 || known.memory.kind == new.kind;
                is_met && *other != item && is_true(known, at) && says(&known.memory, value)
            };
            let is_forgotten = self.purged_values.contains(value) || self.items.values().any(is_gone);
            is_forgotten && !self.items.iter().any(is_said)
        })
    }

    /// What the job archives when it begins at `now`.
    pub(super) fn archived(&self, now: Timestamp, at: Timestamp) -> Images {
        let is_due = |memory: &Memory| {
            let days = (now.as_ms() - memory.updated_at.as_ms()) / DAY_MS;
            let usage = &memory.usage;
            let is_unrecalled = usage.access_count + usage.used_count + usage.verified_count == 0;
            let is_episode = memory.kind == Kind::Episode;
            let is_old =
                days >= 365 && is_unrecalled || is_episode && (days >= 90 || days >= 60 && is_unrecalled);
            memory.state == State::Active && (memory.is_expired_at(now) || is_old)
        };
        let due = self.items.iter().filter(|(_, known)| is_due(&known.memory));
        due.map(|(item, known)| {
            let mut known = Known::clone(known);
            known.memory.state = State::Archived;
            known.memory.version += 1;
            known.memory.updated_at = at;
            (*item, Arc::new(known))
        })
        .collect()
    }
}

impl Sim {
    /// The archive job in one namespace, from its beginning to its end.
    pub(super) fn archive(&mut self) -> Outcome {
        let is_shaken = matches!(self.config.plan, Plan::Fault { .. }) || self.config.is_crowded;
        let space = self.random.index(NAMESPACES.len());
        if is_shaken || !self.model.world[space].exists() {
            // What fails within a job stands in its report, and the next run goes on.
            return Ok(());
        }
        if self.random.percent(60) {
            // Two months later.
            let later = self.now_ms() + 61 * 24 * 3_600_000;
            self.io.disk().set_now_ms(later);
        }
        let request = Request { space, call: Call::Archive, id: None };
        let foreseen = self.model.foresee(&request, self.now_ms());
        let count = match &foreseen {
            Foreseen::Commit(commit) => commit.images.len(),
            _ => 0,
        };
        if count >= ARCHIVED_MAX {
            return Ok(());
        }
        let report = match self.engine().run_job(Job::Archive, Some(&namespace(space)), false) {
            Ok(report) => report,
            Err(error) => return self.failed(&error),
        };
        if let Foreseen::Commit(commit) = foreseen {
            self.model.push(commit);
        }
        self.checked.archived += count as u64;
        self.later(report, move |_, report| {
            if (report.changed(), report.errors.len()) == (count as u64, 0) {
                return Ok(());
            }
            Err(format!("{count} memories are to be archived, and the job says {report:?}"))
        });
        Ok(())
    }
}

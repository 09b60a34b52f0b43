//! Others share the disk: they fill it up, and make room again (D6).

use hindsight_engine::EngineError;
use hindsight_storage::testing::FaultKind;

use super::config::Config;
use super::disk::Plan;
use super::expect::{Outcome, told};
use super::model::Foreseen;
use super::request::{Call, Request};
use super::sim::Sim;
use super::{EDQUOT, ENOSPC};

/// What a full disk still has, at most.
const LEFT_BYTES_MAX: u64 = 2_500;
/// As good as endless.
const ROOM_BYTES: u64 = 1 << 30;
/// Kept back for forgets and checkpoints.
const RESERVE_BYTES: u64 = 256 << 10;
/// So many forgets in a row must be taken on a full disk, whatever happens between them.
const URGENT_MIN: u32 = 10;

/// How the disk is.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Crowd {
    pub(super) is_full: bool,
    /// Forgets and restores that were taken since.
    urgent: u32,
}

impl Config {
    /// A run on a disk that others use, too.
    pub(super) fn crowded(seed: u64, steps: usize, plan: Plan) -> Config {
        let mut config = Config { is_crowded: true, ..Config::new(seed, steps, plan) };
        config.options.storage.reserve_bytes = RESERVE_BYTES;
        config
    }
}

impl Sim {
    /// The disk fills up, or others make room.
    pub(super) fn crowd(&mut self) -> Outcome {
        if self.crowd.is_full {
            self.make_room();
            return self.is_recovered();
        }
        let left = self.random.below(LEFT_BYTES_MAX);
        self.io.disk().set_free(left);
        self.crowd = Crowd { is_full: true, urgent: 0 };
        Ok(())
    }

    pub(super) fn make_room(&mut self) {
        self.io.disk().set_free(ROOM_BYTES);
        self.crowd.is_full = false;
    }

    /// What the engine's thread does from time to time.
    pub(super) fn look_for_room(&mut self) -> Outcome {
        match self.engine().space_step() {
            Ok(has_recovered) => {
                self.checked.recovered += u64::from(has_recovered);
                Ok(())
            }
            Err(error) => self.failed(&error),
        }
    }

    /// With room, one look is enough.
    fn is_recovered(&mut self) -> Outcome {
        self.look_for_room()?;
        match self.engine().degraded() {
            Some(error) if self.engine().health().is_ok() => {
                Err(format!("there is room, and writes are refused: {}", told(error)))
            }
            _ => Ok(()),
        }
    }

    /// A request is refused because of the disk. That is right for what would store something, while there is no room.
    pub(super) fn without_room(
        &mut self,
        request: &Request,
        foreseen: &Foreseen,
        error: &EngineError,
    ) -> Outcome {
        self.checked.without_room += 1;
        self.permit_without_room(error)?;
        if !matches!(foreseen, Foreseen::Commit(_)) {
            return Err(format!("{request:?} stores nothing and is refused for want of space: {foreseen:?}"));
        }
        if is_urgent(&request.call) && self.config.is_crowded && self.crowd.urgent < URGENT_MIN {
            let taken = self.crowd.urgent;
            return Err(format!("{request:?} is refused after {taken} forgets on a full disk"));
        }
        Ok(())
    }

    /// On a crowded disk the reason may be gone before anybody looked.
    fn permit_without_room(&self, error: &EngineError) -> Outcome {
        if self.config.is_crowded && self.engine().degraded().is_some() { Ok(()) } else { self.permit(error) }
    }

    /// A request is taken: while the disk counts as full it must be one that can't wait.
    pub(super) fn is_taken_rightly(&mut self, request: &Request, was_degraded: bool) -> Outcome {
        if is_urgent(&request.call) {
            if self.crowd.is_full {
                self.crowd.urgent += 1;
                self.checked.urgent += 1;
            }
            return Ok(());
        }
        if was_degraded { Err(format!("{request:?} is taken on a full disk")) } else { Ok(()) }
    }

    /// At the end there is room, and everything goes on by itself.
    pub(super) fn ends_with_room(&mut self) -> Outcome {
        let has_refused = self.engine().degraded().is_some();
        if !has_refused && !self.config.is_crowded {
            return Ok(());
        }
        self.io.disk().heal();
        self.make_room();
        self.is_recovered()?;
        let refused = self.checked.without_room;
        self.send_new(Sim::write)?;
        if self.checked.without_room > refused {
            return Err("there is room, and a write is refused".to_owned());
        }
        Ok(())
    }

    /// Want of space poisons only when a sync says it, or a write over bytes that are there, twice.
    pub(super) fn is_poisoned_rightly(&self) -> Outcome {
        let kind = match self.config.plan {
            Plan::Fault { kind, .. } => kind,
            _ => return Ok(()),
        };
        let is_space = matches!(kind, FaultKind::Errno(ENOSPC | EDQUOT));
        let counts = self.io.disk().counts();
        if is_space && counts.failed_syncs == 0 && counts.failed_overwrites < 2 {
            return Err("the log is poisoned, and no sync failed".to_owned());
        }
        match self.engine().health() {
            Err(error) if is_space && !error.to_string().contains("os error") => {
                Err(format!("a poisoned log does not say why: {error}"))
            }
            _ => Ok(()),
        }
    }
}

fn is_urgent(call: &Call) -> bool {
    matches!(
        call,
        Call::Forget { .. }
            | Call::ForgetGroup { .. }
            | Call::Restore { .. }
            | Call::Feedback { .. }
            | Call::Rollback { .. }
            | Call::Purge { .. }
            | Call::PurgeGroup { .. }
            | Call::PurgeAll
            | Call::Expire
            | Call::Archive
            | Call::Drop
    )
}

//! One run: an engine on a simulated disk, driven step by step from a seed, with the model beside it. Everything the
//! engine says is held against the model; what the disk would be after a power cut goes to [`super::crash`].

use std::path::Path;
use std::sync::Arc;

use hindsight_core::Lsn;
use hindsight_engine::{EngineError, Unsynced};
use hindsight_storage::directory::MemoryDirectory;
use hindsight_storage::testing::{FaultKind, MemIo};

use super::checked::Checked;
use super::config::Config;
use super::crash;
use super::crowd::Crowd;
use super::disk::{Engine, Plan, Shot, SimIo, outcome_seed};
use super::expect::{self, Outcome, every_state, told};
use super::model::Model;
use super::random::Random;
use super::request::{NAMESPACES, Request, namespace};

/// The data directory on the simulated disk.
pub(super) const DIR: &str = "/data";

/// One of so many images is lived on for a while.
const LIVED_ON: u64 = 6;

/// How the engine ends before it is opened again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// In order.
    Close,
    /// The process is killed; the machine goes on.
    Kill,
    /// The power fails.
    PowerCut,
}

/// What is held against the model once the call has answered, or has not.
pub(super) type Check = Box<dyn FnOnce(&mut Model, bool) -> Outcome>;

/// An answer that waits for its sync. It is told whether that came.
pub(super) struct Answer {
    lsn: u64,
    /// What has to be synced before it may be looked at: less, where its namespace's durability is async.
    shown_after: u64,
    pub(super) check: Check,
}

pub(super) struct Sim {
    pub(super) config: Config,
    pub(super) io: SimIo,
    pub(super) model: Model,
    pub(super) random: Random,
    pub(super) counters: Counters,
    /// Requests that carry an id, for sending them again.
    pub(super) requests: Vec<Request>,
    pub(super) crowd: Crowd,
    engine: Option<Arc<Engine>>,
    /// The directory, which is on no simulated disk: a crash leaves it as it is, whatever it leaves of the rest.
    pub(super) twin: Arc<MemoryDirectory>,
    /// As it was some time ago.
    pub(super) older_twin: Arc<MemoryDirectory>,
    pub(super) answers: Vec<Answer>,
    /// Of the newest answer; none when the call gave none.
    pub(super) shown_after: Option<u64>,
    keeps_shots: bool,
    /// A fault has ended the run.
    pub(super) is_over: bool,
    pub(super) checked: Checked,
}

/// The next number of each kind.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counters {
    pub(super) item: u32,
    pub(super) request: u32,
    pub(super) change: u32,
}

impl Sim {
    pub(super) fn new(config: Config, disk: MemIo) -> Sim {
        let io = SimIo::new(config.seed, disk, config.plan, config.sabotage);
        Sim {
            io,
            model: Model::default(),
            random: Random::at(config.seed, 4),
            counters: Counters::default(),
            requests: Vec::new(),
            crowd: Crowd::default(),
            engine: None,
            twin: Arc::default(),
            older_twin: Arc::default(),
            answers: Vec::new(),
            shown_after: None,
            keeps_shots: false,
            is_over: false,
            checked: Checked::default(),
            config,
        }
    }

    /// The whole run, in which shots are kept instead of looked at.
    pub(super) fn shots_only(&mut self) -> Vec<Shot> {
        self.keeps_shots = true;
        self.run_out().unwrap_or_else(|wrong| panic!("{wrong}\n  in the run of seed {}", self.config.seed));
        self.io.take_shots()
    }

    /// From an empty disk to the end of the run.
    pub(super) fn run(config: Config) -> Outcome<Sim> {
        let seed = config.seed;
        let mut sim = Sim::new(config, MemIo::new(seed));
        let result = sim.run_out();
        result.map(|()| sim).map_err(|wrong| format!("{wrong}\n  in the run of seed {seed}"))
    }

    fn run_out(&mut self) -> Outcome {
        self.open()?;
        self.io.arm();
        // However short the run, it has a checkpoint, with a life before and after it.
        self.steps(self.config.steps / 2)?;
        if !self.is_over {
            self.checkpoint()?;
            self.look()?;
        }
        self.steps(self.config.steps / 2)?;
        self.finish()
    }

    pub(super) fn steps(&mut self, count: usize) -> Outcome {
        for at in 0..count {
            if self.is_over {
                break;
            }
            self.step().map_err(|wrong| format!("{wrong}\n  at step {at}"))?;
            self.settle()?;
            self.look()?;
        }
        Ok(())
    }

    pub(super) fn engine(&self) -> Arc<Engine> {
        Arc::clone(self.engine.as_ref().unwrap())
    }

    pub(super) fn now_ms(&self) -> u64 {
        hindsight_storage::io::Io::now_ms(&self.io)
    }

    /// Opens what is on the disk. What is found is durable from now on, and what is not found is gone.
    pub(super) fn open(&mut self) -> Outcome {
        let options = self.config.options.clone();
        let opened = Engine::open_with(Arc::new(self.io.clone()), Path::new(DIR), options);
        self.look()?;
        let (engine, report) = match opened {
            Ok(opened) => opened,
            Err(error) if self.crowd.is_full => {
                // What the start needs may be more than others left.
                self.permit(&error)?;
                self.make_room();
                return self.open();
            }
            Err(error) => {
                self.is_over = true;
                return self.permit(&error);
            }
        };
        self.checked.segments = self.checked.segments.max(report.recovered.segments);
        let found = engine.revision().0;
        crash::is_allowed(found, self.acked(), self.model.sent())?;
        self.model.forget_after(found);
        let engine = Arc::new(engine);
        self.io.ask(&engine);
        self.io.set_acked(found);
        self.engine = Some(Arc::clone(&engine));
        if self.random.percent(60) {
            self.open_directory()?;
            if self.is_over {
                return Ok(());
            }
        }
        // Looking loads every namespace. Half of the time they stay as they are, until they are touched.
        if matches!(self.config.plan, Plan::Fault { .. }) || self.random.percent(50) {
            return Ok(());
        }
        let shown = expect::world(&engine, &self.model, &self.model.world, self.now_ms(), found);
        if self.is_dark() {
            self.is_over = true;
            return Ok(());
        }
        shown?;
        for space in 0..NAMESPACES.len() {
            let page =
                engine.list(&namespace(space), &every_state()).and_then(Unsynced::wait).map_err(told)?;
            for (item, id) in expect::list(&self.model, &self.model.world[space], &page.memories)? {
                self.model.learn(item, id)?;
            }
        }
        Ok(())
    }

    pub(super) fn acked(&self) -> u64 {
        self.io.acked()
    }

    /// Ends the engine and opens the directory again.
    pub(super) fn reopen(&mut self, end: End) -> Outcome {
        if end == End::Close
            && let Err(error) = self.engine().close()
        {
            self.failed(&error)?;
        } else {
            self.settle()?;
        }
        if end == End::Close && !self.is_over && self.acked() != self.model.sent() {
            return Err("closing in order left a batch unsynced".to_owned());
        }
        self.look()?;
        if self.is_over {
            return Ok(());
        }
        self.put_down();
        if end == End::PowerCut {
            let seed = outcome_seed(self.config.seed, self.io.calls(), 7);
            self.io.replace_disk(self.io.disk().after_crash(seed));
            self.crowd.is_full = false;
        }
        self.open()
    }

    pub(super) fn put_down(&mut self) {
        // Answers hold the directory open.
        self.answers.clear();
        self.engine = None;
    }

    /// Keeps an answer until it may be looked at.
    pub(super) fn later<T: 'static>(
        &mut self,
        unsynced: Unsynced<T, SimIo>,
        check: impl FnOnce(&mut Model, T) -> Outcome + 'static,
    ) -> u64 {
        let (Lsn(lsn), Lsn(shown_after)) = (unsynced.lsn(), unsynced.shown_after());
        self.shown_after = Some(shown_after);
        let check = move |model: &mut Model, is_synced: bool| match (unsynced.wait(), is_synced) {
            (Ok(value), true) => check(model, value),
            (Err(_), false) => Ok(()),
            (Ok(_), false) => Err(format!("lsn {lsn} was acknowledged and never synced")),
            (Err(error), true) => Err(format!("lsn {lsn} is synced, and its answer: {}", told(error))),
        };
        self.answers.push(Answer { lsn, shown_after, check: Box::new(check) });
        lsn
    }

    /// Looks at the answers that may be looked at.
    pub(super) fn settle(&mut self) -> Outcome {
        let Some(engine) = &self.engine else { return Ok(()) };
        let synced = engine.revision().0;
        if synced > self.model.sent() || synced < self.acked() {
            return Err(format!("lsn {synced} is synced, of {} sent", self.model.sent()));
        }
        self.io.set_acked(synced);
        let (ready, waiting) =
            std::mem::take(&mut self.answers).into_iter().partition(|one| one.shown_after <= synced);
        self.answers = waiting;
        let ready: Vec<Answer> = ready;
        self.checked.answers += ready.len() as u64;
        self.checked.early += ready.iter().filter(|one| one.lsn > synced).count() as u64;
        // After a failure what is not synced never will be.
        let is_poisoned = engine.health().is_err();
        ready.into_iter().try_for_each(|one| (one.check)(&mut self.model, !is_poisoned || one.lsn <= synced))
    }

    /// Looks at the disks that a power cut would have left meanwhile.
    pub(super) fn look(&mut self) -> Outcome {
        if self.keeps_shots {
            return Ok(());
        }
        for shot in self.io.take_shots() {
            self.checked.points += 1;
            for (outcome, image) in (0..).zip(&shot.images) {
                let seed = outcome_seed(self.config.seed, shot.call, outcome);
                crash::check(self, image, shot.acked, seed, seed.is_multiple_of(LIVED_ON))
                    .map_err(|wrong| {
                        let (seed, call) = (self.config.seed, shot.call);
                        format!("{wrong}\n  after a power cut at call {call}, outcome {outcome}; repeat with HINDSIGHT_SIM_SEED={seed} HINDSIGHT_SIM_POINT={call}")
                    })
                    .map(|(found, cold_reads, resumed)| {
                        self.checked.images += 1;
                        self.checked.cold_reads += cold_reads;
                        self.checked.resumed += resumed;
                        self.checked.unacknowledged += u64::from(found > shot.acked);
                        self.checked.shortened += u64::from(found < self.model.sent());
                    })?;
            }
        }
        Ok(())
    }

    /// Everything is synced; then the power fails.
    fn finish(&mut self) -> Outcome {
        if !self.is_over {
            self.ends_with_room()?;
        }
        if !self.is_over {
            self.commit()?;
        }
        if !self.is_over && self.acked() != self.model.sent() {
            return Err("a commit left a batch unsynced".to_owned());
        }
        let poisoned = self.engine.as_ref().is_some_and(|engine| engine.health().is_err());
        if poisoned {
            self.after_poison()?;
        }
        self.settle()?;
        self.look()?;
        self.put_down();
        let disk = self.io.disk();
        disk.heal();
        for outcome in 0..2 {
            let seed = outcome_seed(self.config.seed, self.io.calls(), outcome);
            crash::check(self, &disk.after_crash(seed), self.acked(), seed, outcome == 0)
                .map_err(|wrong| format!("{wrong}\n  after a power cut at the end, outcome {outcome}"))?;
        }
        if self.is_over {
            crash::check(self, &disk.after_kill(), self.acked(), 0, true)
                .map_err(|wrong| format!("{wrong}\n  after a restart on the same machine"))?;
        }
        Ok(())
    }

    /// Writes and syncs what is pending.
    pub(super) fn commit(&mut self) -> Outcome {
        if let Err(error) = self.engine().commit_step() {
            return self.failed(&error);
        }
        match self.engine().revision().0 {
            lsn if lsn == self.model.sent() => self.settle(),
            lsn => Err(format!("a commit synced up to {lsn}, and {} were sent", self.model.sent())),
        }
    }

    /// What changed goes into record files, and the log is cut short.
    pub(super) fn checkpoint(&mut self) -> Outcome {
        let before = self.engine().revision();
        match self.engine().checkpoint() {
            // One that found no room on a full disk is taken again, and has meanwhile synced what was waiting.
            Ok(report)
                if report.checkpoint == before
                    || (report.checkpoint > before && self.engine().degraded().is_some())
                    // The log must tell what led to the end of a namespace that was not stored any more.
                    || (report.checkpoint < before && self.model.drops_after(before.0)) =>
            {
                self.checked.checkpoints += 1;
                self.checked.rewritten += report.files_removed;
                if report.unremoved == 0 {
                    self.is_log_short(report.checkpoint.0)?;
                }
                self.settle()
            }
            Ok(report) => Err(format!("a checkpoint of lsn {}, and {before} was synced", report.checkpoint)),
            Err(error) => self.failed(&error),
        }
    }

    /// D8: of the segments, only those are left that hold batches behind the checkpoint, and the one that is written.
    fn is_log_short(&self, checkpoint: u64) -> Outcome {
        let names = self.io.disk().files().into_iter().map(|(path, _)| path);
        let segments = names.filter(|path| path.extension().is_some_and(|end| end == "log"));
        let first = |path: std::path::PathBuf| path.file_stem().unwrap().to_str().unwrap().parse().unwrap();
        let firsts: Vec<u64> = segments.map(first).collect();
        match firsts.iter().skip(1).find(|next| **next <= checkpoint + 1) {
            Some(next) => Err(format!("a checkpoint of lsn {checkpoint} left the segment before lsn {next}")),
            None => Ok(()),
        }
    }

    /// A call failed because of the disk. Whether that is right depends on what the disk did.
    pub(super) fn failed(&mut self, error: &EngineError) -> Outcome {
        self.permit(error)?;
        if self.engine().health().is_err() {
            self.is_over = true;
        }
        Ok(())
    }

    /// An error is right only after a fault that can't be hidden from the caller.
    pub(super) fn permit(&self, error: &EngineError) -> Outcome {
        let can_be_seen = match self.config.plan {
            Plan::Fault { at, kind, .. } => at < self.io.calls() && matches!(kind, FaultKind::Errno(_)),
            Plan::PowerCut(at) => at < self.io.calls(),
            Plan::Nothing | Plan::Shots(_) => self.crowd.is_full,
        };
        let is_of_the_disk = matches!(error, EngineError::Storage(_));
        if can_be_seen && is_of_the_disk { Ok(()) } else { Err(format!("an honest disk, and {error:?}")) }
    }

    /// Whether the power is off: then nothing more can be read either.
    pub(super) fn is_dark(&self) -> bool {
        matches!(self.config.plan, Plan::PowerCut(at) if at < self.io.calls())
    }
}

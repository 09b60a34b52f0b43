//! What a crash left is opened, and must be a beginning of what was sent: no less than what was acknowledged, nothing
//! else, and the same when it is opened again.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hindsight_storage::directory::{DirectoryHome, MemoryDirectory};
use hindsight_storage::io::Io;
use hindsight_storage::testing::MemIo;

use super::config::Config;
use super::disk::{Engine, Plan, SimIo, outcome_seed};
use super::erasure;
use super::expect::{self, Outcome, Picture, told};
use super::model::Model;
use super::sim::{DIR, End, Sim};

/// D2 and D3, for the number of batches that were found.
pub(super) fn is_allowed(found: u64, acked: u64, sent: u64) -> Outcome {
    if found < acked {
        return Err(format!("{acked} batches were acknowledged, and {found} are there"));
    }
    if found > sent {
        return Err(format!("{sent} batches were sent, and {found} are there"));
    }
    Ok(())
}

/// Opens an image and shows it, with the directory, if there is one. The engine is put down again.
pub(super) fn show(
    config: &Config,
    disk: &MemIo,
    model: &Model,
    acked: u64,
    twin: Option<MemoryDirectory>,
) -> Outcome<(Picture, u64)> {
    let io = SimIo::new(config.seed, disk.clone(), Plan::Nothing, config.sabotage);
    let opened = Engine::open_with(Arc::new(io), Path::new(DIR), config.options.clone());
    let (engine, _) =
        opened.map_err(|error| format!("an honest disk, and it does not open: {}", told(error)))?;
    let found = engine.revision().0;
    is_allowed(found, acked, model.sent())?;
    let world = model.world_at(found);
    let mut cold_reads = 0;
    if let Some(twin) = twin {
        let opened = engine.open_directory(&DirectoryHome::Memory(Arc::new(twin)));
        opened.map_err(|error| format!("an honest disk, and no directory: {error:?}"))?;
        cold_reads = expect::cold(&engine, model, &world)?;
    }
    Ok((expect::world(&engine, model, &world, disk.now_ms(), found)?, cold_reads))
}

/// Holds an image against the run it comes from. Returns how many batches it holds, how many memories could be read
/// without loading their namespace, and how many purges were still to be erased.
pub(super) fn check(
    sim: &Sim,
    image: &MemIo,
    acked: u64,
    seed: u64,
    goes_on: bool,
) -> Outcome<(u64, u64, u64)> {
    // The directory is of another moment than the image: it is made anew, unless it fits by chance.
    let (picture, cold_reads) = show(&sim.config, image, &sim.model, acked, Some(sim.twin.copied()))?;
    let (again, _) = show(&sim.config, image, &sim.model, picture.lsn, None)?;
    if picture != again {
        return Err(format!("opened again it shows another picture: {picture:?}, then {again:?}"));
    }
    if goes_on {
        live_on(sim, image, picture.lsn, seed).map_err(|wrong| format!("{wrong}\n  when life went on"))?;
    }
    let is_looked_at = sim.config.looks_for_traces || goes_on;
    let resumed =
        if is_looked_at { erasure::erases(&sim.config, image, &sim.model, picture.lsn)? } else { 0 };
    Ok((picture.lsn, cold_reads, resumed))
}

/// Life goes on after the crash: clients send again what was never answered, others write; then the power fails again.
fn live_on(sim: &Sim, image: &MemIo, found: u64, seed: u64) -> Outcome {
    let mut config = sim.config.clone();
    config.seed = seed;
    config.plan = Plan::Nothing;
    let mut next = Sim::new(config, image.after_kill());
    next.model = sim.model.clone();
    next.model.forget_after(found);
    next.counters = sim.counters;
    next.twin = Arc::new(sim.twin.copied());
    next.io.set_acked(found);
    next.open()?;
    for request in sim.requests.iter().rev().take(8).rev() {
        // Nobody sends again what would bring a purged memory back.
        if request.call.writes(&next.model.purged(next.model.sent())) {
            continue;
        }
        next.send(request.clone())?;
        next.settle()?;
    }
    next.steps(6)?;
    next.commit()?;
    next.reopen(End::PowerCut)?;
    if next.acked() == next.model.sent() { Ok(()) } else { Err("what was acknowledged is lost".to_owned()) }
}

/// What a recovery does with a disk.
pub(super) struct Recovery {
    pub(super) picture: Picture,
    /// The calls of the last opening.
    pub(super) calls: u64,
    /// The files afterwards with their lengths.
    pub(super) lengths: Vec<(PathBuf, usize)>,
}

impl Recovery {
    /// Undisturbed.
    pub(super) fn of(sim: &Sim, image: &MemIo) -> Outcome<Recovery> {
        Recovery::ends(sim, &image.after_kill())
    }

    /// The power fails at these calls of the first, the second … opening, then one ends. Nothing when the first of them
    /// lies behind its end.
    pub(super) fn after_cuts(sim: &Sim, image: &MemIo, cuts: &[u64]) -> Outcome<Option<Recovery>> {
        let mut disk = image.after_kill();
        for (at, cut) in cuts.iter().enumerate() {
            let io = SimIo::new(sim.config.seed, disk.clone(), Plan::PowerCut(*cut), sim.config.sabotage);
            let opened = Engine::open_with(Arc::new(io.clone()), Path::new(DIR), sim.config.options.clone());
            let is_cut = io.calls() > *cut;
            match opened {
                Ok(_) if is_cut => return Err(format!("opened, although the power failed at call {cut}")),
                Err(error) if !is_cut => return Err(format!("an honest disk, and {}", told(error))),
                _ if !is_cut && at == 0 => return Ok(None),
                _ => {}
            }
            disk = disk.after_crash(outcome_seed(sim.config.seed, *cut, at as u64));
        }
        Recovery::ends(sim, &disk).map(Some)
    }

    fn ends(sim: &Sim, disk: &MemIo) -> Outcome<Recovery> {
        let before = disk.counts().calls;
        let (picture, _) = show(&sim.config, disk, &sim.model, sim.acked(), None)?;
        let lengths = disk.files().into_iter().map(|(path, bytes)| (path, bytes.len())).collect();
        Ok(Recovery { picture, calls: disk.counts().calls - before, lengths })
    }
}

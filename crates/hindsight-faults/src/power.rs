//! Row A6: the power is cut under load. What was not synced by then is gone, on a real file system.
//!
//! Two controls keep the test honest. In every cycle a file is written that nobody syncs: it must be gone afterwards,
//! or nothing was cut. And a few cycles run a server whose syncs only claim to have happened (a debugger skips them):
//! it must be caught losing what it acknowledged.
//!
//! What this can't show is a torn commit: the kernel writes a folio of the page cache whole, and in this image each
//! write is whole, too. The simulated disk of hindsight-storage tears them.

use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;
use rustix::process::Signal;

use crate::model::{Fault, Finding};
use crate::server::Served;
use crate::strace;
use crate::trial::{Mix, Trial, WRITERS, outcome};
use crate::volume::Volume;
use crate::{Setting, Verdict};

const VOLUME_BYTES: u64 = 64 << 20;
/// For cuts during checkpoints, before which much is written, and how many of them one file system takes.
const LARGE_VOLUME_BYTES: u64 = 512 << 20;
const CHECKPOINTS_A_VOLUME: u64 = 2;
/// Ballast of single writes, so that checkpoints come soon, and longest time from a checkpoint's first file to the cut.
const BALLAST_BYTES: usize = 60_000;
const CHECKPOINT_US_MAX: u64 = 60_000;
/// A new file system is made when less is free: each crash may leave a segment of the log behind.
const FREE_BYTES_MIN: u64 = 24 << 20;
/// Memories that are acknowledged in a cycle before the cut, at most.
const MEMORIES_MAX: u64 = 300;
/// Longest time from the wanted number of acknowledgements to the cut, and from the cut to the end of the process.
const PAUSE_US_MAX: u64 = 4_000;
/// One cycle in so many has `data=writeback`.
const WRITEBACK_EVERY: u64 = 15;
/// Cycles with a server whose syncs are skipped.
const CONTROL_CYCLES: u64 = 3;
/// Failed cycles after which nothing new is learned.
const FAILURES_MAX: u64 = 3;

/// The amounts.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Power cuts; one in 15 with data=writeback
    #[arg(long, default_value_t = 150)]
    cycles: u64,
    /// Power cuts while a checkpoint is taken
    #[arg(long, default_value_t = 6)]
    checkpoints: u64,
    /// 2,000 power cuts and 60 during checkpoints, as before a release
    #[arg(long)]
    release_amounts: bool,
}

#[derive(Debug, Default)]
struct Totals {
    cuts: u64,
    writeback: u64,
    volumes: u64,
    acknowledged: u64,
    /// Cycles whose unsynced file was gone.
    forgotten: u64,
    in_flight: u64,
    repeated: [u64; 2],
}

/// Runs it.
///
/// # Errors
/// When no file system can be mounted and cut here, or the server can't be started or asked.
pub fn run(args: &Args, setting: &Setting, verdict: &mut Verdict) -> anyhow::Result<()> {
    let (cycles, checkpoints) =
        if args.release_amounts { (2_000, 60) } else { (args.cycles, args.checkpoints) };
    let mut random = setting.random(2);
    let mut totals = Totals::default();
    while totals.cuts < cycles && verdict.failed() < FAILURES_MAX {
        one_volume(setting, &mut random, (Moment::Random, cycles), &mut totals, verdict)?;
    }
    conclude(&totals, verdict);
    let mut totals = Totals::default();
    while totals.cuts < checkpoints && verdict.failed() < FAILURES_MAX {
        let last = checkpoints.min(totals.cuts + CHECKPOINTS_A_VOLUME);
        one_volume(setting, &mut random, (Moment::Checkpoint, last), &mut totals, verdict)?;
    }
    verdict.note(&format!(
        "{} power cuts while a checkpoint was taken; {} memories acknowledged",
        totals.cuts, totals.acknowledged
    ));
    control(setting, &mut random, verdict)
}

fn conclude(totals: &Totals, verdict: &mut Verdict) {
    let Totals { cuts, writeback, volumes, acknowledged, forgotten, in_flight, repeated } = totals;
    verdict.note(&format!(
        "{cuts} power cuts on {volumes} file systems, {writeback} with data=writeback; {acknowledged} memories acknowledged"
    ));
    verdict.note(&format!(
        "{in_flight} requests in flight when cut; repeated with their ids: {} had been carried out, {} had not",
        repeated[0], repeated[1]
    ));
    verdict.that("what nobody synced is gone after 90 % of the cuts", forgotten * 10 >= cuts * 9, || {
        format!("after {forgotten} of {cuts}: the power is not really cut")
    });
    verdict.that("both kinds of repeated requests came up", repeated.iter().all(|count| *count > 0), || {
        format!("{repeated:?}: a test that repeats only one kind shows little")
    });
}

/// When the power is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Moment {
    /// After some acknowledgements.
    Random,
    /// While a checkpoint is taken.
    Checkpoint,
}

/// Cuts until there were `cycles` in all, or the file system has no room for more.
fn one_volume(
    setting: &Setting,
    random: &mut fastrand::Rng,
    (moment, cycles): (Moment, u64),
    totals: &mut Totals,
    verdict: &mut Verdict,
) -> anyhow::Result<()> {
    let bytes = if moment == Moment::Checkpoint { LARGE_VOLUME_BYTES } else { VOLUME_BYTES };
    let mut volume = Volume::create(&setting.images, bytes)?;
    totals.volumes += 1;
    let mut trial = Trial::new(volume.path().join("data"), volume.beside(), WRITERS, random);
    loop {
        let is_writeback = totals.cuts % WRITEBACK_EVERY == WRITEBACK_EVERY - 1;
        volume.mount(if is_writeback { "writeback" } else { "ordered" })?;
        let is_last = totals.cuts >= cycles || volume.free_bytes()? < FREE_BYTES_MIN;
        if !trial.is_fresh() {
            totals.forgotten += u64::from(!has_content(&volume.path().join("unsynced")));
        }
        if is_last && !trial.is_fresh() {
            let settled = trial.settle(setting).context("the last start on a file system")?;
            verdict.check("the last start on a file system", outcome(&settled));
            add(&mut totals.repeated, trial.repeated);
            volume.unmount()?;
            return Ok(());
        }
        let served = trial.launch(setting).start()?;
        let findings = cycle(setting, &mut trial, &mut volume, served, moment, random, totals)?;
        totals.writeback += u64::from(is_writeback);
        verdict.check(&format!("power cut {}", totals.cuts), outcome(&findings));
        if !findings.is_empty() {
            verdict.note(&format!("the file system's image is kept in {}", volume.keep().display()));
            return Ok(());
        }
    }
}

/// Compares, lets the writers write, cuts the power, ends the process, and unmounts.
fn cycle(
    setting: &Setting,
    trial: &mut Trial,
    volume: &mut Volume,
    served: Served,
    moment: Moment,
    random: &mut fastrand::Rng,
    totals: &mut Totals,
) -> anyhow::Result<Vec<Finding>> {
    let mut findings = if trial.is_fresh() { Vec::new() } else { trial.verify(setting, &served)? };
    let ballast_bytes = if moment == Moment::Checkpoint { BALLAST_BYTES } else { 0 };
    let load = trial.load(setting, &served, Mix { ballast_bytes, only_large: false })?;
    let pause_us_max = if moment == Moment::Checkpoint {
        trial.wait_for_checkpoint(&load)?;
        CHECKPOINT_US_MAX
    } else {
        load.wait(random.u64(1..MEMORIES_MAX))?;
        PAUSE_US_MAX
    };
    std::thread::sleep(Duration::from_micros(random.u64(0..pause_us_max)));
    std::fs::write(volume.path().join("unsynced"), [7; 4096])?;
    load.expect_errors();
    if random.bool() {
        volume.cut()?;
        std::thread::sleep(Duration::from_micros(random.u64(0..PAUSE_US_MAX)));
    } else {
        // The process stops as the disk does, and answers nothing in between.
        served.signal(Signal::KILL)?;
        volume.cut()?;
    }
    served.kill()?;
    let aftermath = trial.end_load(setting, load)?;
    volume.unmount()?;
    findings.extend(aftermath.findings);
    totals.cuts += 1;
    totals.acknowledged += aftermath.acknowledged;
    let open = trial.ledgers().iter().filter(|ledger| ledger.open.is_some()).count();
    totals.in_flight += u64::try_from(open)?;
    Ok(findings)
}

fn has_content(file: &Path) -> bool {
    std::fs::read(file).is_ok_and(|bytes| bytes == [7; 4096])
}

fn add(sum: &mut [u64; 2], more: [u64; 2]) {
    for (sum, more) in sum.iter_mut().zip(more) {
        *sum += more;
    }
}

/// A server that only claims to sync must be caught.
fn control(setting: &Setting, random: &mut fastrand::Rng, verdict: &mut Verdict) -> anyhow::Result<()> {
    let mut caught = 0;
    for _ in 0..CONTROL_CYCLES {
        let mut volume = Volume::create(&setting.images, VOLUME_BYTES)?;
        volume.mount("ordered")?;
        let mut trial = Trial::new(volume.path().join("data"), volume.beside(), WRITERS, random);
        let mut launch = trial.launch(setting);
        launch.under = strace::skipping("fdatasync");
        let served = launch.start()?;
        cycle(setting, &mut trial, &mut volume, served, Moment::Random, random, &mut Totals::default())?;
        volume.mount("ordered")?;
        let served = trial.launch(setting).start()?;
        let findings = trial.verify(setting, &served)?;
        caught += u64::from(findings.iter().any(|finding| finding.fault == Fault::Lost));
        served.kill()?;
    }
    verdict.note(&format!(
        "control: a server whose syncs are skipped was caught in {caught} of {CONTROL_CYCLES} cuts"
    ));
    verdict.that("a server whose syncs are skipped is caught", caught == CONTROL_CYCLES, || {
        format!("in {caught} of {CONTROL_CYCLES} cuts only")
    });
    Ok(())
}

//! Row A5: the server is killed while requests are in flight, again and again: under load, while it takes a checkpoint,
//! and sometimes while it starts.

use std::time::Duration;

use anyhow::Context as _;

use crate::model::Ledger;
use crate::server::Served;
use crate::setting::temporary;
use crate::trial::{Mix, Trial, WRITERS, outcome};
use crate::{Setting, Verdict};

/// Kills between two new data directories: a start reads the whole log, and shall not become the larger part.
const CYCLES_A_DIRECTORY: u64 = 15;
/// The same when the kills come during checkpoints, before which much is written.
const CHECKPOINTS_A_DIRECTORY: u64 = 2;
/// Longest time from the wanted number of acknowledgements to the kill, and from a checkpoint's first file.
const PAUSE_US_MAX: u64 = 4_000;
const CHECKPOINT_US_MAX: u64 = 60_000;
/// Ballast of single writes, so that checkpoints come soon.
const BALLAST_BYTES: usize = 60_000;
/// Failed cycles after which nothing new is learned.
const FAILURES_MAX: u64 = 5;

/// The amounts.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Kills at a random moment
    #[arg(long, default_value_t = 150)]
    cycles: u64,
    /// Memories that must be acknowledged before these kills in all
    #[arg(long, default_value_t = 100_000)]
    acknowledged: u64,
    /// Kills while a checkpoint is taken
    #[arg(long, default_value_t = 8)]
    checkpoints: u64,
    /// 2,000 kills, 1,000,000 acknowledged memories and 100 checkpoints, as before a release
    #[arg(long)]
    release_amounts: bool,
}

/// When the server is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Moment {
    /// After some acknowledgements, so that `memories` are reached in `cycles` kills.
    Random { cycles: u64, memories: u64 },
    /// While a checkpoint is taken.
    Checkpoint,
}

#[derive(Debug, Default)]
struct Totals {
    kills: u64,
    kills_in_flight: u64,
    kills_at_start: u64,
    /// Kills that left an unfinished file behind.
    unfinished: u64,
    in_flight: u64,
    acknowledged: u64,
    calls: u64,
    repeated: [u64; 2],
    start_ms: u64,
    starts: u64,
}

/// Runs it.
///
/// # Errors
/// When the server can't be started or asked.
pub fn run(args: &Args, setting: &Setting, verdict: &mut Verdict) -> anyhow::Result<()> {
    let (cycles, wanted, checkpoints) = if args.release_amounts {
        (2_000, 1_000_000, 100)
    } else {
        (args.cycles, args.acknowledged, args.checkpoints)
    };
    let mut random = setting.random(1);
    let mut totals = Totals::default();
    while totals.kills < cycles && verdict.failed() == 0 {
        let left = CYCLES_A_DIRECTORY.min(cycles - totals.kills);
        let moment = |totals: &Totals| Moment::Random {
            cycles: cycles - totals.kills,
            memories: wanted.saturating_sub(totals.acknowledged),
        };
        one_directory(setting, &mut random, (left, &moment), &mut totals, verdict)?;
    }
    conclude(&totals, wanted, verdict);
    let mut totals = Totals::default();
    while totals.kills < checkpoints && verdict.failed() < FAILURES_MAX {
        let left = CHECKPOINTS_A_DIRECTORY.min(checkpoints - totals.kills);
        one_directory(setting, &mut random, (left, &|_| Moment::Checkpoint), &mut totals, verdict)?;
    }
    let Totals { kills, unfinished, acknowledged, .. } = &totals;
    verdict.note(&format!(
        "{kills} kills while a checkpoint was taken, {unfinished} of them before its files were finished; {acknowledged} memories acknowledged"
    ));
    verdict.that("checkpoints were cut short", *unfinished > 0 || *kills == 0, || {
        "each was finished: the kills come too late".to_owned()
    });
    Ok(())
}

/// Kills on one data directory, until there were `kills` of them or something is wrong.
fn one_directory(
    setting: &Setting,
    random: &mut fastrand::Rng,
    (kills, moment): (u64, &dyn Fn(&Totals) -> Moment),
    totals: &mut Totals,
    verdict: &mut Verdict,
) -> anyhow::Result<()> {
    let folder = temporary(&setting.scratch)?;
    let mut trial = Trial::new(folder.path().join("data"), folder.path().to_owned(), WRITERS, random);
    for _ in 0..kills {
        let findings = cycle(setting, &mut trial, random, moment(totals), totals)?;
        let is_sound = findings.is_ok();
        verdict.check(&format!("kill {}", totals.kills), findings);
        if !is_sound {
            verdict.note(&format!("the data directory is kept in {}", folder.keep().display()));
            return Ok(());
        }
    }
    let settled = trial.settle(setting).context("the last start on a data directory")?;
    verdict.check("the last start on a data directory", outcome(&settled));
    totals.repeated = [totals.repeated[0] + trial.repeated[0], totals.repeated[1] + trial.repeated[1]];
    Ok(())
}

/// Starts the server, compares, lets the writers write, and kills it.
fn cycle(
    setting: &Setting,
    trial: &mut Trial,
    random: &mut fastrand::Rng,
    moment: Moment,
    totals: &mut Totals,
) -> anyhow::Result<Result<(), String>> {
    if random.u8(0..10) == 0 {
        // Killed while it starts: what it finds the next time is what it found now.
        let pause = Duration::from_micros(random.u64(0..60_000));
        trial.launch(setting).spawn()?.kill_after(pause)?;
        totals.kills_at_start += 1;
    }
    let served = trial.launch(setting).start()?;
    totals.starts += 1;
    totals.start_ms += u64::try_from(served.took.as_millis())?;
    let mut findings = if trial.is_fresh() { Vec::new() } else { trial.verify(setting, &served)? };
    let ballast_bytes = if moment == Moment::Checkpoint { BALLAST_BYTES } else { 0 };
    let load = trial.load(setting, &served, Mix { ballast_bytes, only_large: false })?;
    let pause_us_max = match moment {
        Moment::Random { cycles, memories } => {
            load.wait(memories_until_kill(cycles, memories, random))?;
            PAUSE_US_MAX
        }
        Moment::Checkpoint => {
            trial.wait_for_checkpoint(&load)?;
            CHECKPOINT_US_MAX
        }
    };
    std::thread::sleep(Duration::from_micros(random.u64(0..pause_us_max)));
    load.expect_errors();
    let killed_us = kill(served)?;
    let aftermath = trial.end_load(setting, load)?;
    findings.extend(aftermath.findings);
    let open = |ledger: &&Ledger| ledger.open.as_ref().is_some_and(|open| open.sent_us < killed_us);
    let in_flight = u64::try_from(trial.ledgers().iter().filter(open).count())?;
    totals.kills += 1;
    totals.kills_in_flight += u64::from(in_flight > 0);
    totals.unfinished += u64::from(trial.has_unfinished_file());
    totals.in_flight += in_flight;
    totals.acknowledged += aftermath.acknowledged;
    totals.calls += aftermath.calls;
    Ok(outcome(&findings))
}

/// After how many acknowledged memories the kill comes: at the end as many as are still wanted, one time in ten very
/// few, else around the mean.
fn memories_until_kill(cycles: u64, memories: u64, random: &mut fastrand::Rng) -> u64 {
    let mean = memories.div_ceil(cycles.max(1));
    if cycles <= 1 {
        memories.max(1)
    } else if random.u8(0..10) == 0 {
        random.u64(0..20)
    } else {
        mean / 2 + random.u64(0..=mean + 40)
    }
}

/// Kills the server and tells when.
fn kill(served: Served) -> anyhow::Result<u64> {
    let now = crate::trial::clock_us();
    served.kill()?;
    Ok(now)
}

fn conclude(totals: &Totals, wanted: u64, verdict: &mut Verdict) {
    let Totals { kills, kills_in_flight, in_flight, acknowledged, calls, repeated, .. } = totals;
    verdict.note(&format!(
        "{kills} kills under load and {} while starting; {acknowledged} memories acknowledged in {calls} requests",
        totals.kills_at_start
    ));
    verdict.note(&format!(
        "{in_flight} requests in flight when killed, in {kills_in_flight} of {kills} kills; repeated with their ids: {} had been carried out, {} had not",
        repeated[0], repeated[1]
    ));
    verdict.note(&format!("mean start {} ms", totals.start_ms / totals.starts.max(1)));
    verdict.that("enough memories were acknowledged", *acknowledged >= wanted, || {
        format!("{acknowledged} of {wanted}")
    });
    verdict.that("requests were in flight in 90 % of the kills", kills_in_flight * 10 >= kills * 9, || {
        format!("in {kills_in_flight} of {kills}")
    });
    verdict.that("both kinds of repeated requests came up", repeated.iter().all(|count| *count > 0), || {
        format!("{repeated:?}: a test that repeats only one kind shows little")
    });
}

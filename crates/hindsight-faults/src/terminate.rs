//! Row S10: SIGTERM under load, twice in a row, and while the server starts. It ends in time with the right code, loses
//! nothing, and leaves a log that says it was closed in order.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use rustix::process::Signal;

use crate::setting::temporary;
use crate::trial::{Mix, Trial, WRITERS, outcome};
use crate::{Setting, Verdict};

/// What a container engine waits for before it kills.
const STOP_MAX: Duration = Duration::from_secs(10);
/// Memories that are acknowledged in a cycle before the signal, at most.
const MEMORIES_MAX: u64 = 500;
/// What a shell says of a program that SIGINT ended: the code after a second signal.
const INTERRUPTED: i32 = 130;
/// One cycle in so many gets a second signal.
const TWICE_EVERY: u64 = 4;
/// How a frame of the log begins, and where its kind stands (`docs/disk-format.md`).
const FRAME_MAGIC: &[u8] = b"HSfr";
const FRAME_KIND_AT: usize = 36;
const CLEAN_SHUTDOWN: u8 = 3;

/// The amounts.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Stops under load
    #[arg(long, default_value_t = 20)]
    cycles: u64,
    /// 100 stops, as before a release
    #[arg(long)]
    release_amounts: bool,
}

/// Runs it.
///
/// # Errors
/// When the server can't be started or asked.
pub fn run(args: &Args, setting: &Setting, verdict: &mut Verdict) -> anyhow::Result<()> {
    let cycles = if args.release_amounts { 100 } else { args.cycles };
    let mut random = setting.random(3);
    let folder = temporary(&setting.scratch)?;
    let mut trial = Trial::new(folder.path().join("data"), folder.path().to_owned(), WRITERS, &mut random);
    let (mut slowest, mut acknowledged, mut unanswered, mut interrupted) = (Duration::ZERO, 0, 0, 0_u64);
    for cycle in 1..=cycles {
        if cycle % TWICE_EVERY == 1 {
            let stopped = stopped_while_starting(setting, &trial, &mut random);
            verdict.check(&format!("SIGTERM while starting, before cycle {cycle}"), stopped);
        }
        let mut served = trial.launch(setting).start()?;
        let mut findings = if trial.is_fresh() { Vec::new() } else { trial.verify(setting, &served)? };
        let load = trial.load(setting, &served, Mix::default())?;
        load.wait(random.u64(1..MEMORIES_MAX))?;
        load.expect_errors();
        let is_twice = cycle % TWICE_EVERY == 0;
        let began = Instant::now();
        served.signal(Signal::TERM)?;
        if is_twice {
            std::thread::sleep(Duration::from_micros(random.u64(0..5_000)));
            served.signal(Signal::TERM)?;
        }
        let status = served.wait(STOP_MAX)?;
        slowest = slowest.max(began.elapsed());
        let aftermath = trial.end_load(setting, load)?;
        findings.extend(aftermath.findings);
        verdict.check(&format!("nothing is lost at stop {cycle}"), outcome(&findings));
        acknowledged += aftermath.acknowledged;
        unanswered += trial.ledgers().iter().filter(|ledger| ledger.open.is_some()).count();
        // The second signal may come when the first has done its work.
        let is_interrupted = is_twice && status.code() == Some(INTERRUPTED);
        interrupted += u64::from(is_interrupted);
        verdict.that(&format!("exit code of stop {cycle}"), is_interrupted || status.success(), || {
            format!("{status}: {}", served.log())
        });
        if !is_interrupted {
            let clean = is_closed_in_order(&trial.data).map_err(|error| format!("{error:#}"));
            verdict.check(&format!("the log after stop {cycle} says that it was closed"), clean);
        }
    }
    let settled = trial.settle(setting).context("the last start")?;
    verdict.check("the last start", outcome(&settled));
    verdict.note(&format!(
        "{cycles} stops under load, the slowest took {} ms, {interrupted} cut short by a second signal; {acknowledged} memories acknowledged, {unanswered} requests unanswered",
        slowest.as_millis()
    ));
    Ok(())
}

/// A signal that comes before the server listens: it ends in time, as it would later, or the signal itself ends it.
fn stopped_while_starting(
    setting: &Setting,
    trial: &Trial,
    random: &mut fastrand::Rng,
) -> Result<(), String> {
    use std::os::unix::process::ExitStatusExt as _;

    let starting = trial.launch(setting).spawn().map_err(|error| format!("{error:#}"))?;
    let pause = Duration::from_micros(random.u64(0..60_000));
    let status = starting.terminate_after(pause, STOP_MAX).map_err(|error| format!("{error:#}"))?;
    let by_signal = status.signal() == Some(Signal::TERM.as_raw());
    if status.success() || by_signal { Ok(()) } else { Err(format!("it ended with {status}")) }
}

/// Whether the last frame of the log is the note that it was closed in order.
fn is_closed_in_order(data: &Path) -> anyhow::Result<()> {
    let segments = fs::read_dir(data.join("log"))?.map(|entry| Ok(entry?.path()));
    let mut segments = segments.collect::<anyhow::Result<Vec<_>>>()?;
    segments.retain(|path| path.extension().is_some_and(|extension| extension == "log"));
    // Their names are numbers of one length.
    segments.sort();
    let newest = segments.last().context("there is no segment of the log")?;
    let bytes = fs::read(newest)?;
    // A payload can hold the magic number, but nothing follows a clean end.
    let last = bytes.windows(FRAME_MAGIC.len()).rposition(|window| window == FRAME_MAGIC);
    let kind = last.and_then(|at| bytes.get(at + FRAME_KIND_AT));
    anyhow::ensure!(
        kind == Some(&CLEAN_SHUTDOWN),
        "the last frame of {} has kind {kind:?}",
        newest.display()
    );
    Ok(())
}

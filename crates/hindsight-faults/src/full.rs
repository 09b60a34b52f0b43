//! Row A7: the disk is full, from outside or by what is written, and has room again.
//!
//! What must hold: writes are refused with an error that says why (`DISK_FULL`), what was acknowledged before is never
//! lost, other namespaces can be read, memories can be forgotten without a byte free, health says that it is degraded and
//! not dead, and with room again everything goes on by itself (D6).

mod ceiling;
mod first_start;
mod quiet;

use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::path::Path;

use anyhow::Context as _;
use hindsight_client::Error;

use crate::model::Finding;
use crate::server::{Served, Start};
use crate::trial::{Mix, Trial, WRITERS, outcome};
use crate::volume::Volume;
use crate::{Setting, Verdict};
use quiet::Quiet;

const VOLUME_BYTES: u64 = 48 << 20;
/// What is given free again when the writers themselves filled the disk.
const RESERVE_BYTES: u64 = 12 << 20;
/// Most that is left free when the disk is filled from outside.
const LEFT_BYTES_MAX: u64 = 3 << 20;
/// Memories that are acknowledged before the disk is full, and after it has room again.
const MEMORIES: u64 = 200;
/// Ballast of the writes that fill the disk.
const BALLAST_BYTES: usize = 60_000;
/// One cycle in so many starts the server while the disk is full.
const START_FULL_EVERY: u64 = 4;
const FAILURES_MAX: u64 = 3;

/// The amounts.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// How often the disk is filled
    #[arg(long, default_value_t = 20)]
    cycles: u64,
    /// 200 times, as before a release
    #[arg(long)]
    release_amounts: bool,
}

/// One time that the disk is filled.
#[derive(Debug, Clone, Copy)]
struct Cycle {
    number: u64,
    is_filled_from_outside: bool,
    is_started_full: bool,
}

/// Runs it.
///
/// # Errors
/// When no file system can be mounted here, or the server can't be started or asked.
pub fn run(args: &Args, setting: &Setting, verdict: &mut Verdict) -> anyhow::Result<()> {
    let cycles = if args.release_amounts { 200 } else { args.cycles };
    let mut random = setting.random(5);
    for number in 1..=cycles {
        if verdict.failed() >= FAILURES_MAX {
            break;
        }
        let cycle = Cycle {
            number,
            is_filled_from_outside: number % 2 == 1,
            is_started_full: number % START_FULL_EVERY < 2,
        };
        fill(setting, cycle, &mut random, verdict)?;
    }
    first_start::run(setting, &mut random, verdict)?;
    ceiling::run(setting, &mut random, verdict)
}

fn fill(
    setting: &Setting,
    cycle: Cycle,
    random: &mut fastrand::Rng,
    verdict: &mut Verdict,
) -> anyhow::Result<()> {
    let mut volume = Volume::create(&setting.images, VOLUME_BYTES)?;
    volume.mount("ordered")?;
    let mut trial = Trial::new(volume.path().join("data"), volume.beside(), WRITERS, random);
    let served = trial.launch(setting).start()?;
    let mut quiet = Quiet::write(setting, &served)?;
    trial.others.extend(quiet.take_positions());
    let mut findings = write(setting, &mut trial, &served, Mix::default())?;

    let filler = volume.path().join("filler");
    let mix = if cycle.is_filled_from_outside {
        let left = random.u64(0..LEFT_BYTES_MAX);
        fill_up(&filler, u64::MAX)?;
        let file = File::options().write(true).open(&filler)?;
        file.set_len(file.metadata()?.len().saturating_sub(left))?;
        Mix::default()
    } else {
        fill_up(&filler, RESERVE_BYTES)?;
        Mix { ballast_bytes: BALLAST_BYTES, only_large: true }
    };
    let load = trial.load(setting, &served, mix)?;
    load.expect_errors();
    load.wait(u64::MAX)?;
    let aftermath = trial.end_load(setting, load)?;
    findings.extend(aftermath.findings);
    let name = |what: &str| format!("{what}, cycle {}", cycle.number);
    verdict.check(&name("writes are refused with the reason"), said_why(&aftermath.errors));
    verdict.check(&name("while full"), while_full(setting, &volume, &served, &mut quiet));
    if cycle.is_started_full {
        start_full(setting, &trial, cycle, served, verdict)?;
        make_room(&volume)?;
    } else {
        make_room(&volume)?;
        verdict.check(&name("with room again"), with_room(setting, &served, &mut quiet));
        findings.extend(write(setting, &mut trial, &served, Mix::default())?);
        served.kill()?;
    }
    trial.others.extend(quiet.take_positions());
    findings.extend(trial.settle(setting).context("the start with room again")?);
    let served = trial.launch(setting).start()?;
    verdict.check(&name("what was forgotten on the full disk stays so"), quiet.at_last(setting, &served));
    findings.extend(write(setting, &mut trial, &served, Mix::default())?);
    served.stop()?;
    findings.extend(trial.settle(setting)?);
    verdict.check(&name("nothing is lost"), outcome(&findings));
    if !findings.is_empty() {
        verdict.note(&format!("the file system's image is kept in {}", volume.keep().display()));
    }
    Ok(())
}

/// Removes what others have written.
fn make_room(volume: &Volume) -> std::io::Result<()> {
    ["filler", "last-bytes"].iter().try_for_each(|name| match fs::remove_file(volume.path().join(name)) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    })
}

/// Lets the writers write a while.
fn write(setting: &Setting, trial: &mut Trial, served: &Served, mix: Mix) -> anyhow::Result<Vec<Finding>> {
    let load = trial.load(setting, served, mix)?;
    load.wait(MEMORIES)?;
    load.stop();
    Ok(trial.end_load(setting, load)?.findings)
}

/// Writes a file until there is no more room, or until it has `most` bytes.
fn fill_up(path: &Path, most: u64) -> anyhow::Result<()> {
    let mut file = File::create(path)?;
    let mut written = 0;
    for chunk in [1 << 20, 4096, 1] {
        let bytes = vec![1; chunk];
        while written < most {
            match file.write(&bytes) {
                Ok(count) => written += u64::try_from(count)?,
                Err(error) if error.kind() == ErrorKind::StorageFull => break,
                Err(error) => return Err(error.into()),
            }
        }
    }
    Ok(file.sync_all()?)
}

/// Every writer was told the reason, and that it is about space.
fn said_why(errors: &[Error]) -> Result<(), String> {
    let is_right =
        |error: &Error| error.reason() == "DISK_FULL" && error.to_string().to_lowercase().contains("space");
    match errors.iter().find(|error| !is_right(error)) {
        None if errors.len() == WRITERS => Ok(()),
        None => Err(format!("{} of {WRITERS} writers were refused", errors.len())),
        Some(error) => Err(format!("{}: {error}", error.reason())),
    }
}

/// The last bytes are taken away, so that nothing but what the server has set aside is left to it.
fn while_full(setting: &Setting, volume: &Volume, served: &Served, quiet: &mut Quiet) -> Result<(), String> {
    let failed = |error: anyhow::Error| format!("{error:#}");
    fill_up(&volume.path().join("last-bytes"), u64::MAX).map_err(failed)?;
    let free = volume.free_bytes().map_err(failed)?;
    if free > 0 {
        return Err(format!("{free} bytes are free, and none should be"));
    }
    is_degraded(served, true)?;
    quiet.while_full(setting, served)
}

fn with_room(setting: &Setting, served: &Served, quiet: &mut Quiet) -> Result<(), String> {
    quiet.with_room(setting, served)?;
    is_degraded(served, false)
}

/// Ready in both cases; the word differs.
fn is_degraded(served: &Served, expected: bool) -> Result<(), String> {
    let (status, body) = served.health().map_err(|error| format!("{error:#}"))?;
    let word = if expected { "\"degraded\"" } else { "\"ok\"" };
    if status == 200 && body.contains(word) { Ok(()) } else { Err(format!("/readyz says {status}: {body}")) }
}

/// Kills the server and starts it on the full disk: it starts, or says why not; it changes nothing for the worse. What
/// it would take there is not asked here.
fn start_full(
    setting: &Setting,
    trial: &Trial,
    cycle: Cycle,
    served: Served,
    verdict: &mut Verdict,
) -> anyhow::Result<()> {
    served.kill()?;
    let number = cycle.number;
    match trial.launch(setting).spawn()?.wait()? {
        Start::Served(served) => {
            verdict.note(&format!("cycle {number}: starts on the full disk"));
            served.kill()?;
        }
        Start::Ended(status, words) => {
            let last = words.lines().last().unwrap_or_default();
            verdict.note(&format!("cycle {number}: does not start on the full disk ({status}): {last}"));
            let says_why = words.to_lowercase().contains("no space") && !words.contains("panicked");
            let result = if says_why { Ok(()) } else { Err(format!("{status}: {words}")) };
            verdict.check(&format!("a start on the full disk says why not, cycle {number}"), result);
        }
    }
    Ok(())
}

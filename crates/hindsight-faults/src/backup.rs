//! Row B1: backups are taken while eight writers write, and some are cut short: whoever takes one is killed, or the
//! server is.
//!
//! What must hold (D10): a backup that is there is the state at the one log position that it names, whatever happened
//! beside it; one that was cut short is not there; and the database itself has lost nothing.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use serde::Deserialize;

use crate::server::Served;
use crate::setting::temporary;
use crate::trial::{Mix, Trial, WRITERS, outcome};
use crate::{Setting, Verdict};

/// Backups of one data directory; the server is killed during the last one.
const BACKUPS_A_DIRECTORY: u64 = 5;
/// Memories that are acknowledged before the first backup, and between two of them.
const MEMORIES: u64 = 400;
/// Ballast of single writes, so that a backup takes long enough to be cut short.
const BALLAST_BYTES: usize = 60_000;
/// Longest time from the first byte of a backup to the kill.
const PAUSE_US_MAX: u64 = 30_000;
/// How long one backup may take.
const BACKUP_MAX: Duration = Duration::from_secs(60);
/// How long a server may take to notice that nobody takes the backup any more.
const NOTICED_MAX: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_micros(200);
/// Failed checks after which nothing new is learned.
const FAILURES_MAX: u64 = 3;

/// The amounts.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Backups
    #[arg(long, default_value_t = 30)]
    backups: u64,
    /// 500 backups, as before a release
    #[arg(long)]
    release_amounts: bool,
}

/// What happens to a backup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Whole,
    /// Whoever takes it is killed.
    ClientDies,
    ServerDies,
}

/// What the program says of a backup and of what was restored.
#[derive(Debug, Deserialize)]
struct Report {
    revision: u64,
}

#[derive(Debug, Default)]
struct Totals {
    taken: u64,
    cut: u64,
    /// Those that were to be cut and have left nothing.
    nothing_left: u64,
    restored: u64,
    memories: u64,
}

/// Runs it.
///
/// # Errors
/// When the server can't be started or asked.
pub fn run(args: &Args, setting: &Setting, verdict: &mut Verdict) -> anyhow::Result<()> {
    let backups = if args.release_amounts { 500 } else { args.backups };
    let mut random = setting.random(6);
    let mut totals = Totals::default();
    while totals.taken < backups && verdict.failed() < FAILURES_MAX {
        one_directory(setting, &mut random, &mut totals, verdict)?;
    }
    let Totals { taken, cut, nothing_left, restored, memories } = totals;
    verdict.note(&format!(
        "{taken} backups, {cut} of them to be cut short, which {nothing_left} were; {restored} restored and compared, with {memories} memories"
    ));
    verdict.that("backups were cut short", nothing_left > 0 || cut == 0, || {
        "each was finished: the kills come too late".to_owned()
    });
    verdict.that("backups were restored", restored > 0, || "none".to_owned());
    Ok(())
}

/// Takes the backups of one data directory, then restores and compares each.
fn one_directory(
    setting: &Setting,
    random: &mut fastrand::Rng,
    totals: &mut Totals,
    verdict: &mut Verdict,
) -> anyhow::Result<()> {
    let folder = temporary(&setting.scratch)?;
    let mut trial = Trial::new(folder.path().join("data"), folder.path().to_owned(), WRITERS, random);
    let served = trial.launch(setting).start()?;
    let load = trial.load(setting, &served, Mix { ballast_bytes: BALLAST_BYTES, only_large: false })?;
    let mut files = Vec::new();
    for number in 1..BACKUPS_A_DIRECTORY {
        load.wait(number * MEMORIES)?;
        let fate = if number % 2 == 0 { Fate::ClientDies } else { Fate::Whole };
        files.push((fate, folder.path().join(format!("{number}.backup"))));
        if let Some((fate, file)) = files.last() {
            let pause = Duration::from_micros(random.u64(0..PAUSE_US_MAX));
            let taking = Taking::begin(setting, &served, file)?;
            if *fate == Fate::ClientDies { taking.kill_after(pause)? } else { taking.end(true)? }
        }
    }
    let file = folder.path().join("last.backup");
    let taking = Taking::begin(setting, &served, &file)?;
    std::thread::sleep(Duration::from_micros(random.u64(0..PAUSE_US_MAX)));
    load.expect_errors();
    served.kill()?;
    taking.end(false)?;
    files.push((Fate::ServerDies, file));
    let aftermath = trial.end_load(setting, load)?;
    verdict.check("nothing goes wrong while backups are taken", outcome(&aftermath.findings));
    totals.memories += aftermath.acknowledged;
    let mut is_sound = true;
    for (fate, file) in &files {
        totals.taken += 1;
        totals.cut += u64::from(*fate != Fate::Whole);
        let is_there = file.exists();
        totals.nothing_left += u64::from(*fate != Fate::Whole && !is_there);
        verdict.that(&format!("backup {} is there", totals.taken), is_there || *fate != Fate::Whole, || {
            format!("{} is missing", file.display())
        });
        if is_there {
            let result = compare(setting, &trial, file, folder.path())?;
            is_sound &= result.is_ok();
            verdict.check(&format!("backup {} ({fate:?})", totals.taken), result);
            totals.restored += 1;
        }
    }
    let settled = trial.settle(setting)?;
    verdict.check("the database that the backups were taken of", outcome(&settled));
    if !is_sound || !settled.is_empty() {
        verdict.note(&format!("the data directory and its backups are kept in {}", folder.keep().display()));
    }
    Ok(())
}

/// Restores a backup, and holds a server on what that gives against what the writers knew at its position.
fn compare(
    setting: &Setting,
    trial: &Trial,
    file: &Path,
    folder: &Path,
) -> anyhow::Result<Result<(), String>> {
    let (data, beside) = (folder.join("restored"), folder.join("beside"));
    std::fs::create_dir_all(&beside)?;
    let restored = Command::new(&setting.program)
        .args(["backup", "restore"])
        .arg(file)
        .arg("--into")
        .arg(&data)
        .args(["-o", "json"])
        .output()?;
    if !restored.status.success() {
        return Ok(Err(String::from_utf8_lossy(&restored.stderr).into_owned()));
    }
    let report: Report = serde_json::from_slice(&restored.stdout).context("what a restore says")?;
    let mut copy = trial.copied(data.clone(), beside, report.revision);
    let served = copy.launch(setting).start()?;
    let findings = copy.verify(setting, &served)?;
    served.kill()?;
    std::fs::remove_dir_all(&data)?;
    Ok(outcome(&findings).map_err(|wrong| format!("at position {}: {wrong}", report.revision)))
}

/// A program that takes a backup.
#[derive(Debug)]
struct Taking {
    child: Child,
    /// Where the backup lies until it is whole.
    unfinished: PathBuf,
    file: PathBuf,
    /// Where it writes what is wrong.
    words: PathBuf,
}

impl Taking {
    /// Begins a backup, and returns when its first bytes are there. The server takes one at a time, so the end of whoever
    /// took the one before has to be noticed first; that may take a moment.
    fn begin(setting: &Setting, served: &Served, file: &Path) -> anyhow::Result<Taking> {
        let began = Instant::now();
        loop {
            let mut taking = Taking::spawn(setting, served, file)?;
            match taking.wait_for_bytes()? {
                None => return Ok(taking),
                Some(status) if began.elapsed() > NOTICED_MAX => {
                    anyhow::bail!("a backup does not begin ({status}): {}", taking.words()?)
                }
                Some(_) => std::thread::sleep(Duration::from_millis(50)),
            }
        }
    }

    fn spawn(setting: &Setting, served: &Served, file: &Path) -> anyhow::Result<Taking> {
        let beside = |end: &str| {
            let mut path = file.as_os_str().to_owned();
            path.push(end);
            PathBuf::from(path)
        };
        let words = beside(".words");
        let child = Command::new(&setting.program)
            .args(["--server", &format!("http://{}", served.ready.grpc), "backup", "create", "--out"])
            .arg(file)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(&words)?)
            .spawn()?;
        Ok(Taking { child, unfinished: beside(".tmp"), file: file.to_owned(), words })
    }

    /// What the program said.
    fn words(&self) -> anyhow::Result<String> {
        Ok(std::fs::read_to_string(&self.words)?)
    }

    /// Waits until the first bytes are there, or all of them; or until the program has failed, and tells how.
    fn wait_for_bytes(&mut self) -> anyhow::Result<Option<ExitStatus>> {
        let began = Instant::now();
        let has_bytes = |path: &Path| std::fs::metadata(path).is_ok_and(|found| found.len() > 0);
        while !has_bytes(&self.unfinished) && !has_bytes(&self.file) {
            if let Some(status) = self.child.try_wait()?.filter(|status| !status.success()) {
                return Ok(Some(status));
            }
            ensure!(began.elapsed() < BACKUP_MAX, "a backup does not begin: {}", self.words()?);
            std::thread::sleep(POLL);
        }
        Ok(None)
    }

    /// Kills whoever takes it after a while.
    fn kill_after(mut self, pause: Duration) -> anyhow::Result<()> {
        std::thread::sleep(pause);
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    /// Waits until it ends; it must be well if `is_well`.
    fn end(mut self, is_well: bool) -> anyhow::Result<()> {
        let began = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait()? {
                break status;
            }
            ensure!(began.elapsed() < BACKUP_MAX, "a backup does not end");
            std::thread::sleep(POLL);
        };
        let is_right = !is_well || status.success();
        ensure!(is_right, "a backup that nobody disturbed ended with {status}: {}", self.words()?);
        Ok(())
    }
}

impl Drop for Taking {
    fn drop(&mut self) {
        // Gone already, unless something before has failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

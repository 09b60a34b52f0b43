//! Row B2: a start that has much of the log to read takes no more memory than running on does, and not long.
//!
//! A server takes a checkpoint long before its log has a GiB, so the log is written here, by the engine in a process of
//! its own that takes none; that process tells what the database takes while it runs. Then the server starts on it:
//! once to see the most that it took, and once inside a memory cgroup that allows little more than running takes.

mod cgroup;
mod process;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail, ensure};
use hindsight_client::{Draft, RawVector, RawVectors, VectorRole};
use hindsight_engine::{BatchRequest, Engine, Options, WriteItem};

use crate::model::{Key, content};
use crate::server::{Launch, Start};
use crate::setting::temporary;
use crate::{Setting, Verdict};
use cgroup::Cgroup;
use process::Taken;

/// What a start may take, in hundredths of what running on takes (D8).
const PERCENT_MAX: u64 = 120;
/// Seconds of work for each GiB of the log.
const SECONDS_A_GIB: f64 = 10.0;
const MIB: u64 = 1 << 20;
/// Memories of a batch, and components of their vectors.
const BATCH: u64 = 100;
const DIMENSION: usize = 256;

/// The amounts.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Length of the log, in MiB
    #[arg(long, default_value_t = 256)]
    log_mib: u64,
    /// A GiB, as before a release
    #[arg(long)]
    release_amounts: bool,
}

/// Where to write a log, and how long.
#[derive(Debug, clap::Args)]
pub struct FillArgs {
    /// The data directory
    #[arg(long)]
    data: PathBuf,
    /// Length of the log, in MiB
    #[arg(long)]
    log_mib: u64,
}

/// Runs it.
///
/// # Errors
/// When the log can't be written, or the server can't be started.
pub fn run(args: &Args, setting: &Setting, verdict: &mut Verdict) -> anyhow::Result<()> {
    let log_mib = if args.release_amounts { 1024 } else { args.log_mib };
    let folder = temporary(&setting.scratch)?;
    let (data, beside) = (folder.path().join("data"), folder.path().to_owned());
    let running = filled(&data, log_mib)?;
    let launch = |under| Launch { program: &setting.program, data: &data, beside: &beside, under };

    let served = launch(Vec::new()).start()?;
    let (started, wall) = (Taken::of(served.ready.pid)?, served.took);
    served.kill()?;
    verdict.note(&format!(
        "a log of {log_mib} MiB: running on takes {} MiB; a start takes {} MiB at most, {:.1} s of work, {:.1} s in all",
        running.rss_bytes / MIB,
        started.peak_bytes / MIB,
        started.cpu_seconds,
        wall.as_secs_f64()
    ));
    // A machine that does other work beside takes longer, and that proves nothing; so the server's own work counts.
    let seconds_max = SECONDS_A_GIB * f64::from(u32::try_from(log_mib)?) / 1024.0;
    verdict.that(
        "a start takes 10 s of work for each GiB of the log",
        started.cpu_seconds <= seconds_max,
        || format!("{:.1} s of {seconds_max:.1} s", started.cpu_seconds),
    );
    let most = running.rss_bytes * PERCENT_MAX / 100 + program_bytes(setting)?;
    verdict.that("a start takes 1.2 times what running on takes", started.peak_bytes <= most, || {
        format!("{} MiB of {} MiB", started.peak_bytes / MIB, most / MIB)
    });

    let cgroup = match Cgroup::with_limit(most) {
        Ok(cgroup) => cgroup,
        Err(error) => {
            verdict.note(&format!(
                "no memory cgroup can be made here, so the peak alone was compared: {error:#}"
            ));
            return Ok(());
        }
    };
    let limited = match launch(cgroup.under()).spawn()?.wait()? {
        Start::Served(served) => {
            verdict.note(&format!(
                "inside a cgroup of {} MiB it starts in {:.1} s",
                most / MIB,
                served.took.as_secs_f64()
            ));
            served.kill()?;
            Ok(())
        }
        Start::Ended(status, words) => Err(format!("{status}: {words}")),
    };
    verdict.check("a start inside a memory cgroup of 1.2 times what running on takes", limited);
    Ok(())
}

/// What the server takes on an empty data directory: the built-in model, above all.
fn program_bytes(setting: &Setting) -> anyhow::Result<u64> {
    let folder = temporary(&setting.scratch)?;
    let (data, beside) = (folder.path().join("data"), folder.path());
    let served = Launch { program: &setting.program, data: &data, beside, under: Vec::new() }.start()?;
    let taken = Taken::of(served.ready.pid)?;
    served.kill()?;
    Ok(taken.rss_bytes)
}

/// Lets a process of its own write the log. Returns what it took at its end.
fn filled(data: &Path, log_mib: u64) -> anyhow::Result<Taken> {
    let program = std::env::current_exe()?;
    let mut command = Command::new(program);
    command.arg("fill").arg("--data").arg(data).args(["--log-mib", &log_mib.to_string()]);
    let output = command.stderr(std::process::Stdio::inherit()).output()?;
    ensure!(output.status.success(), "the process that writes the log ended with {}", output.status);
    serde_json::from_slice(&output.stdout).context("what the process that writes the log took")
}

/// Writes a log of that length, without any checkpoint, and prints what this process takes then.
///
/// # Errors
/// When the engine does not take what it is given.
pub fn fill(args: &FillArgs) -> anyhow::Result<()> {
    let mut options = Options::default();
    options.storage.checkpoint_bytes = u64::MAX;
    let (engine, _) = Engine::open(&args.data, options)?;
    let namespace = "memory".parse()?;
    let (mut number, mut random) = (0, fastrand::Rng::with_seed(1));
    while log_bytes(&args.data)? < args.log_mib * MIB {
        let items = (number..number + BATCH).map(|number| item(number, &mut random)).collect();
        let batch = BatchRequest { items, ..BatchRequest::default() };
        let written = engine.write_batch(&namespace, batch)?.wait()?;
        if let Some(error) = written.results.into_iter().find_map(Result::err) {
            bail!(error);
        }
        number += BATCH;
    }
    let pid = i32::try_from(std::process::id())?;
    println!("{}", serde_json::to_string(&Taken::of(pid)?)?);
    // As after a kill: in order it would take a checkpoint.
    std::process::exit(0)
}

/// A memory with a vector, as most have one.
fn item(number: u64, random: &mut fastrand::Rng) -> WriteItem {
    let draft = Draft { content: content(Key { writer: 0, number }, 0), ..Draft::default() };
    let values = (0..DIMENSION).map(|_| random.f32() - 0.5).collect();
    let vector = RawVector { role: VectorRole::Content, values };
    WriteItem::new(draft, Some(RawVectors { model: "faults".to_owned(), vectors: vec![vector] }))
}

/// Length of all segments of the log; the last one reaches ahead of what is in it.
fn log_bytes(data: &Path) -> anyhow::Result<u64> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(data.join("log"))? {
        bytes += entry?.metadata()?.len();
    }
    Ok(bytes)
}

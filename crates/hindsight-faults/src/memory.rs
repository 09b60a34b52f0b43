//! Row B2: a start that has much of the log to read takes no more memory than running on does, and not long.
//!
//! A server takes a checkpoint long before its log has a GiB, so the log is written here, by the engine in a process of
//! its own that takes none; that process tells what the database takes while it runs. Then the server starts on it:
//! once to see the most that it took, and once inside a memory cgroup that allows little more than running takes.

mod cgroup;
mod process;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

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
/// How long a start on a log of a GiB may take (D8).
const START_MAX: Duration = Duration::from_secs(10);
const MIB: u64 = 1 << 20;
/// Memories of a batch, and components of their vectors.
const BATCH: u64 = 100;
const DIMENSION: usize = 256;

/// The amounts.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Length of the log, in MiB
    #[arg(long, default_value_t = 128)]
    log_mib: u64,
    /// A GiB, on a machine that does nothing else, as before a release
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

    let empty = on_nothing(setting)?;
    let served = launch(Vec::new()).start()?;
    let (started, wall) = (Taken::of(served.ready.pid)?, served.took);
    served.kill()?;
    let work_seconds = (started.cpu_seconds - empty.cpu_seconds).max(0.0);
    verdict.note(&format!(
        "a log of {log_mib} MiB: running on takes {} MiB and the program {} MiB; a start takes {} MiB at most, and {:.1} s, {work_seconds:.1} s of them work on the log",
        running.rss_bytes / MIB,
        empty.rss_bytes / MIB,
        started.peak_bytes / MIB,
        wall.as_secs_f64()
    ));
    if args.release_amounts {
        // Only a machine that does nothing else can be held to a time.
        verdict.that("a start takes 10 s for a GiB of the log", wall <= START_MAX, || format!("{wall:?}"));
    }
    let most = (running.rss_bytes + empty.rss_bytes) * PERCENT_MAX / 100;
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
fn on_nothing(setting: &Setting) -> anyhow::Result<Taken> {
    let folder = temporary(&setting.scratch)?;
    let (data, beside) = (folder.path().join("data"), folder.path());
    let served = Launch { program: &setting.program, data: &data, beside, under: Vec::new() }.start()?;
    let taken = Taken::of(served.ready.pid)?;
    served.kill()?;
    Ok(taken)
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

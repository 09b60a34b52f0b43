//! Fuzzes every target of `fuzz/` for a while, guided by which code an input reaches.
//!
//! It does what `cargo fuzz run -s none` does, with the stable compiler and no other tool: LLVM's coverage counters are
//! switched on, and libFuzzer, which comes with the targets as source, reads them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};

/// What is fuzzed, and how long.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Fuzz only these
    #[arg(value_name = "TARGET")]
    only: Vec<String>,
    /// For each target that reads what lies on disk; those that read JSON or texts, which is simpler, have a third of it
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// The seed of what is tried, so that a run can be had again; 0: another one each time
    #[arg(long, default_value_t = 0)]
    seed: u32,
    /// Targets at a time
    #[arg(long, default_value_t = 2)]
    jobs: usize,
}

/// Counters in every edge of the program, and what every comparison compares: those of `cargo fuzz`.
const COVERAGE: &str = "--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
     -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
     -Cllvm-args=-sanitizer-coverage-trace-compares";
/// Most memory of a target, in MiB, and how long one input may take, in seconds.
const MEMORY_MIB_MAX: u64 = 2_048;
const INPUT_SECONDS_MAX: u64 = 10;
/// Inputs that a target tries in a second at the very least; one that does less is not fuzzed at all.
const INPUTS_A_SECOND_MIN: u64 = 5;
/// How often it is looked whether a target has ended.
const POLL: Duration = Duration::from_millis(100);
/// Last lines that are printed of a target that failed.
const LINES_SHOWN: usize = 60;

/// One target at work.
struct Running {
    target: String,
    child: Child,
    log: PathBuf,
    began: Instant,
    seconds: u64,
}

/// Builds the targets, fuzzes each, and tells whether all held. What a target finds lies in `fuzz/artifacts/`.
///
/// # Errors
/// When a target is not known, or cargo or a target cannot be started.
pub fn run(root: &Path, args: &Args) -> anyhow::Result<bool> {
    let targets = chosen(root, &args.only)?;
    let folder = root.join(std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()));
    let Some(programs) = build(root, &folder)? else { return Ok(false) };
    let place = tempfile::tempdir()?;
    let mut waiting = targets.iter();
    let (mut running, mut failed) = (Vec::<Running>::new(), Vec::new());
    loop {
        while running.len() < args.jobs.max(1) {
            let Some(target) = waiting.next() else { break };
            let amount = Amount { seconds: seconds_of(target, args.seconds), seed: args.seed };
            running.push(start(root, &programs, target, amount, place.path())?);
        }
        if running.is_empty() {
            break;
        }
        for mut one in std::mem::take(&mut running) {
            match one.child.try_wait()? {
                None => running.push(one),
                Some(status) if has_held(&one, status)? => {}
                Some(_) => failed.push(one.target),
            }
        }
        std::thread::sleep(POLL);
    }
    println!("fuzz: {} targets, failed: {failed:?}", targets.len());
    Ok(failed.is_empty())
}

/// Targets that read what callers send, besides those that are named after JSON.
const OF_CALLERS: [&str; 2] = ["filter_expr", "tokenizer"];

fn seconds_of(target: &str, seconds: u64) -> u64 {
    let is_of_callers = target.ends_with("_json") || OF_CALLERS.contains(&target);
    if is_of_callers { seconds / 3 } else { seconds }
}

/// The targets, by the names of their files.
fn chosen(root: &Path, only: &[String]) -> anyhow::Result<Vec<String>> {
    let folder = root.join("fuzz/fuzz_targets");
    let mut known = Vec::new();
    for entry in fs::read_dir(&folder).with_context(|| format!("cannot list {}", folder.display()))? {
        let path = entry?.path();
        known.extend(path.file_stem().and_then(|stem| stem.to_str()).map(ToOwned::to_owned));
    }
    known.sort();
    for name in only {
        ensure!(known.contains(name), "{name} is no fuzz target: expected one of {known:?}");
    }
    known.retain(|name| only.is_empty() || only.contains(name));
    Ok(known)
}

/// Builds the targets and tells where they are; `None` when they do not build. Naming the machine's own target keeps
/// build scripts and macros free of the counters.
fn build(root: &Path, folder: &Path) -> anyhow::Result<Option<PathBuf>> {
    let version = Command::new("rustc").arg("-vV").output().context("cannot start rustc")?;
    let version = String::from_utf8_lossy(&version.stdout);
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    let host = host.context("rustc -vV does not name the host")?;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["build", "--locked", "--profile", "fuzz", "--bins", "--target", host])
        .args(["--manifest-path", "fuzz/Cargo.toml", "--target-dir"])
        .arg(folder)
        .env("RUSTFLAGS", COVERAGE)
        .current_dir(root)
        .status()
        .context("cannot start cargo")?;
    Ok(status.success().then(|| folder.join(host).join("fuzz")))
}

/// How much of a target.
#[derive(Clone, Copy)]
struct Amount {
    seconds: u64,
    seed: u32,
}

fn start(
    root: &Path,
    programs: &Path,
    target: &str,
    Amount { seconds, seed }: Amount,
    place: &Path,
) -> anyhow::Result<Running> {
    // New inputs go into the first folder; the committed ones are only read.
    let new = place.join(target);
    fs::create_dir_all(&new)?;
    let artifacts = root.join("fuzz/artifacts").join(target);
    fs::create_dir_all(&artifacts)?;
    let log = place.join(format!("{target}.log"));
    let child = Command::new(programs.join(target))
        .arg(format!("-max_total_time={seconds}"))
        .arg(format!("-seed={seed}"))
        .arg(format!("-rss_limit_mb={MEMORY_MIB_MAX}"))
        .arg(format!("-timeout={INPUT_SECONDS_MAX}"))
        .arg(format!("-artifact_prefix={}/", artifacts.display()))
        .arg("-print_final_stats=1")
        .arg(&new)
        .arg(root.join("fuzz/corpus").join(target))
        .stderr(fs::File::create(&log)?)
        .stdout(std::process::Stdio::null())
        .spawn()
        .with_context(|| format!("cannot start {target}"))?;
    Ok(Running { target: target.to_owned(), child, log, began: Instant::now(), seconds })
}

/// Says what a target did that has ended. One that saw no counters, or hardly ran, has failed: it proves nothing.
fn has_held(running: &Running, status: ExitStatus) -> anyhow::Result<bool> {
    let text = String::from_utf8_lossy(&fs::read(&running.log)?).into_owned();
    let inputs = last_number(&text, "stat::number_of_executed_units:").unwrap_or_default();
    let new = last_number(&text, "stat::new_units_added:").unwrap_or_default();
    let edges = last_number(&text, " cov:").unwrap_or_default();
    let took = running.began.elapsed().as_secs();
    println!(
        "{}: {inputs} inputs in {took} s, {edges} edges reached, {new} inputs kept, {status}",
        running.target
    );
    let is_guided = edges > 0 && text.contains("inline 8-bit counters");
    let holds = status.success() && is_guided && inputs >= running.seconds * INPUTS_A_SECOND_MIN;
    if !holds {
        let lines: Vec<&str> = text.lines().collect();
        lines.iter().skip(lines.len().saturating_sub(LINES_SHOWN)).for_each(|line| println!("  {line}"));
    }
    Ok(holds)
}

/// The number behind the last `name` of a text.
fn last_number(text: &str, name: &str) -> Option<u64> {
    let (_, behind) = text.rsplit_once(name)?;
    behind.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_libfuzzer_says_is_read() {
        let text = "#2\tINITED cov: 105 ft: 106 corp: 1/1b\n#9\tDONE   cov: 112 ft: 130\nstat::number_of_executed_units: 98\n";
        assert_eq!(last_number(text, " cov:"), Some(112));
        assert_eq!(last_number(text, "stat::number_of_executed_units:"), Some(98));
        assert_eq!(last_number(text, "stat::new_units_added:"), None);
    }

    #[test]
    fn targets_are_chosen_by_name() {
        let root = crate::workspace_root();
        assert!(chosen(root, &[]).unwrap().len() >= 9);
        assert_eq!(chosen(root, &["manifest".to_owned()]).unwrap(), ["manifest"]);
        let error = chosen(root, &["manifests".to_owned()]).unwrap_err().to_string();
        assert!(error.contains("wal_recover"), "{error}");
    }
}

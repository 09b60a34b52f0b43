//! Row A8: system calls that fail under the server, one at a time, and at which it is killed.
//!
//! First a server that nothing happens to is watched: each acknowledgement must follow a sync of the log that began
//! after the request was sent. What it calls, and how often, gives the cases: each call fails at its first, second,
//! fifth and twentieth time, on a new data directory and on one that holds a log.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::Duration;

use rustix::process::Signal;

use crate::model::Acknowledged;
use crate::server::{Served, Start};
use crate::setting::temporary;
use crate::strace::{self, Call, Harm};
use crate::trial::{Aftermath, Mix, Trial, Until, WRITERS, outcome};
use crate::{Setting, Verdict};

/// The how manieth call suffers.
const WHEN: [u64; 4] = [1, 2, 5, 20];
/// Memories that are acknowledged before and under a harmed call; more than twenty commits take.
const MEMORIES: u64 = 200;
/// How long it may take to end.
const STOP_MAX: Duration = Duration::from_secs(10);
/// Exit codes of a start or a stop that failed in order: failed, can't be written, disk failed, refused.
const ORDERLY: [i32; 4] = [1, 73, 74, 78];
/// Failed cases after which nothing new is learned.
const FAILURES_MAX: u64 = 10;

/// The amounts.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Repeats the whole table so often
    #[arg(long, default_value_t = 1)]
    rounds: u64,
    /// Five rounds, as before a release
    #[arg(long)]
    release_amounts: bool,
}

/// What the server starts on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Directory {
    New,
    Used,
}

/// One harmed call.
#[derive(Debug)]
struct Case<'a> {
    directory: Directory,
    call: &'a str,
    harm: Harm,
    when: u64,
}

/// How the cases came out.
#[derive(Debug, Default)]
struct Totals {
    cases: u64,
    fired: u64,
    by_end: BTreeMap<&'static str, u64>,
}

/// Runs it.
///
/// # Errors
/// When strace is missing, or the server can't be started or asked.
pub fn run(args: &Args, setting: &Setting, verdict: &mut Verdict) -> anyhow::Result<()> {
    strace::require()?;
    let rounds = if args.release_amounts { 5 } else { args.rounds };
    let mut random = setting.random(4);
    let mut totals = Totals::default();
    for directory in [Directory::New, Directory::Used] {
        let (calls, known) = watch(setting, directory, &mut random, verdict)?;
        let most = most_of_a_thread(&calls);
        verdict.note(&format!("{directory:?} directory: calls of one thread on it, at most: {most:?}"));
        for case in (0..rounds).flat_map(|_| cases(directory, &most)) {
            if verdict.failed() >= FAILURES_MAX {
                break;
            }
            let what = format!("{case:?}");
            let result = try_case(setting, &case, &known, &mut random, &mut totals)?;
            verdict.check(&what, result);
        }
    }
    let Totals { cases, fired, by_end } = &totals;
    verdict.note(&format!("{cases} cases, {fired} of them came to their call: {by_end:?}"));
    verdict.that("most cases come to their call", fired * 10 >= cases * 8, || format!("{fired} of {cases}"));
    Ok(())
}

/// A server that nothing happens to, watched: no acknowledgement without a sync.
fn watch(
    setting: &Setting,
    directory: Directory,
    random: &mut fastrand::Rng,
    verdict: &mut Verdict,
) -> anyhow::Result<(Vec<Call>, BTreeSet<PathBuf>)> {
    let folder = temporary(&setting.scratch)?;
    let trace = folder.path().join("trace");
    let mut trial = prepared(setting, directory, folder.path(), random)?;
    let mut launch = trial.launch(setting);
    launch.under = strace::tracing(&trial.data, &trace, &BTreeSet::new(), None);
    let served = launch.start()?;
    let load = trial.load(setting, &served, Mix::default())?;
    load.wait(MEMORIES)?;
    load.stop();
    let aftermath = trial.end_load(setting, load)?;
    served.stop()?;
    let calls = strace::read(&trace, &trial.data)?;
    let times = times(&trial);
    let uncovered = strace::uncovered(&calls, &times);
    verdict.check(
        &format!("{directory:?} directory: nothing goes wrong by itself"),
        outcome(&aftermath.findings),
    );
    verdict.that(
        &format!("{directory:?} directory: each acknowledgement follows a sync"),
        uncovered.is_empty() && times.len() >= WRITERS,
        || format!("{} of {} do not, such as {:?}", uncovered.len(), times.len(), uncovered.first()),
    );
    let counts = strace::counts(&calls);
    verdict
        .note(&format!("{directory:?} directory: {} acknowledged requests, calls: {counts:?}", times.len()));
    let loose = strace::loose_syncs(&calls, &trial.data);
    verdict.that(
        &format!(
            "{directory:?} directory: no sync_file_range, which makes nothing durable, but on what is derived"
        ),
        loose.is_empty(),
        || format!("{} of them, such as {:?}", loose.len(), loose.first()),
    );
    let settled = trial.settle(setting)?;
    verdict.check(&format!("{directory:?} directory: the start afterwards"), outcome(&settled));
    let known = strace::files_of(&calls, &trial.data);
    Ok((calls, known))
}

/// A trial whose directory is new, or was used and closed, in order or by a kill.
fn prepared(
    setting: &Setting,
    directory: Directory,
    folder: &Path,
    random: &mut fastrand::Rng,
) -> anyhow::Result<Trial> {
    let mut trial = Trial::new(folder.join("data"), folder.to_owned(), WRITERS, random);
    if directory == Directory::Used {
        let served = trial.launch(setting).start()?;
        let load = trial.load(setting, &served, Mix::default())?;
        load.wait(MEMORIES)?;
        load.stop();
        let aftermath = trial.end_load(setting, load)?;
        anyhow::ensure!(
            aftermath.findings.is_empty(),
            "before anything was harmed: {:?}",
            aftermath.findings
        );
        if random.bool() {
            served.stop()?;
        } else {
            served.kill()?;
        }
        trial.forget_times();
    }
    Ok(trial)
}

fn times(trial: &Trial) -> Vec<Acknowledged> {
    trial.ledgers().iter().flat_map(|ledger| &ledger.times).copied().collect()
}

/// How often one thread makes each call, at most: so often it can be harmed.
fn most_of_a_thread(calls: &[Call]) -> BTreeMap<&str, u64> {
    let mut counts: BTreeMap<(&str, u32), u64> = BTreeMap::new();
    for call in calls {
        *counts.entry((call.name.as_str(), call.thread)).or_default() += 1;
    }
    let mut most: BTreeMap<&str, u64> = BTreeMap::new();
    for ((name, _), count) in counts {
        let most = most.entry(name).or_default();
        *most = count.max(*most);
    }
    most
}

fn cases<'a>(directory: Directory, most: &BTreeMap<&'a str, u64>) -> Vec<Case<'a>> {
    let mut cases = Vec::new();
    for (call, most) in most {
        let mut harms = vec![Harm::Error("EIO"), Harm::Error("ENOSPC"), Harm::Kill];
        // These may be interrupted, and then have to be made again.
        if ["fdatasync", "fsync", "pwrite64"].contains(call) {
            harms.push(Harm::Error("EINTR"));
        }
        for harm in harms {
            // Commits are fewer when more requests meet; a case that does not come to its call shows nothing.
            let may_fire = |when: &u64| *when == 1 || when * 3 / 2 <= *most;
            let cases_of = |when| Case { directory, call, harm, when };
            cases.extend(WHEN.into_iter().filter(may_fire).map(cases_of));
        }
    }
    cases
}

/// Starts a server under one harmed call, lets the writers write as long as it goes, and looks what is left.
fn try_case(
    setting: &Setting,
    case: &Case<'_>,
    known: &BTreeSet<PathBuf>,
    random: &mut fastrand::Rng,
    totals: &mut Totals,
) -> anyhow::Result<Result<(), String>> {
    let folder = temporary(&setting.scratch)?;
    let trace = folder.path().join("trace");
    let mut trial = prepared(setting, case.directory, folder.path(), random)?;
    let mut launch = trial.launch(setting);
    launch.under = strace::tracing(&trial.data, &trace, known, Some((case.call, case.harm, case.when)));
    totals.cases += 1;
    let (end, outcome_of_run) = match launch.spawn()?.wait()? {
        Start::Ended(status, words) => ("did not start", orderly(case, status, &words)),
        Start::Served(served) => serve(setting, case, &mut trial, served)?,
    };
    let calls = strace::read(&trace, &trial.data)?;
    let has_fired = match case.harm {
        Harm::Error(_) => calls.iter().any(|call| call.is_injected),
        Harm::Kill => end != "went on",
    };
    totals.fired += u64::from(has_fired);
    *totals.by_end.entry(end).or_default() += 1;
    if outcome_of_run.is_err() {
        return Ok(outcome_of_run);
    }
    let judged = judge(case, &calls, &times(&trial));
    if judged.is_err() {
        return Ok(judged);
    }
    Ok(outcome(&trial.settle(setting)?))
}

/// Lets the writers write until they have enough, or can't any more.
fn serve(
    setting: &Setting,
    case: &Case<'_>,
    trial: &mut Trial,
    mut served: Served,
) -> anyhow::Result<(&'static str, Result<(), String>)> {
    let load = trial.load(setting, &served, Mix::default())?;
    if case.harm != Harm::Error("EINTR") {
        load.expect_errors();
    }
    let until = load.wait(MEMORIES)?;
    load.expect_errors();
    load.stop();
    let aftermath = trial.end_load(setting, load)?;
    let is_dying = case.harm == Harm::Kill && until == Until::AllEnded;
    let (end, status) = if is_dying || served.has_ended()? {
        // Its clients may know before the debugger has said so.
        ("ended while serving", served.wait(STOP_MAX)?)
    } else if until == Until::AllEnded {
        ("took no more writes", served.kill()?)
    } else {
        served.signal(Signal::TERM)?;
        ("went on", served.wait(STOP_MAX)?)
    };
    let mut result = outcome(&aftermath.findings);
    if result.is_ok() && end == "took no more writes" {
        result = clear(&aftermath);
    } else if result.is_ok() {
        result = orderly(case, status, "");
    }
    Ok((end, result))
}

/// An end in order: exit code 0 or one that says what failed, or the kill that was asked for. Never a panic.
fn orderly(case: &Case<'_>, status: ExitStatus, words: &str) -> Result<(), String> {
    let by_kill = case.harm == Harm::Kill && status.signal() == Some(Signal::KILL.as_raw());
    let in_order = status.success() || status.code().is_some_and(|code| ORDERLY.contains(&code));
    if by_kill || in_order && !words.contains("panicked") {
        Ok(())
    } else {
        Err(format!("{status}: {words}"))
    }
}

/// Whoever is refused is told why.
fn clear(aftermath: &Aftermath) -> Result<(), String> {
    let is_clear = |error: &hindsight_client::Error| {
        ["STORAGE_POISONED", "DISK_FULL", "STORAGE_FAILED"].contains(&error.reason())
    };
    match aftermath.errors.iter().find(|error| !is_clear(error)) {
        None => Ok(()),
        Some(error) => Err(format!("refused with {}: {error}", error.reason())),
    }
}

/// Nothing is acknowledged without a sync of its own, and nothing at all after a sync that failed.
fn judge(case: &Case<'_>, calls: &[Call], times: &[Acknowledged]) -> Result<(), String> {
    if !strace::ONLY_ON_DATA.contains(&case.call) {
        // Its trace does not show the log.
        return Ok(());
    }
    if let Some(request) = strace::uncovered(calls, times).first() {
        return Err(format!("acknowledged without a sync: {request:?}"));
    }
    let is_final = |call: &&Call| {
        let is_sync = call.name == "fdatasync" || call.name == "fsync";
        // A write without space may leave the log as it was; a sync that failed never does.
        let is_write = call.name == "pwrite64" && case.harm == Harm::Error("EIO");
        call.is_injected && strace::is_log(&call.path) && (is_sync || is_write)
    };
    let failed = calls.iter().find(is_final).filter(|_| case.harm != Harm::Error("EINTR"));
    let after = failed.and_then(|call| times.iter().find(|request| request.sent_us > call.end_us));
    after.map_or(Ok(()), |request| Err(format!("acknowledged after a failed sync: {request:?}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(name: &str, at_us: u64, is_injected: bool) -> Call {
        let path = "/data/log/1.log".to_owned();
        Call {
            name: name.to_owned(),
            path,
            begin_us: at_us,
            end_us: at_us + 10,
            is_ok: !is_injected,
            is_injected,
            thread: 1,
        }
    }

    fn case(harm: Harm) -> Case<'static> {
        Case { directory: Directory::New, call: "fdatasync", harm, when: 1 }
    }

    #[test]
    fn an_acknowledgement_after_a_failed_sync_is_found_although_a_later_one_says_ok() {
        let calls = [call("fdatasync", 100, true), call("fdatasync", 200, false)];
        let times = [Acknowledged { sent_us: 150, answered_us: 300 }];
        assert!(judge(&case(Harm::Error("EIO")), &calls, &times).is_err());
        assert!(judge(&case(Harm::Error("EINTR")), &calls, &times).is_ok());
        assert!(judge(&case(Harm::Error("EIO")), &calls[1..], &times).is_ok());
        assert!(judge(&case(Harm::Error("EIO")), &calls[..1], &times).is_err());
    }

    #[test]
    fn a_panic_is_no_orderly_end_and_neither_is_a_kill_that_nobody_asked_for() {
        let code = |code: i32| ExitStatus::from_raw(code << 8);
        assert!(orderly(&case(Harm::Kill), code(74), "error: can't sync").is_ok());
        assert!(orderly(&case(Harm::Kill), code(101), "").is_err());
        assert!(orderly(&case(Harm::Kill), code(65), "").is_err());
        assert!(orderly(&case(Harm::Kill), code(0), "thread panicked").is_err());
        let killed = ExitStatus::from_raw(Signal::KILL.as_raw());
        assert!(orderly(&case(Harm::Kill), killed, "").is_ok());
        assert!(orderly(&case(Harm::Error("EIO")), killed, "").is_err());
    }

    #[test]
    fn a_call_is_harmed_where_it_will_come() {
        let most = BTreeMap::from([("fdatasync", 40), ("rename", 2), ("mkdir", 1)]);
        let cases = cases(Directory::New, &most);
        let of = |call: &str| cases.iter().filter(|case| case.call == call).count();
        assert_eq!((of("fdatasync"), of("rename"), of("mkdir")), (16, 3, 3));
    }
}

//! The server under `strace`: which system calls it makes on its data, and what happens when one fails.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, ensure};

use crate::model::Acknowledged;

/// The calls with which a program can change files or their names, or make them durable.
pub const CALLS: &[&str] = &[
    "fdatasync",
    "fsync",
    "pwrite64",
    "write",
    "rename",
    "renameat",
    "renameat2",
    "ftruncate",
    "openat",
    "unlink",
    "unlinkat",
    "fallocate",
    "sync_file_range",
    "msync",
    "syncfs",
    "pwritev",
    "pwritev2",
    "writev",
    "mkdir",
];

/// Those of them that the server makes on its data directory only, so that each one of the process counts. Any other
/// is counted on the files that a server before had made, and its trace names no others.
pub const ONLY_ON_DATA: &[&str] = &["fdatasync", "fsync", "pwrite64", "ftruncate", "unlink", "mkdir"];

/// One system call of a trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// Its name.
    pub name: String,
    /// The file that it is about: that of its descriptor, or the first that it names.
    pub path: String,
    /// When it began, in microseconds since the Unix epoch.
    pub begin_us: u64,
    /// When it returned.
    pub end_us: u64,
    /// Whether it returned what is no error.
    pub is_ok: bool,
    /// Whether it was the debugger that answered.
    pub is_injected: bool,
    /// The thread that made it.
    pub thread: u32,
}

/// Fails unless `strace` is there and can trace.
///
/// # Errors
/// What is missing, and where it comes from.
pub fn require() -> anyhow::Result<()> {
    let ran = Command::new("strace").args(["-qq", "-o", "/dev/null", "true"]).output();
    let output = ran.context("cannot run strace: install it (Debian: `apt-get install strace`)")?;
    let says = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    ensure!(output.status.success(), "strace can't trace here: {says}");
    Ok(())
}

/// A debugger that answers one kind of call with success and does not make it.
#[must_use]
pub fn skipping(call: &str) -> Vec<OsString> {
    let (trace, inject) = (format!("trace={call}"), format!("inject={call}:retval=0"));
    let words = ["strace", "-f", "-qq", "--seccomp-bpf", "-o", "/dev/null", "-e", &trace, "-e", &inject];
    words.map(OsString::from).into()
}

/// What is done to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Harm {
    /// It fails with this error, and is not made.
    Error(&'static str),
    /// The server is killed as it makes it.
    Kill,
}

/// Traces every call that changes a file of the data directory, into the file `trace`. With `harm` the `when`-th call
/// of that name suffers it, counted for each thread. `known` are files, below the data directory, that a server before
/// had made there.
#[must_use]
pub fn tracing(
    data: &Path,
    trace: &Path,
    known: &BTreeSet<PathBuf>,
    harm: Option<(&str, Harm, u64)>,
) -> Vec<OsString> {
    let mut words: Vec<OsString> =
        ["strace", "-f", "-y", "-ttt", "-T", "-qq", "-s", "0", "-o"].map(OsString::from).into();
    words.push(trace.into());
    words.push("-e".into());
    words.push(format!("trace={}", CALLS.join(",")).into());
    if let Some((call, harm, when)) = harm {
        let what = match harm {
            Harm::Error(error) => format!("error={error}"),
            Harm::Kill => "signal=SIGKILL".to_owned(),
        };
        words.push("-e".into());
        words.push(format!("inject={call}:{what}:when={when}").into());
        if !ONLY_ON_DATA.contains(&call) {
            // Only these files: a library that can't be loaded, or a log line that can't be written, proves nothing.
            for path in known {
                words.push("-P".into());
                words.push(data.join(path).into());
            }
        }
    }
    words
}

/// The files below `data` that calls are about, relative to it, and the directory itself.
#[must_use]
pub fn files_of(calls: &[Call], data: &Path) -> BTreeSet<PathBuf> {
    let below = |call: &Call| Path::new(&call.path).strip_prefix(data).ok().map(Path::to_owned);
    calls.iter().filter_map(below).collect()
}

/// The calls of a trace that are about files below `data`, in the order in which they returned.
///
/// # Errors
/// When the trace can't be read.
pub fn read(trace: &Path, data: &Path) -> anyhow::Result<Vec<Call>> {
    let text = std::fs::read(trace).with_context(|| format!("cannot read the trace {}", trace.display()))?;
    let calls = parse(&String::from_utf8_lossy(&text));
    let data = data.to_string_lossy();
    Ok(calls.into_iter().filter(|call| call.path.starts_with(&*data)).collect())
}

/// The calls of `sync_file_range`, which starts the writing of pages and makes nothing durable, on any file that something
/// depends on. The one exemption is what lies below `directory/`: sled makes that call there, the server syncs these
/// files itself afterwards, and they are made anew when they do not fit the manifest.
#[must_use]
pub fn loose_syncs<'a>(calls: &'a [Call], data: &Path) -> Vec<&'a Call> {
    let derived = data.join("directory");
    let is_loose =
        |call: &&Call| call.name == "sync_file_range" && !Path::new(&call.path).starts_with(&derived);
    calls.iter().filter(is_loose).collect()
}

/// How many of each call there are.
#[must_use]
pub fn counts(calls: &[Call]) -> BTreeMap<&str, u64> {
    let mut counts = BTreeMap::new();
    for call in calls {
        *counts.entry(call.name.as_str()).or_default() += 1;
    }
    counts
}

/// The acknowledged requests that no sync of the log covers: one that began after the request was sent, returned Ok,
/// and did so before the answer came.
#[must_use]
pub fn uncovered<'a>(calls: &[Call], acknowledged: &'a [Acknowledged]) -> Vec<&'a Acknowledged> {
    let is_sync = |call: &&Call| {
        (call.name == "fdatasync" || call.name == "fsync")
            && call.is_ok
            && !call.is_injected
            && is_log(&call.path)
    };
    let mut syncs: Vec<(u64, u64)> =
        calls.iter().filter(is_sync).map(|call| (call.begin_us, call.end_us)).collect();
    syncs.sort_unstable();
    let is_covered = |request: &&Acknowledged| {
        let next = syncs.partition_point(|(begin, _)| *begin < request.sent_us);
        // The log is synced by one thread, so the first sync that can cover it is the first to return, too.
        syncs.get(next).is_some_and(|(_, end)| *end <= request.answered_us)
    };
    acknowledged.iter().filter(|request| !is_covered(request)).collect()
}

/// Whether a file is a segment of the log.
#[must_use]
pub fn is_log(path: &str) -> bool {
    path.contains("/log/")
}

/// Reads the lines of `strace -f -y -ttt -T`. A call that another thread interrupts takes two.
fn parse(text: &str) -> Vec<Call> {
    let mut calls = Vec::new();
    let mut unfinished: HashMap<u32, (u64, String)> = HashMap::new();
    for line in text.lines() {
        let Some((thread, at_us, rest)) = head(line) else { continue };
        if let Some(begun) = rest.strip_suffix("<unfinished ...>") {
            unfinished.insert(thread, (at_us, begun.to_owned()));
        } else if rest.starts_with("<... ") {
            let (Some((begin_us, begun)), Some((_, end))) =
                (unfinished.remove(&thread), rest.split_once("resumed>"))
            else {
                continue;
            };
            calls.extend(call(thread, begin_us, &format!("{begun}{end}")));
        } else {
            calls.extend(call(thread, at_us, rest));
        }
    }
    calls
}

/// Thread, time and the rest of a line.
fn head(line: &str) -> Option<(u32, u64, &str)> {
    let (thread, rest) = line.split_once(' ')?;
    let (at, rest) = rest.trim_start().split_once(' ')?;
    Some((thread.parse().ok()?, micros(at)?, rest))
}

/// `1796075091.778049` or `0.000417` in microseconds.
fn micros(seconds: &str) -> Option<u64> {
    let (whole, part) = seconds.split_once('.')?;
    let digits = part.get(..6)?;
    whole.parse::<u64>().ok()?.checked_mul(1_000_000)?.checked_add(digits.parse().ok()?)
}

/// `fsync(13</data/FORMAT>) = 0 <0.000417>`
fn call(thread: u32, begin_us: u64, text: &str) -> Option<Call> {
    let (name, rest) = text.split_once('(')?;
    // A path may hold anything, so the result is looked for from the end.
    let (arguments, result) = rest.rsplit_once(" = ")?;
    let took_us = result.rsplit_once('<').and_then(|(_, took)| micros(took.trim_end_matches('>')))?;
    Some(Call {
        name: name.to_owned(),
        path: path_of(name, arguments).to_owned(),
        begin_us,
        end_us: begin_us + took_us,
        is_ok: !result.starts_with('-') && !result.starts_with('?'),
        is_injected: result.contains("(INJECTED)"),
        thread,
    })
}

fn path_of<'a>(name: &str, arguments: &'a str) -> &'a str {
    let names_a_path = ["open", "rename", "unlink", "mkdir"].iter().any(|begin| name.starts_with(begin));
    let (open, close) = if names_a_path { ('"', '"') } else { ('<', '>') };
    let found = arguments.split_once(open).and_then(|(_, rest)| rest.split_once(close));
    found.map_or("", |(path, _)| path)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = r#"
13024 1796075091.778049 fsync(13</data/FORMAT.tmp>) = 0 <0.000417>
13024 1796075091.779000 openat(AT_FDCWD</tmp>, "/data/LOCK", O_RDWR|O_CREAT|O_CLOEXEC, 0600) = 12</data/LOCK> <0.000051>
13025 1796075091.780000 pwrite64(13</data/log/1.log>, ""..., 56, 0) = -1 ENOSPC (No space left on device) (INJECTED) <0.000010>
13025 1796075092.000000 fdatasync(13</data/log/1.log> <unfinished ...>
13026 1796075092.000100 rename("/data/FORMAT.tmp", "/data/FORMAT") = 0 <0.000049>
13025 1796075092.000700 <... fdatasync resumed>) = 0 <0.000650>
13026 1796075093.000000 fdatasync(13</data/log/1.log>) = ?
13026 1796075093.000000 --- SIGTERM {si_signo=SIGTERM, si_code=SI_USER} ---
13024 +++ killed by SIGKILL +++
"#;

    fn sync(begin_us: u64, end_us: u64, is_ok: bool) -> Call {
        let (name, path) = ("fdatasync".to_owned(), "/data/log/1.log".to_owned());
        Call { name, path, begin_us, end_us, is_ok, is_injected: false, thread: 1 }
    }

    #[test]
    fn a_trace_is_read_with_calls_in_two_parts() {
        let calls = parse(TRACE.trim_start_matches('\n'));
        let short: Vec<_> = calls
            .iter()
            .map(|call| (call.name.as_str(), call.path.as_str(), call.is_ok, call.is_injected))
            .collect();
        assert_eq!(
            short,
            [
                ("fsync", "/data/FORMAT.tmp", true, false),
                ("openat", "/data/LOCK", true, false),
                ("pwrite64", "/data/log/1.log", false, true),
                ("rename", "/data/FORMAT.tmp", true, false),
                ("fdatasync", "/data/log/1.log", true, false),
            ]
        );
        assert_eq!((calls[4].begin_us, calls[4].end_us), (1_796_075_092_000_000, 1_796_075_092_000_650));
    }

    #[test]
    fn sync_file_range_is_for_the_directory_only() {
        let call = |name: &str, path: &str| Call {
            name: name.to_owned(),
            path: path.to_owned(),
            ..sync(1, 2, true)
        };
        let fine = call("sync_file_range", "/data/directory/db");
        let loose = [
            call("sync_file_range", "/data/log/1.log"),
            call("sync_file_range", "/data/ns/00000001/directory/db"),
            call("sync_file_range", "/data/directory-of-mine"),
        ];
        let mut calls = vec![fine, call("fdatasync", "/data/log/1.log")];
        assert!(loose_syncs(&calls, Path::new("/data")).is_empty());
        calls.extend(loose.clone());
        assert_eq!(loose_syncs(&calls, Path::new("/data")), loose.iter().collect::<Vec<_>>());
    }

    #[test]
    fn an_answer_without_a_sync_of_its_own_is_found() {
        let request = |sent_us, answered_us| Acknowledged { sent_us, answered_us };
        let calls = [sync(100, 200, true), sync(300, 400, true), sync(500, 600, false)];
        // Covered by the first; sent too late for it, and answered after the second; answered before any returned.
        let requests = [request(50, 250), request(150, 450), request(50, 150), request(450, 700)];
        let uncovered: Vec<_> = uncovered(&calls, &requests).into_iter().copied().collect();
        assert_eq!(uncovered, [requests[2], requests[3]]);
        assert_eq!(super::uncovered(&[], &requests).len(), 4);
    }
}

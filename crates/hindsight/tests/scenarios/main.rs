//! The same stories over every front, with the same answers.
//!
//! `sessions/` holds them as text that can be read; the headings name the requirements that they show. They are played
//! on a real server by a clock that is set by hand, so that a story of months takes a moment. A front that can't do a
//! step says why ([`fronts::Front::cannot`]), and the step is done over gRPC; `counts/` holds how often.
//!
//! `HINDSIGHT_SESSIONS=write cargo test -p hindsight --test scenarios grpc` writes down what gRPC answers, to be read
//! before it is committed; `HINDSIGHT_SESSIONS=counts`, of all fronts, writes the counts. Whatever it says, every other
//! front is held against the sessions as they are written.
//!
//! Reading order: `script` (the text), `call` (a step), `stage` (the server), `run`, `fronts`, `render` (an answer as
//! text), `coverage` (which requirements have a scene).
#![forbid(unsafe_code)]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test stops at the first thing that is not as expected"
)]

mod call;
mod coverage;
mod fronts;
mod render;
mod run;
mod script;
mod stage;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use fronts::Front;
use run::Counts;
use script::Script;

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios").join(name)
}

fn sessions() -> Vec<(PathBuf, String)> {
    let entries = std::fs::read_dir(folder("sessions")).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), std::fs::read_to_string(path).unwrap())).collect()
}

fn told_to(word: &str) -> bool {
    std::env::var_os("HINDSIGHT_SESSIONS").is_some_and(|told| told == word)
}

/// Plays every session over a front, each on a server of its own, and holds what was answered, and how many steps the
/// front did itself, against what is written.
fn play_all(name: &str, front: &mut dyn Front) {
    let mut counts = Counts::default();
    let mut differ = Vec::new();
    for (path, text) in sessions() {
        let mut stage = stage::Stage::set();
        front.restarted();
        let played = run::play(&Script::parse(&text), &mut stage, front, &mut counts).to_string();
        if told_to("write") && name == "grpc" {
            std::fs::write(&path, &played).unwrap();
        } else if let Some(difference) = script::difference(&text, &played) {
            differ.push(format!("{}, {difference}", path.display()));
        }
    }
    assert!(differ.is_empty(), "\n{}", differ.join("\n\n"));
    hold_counts(name, &counts);
}

fn hold_counts(name: &str, counts: &Counts) {
    let path = folder("counts").join(format!("{name}.txt"));
    let mut text = format!("{} steps done\n", counts.own);
    for (reason, count) in &counts.others {
        let _ = writeln!(text, "{count} steps not: {reason}");
    }
    if std::env::var_os("HINDSIGHT_SESSIONS").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let wanted = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(wanted, text, "{}: HINDSIGHT_SESSIONS=counts writes them anew", path.display());
}

#[test]
fn i1_grpc() {
    play_all("grpc", &mut fronts::grpc::Grpc);
}

#[test]
fn i2_json_over_http() {
    play_all("http", &mut fronts::http::Http);
}

#[test]
fn i8_the_command_line() {
    play_all("cli", &mut fronts::cli::Cli);
}

#[test]
fn i3_mcp_over_http() {
    play_all("mcp-http", &mut fronts::mcp::Mcp(fronts::mcp::OverHttp));
}

#[test]
fn i3_mcp_over_standard_streams() {
    play_all("mcp-streams", &mut fronts::mcp::Mcp(fronts::mcp::OverStreams::default()));
}

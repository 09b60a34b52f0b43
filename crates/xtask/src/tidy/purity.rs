//! Code that computes reads no clock, no file and no environment: these come in as arguments.
//!
//! So a test needs no sleep, a replay decides nothing again, and a simulated disk sees every byte.

use super::Finding;
use super::rust_file::RustFile;
use super::tree::Tree;

/// Name of this rule in a finding.
pub const RULE: &str = "purity";

/// Where a set of names is banned.
struct Ban {
    crates: &'static [&'static str],
    /// Files of these crates that are the one door: a path, or a folder that ends with `/`.
    doors: &'static [&'static str],
    /// Each a path of names; a shorter path in the code (`use std::fs`) is found by its full form.
    names: &'static [&'static str],
    instead: &'static str,
}

const CLOCKS: &[&str] = &[
    "std::time::SystemTime",
    "std::time::Instant",
    "SystemTime::now",
    "Instant::now",
    "Timestamp::now",
    "Zoned::now",
];
const FILES: &[&str] = &["std::fs", "File::open", "File::create", "OpenOptions::new"];
const SURROUNDINGS: &[&str] = &["std::env", "std::net", "std::process", "std::io", "println", "eprintln"];

const BANS: &[Ban] = &[
    Ban {
        crates: &["hindsight-core", "hindsight-index", "hindsight-query", "hindsight-guard"],
        doors: &[],
        names: CLOCKS,
        instead: "take the time as an argument",
    },
    Ban {
        crates: &["hindsight-core", "hindsight-index", "hindsight-query", "hindsight-guard"],
        doors: &[],
        names: FILES,
        instead: "take the bytes as an argument",
    },
    Ban {
        crates: &["hindsight-core", "hindsight-index", "hindsight-query", "hindsight-guard"],
        doors: &[],
        names: SURROUNDINGS,
        instead: "take what is needed as an argument and return what is to be said",
    },
    Ban {
        crates: &["hindsight-storage"],
        doors: &[
            "crates/hindsight-storage/src/real.rs",
            // sled's files can't go through the trait; these are the calls that make them durable and remove them.
            "crates/hindsight-storage/src/directory/folder.rs",
        ],
        names: FILES,
        instead: "go through the `Io` trait, so that the simulated disk sees it",
    },
    Ban {
        crates: &["hindsight-engine"],
        doors: &[],
        names: FILES,
        instead: "go through hindsight-storage, which owns the data directory",
    },
    Ban {
        crates: &["hindsight-storage", "hindsight-engine", "hindsight-client", "hindsight-server"],
        doors: &[],
        names: &["println", "eprintln"],
        instead: "use `tracing`; only the programs print",
    },
];

/// Finds each banned name outside tests.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for ban in BANS {
        for file in ban.crates.iter().flat_map(|name| tree.rust_of(name)) {
            if ban.doors.iter().any(|door| file.path.starts_with(door)) {
                continue;
            }
            for (path, line) in paths_in(file) {
                if let Some(name) = ban.names.iter().find(|name| contains(&path, name)) {
                    findings.push(Finding::new(
                        RULE,
                        &file.path,
                        line,
                        format!("remove `{name}`: {}", ban.instead),
                    ));
                }
            }
        }
    }
    findings.sort();
    findings.dedup();
    findings
}

fn contains(path: &[&str], name: &str) -> bool {
    let wanted: Vec<&str> = name.split("::").collect();
    path.windows(wanted.len()).any(|window| window == wanted)
}

/// Every `a::b::c` outside tests, with its line; `use a::{b, c::d}` gives `a::b` and `a::c::d`.
fn paths_in(file: &RustFile) -> Vec<(Vec<&str>, usize)> {
    let mut paths = Vec::new();
    let mut current: Vec<&str> = Vec::new();
    // What stood before each open `::{`; `None` for any other brace.
    let mut prefixes: Vec<Option<Vec<&str>>> = Vec::new();
    let mut colons = 0;
    for token in &file.tokens {
        match token.text.as_str() {
            ":" => {
                colons += 1;
                continue;
            }
            "{" => {
                let prefix = (colons == 2).then(|| std::mem::take(&mut current));
                current = prefix.clone().unwrap_or_default();
                prefixes.push(prefix);
            }
            "}" => {
                prefixes.pop();
                current = prefixes.last().cloned().flatten().unwrap_or_default();
            }
            text if text.starts_with(|first: char| first.is_alphabetic() || first == '_') => {
                if colons != 2 && prefixes.last().is_none_or(Option::is_none) {
                    current.clear();
                }
                current.push(text);
                if !file.is_test(token.line) {
                    paths.push((current.clone(), token.line));
                }
            }
            _ => current = prefixes.last().cloned().flatten().unwrap_or_default(),
        }
        colons = 0;
    }
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &str, text: &str) -> Vec<usize> {
        check(&Tree::of(&[(path, text)])).iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn a_clock_or_a_file_is_found_however_it_is_named() {
        let core = "crates/hindsight-core/src/a.rs";
        assert_eq!(lines(core, "fn f() { std::time::SystemTime::now(); }"), [1]);
        assert_eq!(
            lines(core, "use std::{collections::{BTreeMap, HashMap},\n    time::{Duration,\n    Instant}};"),
            [3]
        );
        assert_eq!(lines(core, "use std::fmt;\nuse std::fs;"), [2]);
        assert_eq!(lines(core, "fn f() { jiff::Timestamp::now(); }"), [1]);
        assert_eq!(lines(core, "fn f() {\n    println!(\"x\");\n}"), [2]);
    }

    #[test]
    fn what_only_looks_alike_is_fine() {
        let core = "crates/hindsight-core/src/a.rs";
        let text = "use std::{fmt, time::Duration};\nfn fs(now: Timestamp) -> std::fmt::Result { let env = std::mem::take(x); }\n\
            struct A { std: u8, fs: u8 }\n#[cfg(test)]\nmod tests { use std::fs; }";
        assert!(lines(core, text).is_empty());
    }

    #[test]
    fn files_are_opened_behind_the_storage_door_only() {
        let text = "use std::fs::File;\nfn f() { File::open(x); }";
        assert!(lines("crates/hindsight-storage/src/real.rs", text).is_empty());
        assert_eq!(lines("crates/hindsight-storage/src/log.rs", text), [1, 2]);
        assert!(lines("crates/hindsight-embed/src/model.rs", text).is_empty());
    }
}

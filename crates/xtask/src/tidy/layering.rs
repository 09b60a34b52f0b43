//! The house: an arrow between crates points only to a lower row.
//!
//! The table is that of `docs/ARCHITECTURE.md`; crates of one row never import each other.

use super::Finding;
use super::tree::{Dependency, Package, Tree};

/// Name of this rule in a finding.
pub const RULE: &str = "layering";

/// The rows from the ground up.
const ROWS: &[(&str, &[&str])] = &[
    ("core", &["hindsight-core", "hindsight-history"]),
    ("boundary", &["hindsight-proto"]),
    (
        "parts",
        &["hindsight-storage", "hindsight-index", "hindsight-query", "hindsight-auth", "hindsight-guard"],
    ),
    ("spine", &["hindsight-engine"]),
    ("models", &["hindsight-embed"]),
    ("workers", &["hindsight-lifecycle", "hindsight-ingest"]),
    ("tools", &["hindsight-mcp"]),
    ("edge", &["hindsight-client", "hindsight-server"]),
    ("front", &["hindsight", "hindsight-bench", "hindsight-faults"]),
];

/// Stands beside the house: imports no crate of it, and is imported by none.
const OUTSIDE: &[&str] = &["xtask"];

/// Arrows of tests only, which may run sideways.
const DEV_ARROWS: &[(&str, &str)] = &[
    // The two ends of the wire are tested against each other, as users run them.
    ("hindsight-server", "hindsight-client"),
    ("hindsight-client", "hindsight-server"),
];

/// Folders whose name is not the crate's: the benches stand at the top, where people look for them.
const FOLDERS: &[(&str, &str)] = &[("hindsight-bench", "benches/Cargo.toml")];

/// Holds every workspace member and every arrow between members against the table.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in &tree.packages {
        let mut report = |advice: String| findings.push(Finding::new(RULE, &package.manifest, 1, advice));
        if row_of(&package.name).is_none() && !OUTSIDE.contains(&package.name.as_str()) {
            report(format!("give `{}` a row in crates/xtask/src/tidy/layering.rs", package.name));
        }
        if package.manifest != manifest_of(&package.name) {
            report(format!("move it, so that its manifest is {}", manifest_of(&package.name)));
        }
        for dependency in &package.dependencies {
            if let Some(advice) = judge(package, dependency) {
                report(advice);
            }
        }
    }
    findings
}

fn judge(from: &Package, to: &Dependency) -> Option<String> {
    if OUTSIDE.contains(&to.name.as_str()) {
        return Some(format!("remove `{}`: it is a tool, no part of the house", to.name));
    }
    let (to_height, to_row) = row_of(&to.name)?;
    if to.dev_only && DEV_ARROWS.contains(&(from.name.as_str(), to.name.as_str())) {
        return None;
    }
    let Some((from_height, from_row)) = row_of(&from.name) else {
        return Some(format!("remove `{}`: a tool imports no crate of the house", to.name));
    };
    (to_height >= from_height).then(|| {
        format!(
            "remove `{}` (row {to_row}): `{}` (row {from_row}) may import lower rows only",
            to.name, from.name
        )
    })
}

fn row_of(name: &str) -> Option<(usize, &'static str)> {
    let height = ROWS.iter().position(|(_, crates)| crates.contains(&name))?;
    Some((height, ROWS.get(height)?.0))
}

fn manifest_of(name: &str) -> String {
    let special = FOLDERS.iter().find(|(package, _)| *package == name);
    special.map_or_else(|| format!("crates/{name}/Cargo.toml"), |(_, manifest)| (*manifest).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn advice_on(from: &str, to: &str, dev_only: bool) -> Option<String> {
        let tree = Tree::of_arrow(from, &manifest_of(from), to, dev_only);
        check(&tree).pop().map(|finding| finding.advice)
    }

    #[test]
    fn arrows_down_are_fine_and_arrows_up_or_sideways_are_not() {
        assert_eq!(advice_on("hindsight-engine", "hindsight-storage", false), None);
        assert_eq!(advice_on("hindsight", "hindsight-client", false), None);
        for (from, to) in [
            ("hindsight-core", "hindsight-proto"),
            ("hindsight-storage", "hindsight-index"),
            ("hindsight-client", "hindsight-server"),
            ("hindsight-index", "hindsight-engine"),
            ("hindsight-engine", "xtask"),
            ("xtask", "hindsight-core"),
        ] {
            assert!(advice_on(from, to, false).is_some(), "{from} → {to}");
        }
    }

    #[test]
    fn tests_may_join_the_ends_of_the_wire_only() {
        assert_eq!(advice_on("hindsight-server", "hindsight-client", true), None);
        assert!(advice_on("hindsight-storage", "hindsight-index", true).is_some());
    }

    #[test]
    fn a_crate_without_a_row_or_in_another_folder_is_found() {
        assert!(advice_on("hindsight-new", "serde", false).is_some_and(|advice| advice.contains("a row")));
        let findings = check(&Tree::of_arrow("hindsight-core", "crates/core/Cargo.toml", "serde", false));
        assert!(findings[0].advice.contains("crates/hindsight-core/Cargo.toml"));
    }
}

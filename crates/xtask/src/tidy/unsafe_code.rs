//! Unsafe code lives in one room: every crate but hindsight-index forbids it, at its first lines.

use super::Finding;
use super::tree::Tree;

/// Name of this rule in a finding.
pub const RULE: &str = "unsafe-code";

/// The crate that may hold FFI (the vector library); the workspace lint still denies what has no exception there.
const ROOM: &str = "crates/hindsight-index/";

/// Looks for the attribute in every crate root.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.crate_roots().filter(|file| !file.path.starts_with(ROOM)) {
        let forbids = file
            .attributes
            .iter()
            .any(|attribute| attribute.inner && attribute.text == "forbid(unsafe_code)");
        if !forbids {
            findings.push(Finding::new(
                RULE,
                &file.path,
                1,
                "add `#![forbid(unsafe_code)]` below the crate's docs",
            ));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> usize {
        check(&Tree::of(&[(path, text)])).len()
    }

    #[test]
    fn every_root_but_one_forbids_unsafe() {
        assert_eq!(found("crates/a/src/lib.rs", "//! Docs.\n#![forbid(unsafe_code)]\n"), 0);
        assert_eq!(found("crates/a/src/lib.rs", "//! Docs.\n"), 1);
        assert_eq!(found("crates/a/src/main.rs", "#![deny(unsafe_code)]\n"), 1);
        assert_eq!(found("crates/a/src/bin/b.rs", ""), 1);
        assert_eq!(found("crates/a/src/other.rs", ""), 0);
        assert_eq!(found("crates/hindsight-index/src/lib.rs", ""), 0);
    }
}

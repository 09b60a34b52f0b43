//! Unsafe code lives in two rooms: every other crate forbids it, at its first lines.

use super::Finding;
use super::tree::Tree;

/// Name of this rule in a finding.
pub const RULE: &str = "unsafe-code";

/// The crates that may hold it: FFI to the vector library, and the one request to the kernel that cuts a file system
/// off. The workspace lint still denies what has no exception there.
const ROOMS: &[&str] = &["crates/hindsight-index/", "crates/hindsight-faults/src/lib.rs"];

/// Looks for the attribute in every crate root.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.crate_roots().filter(|file| !ROOMS.iter().any(|room| file.path.starts_with(room))) {
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
    fn every_root_but_two_forbids_unsafe() {
        assert_eq!(found("crates/a/src/lib.rs", "//! Docs.\n#![forbid(unsafe_code)]\n"), 0);
        assert_eq!(found("crates/a/src/lib.rs", "//! Docs.\n"), 1);
        assert_eq!(found("crates/a/src/main.rs", "#![deny(unsafe_code)]\n"), 1);
        assert_eq!(found("crates/a/src/bin/b.rs", ""), 1);
        assert_eq!(found("crates/a/src/other.rs", ""), 0);
        assert_eq!(found("crates/hindsight-index/src/lib.rs", ""), 0);
        assert_eq!(found("crates/hindsight-faults/src/lib.rs", ""), 0);
        assert_eq!(found("crates/hindsight-faults/src/main.rs", ""), 1);
    }
}

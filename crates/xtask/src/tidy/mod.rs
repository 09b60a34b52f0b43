//! The house rules that no compiler knows, one file each.
//!
//! [`tree`] reads the workspace once; each rule is a function from the [`Tree`] to its [`Finding`]s, so a rule is
//! tested on a snippet. [`layering`], [`dependencies`] and [`purity`] hold their tables as data: a new crate or a
//! new dependency is a new line there.

pub mod dependencies;
pub mod features;
pub mod file_size;
pub mod finding;
pub mod function_size;
pub mod ignored_tests;
pub mod layering;
pub mod leftovers;
pub mod links;
pub mod lint_exceptions;
pub mod manifests;
pub mod panics;
pub mod purity;
pub mod root_docs;
pub mod rust_file;
pub mod tree;
pub mod unsafe_code;
pub mod workplace;

use std::path::Path;

pub use finding::Finding;
pub use tree::Tree;

/// A rule: what it is called in a finding, and how it is checked.
pub struct Rule {
    /// The name in `path:line: name: advice`.
    pub name: &'static str,
    /// Finds every violation in the tree.
    pub check: fn(&Tree) -> Vec<Finding>,
}

/// Every rule that is held.
pub const RULES: &[Rule] = &[
    Rule { name: tree::RULE, check: tree::check },
    Rule { name: layering::RULE, check: layering::check },
    Rule { name: dependencies::RULE, check: dependencies::check },
    Rule { name: features::RULE, check: features::check },
    Rule { name: manifests::RULE, check: manifests::check },
    Rule { name: file_size::RULE, check: file_size::check },
    Rule { name: function_size::RULE, check: function_size::check },
    Rule { name: panics::RULE, check: panics::check },
    Rule { name: purity::RULE, check: purity::check },
    Rule { name: unsafe_code::RULE, check: unsafe_code::check },
    Rule { name: root_docs::RULE, check: root_docs::check },
    Rule { name: lint_exceptions::RULE, check: lint_exceptions::check },
    Rule { name: ignored_tests::RULE, check: ignored_tests::check },
    Rule { name: leftovers::RULE, check: leftovers::check },
    Rule { name: workplace::RULE, check: workplace::check },
    Rule { name: links::RULE, check: links::check },
];

/// Checks the workspace at `root` against every rule. The findings come sorted by path and line.
///
/// # Errors
/// When the workspace cannot be read, or `cargo metadata` fails.
pub fn run(root: &Path) -> anyhow::Result<Vec<Finding>> {
    let tree = Tree::load(root)?;
    let mut findings: Vec<Finding> = RULES.iter().flat_map(|rule| (rule.check)(&tree)).collect();
    findings.sort();
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_rule_has_its_own_name() {
        let names: BTreeSet<_> = RULES.iter().map(|rule| rule.name).collect();
        assert_eq!(names.len(), RULES.len());
    }
}

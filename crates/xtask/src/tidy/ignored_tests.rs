//! A test that does not run is worse than none: it is believed.

use super::Finding;
use super::tree::Tree;

/// Name of this rule in a finding.
pub const RULE: &str = "ignored-tests";

/// Finds every ignored test.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in &tree.rust {
        for attribute in &file.attributes {
            if attribute.text == "ignore" || attribute.text.starts_with("ignore=") {
                let advice = "make the test run, or delete it";
                findings.push(Finding::new(RULE, &file.path, *attribute.lines.start(), advice));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ignored_test_is_found_with_and_without_a_reason() {
        let text = "#[test]\n#[ignore]\nfn f() {}\n#[test]\n#[ignore = \"slow\"]\nfn g() {}\n#[test]\nfn ignore() {}\n";
        let tree = Tree::of(&[("crates/a/tests/it/main.rs", text)]);
        let lines: Vec<_> = check(&tree).iter().map(|finding| finding.line).collect();
        assert_eq!(lines, [2, 5]);
    }
}

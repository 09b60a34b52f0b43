//! The repository stands by itself: it names no path or tool of the place where it happened to be written.

use super::Finding;
use super::tree::Tree;

/// Name of this rule in a finding.
pub const RULE: &str = "workplace";

/// Put together from pieces, so that this file does not find itself.
const WORDS: &[&str] = &[
    concat!("/wo", "rk/"),
    concat!("../sha", "red"),
    concat!(".libr", "ary/"),
    concat!("farm-", "studio"),
    concat!("/farm", "/in"),
    concat!("/tmp/", "team"),
];

/// Looks through every text file, generated ones included.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in &tree.texts {
        for (index, line) in file.text.lines().enumerate() {
            if let Some(word) = WORDS.iter().find(|word| line.contains(**word)) {
                let advice = format!("remove `{word}`: it means nothing to whoever clones the repository");
                findings.push(Finding::new(RULE, &file.path, index + 1, advice));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_of_the_workplace_is_found_anywhere() {
        let text = format!("see {}main\nand a framework/thing\n", WORDS[0]);
        for path in ["README.md", "crates/a/src/generated/a.rs", "sample.jsonl", ".ci/run"] {
            let lines: Vec<_> =
                check(&Tree::of(&[(path, &text)])).iter().map(|finding| finding.line).collect();
            assert_eq!(lines, [1], "{path}");
        }
    }
}

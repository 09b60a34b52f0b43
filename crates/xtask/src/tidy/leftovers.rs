//! Nothing half-done is committed: no marks for later, no debugging aids.

use super::Finding;
use super::tree::{TextFile, Tree};

/// Name of this rule in a finding.
pub const RULE: &str = "leftovers";

/// Put together from pieces, so that this file does not find itself.
const MARKS: &[&str] = &[concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X"), concat!("HA", "CK")];
const MACROS: &[&str] = &["dbg", "todo", "unimplemented"];
const WRITTEN_BY_HAND: &[&str] =
    &[".rs", ".toml", ".proto", ".md", ".yml", ".yaml", ".sh", "Dockerfile", ".ci/run"];

/// Finds the marks in every file written by hand, and the macros in all Rust code, tests included.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let texts =
        tree.texts.iter().filter(|file| WRITTEN_BY_HAND.iter().any(|ending| file.path.ends_with(ending)));
    let mut findings: Vec<Finding> = texts.flat_map(check_text).collect();
    for file in &tree.rust {
        for name in MACROS {
            findings.extend(file.all_lines_with(&[name, "!"]).map(|line| {
                Finding::new(RULE, &file.path, line, format!("finish the code and remove `{name}!`"))
            }));
        }
    }
    findings
}

fn check_text(file: &TextFile) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, line) in file.text.lines().enumerate() {
        for mark in MARKS.iter().filter(|mark| words(line).any(|word| word == **mark)) {
            let advice = format!("do it now or file an issue, and remove `{mark}`");
            findings.push(Finding::new(RULE, &file.path, index + 1, advice));
        }
    }
    findings
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|character: char| !character.is_alphanumeric() && character != '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &str, text: &str) -> Vec<usize> {
        check(&Tree::of(&[(path, text)])).iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn marks_and_macros_are_found_in_tests_too() {
        assert_eq!(lines("crates/a/src/b.rs", concat!("fn f() {}\n// TO", "DO: more\n")), [2]);
        assert_eq!(lines("docs/a.md", concat!("(FIX", "ME)\n")), [1]);
        assert_eq!(lines("crates/a/tests/it/main.rs", concat!("#[test]\nfn f() { d", "bg!(1); }\n")), [2]);
    }

    #[test]
    fn words_that_only_contain_a_mark_are_fine() {
        assert!(lines("crates/a/src/b.rs", "// my todo list, METHODOLOGY\nfn todo() {}\n").is_empty());
        assert!(lines("crates/a/sample.jsonl", concat!("TO", "DO\n")).is_empty());
    }
}

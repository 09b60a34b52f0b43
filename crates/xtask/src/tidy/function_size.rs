//! A function fits on one screen.

use super::Finding;
use super::tree::Tree;

/// Name of this rule in a finding.
pub const RULE: &str = "function-size";

/// From `fn` to the closing brace.
const LINES_MAX: usize = 70;

/// Measures each function that is not a test.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in &tree.rust {
        for function in &file.functions {
            let first = *function.lines.start();
            let lines = function.lines.end() + 1 - first;
            if lines > LINES_MAX && !file.is_test(first) {
                let advice = format!(
                    "split `{}`: {lines} lines, at most {LINES_MAX}; keep the control flow, let helpers compute",
                    function.name
                );
                findings.push(Finding::new(RULE, &file.path, first, advice));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<usize> {
        check(&Tree::of(&[("crates/a/src/b.rs", text)])).iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn a_function_of_seventy_lines_is_the_longest() {
        let longest = format!("\nfn f() {{\n{}}}\n", "    g();\n".repeat(LINES_MAX - 2));
        assert!(lines(&longest).is_empty());
        assert_eq!(lines(&longest.replacen("g();", "g();\n\n", 1)), [2]);
        assert!(
            lines(&format!("#[cfg(test)]\nmod tests {{{longest}{longest}}}").replace("g();", "g();\n"))
                .is_empty()
        );
    }
}

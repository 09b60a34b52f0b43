//! No panic reaches a user: code that is not a test returns errors.
//!
//! Clippy denies the same by type; this rule also sees the inside of macros, and an `allow` does not silence it.

use super::Finding;
use super::tree::Tree;

/// Name of this rule in a finding.
pub const RULE: &str = "panics";

/// Tokens in a row, and the clippy lint whose `#[expect(.., reason = "..")]` makes an exception.
const FORBIDDEN: &[(&[&str], &str)] = &[
    (&[".", "unwrap", "("], "unwrap_used"),
    (&[".", "unwrap_err", "("], "unwrap_used"),
    (&[".", "expect", "("], "expect_used"),
    (&[".", "expect_err", "("], "expect_used"),
    (&["Option", ":", ":", "unwrap"], "unwrap_used"),
    (&["Result", ":", ":", "unwrap"], "unwrap_used"),
    (&["panic", "!"], "clippy::panic"),
    (&["todo", "!"], "clippy::todo"),
    (&["unimplemented", "!"], "clippy::unimplemented"),
];

/// Finds each of them outside tests.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in &tree.rust {
        for (tokens, lint) in FORBIDDEN {
            let broken = file.lines_with(tokens).filter(|line| !file.expects(lint, *line));
            findings.extend(broken.map(|line| {
                let advice = format!("return an error instead of `{}`", tokens.concat());
                Finding::new(RULE, &file.path, line, advice)
            }));
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
    fn each_way_to_panic_is_found() {
        assert_eq!(lines("fn f() {\n    a.unwrap();\n    b\n        .expect(\"c\");\n}"), [2, 4]);
        assert_eq!(lines("fn f() { a.map(Option::unwrap); }"), [1]);
        assert_eq!(lines("fn f() { println!(\"{}\", a.unwrap()); }"), [1]);
        assert_eq!(lines("fn f() { panic!(\"x\") }"), [1]);
        assert_eq!(lines(concat!("fn f() { to", "do!() }")), [1]);
    }

    #[test]
    fn tests_relatives_and_exceptions_with_a_reason_are_fine() {
        assert!(lines("fn f() { a.unwrap_or(1).unwrap_or_default().expected() }").is_empty());
        assert!(lines("#[cfg(test)]\nmod tests { fn f() { a.unwrap(); panic!() } }").is_empty());
        assert_eq!(
            lines(
                "#[expect(clippy::unwrap_used, reason = \"r\")]\nfn f() { a.unwrap() }\nfn g() { a.unwrap() }"
            ),
            [3]
        );
    }
}

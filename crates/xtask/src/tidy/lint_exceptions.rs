//! An exception to a lint says why. Tests may leave it out.

use super::Finding;
use super::tree::Tree;

/// Name of this rule in a finding.
pub const RULE: &str = "lint-exceptions";

/// Finds `allow` and `expect` without a reason outside tests.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in &tree.rust {
        for attribute in &file.attributes {
            let excepts = attribute.text.starts_with("allow(") || attribute.text.starts_with("expect(");
            let line = *attribute.lines.start();
            if excepts && !attribute.text.contains("reason=\"") && !file.is_test(line) {
                let advice = format!("write `#[expect({}, reason = \"...\")]`", lints(&attribute.text));
                findings.push(Finding::new(RULE, &file.path, line, advice));
            }
        }
    }
    findings
}

fn lints(attribute: &str) -> &str {
    let open = attribute.find('(').map_or(0, |index| index + 1);
    attribute.get(open..).unwrap_or(attribute).trim_end_matches(')')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exception_without_a_reason_is_found() {
        let text = "#[allow(dead_code)]\nfn f() {}\n#[expect(clippy::panic, reason = \"r\")]\nfn g() {}\n#[expect(x)]\nfn h() {}\n\
            #[cfg(test)]\nmod tests {\n#[expect(x)]\nfn i() {}\n}\n";
        let findings = check(&Tree::of(&[("crates/a/src/lib.rs", text)]));
        let lines: Vec<_> = findings.iter().map(|finding| finding.line).collect();
        assert_eq!(lines, [1, 5]);
        assert_eq!(findings[0].advice, "write `#[expect(dead_code, reason = \"...\")]`");
    }
}

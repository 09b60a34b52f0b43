//! One violation, in the form that editors and terminals make clickable.

use std::fmt;

/// Where a rule is broken, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// Relative to the workspace, with `/`.
    pub path: String,
    /// Counted from 1.
    pub line: usize,
    /// Name of the rule.
    pub rule: &'static str,
    /// What to do.
    pub advice: String,
}

impl Finding {
    /// A finding of `rule` at `path:line`.
    #[must_use]
    pub fn new(rule: &'static str, path: &str, line: usize, advice: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, rule, advice: advice.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}: {}: {}", self.path, self.line, self.rule, self.advice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_as_path_line_rule_advice() {
        let finding = Finding::new("file-size", "crates/a/src/b.rs", 7, "split it");
        assert_eq!(finding.to_string(), "crates/a/src/b.rs:7: file-size: split it");
    }
}

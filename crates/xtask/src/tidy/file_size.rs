//! A file is short enough to be read whole.

use super::Finding;
use super::rust_file::RustFile;
use super::tree::Tree;

/// Name of this rule in a finding.
pub const RULE: &str = "file-size";

/// Lines that are not tests. Most files are near 130.
const LINES_MAX: usize = 500;

/// Counts the lines of each Rust file, tests left out.
pub fn check(tree: &Tree) -> Vec<Finding> {
    tree.rust.iter().filter_map(check_file).collect()
}

fn check_file(file: &RustFile) -> Option<Finding> {
    let lines = (1..=file.line_count).filter(|line| !file.is_test(*line)).count();
    (lines > LINES_MAX).then(|| {
        let advice = format!("split it: {lines} lines without tests, at most {LINES_MAX}; one noun per file");
        Finding::new(RULE, &file.path, 1, advice)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> usize {
        check(&Tree::of(&[(path, text)])).len()
    }

    #[test]
    fn tests_do_not_count() {
        let code = "fn f() {}\n".repeat(LINES_MAX);
        let tests = format!("#[cfg(test)]\nmod tests {{\n{code}}}\n");
        assert_eq!(found("crates/a/src/b.rs", &code), 0);
        assert_eq!(found("crates/a/src/b.rs", &format!("{code}{tests}")), 0);
        assert_eq!(found("crates/a/src/b.rs", &format!("{code}fn g() {{}}\n")), 1);
        assert_eq!(found("crates/a/tests/it/b.rs", &format!("{code}{code}")), 0);
    }
}

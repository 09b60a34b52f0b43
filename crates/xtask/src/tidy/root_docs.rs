//! A crate opens with its story, so that a reader of `lib.rs` or `main.rs` knows where to go next.

use super::Finding;
use super::tree::Tree;

/// Name of this rule in a finding.
pub const RULE: &str = "root-docs";

/// Looks at the first line of every crate root.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let roots: Vec<&str> = tree.crate_roots().map(|file| file.path.as_str()).collect();
    tree.texts
        .iter()
        .filter(|file| roots.contains(&file.path.as_str()) && !file.text.starts_with("//! "))
        .map(|file| {
            let advice =
                "begin with `//!`: what the crate does, what it does not, the reading order of its modules";
            Finding::new(RULE, &file.path, 1, advice)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_root_without_docs_is_found() {
        let tree = Tree::of(&[
            ("crates/a/src/lib.rs", "//! The story.\n"),
            ("crates/b/src/lib.rs", "pub mod c;\n//! Late.\n"),
            ("crates/b/src/c.rs", "fn f() {}\n"),
        ]);
        let paths: Vec<_> = check(&tree).into_iter().map(|finding| finding.path).collect();
        assert_eq!(paths, ["crates/b/src/lib.rs"]);
    }
}

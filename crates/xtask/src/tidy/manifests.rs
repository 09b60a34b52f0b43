//! Versions are pinned in the root manifest and nowhere else, and every member follows the workspace's lints.

use toml::{Table, Value};

use super::Finding;
use super::tree::{TextFile, Tree};

/// Name of this rule in a finding.
pub const RULE: &str = "manifests";

const DEPENDENCY_TABLES: &[&str] = &["dependencies", "dev-dependencies", "build-dependencies"];

/// Checks the manifest of every member. The fuzz crate is a workspace of its own, as cargo-fuzz wants it.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let is_member = |file: &&TextFile| {
        file.path.ends_with("/Cargo.toml")
            && (file.path.starts_with("crates/") || file.path.starts_with("benches/"))
    };
    tree.texts.iter().filter(is_member).flat_map(check_member).collect()
}

fn check_member(file: &TextFile) -> Vec<Finding> {
    let manifest: Table = match file.text.parse() {
        Ok(manifest) => manifest,
        Err(error) => return vec![Finding::new(RULE, &file.path, 1, format!("make it valid TOML: {error}"))],
    };
    let mut findings = Vec::new();
    for (name, dependency) in dependencies(&manifest) {
        if !is_inherited(dependency) {
            let line = line_of(&file.text, name);
            let advice =
                format!("write `{name}.workspace = true` and pin its version in the root Cargo.toml");
            findings.push(Finding::new(RULE, &file.path, line, advice));
        }
    }
    if !manifest.get("lints").is_some_and(is_inherited) {
        findings.push(Finding::new(RULE, &file.path, 1, "add `[lints]` with `workspace = true`"));
    }
    findings
}

/// The entries of every dependency table, those of single targets included.
fn dependencies(manifest: &Table) -> impl Iterator<Item = (&String, &Value)> {
    let targets = manifest.get("target").and_then(Value::as_table).into_iter().flat_map(Table::values);
    let sections = std::iter::once(manifest).chain(targets.filter_map(Value::as_table));
    sections.flat_map(|section| {
        DEPENDENCY_TABLES.iter().filter_map(|table| section.get(*table)?.as_table()).flat_map(Table::iter)
    })
}

fn is_inherited(value: &Value) -> bool {
    value.get("workspace").and_then(Value::as_bool) == Some(true)
}

fn line_of(text: &str, name: &str) -> usize {
    text.lines().position(|line| line.starts_with(name)).map_or(1, |index| index + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(manifest: &str) -> Vec<usize> {
        check(&Tree::of(&[("crates/a/Cargo.toml", manifest)])).iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn a_version_in_a_member_is_found_in_every_form() {
        let head = "[lints]\nworkspace = true\n";
        assert!(
            lines(&format!("{head}[dependencies]\na.workspace = true\nb = {{ workspace = true }}\n"))
                .is_empty()
        );
        assert_eq!(lines(&format!("{head}[dependencies]\na = \"1\"\n")), [4]);
        assert_eq!(lines(&format!("{head}[dev-dependencies]\na = {{ path = \"../a\" }}\n")), [4]);
        assert_eq!(lines(&format!("{head}[target.'cfg(unix)'.dependencies]\na = \"1\"\n")), [4]);
        assert_eq!(lines(&format!("{head}[dependencies.a]\nversion = \"1\"\n")).len(), 1);
    }

    #[test]
    fn missing_lints_and_broken_toml_are_found() {
        assert_eq!(lines("[dependencies]\na.workspace = true\n"), [1]);
        assert_eq!(lines("[dependencies\n"), [1]);
    }
}

//! The workspace as the rules see it: its text files, its Rust files as tokens, and its packages.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::Context;
use cargo_metadata::{DependencyKind, MetadataCommand};

use super::Finding;
use super::rust_file::RustFile;

/// Name of this rule in a finding.
pub const RULE: &str = "rust-syntax";

/// Folders that hold nothing written by hand. `corpus` holds the fuzzers' inputs: hostile bytes by intent.
const SKIPPED_FOLDERS: &[&str] = &[".git", "target", "artifacts", "corpus"];
/// Larger files are data (models, vocabularies), not prose or code.
const TEXT_BYTES_MAX: u64 = 1024 * 1024;
/// Generated code follows its generator's rules. The words of `workplace` are looked for even there.
const GENERATED: &str = "/src/generated/";

/// A file that is valid UTF-8.
#[derive(Debug)]
pub struct TextFile {
    /// Relative to the workspace, with `/`.
    pub path: String,
    /// Whole content.
    pub text: String,
}

/// A workspace member.
#[derive(Debug, Clone)]
pub struct Package {
    /// Name in its manifest.
    pub name: String,
    /// Path of its manifest, relative to the workspace.
    pub manifest: String,
    /// What it names directly.
    pub dependencies: Vec<Dependency>,
    /// Its features, with what each turns on.
    pub features: BTreeMap<String, Vec<String>>,
}

/// An arrow from a package to another.
#[derive(Debug, Clone)]
pub struct Dependency {
    /// Package name of the target, whatever it is renamed to.
    pub name: String,
    /// For tests, examples and benches only.
    pub dev_only: bool,
    /// The features that it names.
    pub features: Vec<String>,
}

/// Everything the rules look at.
#[derive(Debug, Default)]
pub struct Tree {
    /// Every text file, sorted by path.
    pub texts: Vec<TextFile>,
    /// Every Rust file that is not generated, sorted by path.
    pub rust: Vec<RustFile>,
    /// Every file, text or not.
    pub paths: BTreeSet<String>,
    /// The workspace members.
    pub packages: Vec<Package>,
    unreadable: Vec<Finding>,
}

impl Tree {
    /// Reads the workspace at `root`.
    ///
    /// # Errors
    /// When a folder or file cannot be read, or `cargo metadata` fails.
    pub fn load(root: &Path) -> anyhow::Result<Self> {
        let mut tree = Self { packages: packages(root)?, ..Self::default() };
        let mut folders = vec![root.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).with_context(|| format!("cannot list {}", folder.display()))? {
                let entry = entry?;
                let name = entry.file_name().to_string_lossy().into_owned();
                let path = entry.path();
                if entry.file_type()?.is_dir() {
                    if !SKIPPED_FOLDERS.contains(&name.as_str()) {
                        folders.push(path);
                    }
                    continue;
                }
                let relative = relative(root, &path);
                if entry.metadata()?.len() <= TEXT_BYTES_MAX {
                    let bytes = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
                    if let Ok(text) = String::from_utf8(bytes) {
                        tree.add(&relative, text);
                    }
                }
                tree.paths.insert(relative);
            }
        }
        tree.finish();
        Ok(tree)
    }

    /// A tree of the given files, for the tests of the rules.
    #[cfg(test)]
    pub(super) fn of(files: &[(&str, &str)]) -> Self {
        let mut tree = Self::default();
        for (path, text) in files {
            tree.add(path, (*text).to_owned());
            tree.paths.insert((*path).to_owned());
        }
        tree.finish();
        tree
    }

    /// A tree of one package in `manifest` with one dependency, for the tests of the rules.
    #[cfg(test)]
    pub(super) fn of_arrow(from: &str, manifest: &str, to: &str, dev_only: bool) -> Self {
        let dependencies = vec![Dependency { name: to.to_owned(), dev_only, features: Vec::new() }];
        let package = Package {
            name: from.to_owned(),
            manifest: manifest.to_owned(),
            dependencies,
            features: BTreeMap::new(),
        };
        Self { packages: vec![package], ..Self::default() }
    }

    /// The Rust files below `crates/<crate_name>/`.
    pub fn rust_of<'tree>(&'tree self, crate_name: &str) -> impl Iterator<Item = &'tree RustFile> {
        let folder = format!("crates/{crate_name}/");
        self.rust.iter().filter(move |file| file.path.starts_with(&folder))
    }

    /// The files that begin a library or a program of the workspace: where crate-wide attributes stand.
    pub fn crate_roots(&self) -> impl Iterator<Item = &RustFile> {
        self.rust.iter().filter(|file| {
            let path = file.path.as_str();
            let own_workspace = path.starts_with("fuzz/");
            let is_root = ["/src/lib.rs", "/src/main.rs"].iter().any(|ending| path.ends_with(ending));
            !own_workspace && (is_root || path.contains("/src/bin/"))
        })
    }

    fn add(&mut self, path: &str, text: String) {
        if path.ends_with(".rs") && !path.contains(GENERATED) {
            match RustFile::parse(path, &text) {
                Ok(file) => self.rust.push(file),
                Err(finding) => self.unreadable.push(finding),
            }
        }
        self.texts.push(TextFile { path: path.to_owned(), text });
    }

    fn finish(&mut self) {
        self.texts.sort_by(|left, right| left.path.cmp(&right.path));
        self.rust.sort_by(|left, right| left.path.cmp(&right.path));
        let test_modules: Vec<String> = self.rust.iter().flat_map(RustFile::test_module_paths).collect();
        for file in &mut self.rust {
            let stem = file.path.strip_suffix(".rs").unwrap_or(&file.path);
            if test_modules.iter().any(|module| stem == module || stem.starts_with(&format!("{module}/"))) {
                file.mark_as_test();
            }
        }
    }
}

/// A Rust file that is no sequence of tokens cannot be judged by any other rule.
pub fn check(tree: &Tree) -> Vec<Finding> {
    tree.unreadable.clone()
}

fn packages(root: &Path) -> anyhow::Result<Vec<Package>> {
    let metadata = MetadataCommand::new()
        .manifest_path(root.join("Cargo.toml"))
        .no_deps()
        .exec()
        .context("`cargo metadata` failed")?;
    let package = |package: cargo_metadata::Package| Package {
        name: package.name.to_string(),
        manifest: relative(root, package.manifest_path.as_std_path()),
        features: package.features,
        dependencies: package
            .dependencies
            .into_iter()
            .map(|dependency| Dependency {
                dev_only: dependency.kind == DependencyKind::Development,
                name: dependency.name,
                features: dependency.features,
            })
            .collect(),
    };
    Ok(metadata.packages.into_iter().map(package).collect())
}

fn relative(root: &Path, path: &Path) -> String {
    let below = path.strip_prefix(root).unwrap_or(path);
    below.to_string_lossy().replace('\\', "/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_not_rust_is_a_finding() {
        let findings = check(&Tree::of(&[("crates/a/src/lib.rs", "fn f() {\n    (]\n}")]));
        assert_eq!(findings.len(), 1);
        assert_eq!((findings[0].rule, findings[0].line), (RULE, 2));
    }

    #[test]
    fn the_file_of_a_test_module_counts_as_test() {
        let tree = Tree::of(&[
            ("crates/a/src/lib.rs", "#[cfg(test)]\nmod checks;\nmod real;"),
            ("crates/a/src/checks.rs", "fn f() {}"),
            ("crates/a/src/checks/deep.rs", "fn f() {}"),
            ("crates/a/src/real.rs", "#[cfg(test)]\nmod cases;\nfn f() {}"),
            ("crates/a/src/real/cases.rs", "fn f() {}"),
        ]);
        let tests: Vec<_> =
            tree.rust.iter().filter(|file| file.is_test(1)).map(|file| file.path.as_str()).collect();
        assert_eq!(
            tests,
            [
                "crates/a/src/checks.rs",
                "crates/a/src/checks/deep.rs",
                "crates/a/src/lib.rs",
                "crates/a/src/real.rs",
                "crates/a/src/real/cases.rs"
            ]
        );
        assert!(tree.rust.iter().any(|file| file.path.ends_with("real.rs") && !file.is_test(3)));
    }

    #[test]
    fn generated_code_is_text_but_not_judged_as_rust() {
        let tree = Tree::of(&[("crates/a/src/generated/a.v1.rs", "fn f() { x.unwrap() }")]);
        assert_eq!((tree.texts.len(), tree.rust.len()), (1, 0));
    }
}

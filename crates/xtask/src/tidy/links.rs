//! A relative link in a document leads somewhere.

use super::Finding;
use super::tree::{TextFile, Tree};

/// Name of this rule in a finding.
pub const RULE: &str = "links";

/// Follows every relative link of every Markdown file.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.texts.iter().filter(|file| file.path.ends_with(".md")) {
        for (target, line) in links(file) {
            if !leads_somewhere(tree, &file.path, &target) {
                let advice = format!("mend or remove the link to `{target}`: there is no such file");
                findings.push(Finding::new(RULE, &file.path, line, advice));
            }
        }
    }
    findings
}

/// Targets of `[text](target)` and `[name]: target`, code left out.
fn links(file: &TextFile) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    let mut fenced = false;
    for (index, line) in file.text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
            continue;
        }
        if fenced {
            continue;
        }
        let prose = without_inline_code(line);
        if prose.starts_with('[') && prose.contains("]: ") {
            found.extend(prose.split("]: ").nth(1).map(|target| (target.trim().to_owned(), index + 1)));
        }
        for rest in prose.split("](").skip(1) {
            found.extend(rest.split([')', ' ']).next().map(|target| (target.to_owned(), index + 1)));
        }
    }
    found.retain(|(target, _)| !is_elsewhere(target));
    found
}

fn without_inline_code(line: &str) -> String {
    line.split('`').step_by(2).collect()
}

/// Another site, a mail address, or a heading of the same file.
fn is_elsewhere(target: &str) -> bool {
    target.contains("://") || target.starts_with("mailto:") || target.starts_with('#')
}

fn leads_somewhere(tree: &Tree, from: &str, target: &str) -> bool {
    let target = target.split('#').next().unwrap_or(target);
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                if parts.pop().is_none() {
                    return false;
                }
            }
            name => parts.push(name),
        }
    }
    let path = parts.join("/");
    let is_folder = || tree.paths.iter().any(|known| known.starts_with(&format!("{path}/")));
    path.is_empty() || tree.paths.contains(&path) || is_folder()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<usize> {
        let tree =
            Tree::of(&[("docs/a.md", text), ("docs/b.md", ""), ("README.md", ""), ("proto/v1/x.proto", "")]);
        check(&tree).iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn links_to_files_folders_headings_and_sites_are_fine() {
        let text = "[b](b.md#part) [r](../README.md) ![p](../proto/) [h](#here) [s](https://a.example/x)\n[n]: ./b.md\n";
        assert!(lines(text).is_empty());
    }

    #[test]
    fn a_link_to_nothing_is_found() {
        assert_eq!(
            lines("\n[c](c.md) and [d](../d.md \"title\")\n[n]: gone.md\n[o](../../out.md)\n"),
            [2, 2, 3, 4]
        );
    }

    #[test]
    fn code_holds_no_links() {
        assert!(lines("`[c](c.md)`\n```\n[c](c.md)\n```\n").is_empty());
    }
}

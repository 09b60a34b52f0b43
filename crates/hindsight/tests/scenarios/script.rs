//! A session as text: headings, prose, steps (`> …`) and what came of each (indented by four). Everything but the
//! outcomes is kept letter for letter when it is written anew.

use std::fmt::Write as _;

/// How an outcome is set off from prose.
const INDENT: &str = "    ";

/// One file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Script {
    pub(crate) lines: Vec<Line>,
}

/// A line, or a step with the lines that came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Line {
    /// `## W7 the newer value wins`: a new scene, in a namespace of its own, with the clock at its beginning.
    Scene(String),
    /// A step without its mark, and its outcome.
    Step { text: String, outcome: Vec<String> },
    /// Anything else.
    Prose(String),
}

impl Script {
    /// Reads a file. Steps before the first scene, and outcomes without a step, are refused.
    pub(crate) fn parse(text: &str) -> Script {
        let mut lines: Vec<Line> = Vec::new();
        let mut in_scene = false;
        for (number, line) in text.lines().enumerate() {
            if let Some(title) = line.strip_prefix("## ") {
                in_scene = true;
                lines.push(Line::Scene(title.to_owned()));
            } else if let Some(step) = line.strip_prefix("> ") {
                assert!(in_scene, "line {}: a step before the first scene", number + 1);
                lines.push(Line::Step { text: step.to_owned(), outcome: Vec::new() });
            } else if let Some(came) = line.strip_prefix(INDENT) {
                match lines.last_mut() {
                    Some(Line::Step { outcome, .. }) => outcome.push(came.to_owned()),
                    _ => panic!("line {}: an outcome without a step: {line:?}", number + 1),
                }
            } else {
                lines.push(Line::Prose(line.to_owned()));
            }
        }
        Script { lines }
    }

    /// The titles of its scenes.
    pub(crate) fn scenes(&self) -> impl Iterator<Item = &str> {
        self.lines.iter().filter_map(|line| match line {
            Line::Scene(title) => Some(title.as_str()),
            _ => None,
        })
    }
}

impl std::fmt::Display for Script {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for line in &self.lines {
            match line {
                Line::Scene(title) => writeln!(f, "## {title}")?,
                Line::Prose(text) => writeln!(f, "{text}")?,
                Line::Step { text, outcome } => {
                    writeln!(f, "> {text}")?;
                    for came in outcome {
                        writeln!(f, "{INDENT}{came}")?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// Where two texts first differ, with the lines before, for whoever has to find out why.
pub(crate) fn difference(wanted: &str, found: &str) -> Option<String> {
    if wanted == found {
        return None;
    }
    let (wanted, found): (Vec<&str>, Vec<&str>) = (wanted.lines().collect(), found.lines().collect());
    let at = (0..).find(|at| wanted.get(*at) != found.get(*at)).unwrap_or(0);
    let mut text = format!("line {}:\n", at + 1);
    for line in &wanted[at.saturating_sub(6)..at.min(wanted.len())] {
        let _ = writeln!(text, "  {line}");
    }
    let (wanted, found) = (wanted.get(at).unwrap_or(&"(the end)"), found.get(at).unwrap_or(&"(the end)"));
    let _ = write!(text, "- {wanted}\n+ {found}");
    Some(text)
}

#[test]
fn a_session_is_read_and_written_as_it_stands() {
    let text = "# Theme\n\nProse.\n\n## W7 the newer wins\n> write \"a\" as a\n    created a\n\n> get a\n";
    let script = Script::parse(text);
    assert_eq!(script.to_string(), text);
    assert_eq!(script.scenes().collect::<Vec<_>>(), ["W7 the newer wins"]);
    let changed = text.replace("created a", "created b");
    assert_eq!(difference(text, text), None);
    let told = difference(text, &changed).unwrap();
    assert!(told.ends_with("-     created a\n+     created b") && told.contains("> write"), "{told}");
}

//! What became of the lines: counts, and one complaint for each field that is wrong.

use std::collections::BTreeMap;
use std::io::Write;
use std::time::Duration;

use hindsight_core::{Namespace, Violation};
use serde::Serialize;

use crate::failure::Failure;
use crate::screen::{counted, flat, grouped, took_text};

/// Most complaints that go to the screen; a file given with `--errors` takes all of them.
const SHOWN_MAX: u64 = 100;

/// A line that was not stored, as a line of the errors file.
#[derive(Debug, Serialize)]
struct Complaint<'a> {
    file: &'a str,
    line: u64,
    field: &'a str,
    problem: &'a str,
}

/// The counts of an import, as `-o json` prints them.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Counts {
    /// Lines that were not empty.
    pub(crate) lines: u64,
    /// Memories that were stored.
    pub(crate) stored: u64,
    /// Lines that say what a memory says already: that one became surer.
    pub(crate) reinforced: u64,
    /// Memories that were there already, under the same id or from the same import.
    pub(crate) already_there: u64,
    /// Lines that were refused.
    pub(crate) failed: u64,
    /// Stored memories by namespace.
    pub(crate) namespaces: BTreeMap<Namespace, u64>,
    /// How long it took, in seconds.
    pub(crate) seconds: f64,
    /// Nothing was stored: it was only looked at.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) dry_run: bool,
}

/// Collects what became of the lines.
pub(crate) struct Report {
    file: String,
    errors: Option<Box<dyn Write>>,
    shown: u64,
    /// The counts so far.
    pub(crate) counts: Counts,
}

impl Report {
    /// A report about `file`; all complaints go to `errors` too, one JSON object a line.
    pub(crate) fn new(file: String, errors: Option<Box<dyn Write>>) -> Report {
        Report { file, errors, shown: 0, counts: Counts::default() }
    }

    /// The file it is about.
    pub(crate) fn file(&self) -> &str {
        &self.file
    }

    /// Notes that memories were stored.
    pub(crate) fn stored(&mut self, namespace: &Namespace, count: u64) {
        self.counts.stored += count;
        *self.counts.namespaces.entry(namespace.clone()).or_default() += count;
    }

    /// Notes that a line was refused. Returns what to show on the screen, `FILE:LINE: field: problem` for each field.
    pub(crate) fn refused(&mut self, line: u64, violations: &[Violation]) -> Result<Vec<String>, Failure> {
        self.counts.failed += 1;
        let mut shown = Vec::new();
        for Violation { field, description } in violations {
            if let Some(errors) = &mut self.errors {
                let complaint = Complaint { file: &self.file, line, field, problem: description };
                serde_json::to_writer(&mut *errors, &complaint).map_err(std::io::Error::from)?;
                errors.write_all(b"\n")?;
            }
            self.shown += 1;
            if self.shown <= SHOWN_MAX {
                shown.push(format!("{}:{line}: {}: {}", self.file, flat(field), flat(description)));
            } else if self.shown == SHOWN_MAX + 1 {
                shown.push("more lines are refused; --errors FILE takes all of them".to_owned());
            }
        }
        Ok(shown)
    }

    /// Makes sure that the errors file holds every complaint.
    pub(crate) fn finish(&mut self) -> Result<(), Failure> {
        self.errors.as_mut().map_or(Ok(()), |errors| errors.flush())?;
        Ok(())
    }

    /// The whole import in one line.
    pub(crate) fn summary(&self) -> String {
        let Counts { lines, stored, reinforced, already_there, failed, namespaces, seconds, dry_run } =
            &self.counts;
        let done = if *dry_run { "dry run, nothing is stored: would import" } else { "imported" };
        let mut text = format!(
            "{done} {} of {} into {} in {}",
            counted(*stored, "memory", "memories"),
            counted(*lines, "line", "lines"),
            counted(u64::try_from(namespaces.len()).unwrap_or(u64::MAX), "namespace", "namespaces"),
            took_text(Duration::try_from_secs_f64(*seconds).unwrap_or_default()),
        );
        if *reinforced > 0 {
            let said = counted(*reinforced, "line says", "lines say");
            text.push_str(&format!("; {said} what is known and made it surer"));
        }
        if *already_there > 0 {
            text.push_str(&format!("; {} already there", counted(*already_there, "was", "were")));
        }
        if *failed > 0 {
            text.push_str(&format!("; {} refused", counted(*failed, "line was", "lines were")));
        }
        if *seconds > 0.0 && *stored > 0 {
            #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a cast from float saturates"
            )]
            let rate = (*stored as f64 / seconds) as u64;
            text.push_str(&format!(" ({} a second)", grouped(rate)));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use hindsight_core::Invalid;

    use super::*;

    #[test]
    fn complaints_name_file_line_and_field_and_the_screen_has_a_limit() {
        let mut report = Report::new("a.jsonl".to_owned(), None);
        let invalid = Invalid::one("importance", "is 7: expected a number from 0 to 1");
        assert_eq!(
            report.refused(12, &invalid.violations).unwrap(),
            ["a.jsonl:12: importance: is 7: expected a number from 0 to 1"]
        );
        let shown: usize =
            (0..500).map(|line| report.refused(line, &invalid.violations).unwrap().len()).sum();
        assert_eq!(shown, 100);
        assert_eq!(report.counts.failed, 501);
    }

    #[test]
    fn the_summary_tells_all_that_happened() {
        let mut report = Report::new("a".to_owned(), None);
        report.stored(&"a".parse().unwrap(), 2_000);
        report.stored(&"b".parse().unwrap(), 1);
        report.counts.lines = 2_005;
        report.counts.already_there = 3;
        report.counts.failed = 1;
        report.counts.seconds = 2.0;
        assert_eq!(
            report.summary(),
            "imported 2,001 memories of 2,005 lines into 2 namespaces in 2.0 s; 3 were already there; \
             1 line was refused (1,000 a second)"
        );
    }
}

//! How the demonstration looks: plain lines that also read well in a pipe.

use std::path::Path;
use std::time::Duration;

use hindsight_core::{Hit, Recalled, Timestamp};

use super::child::ServerProcess;
use super::questions::Question;
use crate::failure::Failure;
use crate::output::Out;
use crate::screen::{Paint, counted, flat, took_text, wrapped};
use crate::view::{breakdown, memory::headline};

/// Lines of a memory's text at most.
const TEXT_LINES_MAX: usize = 2;
/// Columns that the text of a hit is moved in by.
const INDENT: usize = 5;

/// Where the demonstration is printed.
pub(crate) struct Page<'a> {
    out: &'a mut Out,
    paint: Paint,
    width: usize,
}

impl Page<'_> {
    pub(crate) fn new(out: &mut Out) -> Page<'_> {
        // Longer lines are hard to read, however wide the terminal is.
        let (paint, width) = (out.paint, usize::from(out.width).min(110));
        Page { out, paint, width }
    }

    /// Each line is handed on at once: a demonstration is watched.
    fn line(&mut self, text: &str) -> Result<(), Failure> {
        self.out.line(text)?;
        self.out.flush()
    }

    pub(crate) fn title(&mut self, data: &Path, now: Timestamp) -> Result<(), Failure> {
        let title = self.paint.bold("HindsightDB: three weeks of two agents, six questions, one hard stop");
        self.line(&title)?;
        let place = format!("data in {}; ages are counted from {now}", data.display());
        let place = self.paint.dim(&place);
        self.line(&place)
    }

    pub(crate) fn started(&mut self, server: &ServerProcess) -> Result<(), Failure> {
        let text = format!(
            "server started in {}: gRPC on {}, HTTP on {}, {} in the log",
            took_text(server.took),
            server.ready.grpc,
            server.ready.http,
            counted(server.ready.memories, "memory", "memories"),
        );
        self.line(&text)
    }

    pub(crate) fn loaded(&mut self, count: u64, took: Duration) -> Result<(), Failure> {
        let text = format!("stored {count} memories in {}, each durable", took_text(took));
        self.line(&text)
    }

    /// A question, why it is asked, and each hit with its reckoning.
    pub(crate) fn answer(
        &mut self,
        number: usize,
        question: &Question,
        answer: &Recalled,
        faults: &[String],
    ) -> Result<(), Failure> {
        let head = self.paint.bold(&self.paint.cyan(&format!("{number}. {}", question.question)));
        self.line(&format!("\n{head}"))?;
        for line in wrapped(&question.why, self.width - 3, usize::MAX) {
            let line = self.paint.dim(&line);
            self.line(&format!("   {line}"))?;
        }
        if let Some(filter) = question.filter_text() {
            self.line(&format!("   filter {filter}"))?;
        }
        if let Some(window) = &answer.window {
            let text = format!("   \"{}\" means {} to {}", window.words, date(window.from), date(window.to));
            self.line(&text)?;
        }
        for (index, hit) in answer.hits.iter().enumerate() {
            self.hit(index + 1, hit)?;
        }
        for fault in faults {
            let fault = self.paint.red(&format!("   WRONG: {fault}"));
            self.line(&fault)?;
        }
        Ok(())
    }

    fn hit(&mut self, rank: usize, hit: &Hit) -> Result<(), Failure> {
        let memory = &hit.memory;
        let status = memory.status.map(|status| format!(" {status}")).unwrap_or_default();
        let task = memory.task_type.as_ref().map(|task| format!(", {}", flat(task))).unwrap_or_default();
        let head = format!(
            "{rank:>3}. {}  {}  {}{status}{task}",
            self.paint.green(&format!("{:.3}", hit.score)),
            date(memory.occurred_at),
            memory.kind,
        );
        self.line(&head)?;
        for line in wrapped(&headline(memory), self.width - INDENT, TEXT_LINES_MAX) {
            self.line(&format!("{:INDENT$}{line}", ""))?;
        }
        // A name stays with its number: blanks that do not break hold them together until the line is printed.
        let reckoning = breakdown::in_one_line(&hit.breakdown);
        let tied =
            reckoning.replace(" × ", " ×\u{a0}").replace(" 0.", "\u{a0}0.").replace(" = ", "\u{a0}=\u{a0}");
        for line in wrapped(&tied, self.width - INDENT, usize::MAX) {
            let line = self.paint.dim(&line.replace('\u{a0}', " "));
            self.line(&format!("{:INDENT$}{line}", ""))?;
        }
        Ok(())
    }

    pub(crate) fn killed(&mut self) -> Result<(), Failure> {
        self.line("\nserver killed (SIGKILL): no last write, no goodbye")
    }

    pub(crate) fn compared(
        &mut self,
        questions: usize,
        hits: usize,
        differing: usize,
    ) -> Result<(), Failure> {
        let text = if differing == 0 {
            let text = format!(
                "asked again: {questions} questions, {hits} hits, the same to the last bit of every score"
            );
            self.paint.green(&text)
        } else {
            self.paint.red(&format!("asked again: {differing} of {questions} answers differ"))
        };
        self.line(&text)
    }

    pub(crate) fn end(&mut self, kept: Option<&Path>, took: Duration) -> Result<(), Failure> {
        if let Some(data) = kept {
            let text = format!(
                "look around: hindsight serve --data {}, then hindsight -n demo list",
                data.display()
            );
            self.line(&text)?;
        }
        let text = format!("done in {}", took_text(took));
        let text = self.paint.dim(&text);
        self.line(&text)
    }
}

/// The day of a time, in UTC.
fn date(time: Timestamp) -> String {
    time.to_string().chars().take(10).collect()
}

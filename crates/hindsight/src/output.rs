//! Standard output: data, and nothing but data. A reader that closes it early (`| head`) is no error. All that is said
//! beside the data goes to standard error through [`tell`].

use std::io::{self, BufWriter, IsTerminal as _, Stdout, Write as _};

use serde::Serialize;

use crate::failure::Failure;
use crate::profile::Globals;
use crate::screen::{Paint, terminal_width};

/// How data is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// For people.
    Table,
    /// One JSON document.
    Json,
    /// One JSON document a line.
    Jsonl,
}

/// Standard output with the format, colours and width that fit it.
pub(crate) struct Out {
    writer: BufWriter<Stdout>,
    wanted: Option<Format>,
    is_terminal: bool,
    /// Colours, if they are wanted.
    pub(crate) paint: Paint,
    /// Columns of a line.
    pub(crate) width: u16,
}

impl Out {
    pub(crate) fn new(globals: &Globals) -> Out {
        let is_terminal = io::stdout().is_terminal();
        Out {
            writer: BufWriter::new(io::stdout()),
            wanted: globals.output,
            is_terminal,
            paint: Paint::new(is_terminal && !globals.no_color),
            width: terminal_width(is_terminal),
        }
    }

    /// The format of an answer that is a list.
    pub(crate) fn list_format(&self) -> Format {
        self.wanted.unwrap_or(if self.is_terminal { Format::Table } else { Format::Jsonl })
    }

    /// The format of an answer that is one thing.
    pub(crate) fn single_format(&self) -> Format {
        self.wanted.unwrap_or(if self.is_terminal { Format::Table } else { Format::Json })
    }

    /// The format that was asked for in so many words.
    pub(crate) fn wanted_format(&self) -> Option<Format> {
        self.wanted
    }

    /// Prints one thing: as JSON, or as the text that `table` makes of it.
    pub(crate) fn single<T: Serialize>(
        &mut self,
        value: &T,
        table: impl FnOnce(&Paint, u16) -> String,
    ) -> Result<(), Failure> {
        match self.single_format() {
            Format::Table => {
                let text = table(&self.paint, self.width);
                self.line(&text)
            }
            Format::Json => self.json(value),
            Format::Jsonl => self.jsonl(value),
        }
    }

    /// Prints a list: a JSON array, a JSON line each, or the text that `table` makes of it.
    pub(crate) fn list<T: Serialize>(
        &mut self,
        values: &[T],
        table: impl FnOnce(&Paint, u16) -> String,
    ) -> Result<(), Failure> {
        match self.list_format() {
            Format::Table if values.is_empty() => Ok(()),
            Format::Table => {
                let text = table(&self.paint, self.width);
                self.line(&text)
            }
            Format::Json => self.json(&values),
            Format::Jsonl => values.iter().try_for_each(|value| self.jsonl(value)),
        }
    }

    /// Prints one indented JSON document.
    pub(crate) fn json<T: Serialize>(&mut self, value: &T) -> Result<(), Failure> {
        serde_json::to_writer_pretty(&mut self.writer, value).map_err(io::Error::from).map_err(closed)?;
        self.line("")
    }

    /// Prints one JSON document on a line.
    pub(crate) fn jsonl<T: Serialize>(&mut self, value: &T) -> Result<(), Failure> {
        serde_json::to_writer(&mut self.writer, value).map_err(io::Error::from).map_err(closed)?;
        self.line("")
    }

    /// Prints a line as it is.
    pub(crate) fn line(&mut self, text: &str) -> Result<(), Failure> {
        self.writer.write_all(text.as_bytes()).map_err(closed)?;
        self.writer.write_all(b"\n").map_err(closed)
    }

    /// Prints bytes as they are.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.writer.write_all(bytes).map_err(closed)
    }

    /// Hands on what is still buffered.
    pub(crate) fn flush(&mut self) -> Result<(), Failure> {
        self.writer.flush().map_err(closed)
    }
}

impl Drop for Out {
    fn drop(&mut self) {
        // Whatever could not be written was reported by the last explicit flush.
        let _ = self.writer.flush();
    }
}

/// Says something on standard error. Nothing can be done when nobody listens, and it is no reason to stop.
pub(crate) fn tell(text: &str) {
    tell_part(&format!("{text}\n"));
}

/// As [`tell`], without ending the line.
pub(crate) fn tell_part(text: &str) {
    let mut stderr = io::stderr().lock();
    let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
}

fn closed(error: io::Error) -> Failure {
    if error.kind() == io::ErrorKind::BrokenPipe { Failure::ReaderGone } else { Failure::Output(error) }
}

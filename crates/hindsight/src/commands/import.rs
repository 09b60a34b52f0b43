//! `import`: the lines of a file, in calls of many memories, on past whatever is wrong.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use hindsight_client::{BatchOptions, Outcome, WriteEntry};
use hindsight_core::{Kind, Violation};

use crate::connection::Connection;
use crate::failure::Failure;
use crate::import::chunks::{Chunk, Chunks, Item};
use crate::import::entry::{self, Defaults};
use crate::import::form::{Form, Rows};
use crate::import::lines::{LINE_BYTES_MAX, Line, Lines};
use crate::import::mapping::Mapping;
use crate::import::report::Report;
use crate::output::{Format, Out, tell};
use crate::progress::Progress;

/// Bytes read at once.
const READ_BYTES: usize = 256 * 1024;

/// What to import.
#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// A JSONL file, or - for standard input. A line is a memory as `export` writes it, a memory as `write --json`
    /// takes it (with a "namespace" if you like), or {"text", "timestamp", "speaker", …}; a file may also be a JSON array
    file: PathBuf,
    /// Who wrote it: auto, jsonl, mcp-memory (the reference MCP memory server), mem0
    #[arg(long, value_enum, value_name = "FORM", default_value = "auto", hide_possible_values = true)]
    from: Form,
    /// Which key of a line holds what, such as content=body,occurred_at=meta.date,tags=labels; other keys become metadata
    #[arg(long, value_name = "FIELD=KEY,…")]
    map: Option<Mapping>,
    /// Check every line, and store nothing; no server is asked
    #[arg(long)]
    dry_run: bool,
    /// What generic lines are that do not say it
    #[arg(long, value_name = "KIND", default_value = "fact")]
    kind: Kind,
    /// Store also what was forgotten or purged before
    #[arg(long)]
    allow_forgotten: bool,
    /// Write every refused line to this file, as JSONL
    #[arg(long, value_name = "FILE")]
    errors: Option<PathBuf>,
}

/// An import under way.
struct Import<'a> {
    connection: &'a Connection,
    allow_forgotten: bool,
    dry_run: bool,
    report: Report,
    progress: Progress,
}

/// Imports the file. Ends with exit code 7 when a line was refused.
pub(crate) async fn run(connection: &Connection, args: ImportArgs, out: &mut Out) -> Result<(), Failure> {
    let started = Instant::now();
    let (reader, size) = open(&args.file)?;
    let unreadable = |source| Failure::Read { name: args.file.display().to_string(), source };
    let Rows { reader, size } = args.from.rows(reader, size).map_err(unreadable)?;
    let errors = args.errors.as_deref().map(create).transpose()?;
    let name = args.file.display().to_string();
    let namespace = connection.namespace().ok().cloned();
    let defaults = Defaults { namespace, kind: args.kind, form: args.from, mapping: args.map };
    let mut report = Report::new(name, errors);
    report.counts.dry_run = args.dry_run;
    let (allow_forgotten, dry_run) = (args.allow_forgotten, args.dry_run);
    let progress = Progress::bytes(size);
    let mut import = Import { connection, allow_forgotten, dry_run, report, progress };
    let outcome = import.all(Lines::new(reader), &defaults).await;
    import.progress.finish();
    import.report.finish()?;
    import.report.counts.seconds = started.elapsed().as_secs_f64();
    tell(&import.report.summary());
    if matches!(out.wanted_format(), Some(Format::Json | Format::Jsonl)) {
        out.single(&import.report.counts, |_, _| String::new())?;
    }
    if outcome.is_err() {
        tell("the import stopped; run it again: what is stored already is not stored twice");
    }
    outcome?;
    match import.report.counts.failed {
        0 => Ok(()),
        lines => Err(Failure::LinesRefused { lines }),
    }
}

fn open(file: &Path) -> Result<(Box<dyn BufRead>, Option<u64>), Failure> {
    if file == Path::new("-") {
        return Ok((Box::new(BufReader::with_capacity(READ_BYTES, io::stdin())), None));
    }
    let failed = |source| Failure::Read { name: file.display().to_string(), source };
    let opened = File::open(file).map_err(failed)?;
    let about = opened.metadata().map_err(failed)?;
    if about.is_dir() {
        return Err(failed(io::ErrorKind::IsADirectory.into()));
    }
    let size = about.is_file().then_some(about.len());
    Ok((Box::new(BufReader::with_capacity(READ_BYTES, opened)), size))
}

fn create(path: &Path) -> Result<Box<dyn Write>, Failure> {
    match File::create(path) {
        Ok(file) => Ok(Box::new(BufWriter::new(file))),
        Err(source) => Err(Failure::Create { path: path.to_owned(), source }),
    }
}

impl Import<'_> {
    async fn all<R: BufRead>(&mut self, mut lines: Lines<R>, defaults: &Defaults) -> Result<(), Failure> {
        let mut chunks = Chunks::default();
        loop {
            let (parsed, bytes) = match lines.next_line().map_err(|source| self.unreadable(source))? {
                None => break,
                Some(Line::Text(text)) if text.trim_ascii().is_empty() => continue,
                Some(Line::Text(text)) => {
                    (entry::parse(text, defaults).map_err(|e| e.violations), text.len())
                }
                Some(Line::TooLong(bytes)) => (Err(vec![too_long(bytes)]), 0),
            };
            let number = lines.number();
            self.report.counts.lines += 1;
            self.progress.set(lines.bytes_read(), self.report.counts.stored, self.report.counts.failed);
            match parsed {
                Ok(entries) => {
                    for entry in entries {
                        if let Some(chunk) = chunks.push(number, bytes, entry) {
                            self.send(chunk).await?;
                        }
                    }
                }
                Err(violations) => self.refuse(number, &violations)?,
            }
        }
        while let Some(chunk) = chunks.take_any() {
            self.send(chunk).await?;
        }
        Ok(())
    }

    fn unreadable(&self, source: io::Error) -> Failure {
        Failure::Read { name: self.report.file().to_owned(), source }
    }

    fn refuse(&mut self, line: u64, violations: &[Violation]) -> Result<(), Failure> {
        for complaint in self.report.refused(line, violations)? {
            self.progress.say(&complaint);
        }
        Ok(())
    }

    /// Sends a chunk. One that is refused as a whole is halved, until the lines at fault are alone.
    async fn send(&mut self, chunk: Chunk) -> Result<(), Failure> {
        if self.dry_run {
            return self.look_at(chunk);
        }
        let mut waiting = vec![chunk];
        while let Some(chunk) = waiting.pop() {
            match self.send_whole(&chunk).await {
                Ok(()) => {}
                Err(failure) => match (failure.violations(), chunk.halves()) {
                    (Some(_), Ok(halves)) => waiting.extend(halves),
                    (Some(violations), Err(single)) => {
                        let violations = without_place(violations);
                        for item in &single.items {
                            self.refuse(item.line, &violations)?;
                        }
                    }
                    (None, _) => return Err(failure),
                },
            }
        }
        Ok(())
    }

    /// Checks memories as the server would, by themselves: what is there already is not looked up.
    fn look_at(&mut self, chunk: Chunk) -> Result<(), Failure> {
        let mut stored = 0;
        for Item { line, draft, .. } in chunk.items {
            match draft.check() {
                Ok(_) => stored += 1,
                Err(invalid) => self.refuse(line, &invalid.violations)?,
            }
        }
        self.report.stored(&chunk.namespace, stored);
        Ok(())
    }

    async fn send_whole(&mut self, chunk: &Chunk) -> Result<(), Failure> {
        let request_id = chunk.request_id().map_err(io::Error::from)?;
        let entry = |item: &Item| WriteEntry { draft: item.draft.clone(), vectors: item.vectors.clone() };
        let entries = chunk.items.iter().map(entry).collect();
        let allow_forgotten = self.allow_forgotten;
        // Who insists after all asks for something else.
        let request_id = if allow_forgotten { format!("{request_id}-all") } else { request_id };
        let request_id = Some(request_id);
        let options = BatchOptions { allow_forgotten, request_id, ..BatchOptions::default() };
        let memories = self.connection.memories_of(&chunk.namespace)?;
        let answer = memories.batch_write(entries, options).await?;
        let mut stored = 0;
        for ((item, result), outcome) in chunk.items.iter().zip(answer.results).zip(answer.outcomes) {
            match result {
                Ok(_) if answer.replayed => self.report.counts.already_there += 1,
                Ok(_) if matches!(outcome, Outcome::Reinforced | Outcome::Echoed) => {
                    self.report.counts.reinforced += 1
                }
                Ok(_) => stored += 1,
                Err(error) if error.reason == "MEMORY_EXISTS" => self.report.counts.already_there += 1,
                Err(error) if error.violations.is_empty() => {
                    let violation = Violation { field: "line".to_owned(), description: error.message };
                    self.refuse(item.line, &[violation])?;
                }
                Err(error) => self.refuse(item.line, &error.violations)?,
            }
        }
        self.report.stored(&chunk.namespace, stored);
        Ok(())
    }
}

fn too_long(bytes: u64) -> Violation {
    Violation {
        field: "line".to_owned(),
        description: format!("has {bytes} bytes: at most {LINE_BYTES_MAX}"),
    }
}

/// The fields of a call's only item, named as they stand in its line.
fn without_place(mut violations: Vec<Violation>) -> Vec<Violation> {
    for violation in &mut violations {
        if let Some(field) = violation.field.strip_prefix("items[0].") {
            violation.field = field.to_owned();
        }
    }
    violations
}

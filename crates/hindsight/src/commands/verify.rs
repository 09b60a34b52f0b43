//! `verify`: reads everything in a data directory and checks all of it.

use std::path::PathBuf;

use clap::Args;
use hindsight_storage::RealIo;
use hindsight_storage::verify::{FileReport, FileState, VerifyReport, verify};
use serde::Serialize;

use crate::failure::Failure;
use crate::output::{Format, Out};
use crate::screen::{Paint, counted, flat, grouped};

/// Which directory.
#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// The data directory; no server may have it open
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
}

#[derive(Debug, Serialize)]
struct Whole<'a> {
    files: &'a [FileReport],
    summary: VerifyReport,
}

#[derive(Debug, Serialize)]
struct Last {
    summary: VerifyReport,
}

/// Prints a line for each file as it is done, then what there is in all. Exit code 8 when anything is wrong.
pub(crate) fn run(args: &VerifyArgs, out: &mut Out) -> Result<(), Failure> {
    let format = out.list_format();
    let (mut files, mut printed) = (Vec::new(), Ok(()));
    let summary = verify(&RealIo, &args.data, &mut |file| {
        if printed.is_ok() {
            printed = match format {
                Format::Table => {
                    let line = line(file, out.paint);
                    out.line(&line)
                }
                Format::Jsonl => out.jsonl(file),
                Format::Json => {
                    files.push(file.clone());
                    Ok(())
                }
            };
        }
    })?;
    printed?;
    match format {
        Format::Table => out.line(&in_all(&summary))?,
        Format::Jsonl => out.jsonl(&Last { summary })?,
        Format::Json => out.json(&Whole { files: &files, summary })?,
    }
    out.flush()?;
    if summary.is_sound() { Ok(()) } else { Err(Failure::Unsound { files: summary.wrong }) }
}

fn line(file: &FileReport, paint: Paint) -> String {
    let FileReport { path, state, bytes, note } = file;
    let state = match state {
        FileState::Ok => paint.green("ok      "),
        FileState::Torn => paint.cyan("torn    "),
        FileState::Leftover => paint.dim("leftover"),
        FileState::Unknown => paint.dim("unknown "),
        FileState::Wrong => paint.red("WRONG   "),
    };
    format!("{state}  {}  {} bytes  {}", flat(&path.to_string_lossy()), grouped(*bytes), flat(note))
}

fn in_all(summary: &VerifyReport) -> String {
    let VerifyReport { ok, torn, leftover, unknown, wrong, bytes, namespaces, memories, .. } = summary;
    let mut text = format!(
        "{} sound, {} bytes; {} in {} up to lsn {}, the log goes up to lsn {}",
        counted(*ok, "file", "files"),
        grouped(*bytes),
        counted(*memories, "memory", "memories"),
        counted(*namespaces, "namespace", "namespaces"),
        grouped(summary.checkpoint_lsn),
        grouped(summary.last_lsn),
    );
    for (count, what) in [(torn, "torn"), (leftover, "left over"), (unknown, "unknown"), (wrong, "WRONG")] {
        if *count > 0 {
            text.push_str(&format!("; {} {what}", grouped(*count)));
        }
    }
    text
}

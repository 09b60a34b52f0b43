//! `inspect`: what stands in one file of a database, or in a backup.

use std::ops::ControlFlow;
use std::path::PathBuf;

use clap::Args;
use hindsight_storage::RealIo;
use hindsight_storage::inspect::{InspectLine, inspect};

use crate::failure::Failure;
use crate::output::{Format, Out};
use crate::screen::{Paint, flat};

/// Ids of one line, for people.
const IDS_SHOWN: usize = 3;

/// Which file, and how much of it.
#[derive(Debug, Args)]
pub(crate) struct InspectArgs {
    /// A log segment, record file, manifest or backup; it is only read
    file: PathBuf,
    /// Show what memories say, too
    #[arg(long)]
    content: bool,
}

/// Prints a line for each entry. Damage is a line, and no reason to end.
pub(crate) fn run(args: &InspectArgs, out: &mut Out) -> Result<(), Failure> {
    let format = out.list_format();
    let (mut lines, mut printed) = (Vec::new(), Ok(()));
    inspect(&RealIo, &args.file, args.content, &mut |line| {
        printed = match format {
            Format::Table => {
                let text = text(&line, out.paint);
                out.line(&text)
            }
            Format::Jsonl => out.jsonl(&line),
            Format::Json => {
                lines.push(line);
                Ok(())
            }
        };
        if printed.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    printed?;
    if format == Format::Json { out.json(&lines) } else { Ok(()) }
}

fn text(line: &InspectLine, paint: Paint) -> String {
    let InspectLine { offset, kind, bytes, lsn, is_sound, namespace, ids, note, content } = line;
    let crc = if *is_sound { paint.green("ok ") } else { paint.red("BAD") };
    let mut text = format!("{offset:>12}  {kind:<14}  {bytes:>9}  {crc}");
    if let Some(lsn) = lsn {
        text.push_str(&format!("  lsn {lsn}"));
    }
    if let Some(namespace) = namespace {
        text.push_str(&format!("  {}", flat(namespace)));
    }
    for id in ids.iter().take(IDS_SHOWN) {
        text.push_str(&format!("  {}", flat(id)));
    }
    if ids.len() > IDS_SHOWN {
        text.push_str(&format!("  and {} more", ids.len() - IDS_SHOWN));
    }
    if !note.is_empty() {
        text.push_str(&format!("  {}", flat(note)));
    }
    if let Some(content) = content {
        text.push_str(&format!("\n{}{}", " ".repeat(14), flat(&content.to_string())));
    }
    text
}

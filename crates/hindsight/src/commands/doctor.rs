//! `doctor`: looks at everything between a caller and the memories, and says what mends what is wrong.

use clap::Args;
use comfy_table::{Cell, Color};

use crate::clock;
use crate::doctor::finding::{Finding, Grade};
use crate::doctor::{directory, machine, ports};
use crate::failure::Failure;
use crate::flags::server::ServerFlags;
use crate::output::Out;
use crate::profile::Globals;
use crate::screen::{flat, text_of};

/// What is looked at.
#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    server: ServerFlags,
    /// Look at this machine and the data directory only, not at a server that runs
    #[arg(long, conflicts_with = "online")]
    offline: bool,
    /// Look at the way to the server only, not at this machine's data directory
    #[arg(long)]
    online: bool,
}

/// Looks at all of it. Exit code 8 when something is wrong.
pub(crate) async fn run(args: DoctorArgs, globals: Globals, out: &mut Out) -> Result<(), Failure> {
    let mut found = Vec::new();
    let config = match args.server.load() {
        Ok(config) => {
            found.push(Finding::ok("configuration", "can be read"));
            Some(config)
        }
        Err(error) => {
            let fix =
                "correct that place; `hindsight config show --effective` says where each value comes from";
            found.push(Finding::wrong("configuration", error.to_string(), fix));
            None
        }
    };
    if let (Some(config), false) = (&config, args.online) {
        found.extend(directory::look(config));
        found.push(machine::open_files(config));
        found.push(machine::clock(clock::now().as_ms(), directory::newest_ms(&config.data)));
    }
    if !args.offline {
        found.extend(ports::grpc(&globals).await);
        if let Some(config) = &config {
            found.extend(ports::http(config, &globals).await);
        }
    }
    print(&found, out)?;
    match found.iter().filter(|finding| finding.grade == Grade::Wrong).count() {
        0 => Ok(()),
        wrong => Err(Failure::Unwell { wrong: u64::try_from(wrong).unwrap_or(u64::MAX) }),
    }
}

fn print(found: &[Finding], out: &mut Out) -> Result<(), Failure> {
    out.list(found, |paint, width| {
        let mut table = paint.table(width, &[]);
        for Finding { check, grade, detail, fix } in found {
            let (word, colour) = match grade {
                Grade::Ok => ("ok", Color::Green),
                Grade::Warning => ("warning", Color::Yellow),
                Grade::Wrong => ("WRONG", Color::Red),
                Grade::Skipped => ("skipped", Color::DarkGrey),
            };
            let detail = match fix {
                Some(fix) => format!("{}\nfix: {}", flat(detail), flat(fix)),
                None => flat(detail),
            };
            table.add_row(vec![Cell::new(word).fg(colour), Cell::new(check), Cell::new(detail)]);
        }
        text_of(&mut table)
    })?;
    out.flush()
}

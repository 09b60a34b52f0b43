//! `config show` and `config check`: what a server and this program would go by, and where each value comes from.

use clap::{Args, Subcommand};
use comfy_table::{Cell, Color};
use hindsight_server::Config;
use serde::Serialize;

use crate::failure::Failure;
use crate::flags::server::ServerFlags;
use crate::output::{Out, tell};
use crate::profile::{Globals, Told};
use crate::screen::text_of;

/// What to do with the configuration.
#[derive(Debug, Args)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    pub(crate) action: ConfigAction,
}

/// What there is to do.
#[derive(Debug, Subcommand)]
pub(crate) enum ConfigAction {
    /// Print what somebody set, for the server and for this program, and where it was set
    Show(ShowArgs),
    /// Say whether a server would start with this configuration; exit code 78 when not
    Check(ServerFlags),
}

/// What is shown.
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// Print every value, defaults among them
    #[arg(long)]
    effective: bool,
    #[command(flatten)]
    server: ServerFlags,
}

#[derive(Debug, Serialize)]
struct Line {
    /// `server` for what `serve` goes by, `client` for every other command.
    part: &'static str,
    key: String,
    value: serde_json::Value,
    origin: String,
}

/// Shows or checks.
pub(crate) fn run(args: &ConfigArgs, globals: &Globals, out: &mut Out) -> Result<(), Failure> {
    match &args.action {
        ConfigAction::Show(args) => show(args, globals, out),
        ConfigAction::Check(flags) => {
            let config = flags.load()?;
            tell(&format!("a server would start: gRPC on {}, HTTP on {}", config.listen, config.http));
            Ok(())
        }
    }
}

fn show(args: &ShowArgs, globals: &Globals, out: &mut Out) -> Result<(), Failure> {
    let mut lines = Vec::new();
    for setting in Config::effective(args.server.config.as_deref(), &args.server.overrides())? {
        if args.effective || setting.is_set() {
            let value = serde_json::to_value(&setting.value).unwrap_or_default();
            lines.push(Line { part: "server", key: setting.key, value, origin: setting.origin.to_string() });
        }
    }
    for Told { key, value, origin, is_set } in &globals.origins {
        if args.effective || *is_set {
            let (value, origin) = (value.clone().into(), origin.clone());
            lines.push(Line { part: "client", key: (*key).to_owned(), value, origin });
        }
    }
    if lines.is_empty() {
        tell("nothing is set: every value is its default, which --effective shows");
    }
    out.list(&lines, |paint, width| {
        let mut table = paint.table(width, &["part", "key", "value", "from"]);
        for Line { part, key, value, origin } in &lines {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let origin = Cell::new(origin).fg(Color::DarkGrey);
            table.add_row(vec![Cell::new(part), Cell::new(key), Cell::new(value), origin]);
        }
        text_of(&mut table)
    })
}

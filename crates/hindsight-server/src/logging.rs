//! Where log lines go: standard error, as text for a person and as JSON for a program.
//!
//! No line holds the content of a memory or of a query.

use std::io::IsTerminal;

use tracing_subscriber::{EnvFilter, fmt};

use crate::config::{Log, LogFormat};

/// Starts logging for the whole process. A second call changes nothing, so tests may start many servers. A level that
/// can't be read is refused by [`Config::load`](crate::Config::load); here it counts as `info`.
pub fn start(log: &Log) {
    let filter = EnvFilter::try_new(&log.level).unwrap_or_else(|_| EnvFilter::new("info"));
    // Below warnings this library logs whole messages, and with them what memories say.
    let filter = match "rmcp=warn".parse() {
        Ok(quiet) => filter.add_directive(quiet),
        Err(_) => filter,
    };
    let terminal = std::io::stderr().is_terminal();
    let json = match log.format {
        LogFormat::Auto => !terminal,
        LogFormat::Text => false,
        LogFormat::Json => true,
    };
    let colour = terminal && std::env::var_os("NO_COLOR").is_none_or(|set| set.is_empty());
    let builder = fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(colour);
    // Fails only when the process logs already.
    let _ = if json { builder.json().flatten_event(true).try_init() } else { builder.try_init() };
}

//! A progress bar on standard error, on a terminal only.

use std::io::IsTerminal as _;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::output::tell;
use crate::screen::grouped;

/// How often it is drawn at most, in times a second.
const DRAWS_PER_SECOND: u8 = 10;

/// A bar, or nothing where nobody would see it.
pub(crate) struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// A bar over the bytes of a file, with rate and time left; over an unknown length, what was done so far.
    pub(crate) fn bytes(total: Option<u64>) -> Progress {
        Progress::new(
            total,
            "{wide_bar} {percent}% {binary_bytes}/{binary_total_bytes} {binary_bytes_per_sec} eta {eta} {msg}",
            "{spinner} {binary_bytes} {binary_bytes_per_sec} {elapsed} {msg}",
        )
    }

    /// A bar over a number of things.
    pub(crate) fn items(total: Option<u64>) -> Progress {
        Progress::new(
            total,
            "{wide_bar} {pos}/{len} {per_sec} eta {eta} {msg}",
            "{spinner} {pos} {elapsed} {msg}",
        )
    }

    fn new(total: Option<u64>, known: &str, unknown: &str) -> Progress {
        let target = if std::io::stderr().is_terminal() {
            ProgressDrawTarget::stderr_with_hz(DRAWS_PER_SECOND)
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(total, target);
        if let Ok(style) = ProgressStyle::with_template(if total.is_some() { known } else { unknown }) {
            bar.set_style(style);
        }
        if !bar.is_hidden() {
            bar.enable_steady_tick(Duration::from_millis(200));
        }
        Progress { bar }
    }

    /// Shows how far the file is read, and what became of its lines.
    pub(crate) fn set(&self, position: u64, stored: u64, failed: u64) {
        self.bar.set_position(position);
        if !self.bar.is_hidden() {
            let refused = if failed == 0 { String::new() } else { format!(", {} refused", grouped(failed)) };
            self.bar.set_message(format!("{} stored{refused}", grouped(stored)));
        }
    }

    /// Shows how many are done.
    pub(crate) fn set_items(&self, position: u64) {
        self.bar.set_position(position);
    }

    /// Prints a line above the bar.
    pub(crate) fn say(&self, line: &str) {
        self.bar.suspend(|| tell(line));
    }

    /// Takes the bar away.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

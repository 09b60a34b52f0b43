//! What a process takes of the machine, as `/proc` tells it.

use anyhow::Context as _;
use serde::{Deserialize, Serialize};

/// Linux counts the work of processes in hundredths of a second.
const TICKS_A_SECOND: f64 = 100.0;

/// What a process took so far.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Taken {
    /// Memory that it has now, in bytes.
    pub(super) rss_bytes: u64,
    /// The most that it had.
    pub(super) peak_bytes: u64,
    /// Time of processors, in seconds.
    pub(super) cpu_seconds: f64,
}

impl Taken {
    pub(super) fn of(pid: i32) -> anyhow::Result<Taken> {
        let read = |file: &str| {
            let path = format!("/proc/{pid}/{file}");
            std::fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))
        };
        Taken::parse(&read("status")?, &read("stat")?).context("what /proc says of a process")
    }

    fn parse(status: &str, stat: &str) -> Option<Taken> {
        let bytes = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? << 10)
        };
        // The second field is a name in brackets, which may hold anything; user and system time are 14 and 15.
        let mut fields = stat.rsplit_once(") ")?.1.split(' ').skip(11);
        let mut ticks = || fields.next()?.parse::<u32>().ok();
        let cpu_seconds = (f64::from(ticks()?) + f64::from(ticks()?)) / TICKS_A_SECOND;
        Some(Taken { rss_bytes: bytes("VmRSS:")?, peak_bytes: bytes("VmHWM:")?, cpu_seconds })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_proc_says_is_read() {
        let status = "Name:\thindsight\nVmHWM:\t    2048 kB\nVmRSS:\t    1024 kB\n";
        let stat = "7 (a) b) S 1 7 7 0 -1 4194560 100 0 0 0 150 25 0 0 20 0 1 0 100 1 1";
        let taken = Taken { rss_bytes: 1 << 20, peak_bytes: 2 << 20, cpu_seconds: 1.75 };
        assert_eq!(Taken::parse(status, stat), Some(taken));
        assert_eq!(Taken::parse("", stat), None);
    }

    #[test]
    fn of_this_process_too() {
        let taken = Taken::of(i32::try_from(std::process::id()).unwrap()).unwrap();
        assert!(taken.peak_bytes >= taken.rss_bytes && taken.rss_bytes > 1 << 20, "{taken:?}");
    }
}

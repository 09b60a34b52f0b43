//! This machine: how many files may be open, and what its clock says.

use hindsight_server::Config;

use super::finding::Finding;

/// Files that a server opens beside its connections: the log, record files, the directory, the ports.
const OTHER_FILES: u64 = 256;
/// 2025-01-01: no clock of a machine that runs this program is before it.
const CLOCK_LEAST_MS: i64 = 1_735_689_600_000;

/// Whether as many connections as are configured can be open.
pub(crate) fn open_files(config: &Config) -> Finding {
    const CHECK: &str = "open files";
    let Some(most) = limit("Max open files") else {
        return Finding::skipped(CHECK, "this system does not say how many files a process may open");
    };
    let wanted = u64::try_from(config.limits.connections).unwrap_or(u64::MAX).saturating_add(OTHER_FILES);
    if most >= wanted {
        return Finding::ok(CHECK, format!("{most} may be open, {wanted} are enough"));
    }
    Finding::warning(
        CHECK,
        format!(
            "{most} may be open; with limits.connections = {} it may want {wanted}",
            config.limits.connections
        ),
        format!(
            "`ulimit -n {wanted}` before `hindsight serve` (systemd: LimitNOFILE={wanted}), or a smaller limits.connections"
        ),
    )
}

/// A soft limit of this process, as Linux tells it.
fn limit(name: &str) -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/limits").ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    match line[name.len()..].split_whitespace().next()? {
        "unlimited" => Some(u64::MAX),
        number => number.parse().ok(),
    }
}

/// Whether the clock can be right: it is not before this program was made, and not before what is on disk.
pub(crate) fn clock(now_ms: i64, newest_file_ms: Option<i64>) -> Finding {
    const CHECK: &str = "clock";
    const FIX: &str = "set the clock, and let it be kept: `timedatectl set-ntp true`";
    let now = hindsight_core::Timestamp::from_ms(now_ms);
    if now_ms < CLOCK_LEAST_MS {
        return Finding::wrong(CHECK, format!("says {now}, which is long past"), FIX);
    }
    match newest_file_ms {
        // A second for file systems that round.
        Some(newest) if newest > now_ms + 1_000 => {
            let newest = hindsight_core::Timestamp::from_ms(newest);
            Finding::wrong(
                CHECK,
                format!("says {now}; the newest file of the data directory is of {newest}"),
                FIX,
            )
        }
        _ => Finding::ok(CHECK, format!("says {now}")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::Grade;
    use super::*;

    #[test]
    fn a_clock_that_runs_behind_is_found() {
        let now = 1_800_000_000_000;
        assert_eq!(clock(now, Some(now - 5)).grade, Grade::Ok);
        assert_eq!(clock(now, Some(now + 60_000)).grade, Grade::Wrong);
        assert_eq!(clock(0, None).grade, Grade::Wrong);
    }

    #[test]
    fn too_few_files_are_a_warning_with_the_command_that_mends_it() {
        let mut config = Config::default();
        config.limits.connections = usize::MAX;
        let finding = open_files(&config);
        let fix = finding.fix.unwrap_or_default();
        assert!(
            finding.grade == Grade::Skipped
                || limit("Max open files") == Some(u64::MAX)
                || fix.contains("ulimit -n")
        );
    }
}

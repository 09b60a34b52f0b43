//! Processor time, from what Linux tells of a process.

use std::time::Duration;

use anyhow::Context as _;

/// Clock ticks a second in `/proc`: the kernel's `USER_HZ`, 100 on every machine that Linux supports today.
const TICKS: f64 = 100.0;

/// The processor time of this process up to now, of all its threads, also of those that have ended; to 10 ms.
///
/// # Errors
/// When `/proc` is not there.
pub(crate) fn of_process() -> anyhow::Result<Duration> {
    let stat = std::fs::read_to_string("/proc/self/stat").context("/proc/self/stat")?;
    parse(&stat).context("/proc/self/stat has another form")
}

/// The 14th and 15th field are the ticks in user and kernel mode; the second, in parentheses, may hold anything.
fn parse(stat: &str) -> Option<Duration> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_whitespace().skip(11);
    let user: f64 = fields.next()?.parse().ok()?;
    let system: f64 = fields.next()?.parse().ok()?;
    Some(Duration::from_secs_f64((user + system) / TICKS))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    #[test]
    fn a_line_of_proc() {
        let stat = "7 (a) b) R 1 2 3 4 5 6 7 8 9 10 250 50 0 0 20 0 1 0 100";
        assert_eq!(super::parse(stat), Some(Duration::from_secs(3)));
        assert_eq!(super::parse("7 (a)"), None);
    }
}

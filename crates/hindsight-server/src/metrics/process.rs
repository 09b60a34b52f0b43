//! The process, under the names that every Prometheus library has for it. Read from `/proc`; where that is not there, these
//! metrics are absent.

use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::{counter::ConstCounter, gauge::ConstGauge};

/// Ticks of the kernel's processor times in a second: fixed for programs (`USER_HZ`).
const TICKS: f64 = 100.0;

#[derive(Debug)]
pub(super) struct Process;

/// What `/proc/self` says.
struct Seen {
    cpu_seconds: f64,
    resident_bytes: i64,
    threads: i64,
    open_files: i64,
    files_max: Option<i64>,
}

impl Collector for Process {
    fn encode(&self, mut encoder: DescriptorEncoder) -> Result<(), fmt::Error> {
        let Some(seen) = Seen::now() else { return Ok(()) };
        let cpu = ConstCounter::new(seen.cpu_seconds);
        let help = "Processor time used, in user and kernel";
        cpu.encode(encoder.encode_descriptor("process_cpu_seconds", help, None, cpu.metric_type())?)?;
        let gauges = [
            ("process_resident_memory_bytes", "Memory in use", Some(seen.resident_bytes)),
            ("process_threads", "Threads", Some(seen.threads)),
            ("process_open_fds", "Open files and connections", Some(seen.open_files)),
            ("process_max_fds", "How many may be open", seen.files_max),
        ];
        for (name, help, value) in gauges {
            let Some(value) = value else { continue };
            let gauge = ConstGauge::new(value);
            gauge.encode(encoder.encode_descriptor(name, help, None, gauge.metric_type())?)?;
        }
        Ok(())
    }
}

impl Seen {
    fn now() -> Option<Seen> {
        let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
        // The name of the process stands in brackets and may hold anything; the third field follows it (proc(5)).
        let fields: Vec<&str> = stat.rsplit_once(") ")?.1.split(' ').collect();
        let ticks: f64 = fields.get(11)?.parse::<f64>().ok()? + fields.get(12)?.parse::<f64>().ok()?;
        let status = std::fs::read_to_string("/proc/self/status").ok()?;
        let line = |name: &str| status.lines().find_map(|line| line.strip_prefix(name));
        let number = |text: &str| text.split_whitespace().next()?.parse::<i64>().ok();
        Some(Seen {
            cpu_seconds: ticks / TICKS,
            // "kB" stands behind the number and means 1,024 bytes.
            resident_bytes: number(line("VmRSS:")?)?.saturating_mul(1024),
            threads: number(line("Threads:")?)?,
            open_files: i64::try_from(std::fs::read_dir("/proc/self/fd").ok()?.count()).ok()?,
            files_max: crate::net::open_files_max().and_then(|most| i64::try_from(most).ok()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn i7_the_process_sees_itself() {
        let seen = Seen::now().unwrap();
        assert!(seen.resident_bytes > 1 << 20 && seen.threads >= 1 && seen.open_files >= 3);
        assert!(seen.cpu_seconds >= 0.0);
    }
}

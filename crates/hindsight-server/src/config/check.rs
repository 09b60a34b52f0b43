//! Ranges.

use tracing_subscriber::EnvFilter;

use super::layers::Origins;
use super::{Config, ConfigError, Origin};

/// A day in milliseconds: longer than any wait makes sense.
const DAY_MS: u64 = 86_400_000;

pub(super) fn check(config: &Config, origins: &Origins) -> Result<(), ConfigError> {
    let origin = |key: &str| origins.get(key).cloned().unwrap_or(Origin::Default);
    for (key, value, least, most) in ranges(config) {
        if !(least..=most).contains(&value) {
            return Err(ConfigError::OutOfRange { origin: origin(key), key, value, least, most });
        }
    }
    if let Some((key, problem)) = config.jobs.problem() {
        return Err(ConfigError::BadValue { origin: origin(key), key: key.to_owned(), problem });
    }
    let level = &config.log.level;
    EnvFilter::try_new(level).map(|_| ()).map_err(|error| ConfigError::BadValue {
        origin: origin("log.level"),
        key: "log.level".to_owned(),
        problem: format!("{level:?}: {error}; expected one such as info, or info,hindsight_server=debug"),
    })
}

fn ranges(config: &Config) -> Vec<(&'static str, u64, u64, u64)> {
    let wide = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
    let (limits, timeouts) = (&config.limits, &config.timeouts);
    let mut ranges = vec![
        ("limits.message_bytes", wide(limits.message_bytes), 1 << 10, 64 << 20),
        ("limits.reply_bytes", wide(limits.reply_bytes), 1 << 20, 256 << 20),
        ("limits.connections", wide(limits.connections), 1, 65_536),
        ("limits.connections_per_ip", wide(limits.connections_per_ip), 1, 65_536),
        ("limits.streams_per_connection", u64::from(limits.streams_per_connection), 1, 10_000),
        ("limits.requests_per_connection", wide(limits.requests_per_connection), 1, 10_000),
        ("limits.header_bytes", u64::from(limits.header_bytes), 1 << 10, 1 << 20),
        ("limits.reset_streams", wide(limits.reset_streams), 1, 10_000),
        ("limits.error_streams", wide(limits.error_streams), 1, 100_000),
        ("limits.engine_calls", wide(limits.engine_calls), 0, 256),
        ("limits.engine_queue", wide(limits.engine_queue), 1, 100_000),
        ("limits.engine_queue_of_namespace", wide(limits.engine_queue_of_namespace), 1, 100_000),
        ("limits.reading_bytes", limits.reading_bytes, 1 << 20, 64 << 30),
        ("limits.calls_per_second_of_token", u64::from(limits.calls_per_second_of_token), 0, 1_000_000),
        (
            "limits.calls_per_second_of_namespace",
            u64::from(limits.calls_per_second_of_namespace),
            0,
            1_000_000,
        ),
        ("audit.keep_days", u64::from(config.audit.keep_days), 0, 36_500),
        ("limits.watchers", wide(limits.watchers), 1, 10_000),
        ("likeness.duplicate", config.likeness.duplicate, 0, 100),
        ("likeness.conflict", config.likeness.conflict, 0, 100),
        ("timeouts.request_ms", timeouts.request_ms, 1, DAY_MS),
        ("timeouts.queue_ms", timeouts.queue_ms, 1, DAY_MS),
        ("timeouts.first_frame_ms", timeouts.first_frame_ms, 1, DAY_MS),
        ("timeouts.keepalive_ms", timeouts.keepalive_ms, 1, DAY_MS),
        ("timeouts.keepalive_reply_ms", timeouts.keepalive_reply_ms, 1, DAY_MS),
        ("timeouts.watch_notice_ms", timeouts.watch_notice_ms, 10, DAY_MS),
        ("timeouts.connection_age_ms", timeouts.connection_age_ms, 1, 30 * DAY_MS),
        ("timeouts.connection_grace_ms", timeouts.connection_grace_ms, 1, DAY_MS),
        ("timeouts.drain_ms", timeouts.drain_ms, 0, DAY_MS),
        ("embedding.min_chars", wide(config.embedding.min_chars), 0, 32_000),
    ];
    ranges.extend(config.storage.ranges());
    ranges.extend(config.rules.ranges());
    ranges
}

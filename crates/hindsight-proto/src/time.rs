//! Points and lengths of time. The wire counts nanoseconds, the database milliseconds: the rest is cut off.

use hindsight_core::time::Span;
use hindsight_core::{Invalid, Timestamp};

use crate::text::missing;

const NANOS_PER_MS: i32 = 1_000_000;
/// The longest span that a protobuf duration may have: about 10,000 years.
const SPAN_SECONDS_MAX: i64 = 315_576_000_000;

/// A time for the wire.
#[must_use]
pub fn to_wire(time: Timestamp) -> prost_types::Timestamp {
    let ms = time.as_ms();
    prost_types::Timestamp { seconds: ms.div_euclid(1_000), nanos: nanos(ms.rem_euclid(1_000)) }
}

/// A time from the wire.
///
/// # Errors
/// When its nanoseconds are no fraction of a second, or it lies outside the years 1–9999.
pub fn from_wire(field: &str, time: &prost_types::Timestamp) -> Result<Timestamp, Invalid> {
    let prost_types::Timestamp { seconds, nanos } = *time;
    if !(0..1_000_000_000).contains(&nanos) {
        return Err(Invalid::one(field, format!("has {nanos} nanos: expected 0 to 999999999")));
    }
    let years = Timestamp::MIN.as_ms().div_euclid(1_000)..=Timestamp::MAX.as_ms().div_euclid(1_000);
    if !years.contains(&seconds) {
        return Err(Invalid::one(
            field,
            format!("is {seconds} seconds from 1970: expected a time in the years 1 to 9999"),
        ));
    }
    Ok(Timestamp::from_ms(seconds * 1_000 + i64::from(nanos / NANOS_PER_MS)))
}

/// A time from the wire that may be absent.
///
/// # Errors
/// As [`from_wire`].
pub fn optional(field: &str, time: Option<&prost_types::Timestamp>) -> Result<Option<Timestamp>, Invalid> {
    time.map(|time| from_wire(field, time)).transpose()
}

/// A time from the wire that must be there.
///
/// # Errors
/// When it is absent, and as [`from_wire`].
pub fn required(field: &str, time: Option<&prost_types::Timestamp>) -> Result<Timestamp, Invalid> {
    from_wire(field, time.ok_or_else(|| missing(field))?)
}

/// A length of time for the wire.
#[must_use]
pub fn span_to_wire(span: Span) -> prost_types::Duration {
    let ms = span.as_ms();
    prost_types::Duration { seconds: ms / 1_000, nanos: nanos(ms % 1_000) }
}

/// A length of time from the wire.
///
/// # Errors
/// When it is not at least a millisecond, longer than about 10,000 years, or no duration by protobuf's own rules.
pub fn span_from_wire(field: &str, span: &prost_types::Duration) -> Result<Span, Invalid> {
    let prost_types::Duration { seconds, nanos } = *span;
    let wrong = |what: String| {
        Err(Invalid::one(field, format!("{what}: expected a length of time from 1 ms to 10,000 years")))
    };
    if seconds < 0 || nanos < 0 {
        return wrong("is negative".to_owned());
    }
    if nanos > 999_999_999 {
        return wrong(format!("has {nanos} nanos, which is a second or more"));
    }
    if seconds > SPAN_SECONDS_MAX {
        return wrong(format!("is {seconds} seconds"));
    }
    let ms = seconds * 1_000 + i64::from(nanos / NANOS_PER_MS);
    if ms == 0 { wrong("is 0".to_owned()) } else { Ok(Span::from_ms(ms)) }
}

/// Nanoseconds of a part of a second that is given in milliseconds.
fn nanos(ms: i64) -> i32 {
    i32::try_from(ms).unwrap_or(0) * NANOS_PER_MS
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wire(seconds: i64, nanos: i32) -> prost_types::Timestamp {
        prost_types::Timestamp { seconds, nanos }
    }

    #[test]
    fn the_edges_of_time_come_through() {
        for ms in [Timestamp::MIN.as_ms(), Timestamp::MAX.as_ms(), -1, 0, 1, 1_683_554_160_123] {
            let time = Timestamp::from_ms(ms);
            assert_eq!(from_wire("t", &to_wire(time)), Ok(time));
        }
        assert_eq!(to_wire(Timestamp::from_ms(-1)), wire(-1, 999_000_000));
        assert_eq!(from_wire("t", &wire(1, 1_999_999)), Ok(Timestamp::from_ms(1_001)));
    }

    #[test]
    fn what_is_no_time_is_named() {
        for bad in [wire(0, -1), wire(0, 1_000_000_000), wire(i64::MAX, 0), wire(i64::MIN, 0)] {
            assert_eq!(from_wire("valid_to", &bad).unwrap_err().violations[0].field, "valid_to");
        }
        assert!(from_wire("t", &wire(253_402_300_800, 0)).is_err());
        assert_eq!(required("created_at", None).unwrap_err().to_string(), "created_at: is missing");
    }

    #[test]
    fn a_span_is_positive_and_bounded() {
        let span = |seconds, nanos| span_from_wire("last", &prost_types::Duration { seconds, nanos });
        assert_eq!(span(604_800, 0).unwrap().to_string(), "7d");
        assert_eq!(span(0, 1_000_000).unwrap().as_ms(), 1);
        for (seconds, nanos) in [(0, 0), (0, 999_999), (-1, 0), (0, -1), (1, 1_000_000_000), (i64::MAX, 0)] {
            let invalid = span(seconds, nanos).unwrap_err();
            assert!(invalid.to_string().contains("expected a length of time"), "{invalid}");
        }
    }
}

//! Points in time: milliseconds since 1970-01-01 UTC, written as RFC 3339.

/// Milliseconds in one day.
pub const DAY_MS: i64 = 86_400_000;
/// Milliseconds in one hour.
pub const HOUR_MS: i64 = 3_600_000;

/// A point in time, in milliseconds since the Unix epoch. JSON and text form: RFC 3339 in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Timestamp(i64);

/// A time that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{given:?} is not a time: expected RFC 3339 such as 2026-11-30T09:00:00Z, or a date such as 2026-11-30"
)]
pub struct BadTime {
    /// The text as it was given.
    pub given: String,
}

impl Timestamp {
    /// 0001-01-01, the earliest time the wire format can carry.
    pub const MIN: Timestamp = Timestamp(-62_135_596_800_000);
    /// The last millisecond of the year 9999.
    pub const MAX: Timestamp = Timestamp(253_402_300_799_999);

    /// A time from milliseconds since the Unix epoch; values outside the years 1–9999 are brought to the edge.
    #[must_use]
    pub const fn from_ms(ms: i64) -> Timestamp {
        if ms < Self::MIN.0 {
            Self::MIN
        } else if ms > Self::MAX.0 {
            Self::MAX
        } else {
            Timestamp(ms)
        }
    }

    /// A time from milliseconds since the Unix epoch; `None` outside the years 1–9999.
    #[must_use]
    pub const fn checked_from_ms(ms: i64) -> Option<Timestamp> {
        if ms < Self::MIN.0 || ms > Self::MAX.0 { None } else { Some(Timestamp(ms)) }
    }

    /// Milliseconds since the Unix epoch.
    #[must_use]
    pub const fn as_ms(self) -> i64 {
        self.0
    }

    /// Days from `self` to `later`, with fractions; negative when `later` comes first.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a span of 10,000 years in ms is below 2^53")]
    pub fn days_until(self, later: Timestamp) -> f64 {
        (later.0 - self.0) as f64 / DAY_MS as f64
    }

    /// This time moved by `ms` milliseconds (negative: earlier), kept inside the range.
    #[must_use]
    pub const fn plus_ms(self, ms: i64) -> Timestamp {
        Timestamp::from_ms(self.0.saturating_add(ms))
    }

    /// The calendar library's form of this time.
    #[must_use]
    pub fn to_jiff(self) -> jiff::Timestamp {
        jiff::Timestamp::from_millisecond(self.0).unwrap_or(jiff::Timestamp::UNIX_EPOCH)
    }
}

impl From<jiff::Timestamp> for Timestamp {
    fn from(time: jiff::Timestamp) -> Self {
        Timestamp::from_ms(time.as_millisecond())
    }
}

impl std::fmt::Display for Timestamp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.to_jiff().fmt(f)
    }
}

impl std::str::FromStr for Timestamp {
    type Err = BadTime;

    /// Reads RFC 3339, or a bare date, which means its first moment in UTC.
    fn from_str(text: &str) -> Result<Self, BadTime> {
        let bad = || BadTime { given: text.chars().take(40).collect() };
        let time = match text.parse::<jiff::Timestamp>() {
            Ok(time) => time,
            // A time of day without a zone is no moment; read as a date it would lose the time of day without a word.
            Err(_) if text.contains(':') => return Err(bad()),
            Err(_) => {
                let date: jiff::civil::Date = text.parse().map_err(|_| bad())?;
                date.to_zoned_datetime(jiff::tz::TimeZone::UTC).map_err(|_| bad())?.timestamp()
            }
        };
        let ms = time.as_millisecond();
        if (Self::MIN.0..=Self::MAX.0).contains(&ms) { Ok(Timestamp(ms)) } else { Err(bad()) }
    }
}

crate::words::text_form!(Timestamp);

/// A length of time, as whole milliseconds. Text form: a number and `s`, `m`, `h`, `d` or `w`, such as `7d` or `1.5h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span(i64);

/// A text that is not a length of time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{given:?} is not a length of time: expected a number and a unit (s, m, h, d, w), such as 7d or 12h")]
pub struct BadSpan {
    /// The text as it was given.
    pub given: String,
}

impl Span {
    /// A length of `ms` milliseconds; what is negative counts as none.
    #[must_use]
    pub const fn from_ms(ms: i64) -> Span {
        Span(if ms < 0 { 0 } else { ms })
    }

    /// Its length in milliseconds.
    #[must_use]
    pub const fn as_ms(self) -> i64 {
        self.0
    }

    /// Its length in days, with fractions.
    #[must_use]
    pub fn as_days(self) -> f64 {
        Timestamp(0).days_until(Timestamp(self.0))
    }
}

impl std::fmt::Display for Span {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            ms if ms % DAY_MS == 0 => write!(f, "{}d", ms / DAY_MS),
            ms if ms % HOUR_MS == 0 => write!(f, "{}h", ms / HOUR_MS),
            #[expect(clippy::cast_precision_loss, reason = "spans are bounded by 10,000 years")]
            ms => write!(f, "{}s", ms as f64 / 1000.0),
        }
    }
}

impl std::str::FromStr for Span {
    type Err = BadSpan;

    fn from_str(text: &str) -> Result<Self, BadSpan> {
        let bad = || BadSpan { given: text.chars().take(40).collect() };
        let split = text.find(|c: char| c.is_ascii_alphabetic()).ok_or_else(bad)?;
        let (number, unit) = text.split_at(split);
        let unit_ms = match unit {
            "s" => 1_000,
            "m" | "min" => 60_000,
            "h" => HOUR_MS,
            "d" => DAY_MS,
            "w" => 7 * DAY_MS,
            _ => return Err(bad()),
        };
        let number: f64 = number.trim().parse().map_err(|_| bad())?;
        #[expect(clippy::cast_precision_loss, reason = "units are small")]
        let ms = number * unit_ms as f64;
        if !(1.0..=3.2e14).contains(&ms) {
            return Err(bad());
        }
        #[expect(clippy::cast_possible_truncation, reason = "the range was checked")]
        Ok(Span(ms as i64))
    }
}

crate::words::text_form!(Span);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_back() {
        let time: Timestamp = "2023-05-08T13:56:00Z".parse().unwrap();
        assert_eq!(time.as_ms(), 1_683_554_160_000);
        assert_eq!(time.to_string(), "2023-05-08T13:56:00Z");
        assert_eq!("2023-05-08T21:56:00+08:00".parse::<Timestamp>().unwrap(), time);
        assert_eq!("2023-05-08".parse::<Timestamp>().unwrap().to_string(), "2023-05-08T00:00:00Z");
    }

    #[test]
    fn what_is_not_a_time_says_what_would_be() {
        let error = "yesterday".parse::<Timestamp>().unwrap_err();
        assert!(error.to_string().contains("expected RFC 3339"), "{error}");
        assert!("-000001-01-01T00:00:00Z".parse::<Timestamp>().is_err());
        // A time of day without a zone is no moment, and no date either.
        for text in ["2023-05-08T13:56:00", "2023-05-08 13:56"] {
            assert!(text.parse::<Timestamp>().is_err(), "{text}");
        }
        assert_eq!(Timestamp::checked_from_ms(Timestamp::MAX.0), Some(Timestamp::MAX));
        assert_eq!(Timestamp::checked_from_ms(Timestamp::MAX.0 + 1), None);
        assert_eq!(Timestamp::checked_from_ms(Timestamp::MIN.0 - 1), None);
    }

    #[test]
    fn days_count_fractions_and_direction() {
        let noon: Timestamp = "2026-11-30T12:00:00Z".parse().unwrap();
        assert!((noon.plus_ms(-DAY_MS * 3 / 2).days_until(noon) - 1.5).abs() < 1e-12);
        assert!((noon.days_until(noon.plus_ms(-DAY_MS)) + 1.0).abs() < 1e-12);
    }

    #[test]
    fn spans_are_read_and_written() {
        assert_eq!("7d".parse::<Span>().unwrap().as_ms(), 7 * DAY_MS);
        assert_eq!("1.5h".parse::<Span>().unwrap().as_ms(), 5_400_000);
        assert_eq!("2w".parse::<Span>().unwrap().to_string(), "14d");
        for bad in ["", "7", "d", "-3d", "7 parsecs", "1e300d", "nand"] {
            assert!(bad.parse::<Span>().is_err(), "{bad:?}");
        }
    }
}

//! Chinese: at each character the longest expression that begins there.

mod counted;
mod date;
mod glyph;
mod number;
mod week;
mod word;

use super::Found;
use super::calendar::Calendar;
use super::reading::Reading;
use glyph::Glyphs;

/// The characters of a query, and the calendar they are read by.
struct Chinese<'a> {
    glyphs: Glyphs,
    calendar: &'a Calendar<'a>,
}

/// Behind a time these reach from it to now.
const SINCE: &[&str] = &["以来", "至今", "到现在", "到目前", "到今天"];

/// The same, where a 从 before it must tell that from other words: 从昨天开始.
const SINCE_AFTER_FROM: &[&str] = &["开始", "起"];

/// The times that `text` names, in order.
pub(super) fn find(text: &str, calendar: &Calendar<'_>) -> Vec<Found> {
    if text.is_ascii() {
        return Vec::new();
    }
    let chinese = Chinese { glyphs: Glyphs::of(text), calendar };
    let mut found = Vec::new();
    let mut at = 0;
    while at < chinese.glyphs.len() {
        let Some(span) = chinese.span_at(at) else {
            at += 1;
            continue;
        };
        if let (Some(period), Some((start, end))) = (span.period, chinese.glyphs.bytes(at, span.next)) {
            found.push(Found { start, end, period, named: span.named });
        }
        at = span.next;
    }
    found
}

impl Chinese<'_> {
    /// An expression at `at` with what joins it: 昨天以来, 3月到5月.
    fn span_at(&self, at: usize) -> Option<Reading> {
        let first = self.expression_at(at)?;
        let mut since = self.glyphs.follows_any(first.next, SINCE);
        if since.is_none() && self.glyphs.is_before_any(at, "从自打") {
            since = self.glyphs.follows_any(first.next, SINCE_AFTER_FROM);
        }
        if let Some(next) = since {
            return Some(Reading::new(self.calendar.since(first.period?), next, first.named));
        }
        Some(self.range_from(first).unwrap_or(first))
    }

    /// The longest expression that begins at `at`.
    fn expression_at(&self, at: usize) -> Option<Reading> {
        let readings = [
            self.word_at(at),
            self.ago_at(at),
            self.last_at(at),
            self.unit_at(at),
            self.bare_weekday(at),
            self.date_at(at),
        ];
        readings.into_iter().flatten().max_by_key(|reading| reading.next)
    }

    /// The range that begins with `first`, when the text goes on to a second time.
    fn range_from(&self, first: Reading) -> Option<Reading> {
        let next = self.glyphs.follows_any(first.next, &["到", "至", "~", "～", "-", "—"])?;
        first.to(self.expression_at(next)?, self.calendar)
    }
}

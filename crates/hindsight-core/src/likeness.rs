//! Whether two memories are one, and whether they contradict each other (W6, W7). Pure: two memories and the cosine that
//! brought them together.
//!
//! A vector finds what is near. It can't tell 500 from 600, Anna from Ben, or "likes" from "does not like": for that the
//! words themselves are read, by tables, in English and Chinese.
//!
//! - [`duplicate`]: the same, or different in what. Default is different; only what a table knows to be spelling is overlooked.
//! - [`conflict`]: decided by claims, or nominated by opposite words. Default is none.
//! - [`Gist`]: whether two remedies are one, however they are worded.
//! - [`values`]: what is said, to be known again when it was forgotten.
//! - [`marks`]: what an index is kept by that finds the few memories which a new one is to be compared with.
//!
//! Reading order: [`duplicate()`], `fields`, `claims`, `episode`, `moment`, `text` (what a text says, apart from how it is
//! written), then [`conflict()`], `stance`, `opposites`. [`Difference`] is what the caller is told.

mod claims;
mod conflict;
mod duplicate;
mod episode;
mod fields;
mod gist;
mod marks;
mod moment;
mod opposites;
mod reason;
mod rendered;
mod stance;
mod text;
mod value;

use std::collections::BTreeMap;

use crate::kind::words;

pub use conflict::{Conflict, conflict, gives_another_value};
pub use duplicate::{Duplicate, duplicate};
pub use gist::Gist;
pub use marks::{Marks, held_marks, marks, marks_of_claims};
pub use moment::is_bound_to_its_time;
pub use reason::{Aspect, Difference, SHOWN_CHARS_MAX};
pub use rendered::rendered_ids;
pub use value::{Value, values, values_sought};

/// One form for all texts that differ only in how they are written. Two texts of one wording are nominated without a
/// vector; they may still be two memories. Not meant to be read.
#[must_use]
pub fn wording(text: &str) -> String {
    text::Text::of(text).row()
}

/// The values that a text names: numbers, units, dates, times, versions, codes, in the form in which they are compared.
#[must_use]
pub fn values_named(text: &str) -> Vec<String> {
    use text::token::Sort;
    let is_text = |sort| matches!(sort, Sort::Word | Sort::Han | Sort::Not | Sort::Symbol | Sort::Pause);
    let tokens = text::Text::of(text).tokens.into_iter();
    tokens.filter(|token| !is_text(token.sort)).map(|token| token.key.into_string()).collect()
}

/// From which cosine on two memories are looked at.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Thresholds {
    /// For being one memory.
    pub duplicate: f64,
    /// For saying the opposite; claims need none.
    pub conflict: f64,
}

words! {
    /// What can be set about it for a namespace, in hundredths.
    LikenessKey, "likeness setting" {
        /// For being one memory.
        Duplicate = "duplicate",
        /// For saying the opposite.
        Conflict = "conflict",
    }
}

impl Thresholds {
    /// These with what a namespace has set; 0 sets nothing.
    #[must_use]
    pub fn with(mut self, set: &BTreeMap<LikenessKey, u32>) -> Thresholds {
        for (key, value) in set.iter().filter(|(_, value)| **value > 0) {
            let share = f64::from(*value) / 100.0;
            match key {
                LikenessKey::Duplicate => self.duplicate = share,
                LikenessKey::Conflict => self.conflict = share,
            }
        }
        self
    }

    /// Those of the built-in model, whose cosines lie lower than other models': 0.70 and 0.30.
    pub const BUILT_IN: Thresholds = Thresholds { duplicate: 0.70, conflict: 0.30 };
}

impl Default for Thresholds {
    fn default() -> Thresholds {
        Thresholds { duplicate: 0.92, conflict: 0.85 }
    }
}

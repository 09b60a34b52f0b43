//! Chinese: the characters that may stand or not, those that negate, and numerals.

mod filler;
mod negation;
mod numeral;

pub(super) use filler::drop_fillers;
pub(super) use negation::join_negations;
pub(super) use numeral::join_numerals;

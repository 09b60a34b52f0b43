//! From episodes to rules (L5). Pure: episodes, the rules that are there, and the time go in; what becomes of the rules
//! comes out. No model is asked, and the order in which episodes arrived does not matter.
//!
//! - A **case** is where a lesson may lie: one type of task that goes wrong for one cause, in one scope ([`Case`]).
//! - Its episodes are **weighed**: each remedy that some of them name, and that none is known ([`weigh`]).
//! - A lesson that enough of them agree on becomes a rule, or a newer version of the rule that says so already ([`rulings`]).
//!   There is never a second rule for one lesson.
//!
//! `confidence = k/n · (1 − 1/(2k))` for k agreeing of n episodes: 3 of 3 give 0.83, 5 of 5 give 0.9.
//!
//! Reading order: `tuning`, `case` (what counts as evidence), `weigh` (the formula), `wording` (what a rule says), `ruling`
//! (what becomes of the rules), `life` (what feedback and hands make of a rule), `note` (what a rule remembers of itself).

mod case;
mod life;
mod note;
mod ruling;
mod tuning;
mod weigh;
mod wording;

pub use case::{Case, Keys, is_evidence, is_success_without_cause};
pub use life::{RulePatch, after_feedback, note_state};
pub use note::{RuleEvent, RuleEventKind, events};
pub use ruling::{Ruling, rulings};
pub use tuning::{RuleKey, RuleTuning};
pub use weigh::{Lesson, confidence, weigh};
pub(crate) use wording::has_mostly_han;
pub use wording::{Wording, proposed};

#[cfg(test)]
mod tests;

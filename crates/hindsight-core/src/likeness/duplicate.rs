//! Whether a new memory is one that is known already (W6).

use super::reason::{Aspect, Difference};
use super::text::{Text, difference};
use super::{Thresholds, claims, episode, fields, moment};
use crate::Memory;

/// The answer, with the first difference that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Duplicate {
    /// The new memory says nothing that the old one does not: it confirms it.
    Same,
    /// They are two.
    Different(Difference),
}

/// Whether `new` is the same memory as `old`, which `similarity` (the cosine of their content vectors) nominates.
///
/// The vector only nominates: it can't tell 500 from 600, Anna from Ben, or who likes whom. They are the same if kind,
/// scope, outcome, speaker, validity, claims, entities, steps and the caller's own fields agree, and the texts are the
/// same words once spelling no longer counts, or two wordings of claims that say all of them. In doubt they are two: a
/// memory too much is collapsed at recall, and one that was never stored is lost.
///
/// The answer depends on which is which: a new memory may say less in its fields than the old one, but not more.
#[must_use]
pub fn duplicate(old: &Memory, new: &Memory, similarity: f64, thresholds: Thresholds) -> Duplicate {
    if similarity.is_nan() || similarity < thresholds.duplicate {
        let shown = |value: f64| format!("{value:.3}");
        let far = Difference::new(Aspect::Similarity, shown(thresholds.duplicate), shown(similarity));
        return Duplicate::Different(far);
    }
    first_difference(old, new).map_or(Duplicate::Same, Duplicate::Different)
}

fn first_difference(old: &Memory, new: &Memory) -> Option<Difference> {
    let old_text = Text::of(&old.content);
    let new_text = if old.content == new.content { old_text.clone() } else { Text::of(&new.content) };
    let (old_claims, new_claims) = (claims::stated(old), claims::stated(new));
    fields::difference(old, new, (&old_text, &new_text))
        .or_else(|| claims::difference(&old_claims, &new_claims))
        .or_else(|| episode::difference(old, new))
        .or_else(|| {
            let names: Vec<String> =
                old.entities.iter().chain(&new.entities).map(|entity| entity.name.to_lowercase()).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            difference(&old_text, &new_text, &names)
                .filter(|_| !claims::say_all((&old_claims, &old_text), (&new_claims, &new_text)))
        })
        .or_else(|| moment::difference(old, new, &new_text))
}

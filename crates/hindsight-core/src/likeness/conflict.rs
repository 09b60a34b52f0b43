//! Whether a new memory contradicts one that is known (W7).

use super::Thresholds;
use super::claims::{self, Stated};
use super::stance::{self, Stance};
use super::text::Text;
use crate::{Kind, Memory, Polarity, Timestamp};

/// What two memories contradict each other in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Conflict {
    /// Decided: a property that has one value at a time has another one. The newer memory replaces the older.
    Claim {
        /// Whom or what it is about, as the new memory has it.
        subject: String,
        /// Which property, likewise.
        attribute: String,
        /// The old value.
        old: String,
        /// The new value.
        new: String,
    },
    /// Nominated: they say the opposite of the same thing, as far as words show. The caller is told; nothing is replaced.
    Polarity {
        /// What the old memory says.
        old: String,
        /// What the new one says.
        new: String,
    },
}

impl Conflict {
    /// Whether it replaces the older memory, and is not only reported.
    #[must_use]
    pub const fn is_decided(&self) -> bool {
        matches!(self, Conflict::Claim { .. })
    }
}

/// Whether `new` contradicts `old`. Claims decide whatever the `similarity`; opposite words nominate from
/// [`Thresholds::conflict`] on, if both are about the same. Memories that are valid at different times never conflict.
#[must_use]
pub fn conflict(old: &Memory, new: &Memory, similarity: f64, thresholds: Thresholds) -> Option<Conflict> {
    if old.namespace != new.namespace || !overlap(old, new) {
        return None;
    }
    let (old_claims, new_claims) = (claims::stated(old), claims::stated(new));
    another_value(&old_claims, &new_claims).or_else(|| opposite_claims(&old_claims, &new_claims)).or_else(
        || {
            let near = similarity >= thresholds.conflict;
            (near && may_be_about_the_same(old, new, &old_claims, &new_claims))
                .then(|| opposite_texts(old, new))?
        },
    )
}

/// Whether `new` gives another value to a property of `old` that has one value at a time, whenever each of them is valid.
#[must_use]
pub fn gives_another_value(old: &Memory, new: &Memory) -> bool {
    another_value(&claims::stated(old), &claims::stated(new)).is_some()
}

/// Whether there is a time at which both are valid; a bound that is absent is open.
fn overlap(old: &Memory, new: &Memory) -> bool {
    let ends_after = |end: Option<Timestamp>, start: Option<Timestamp>| match (end, start) {
        (Some(end), Some(start)) => start < end,
        _ => true,
    };
    ends_after(old.valid_to, new.valid_from) && ends_after(new.valid_to, old.valid_from)
}

fn another_value(old: &[Stated<'_>], new: &[Stated<'_>]) -> Option<Conflict> {
    new.iter().find_map(|claim| {
        let about: Vec<&Stated<'_>> = old.iter().filter(|other| other.is_about(claim)).collect();
        let known = about.iter().any(|other| other.value == claim.value);
        let single = |other: &&&Stated<'_>| claim.claim.single_valued || other.claim.single_valued;
        let other = about.iter().find(single).filter(|_| !known)?;
        Some(Conflict::Claim {
            subject: claim.claim.subject.clone(),
            attribute: claim.claim.attribute.clone(),
            old: other.claim.value.clone(),
            new: claim.claim.value.clone(),
        })
    })
}

/// "user / likes / tea" and "user / dislikes / tea": the subject is the same, the rest says the opposite.
fn opposite_claims(old: &[Stated<'_>], new: &[Stated<'_>]) -> Option<Conflict> {
    new.iter().find_map(|claim| {
        let said = |stated: &Stated<'_>| {
            format!("{} {}", stated.claim.attribute.replace('_', " "), stated.claim.value)
        };
        let text = Text::of(&said(claim));
        let stance = Stance::of(&text)?;
        old.iter().filter(|other| other.subject == claim.subject).find_map(|other| {
            let other_text = Text::of(&said(other));
            let against = Stance::of(&other_text)?.is_against(&stance);
            against.then(|| Conflict::Polarity { old: said(other), new: said(claim) })
        })
    })
}

/// What happened once is not undone by what happened later; two people may want opposite things.
fn may_be_about_the_same(
    old: &Memory,
    new: &Memory,
    old_claims: &[Stated<'_>],
    new_claims: &[Stated<'_>],
) -> bool {
    let happened = old.kind == Kind::Episode || new.kind == Kind::Episode;
    let subjects_apart = !old_claims.is_empty()
        && !new_claims.is_empty()
        && !old_claims.iter().any(|one| new_claims.iter().any(|other| one.subject == other.subject));
    let speaker = |memory: &Memory| memory.source.speaker.as_deref().map(Text::key);
    let speakers_apart = speaker(old).is_some_and(|one| speaker(new).is_some_and(|other| one != other));
    let people = |memory: &Memory| -> Vec<String> {
        let people = memory.entities.iter().filter(|entity| entity.kind.eq_ignore_ascii_case("person"));
        people.map(|entity| Text::key(&entity.name)).collect()
    };
    let (one, other) = (people(old), people(new));
    let people_apart = !one.is_empty() && !other.is_empty() && !one.iter().any(|name| other.contains(name));
    !happened && !subjects_apart && !speakers_apart && !people_apart
}

fn opposite_texts(old: &Memory, new: &Memory) -> Option<Conflict> {
    if let (Some(one), Some(other)) = (&old.rule, &new.rule) {
        let same_case = one.condition == other.condition;
        let (one_text, other_text) = (Text::of(&one.advice), Text::of(&other.advice));
        let against = Stance::of(&one_text)?.is_against(&Stance::of(&other_text)?);
        let same_advice = Text::key(&one.advice) == Text::key(&other.advice);
        // "Avoid: retry" and "do: retry" are opposites; "avoid: retry" and "do: never retry" are not.
        let opposite = if one.polarity == other.polarity { against } else { same_advice };
        let shown = |polarity: Polarity, advice: &str| format!("{polarity}: {advice}");
        return (same_case && opposite).then(|| Conflict::Polarity {
            old: shown(one.polarity, &one.advice),
            new: shown(other.polarity, &other.advice),
        });
    }
    if old.content.len().max(new.content.len()) > stance::BYTES_MAX {
        return None;
    }
    let (old_text, new_text) = (Text::of(&old.content), Text::of(&new.content));
    let against = Stance::of(&old_text)?.is_against(&Stance::of(&new_text)?);
    against.then(|| Conflict::Polarity { old: old.content.clone(), new: new.content.clone() })
}

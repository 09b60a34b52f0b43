//! What two memories state as subject, attribute and value.

use super::opposites::stem;
use super::reason::{Aspect, Difference};
use super::text::Text;
use super::text::token::{Sort, Token};
use crate::{Claim, Memory};

/// Words of a text that a claim need not hold for the claims to say all of it.
const FUNCTION: &[&str] = &[
    "a", "an", "the", "is", "was", "be", "been", "has", "have", "had", "of", "to", "in", "on", "at", "for",
    "with", "by", "'s", "that", "and", "does", "do", "as", "的", "是", "对", "有", "了", "在", "为", "叫",
];

/// Letters that two forms of a word have in common at least: allergic, allergy.
const STEM_CHARS_MIN: usize = 5;

/// A claim, and the form in which it is compared: without case, width and spelling.
#[derive(Debug)]
pub(super) struct Stated<'a> {
    pub(super) claim: &'a Claim,
    pub(super) subject: String,
    pub(super) attribute: String,
    pub(super) value: String,
}

impl Stated<'_> {
    pub(super) fn is_about(&self, other: &Stated<'_>) -> bool {
        self.subject == other.subject && self.attribute == other.attribute
    }

    fn is_same(&self, other: &Stated<'_>) -> bool {
        self.is_about(other) && self.value == other.value
    }

    fn shown(&self) -> String {
        format!("{} / {} / {}", self.claim.subject, self.claim.attribute, self.claim.value)
    }
}

/// The claims of a memory. An attribute named like a field reads like words: `favourite_color` is "favorite color".
pub(super) fn stated(memory: &Memory) -> Vec<Stated<'_>> {
    let spaced = |name: &str| Text::key(&name.replace('_', " "));
    let claims = memory.claims.iter();
    claims
        .map(|claim| Stated {
            claim,
            subject: spaced(&claim.subject),
            attribute: spaced(&claim.attribute),
            value: Text::key(&claim.value),
        })
        .collect()
}

/// A claim of the new memory that the old one does not make, with what the old one says instead.
pub(super) fn difference(old: &[Stated<'_>], new: &[Stated<'_>]) -> Option<Difference> {
    new.iter().find_map(|claim| {
        if old.iter().any(|other| other.is_same(claim)) {
            return None;
        }
        let instead = old.iter().find(|other| other.is_about(claim)).map(Stated::shown);
        Some(Difference::new(Aspect::Claim, instead.unwrap_or_default(), claim.shown()))
    })
}

/// Whether both make the same claims, at least one, and those say all that the texts say: then the texts are two
/// wordings of them.
pub(super) fn say_all(
    (old, old_text): (&[Stated<'_>], &Text),
    (new, new_text): (&[Stated<'_>], &Text),
) -> bool {
    let same = |from: &[Stated<'_>], to: &[Stated<'_>]| from.iter().all(|a| to.iter().any(|b| a.is_same(b)));
    if old.is_empty() || !same(old, new) || !same(new, old) {
        return false;
    }
    let claimed: Vec<Text> = old
        .iter()
        .flat_map(|stated| [&stated.claim.subject, &stated.claim.attribute, &stated.claim.value])
        .map(|part| Text::of(&part.replace('_', " ")))
        .collect();
    let claimed: Vec<&Token> = claimed.iter().flat_map(|text| &text.tokens).collect();
    let said = |text: &Text| text.tokens.iter().all(|token| is_said_by(token, &claimed));
    said(old_text) && said(new_text)
}

fn is_said_by(token: &Token, claimed: &[&Token]) -> bool {
    let carries_nothing = token.sort == Sort::Pause || token.sort != Sort::Not && token.is_one_of(FUNCTION);
    carries_nothing || claimed.iter().any(|other| other.is_same(token) || is_form_of(other, token))
}

/// Whether two words are forms of one: the same stem, or a long common beginning and a short rest.
fn is_form_of(one: &Token, other: &Token) -> bool {
    if one.sort != Sort::Word || other.sort != Sort::Word {
        return false;
    }
    let shared = one.key.chars().zip(other.key.chars()).take_while(|(a, b)| a == b).count();
    let rest = one.key.chars().count().max(other.key.chars().count()) - shared;
    stem(&one.key) == stem(&other.key) || (shared >= STEM_CHARS_MIN && rest <= 2)
}

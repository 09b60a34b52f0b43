//! What a statement is about, and whether it says yes or no to it.

use super::opposites::{OPERATORS, OPPOSITES, starts_with, stem};
use super::text::Text;
use super::text::token::{Sort, Token, spells_any};

/// Longer texts say yes to one thing and no to another; they have no stance.
const TOKENS_MAX: usize = 80;

/// Texts of more bytes than that are not read to find out.
pub(super) const BYTES_MAX: usize = 1_000;

/// Words without weight for what a statement is about.
const LIGHT: &[&str] = &[
    "to",
    "of",
    "is",
    "was",
    "be",
    "been",
    "do",
    "does",
    "did",
    "done",
    "have",
    "has",
    "had",
    "will",
    "would",
    "want",
    "wants",
    "wanted",
    "wish",
    "wishes",
    "goal",
    "plan",
    "plans",
    "trying",
    "try",
    "going",
    "now",
    "anymore",
    "any",
    "longer",
    "again",
    "still",
    "always",
    "currently",
    "today",
    "at",
    "all",
    "lot",
    "much",
    "so",
    "and",
    "but",
    "it",
    "its",
    "'s",
    "'d",
    "that",
    "this",
    "there",
    "a",
    "an",
    "the",
    "really",
    "very",
    "too",
    "just",
    "ever",
    "yet",
    "since",
    "recently",
    "these",
    "days",
    "way",
    "get",
    "got",
    "已经",
    "现在",
    "目前",
    "如今",
    "打算",
    "计划",
    "希望",
    "想要",
    "想",
    "的",
    "地",
    "得",
    "了",
    "在",
    "着",
    "过",
    "就",
    "也",
    "还",
    "再",
    "很",
    "都",
    "是",
    "把",
    "被",
    "会",
    "有",
    "去",
    "最近",
    "以后",
    "今后",
    "从此",
    "真的",
    "非常",
    "特别",
    "一定",
    "尤其",
];

/// Negations that deny nothing.
const NOT_DENYING: &[&str] =
    &["not only", "no doubt", "no problem", "why not", "if not", "not just", "not until"];

/// The speaker, in whatever form.
const SELF: &[&str] = &["i", "me", "my", "mine", "myself"];

/// What a statement is about and what it says of it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Stance<'a> {
    /// Which opposites it names, by their place in the table, and which side of them counts after negation;
    /// no place stands for the statement as a whole. In order of the table.
    signs: Vec<(Option<usize>, bool)>,
    /// The tokens that carry what it is about.
    topic: Vec<&'a Token>,
}

impl Stance<'_> {
    /// The stance of a text; none of a text that asks, or is too long to have one.
    pub(super) fn of(text: &Text) -> Option<Stance<'_>> {
        let tokens = &text.tokens;
        let asks = tokens.iter().any(|token| token.sort == Sort::Symbol && token.key == "?")
            || tokens.iter().any(|token| token.is_word("吗"));
        if asks || tokens.is_empty() || tokens.len() > TOKENS_MAX {
            return None;
        }
        let mut stance = Stance { signs: Vec::new(), topic: Vec::new() };
        let (mut denied, mut at) = (false, 0);
        while let Some(token) = tokens.get(at) {
            let rest = tokens.get(at..).unwrap_or_default();
            if let Some((place, side, count)) = opposite_at(rest) {
                stance.signs.push((Some(place), side != denied));
                denied = false;
                at += count;
            } else if let Some((denies, count)) = operator_at(rest) {
                denied ^= denies;
                at += count;
            } else if let Some(count) = spells_any(rest, LIGHT) {
                at += count;
            } else {
                if token.sort != Sort::Pause {
                    stance.topic.push(token);
                }
                at += 1;
            }
        }
        // What is denied and names no opposite is the statement.
        stance.signs.push((None, !denied));
        stance.signs.sort_unstable();
        Some(stance)
    }

    /// Which opposites it names, and the tokens of its topic in the form in which they are compared.
    pub(super) fn about(&self) -> (Vec<Option<usize>>, Vec<(Sort, String)>) {
        (self.signs.iter().map(|(place, _)| *place).collect(), keys(&self.topic))
    }

    /// Whether `other` says the opposite of the same thing: the same opposites are named, one of them with the other
    /// side, and what is left is the same or says more on one side only.
    pub(super) fn is_against(&self, other: &Stance<'_>) -> bool {
        let named = |stance: &Stance<'_>| stance.signs.iter().map(|(place, _)| *place).collect::<Vec<_>>();
        if named(self) != named(other) || self.signs == other.signs {
            return false;
        }
        let (old, new) = (keys(&self.topic), keys(&other.topic));
        let shared: Vec<_> = old.iter().filter(|key| new.contains(key)).collect();
        let in_order = shared.iter().copied().eq(new.iter().filter(|key| old.contains(key)));
        let (gone, come) = (old.len() - shared.len(), new.len().saturating_sub(shared.len()));
        let more = gone.max(come);
        in_order && gone.min(come) == 0 && more <= shared.len().max(2) && (!shared.is_empty() || more == 0)
    }
}

/// The topic's tokens in a form in which they can be compared.
fn keys(topic: &[&Token]) -> Vec<(Sort, String)> {
    let key = |token: &&Token| {
        let key = match token.sort {
            Sort::Word if token.is_one_of(SELF) => "i",
            Sort::Word => stem(&token.key),
            Sort::Han if token.key == "我" => "我",
            _ => &token.key,
        };
        (token.sort, key.to_owned())
    };
    topic.iter().map(key).collect()
}

/// The opposites that begin here: their place in the table, which side, and how many tokens.
fn opposite_at(tokens: &[Token]) -> Option<(usize, bool, usize)> {
    let found = OPPOSITES.iter().enumerate().flat_map(|(place, (first, second))| {
        let first = starts_with(tokens, first).map(|count| (place, true, count));
        let second = starts_with(tokens, second).map(|count| (place, false, count));
        first.into_iter().chain(second)
    });
    // Of two that fit, the longer; of two as long, the one that stands first in the table.
    found.max_by_key(|(place, _, count)| (*count, std::cmp::Reverse(*place)))
}

/// A word that says whether the rest is so: whether it denies, and how many tokens it has.
fn operator_at(tokens: &[Token]) -> Option<(bool, usize)> {
    if let Some(count) = spells_any(tokens, NOT_DENYING) {
        return Some((false, count));
    }
    let found = OPERATORS.iter().flat_map(|(affirms, denies)| {
        let affirms = starts_with(tokens, affirms).map(|count| (count, false));
        let denies = starts_with(tokens, denies).map(|count| (count, true));
        affirms.into_iter().chain(denies)
    });
    let negation = tokens.first().filter(|token| token.sort == Sort::Not).map(|_| (1, true));
    found.chain(negation).max().map(|(count, denies)| (denies, count))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn against(old: &str, new: &str) -> bool {
        let (old, new) = (Text::of(old), Text::of(new));
        let (Some(old), Some(new)) = (Stance::of(&old), Stance::of(&new)) else { return false };
        assert_eq!(old.is_against(&new), new.is_against(&old));
        old.is_against(&new)
    }

    #[test]
    fn w7_the_opposite_of_the_same_thing() {
        assert!(against("I want to lose fat", "I want to gain muscle"));
        assert!(against("I like coffee", "I don't like coffee anymore"));
        assert!(against("Agents may deploy on Friday", "Agents must not deploy on Friday"));
        assert!(against("The user smokes", "The user has quit smoking"));
        assert!(against("我喜欢喝咖啡", "我讨厌喝咖啡"));
        assert!(against("允许在周五部署", "禁止在周五部署"));
        assert!(against("我吃肉", "我不吃肉了"));
        assert!(against("I'm allergic to peanuts", "I love peanuts"));
        assert!(against("我对花生过敏", "我喜欢花生"));
    }

    #[test]
    fn w7_two_denials_and_other_things_are_no_opposites() {
        assert!(!against("I don't like coffee", "I dislike coffee"));
        assert!(!against("I love cats", "I hate dogs"));
        assert!(!against("Enable port 22", "Disable port 23"));
        assert!(!against("Anna is the admin", "Ben is not the admin"));
        assert!(!against("Do I like coffee?", "I hate coffee"));
        assert!(!against("我不是不喜欢咖啡", "我喜欢咖啡"));
        assert!(!against("不仅喜欢茶", "喜欢茶"));
    }
}

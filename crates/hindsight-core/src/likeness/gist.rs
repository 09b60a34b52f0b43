//! Whether two short texts tell somebody to do the same: causes and remedies, which every agent writes in its own way.
//!
//! Looser than [`super::duplicate()`], since nothing is lost when two remedies count as one: fillers, word endings and the
//! way an identifier is joined don't matter. What tells remedies apart does: numbers, codes, negation, opposites, order.

use super::opposites::{oppose, stem};
use super::text::Text;
use super::text::token::{Sort, Token, spells_any};

/// Words without which a remedy says the same.
const FILLERS: &[&str] = &[
    "a", "an", "the", "then", "and", "please", "to", "it", "is", "be", "was", "by", "just", "simply",
    "always", "的", "了", "再", "然后", "并且", "并", "就", "请", "之后", "后",
];

/// Of the longer of two remedies so many parts may be more than the shorter one has: one.
const MORE_PARTS: usize = 4;

/// What a short text says, in a form in which it is compared.
#[derive(Debug, Clone)]
pub struct Gist {
    key: String,
    tokens: Vec<Token>,
}

impl PartialEq for Gist {
    /// The same words once fillers, endings and spelling no longer count.
    fn eq(&self, other: &Gist) -> bool {
        self.key == other.key
    }
}

impl Eq for Gist {}

impl Gist {
    /// What `text` says.
    #[must_use]
    pub fn of(text: &str) -> Gist {
        let read = Text::of(&text.replace('_', " ")).tokens;
        let mut tokens = Vec::with_capacity(read.len());
        let mut at = 0;
        while let Some(token) = read.get(at) {
            if let Some(count) = spells_any(read.get(at..).unwrap_or_default(), FILLERS) {
                at += count;
                continue;
            }
            at += 1;
            if token.sort != Sort::Pause {
                let key = if token.sort == Sort::Word { stem(&token.key) } else { &token.key };
                tokens.push(Token::new(token.sort, key, token.start, token.end));
            }
        }
        if tokens.is_empty() {
            return Gist { key: Text::key(text), tokens };
        }
        let mut key = String::new();
        for token in &tokens {
            key.push_str(&token.key);
            key.push(' ');
        }
        Gist { key, tokens }
    }

    /// The form in which it is looked up and sorted. Not meant to be read.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Whether both say to do the same: the same words, or the shorter one's in the longer one's order, which says a little
    /// more. Neither may have a value or a denial that the other has not.
    ///
    /// It is symmetric and not transitive: whoever groups by it chooses a middle for each group.
    #[must_use]
    pub fn agrees(&self, other: &Gist) -> bool {
        if self == other {
            return true;
        }
        let (short, long) =
            if self.tokens.len() <= other.tokens.len() { (self, other) } else { (other, self) };
        let more = long.tokens.len() - short.tokens.len();
        let mut rest = long.tokens.iter();
        let in_order = short.tokens.iter().all(|token| rest.any(|other| other.is_same(token)));
        if short.tokens.is_empty() || !in_order || more * MORE_PARTS > long.tokens.len() {
            return false;
        }
        long.values().eq(short.values()) && !oppose(&short.tokens, &long.tokens)
    }

    /// What stands for a value or denies.
    fn values(&self) -> impl Iterator<Item = (Sort, &str)> {
        let tokens = self.tokens.iter().filter(|token| !matches!(token.sort, Sort::Word | Sort::Han));
        tokens.map(|token| (token.sort, token.key.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agree(one: &str, other: &str) -> bool {
        let (one, other) = (Gist::of(one), Gist::of(other));
        assert_eq!(one.agrees(&other), other.agrees(&one));
        one.agrees(&other)
    }

    #[test]
    fn l5_one_remedy_in_many_wordings() {
        for other in [
            "Refresh the token, then retry.",
            "refresh token and retry",
            "refresh_token_then_retry",
            "REFRESH TOKEN, RETRY",
            "please refresh the tokens, then retry it",
        ] {
            assert!(agree("refresh_token_then_retry", other), "{other}");
        }
        assert!(agree(
            "refresh the token then retry the call",
            "refresh the token, then retry the same call"
        ));
        assert!(agree("刷新令牌后重试", "请刷新令牌，然后重试。"));
        assert_eq!(Gist::of("api_token_expired"), Gist::of("API token expired"));
    }

    #[test]
    fn l5_remedies_that_differ_where_it_counts() {
        for (one, other) in [
            ("wait 30 s and retry", "wait 60 s and retry"),
            ("retry with the admin role", "do not retry with the admin role"),
            ("enable the cache and retry the call", "disable the cache and retry the call"),
            ("refresh the token, then retry", "retry, then refresh the token"),
            ("ask Anna for access", "ask Ben for access"),
            ("restart the api server and retry the request", "restart the db server and retry the request"),
            ("use v2 of the endpoint", "use v3 of the endpoint"),
            ("refresh the token", "refresh the token, then tell the owner of the account"),
            ("重试", "不要重试"),
            ("增加超时时间再重试", "减少超时时间再重试"),
        ] {
            assert!(!agree(one, other), "{one} / {other}");
        }
    }

    #[test]
    fn what_is_all_filler_still_says_something() {
        assert!(!Gist::of("the").key().is_empty());
        assert!(Gist::of("").key().is_empty());
        assert!(!agree("", "retry"));
    }
}

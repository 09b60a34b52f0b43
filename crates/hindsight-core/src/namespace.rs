//! The name of a tenant. It never becomes a path, and it looks the same everywhere.

use crate::limits::NAMESPACE_CHARS_MAX;

/// The name of a namespace: 1–64 of `a–z A–Z 0–9 - _ .`, beginning with a letter or digit.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Namespace(std::sync::Arc<str>);

/// A text that can't name a namespace.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{given:?} can't name a namespace: expected 1 to 64 letters a-z, A-Z, digits, '-', '_' or '.', beginning with a letter or digit"
)]
pub struct BadNamespace {
    /// The text as it was given, cut to 80 characters.
    pub given: String,
}

impl Namespace {
    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::str::FromStr for Namespace {
    type Err = BadNamespace;

    fn from_str(text: &str) -> Result<Self, BadNamespace> {
        let head = text.bytes().next().is_some_and(|b| b.is_ascii_alphanumeric());
        let tail = text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'));
        if head && tail && text.len() <= NAMESPACE_CHARS_MAX {
            Ok(Namespace(text.into()))
        } else {
            Err(BadNamespace { given: text.chars().take(80).collect() })
        }
    }
}

impl std::fmt::Display for Namespace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(&self.0)
    }
}

crate::words::text_form!(Namespace);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_could_be_paths_are_refused() {
        for bad in ["", "..", ".hidden", "a/b", "a\\b", "../x", "a b", "名", "a\0", &"x".repeat(65)] {
            assert!(bad.parse::<Namespace>().is_err(), "{bad:?}");
        }
        for good in ["ops", "proj-x", "conv-26", "p00", "a.b_c"] {
            assert_eq!(good.parse::<Namespace>().unwrap().as_str(), good);
        }
    }
}

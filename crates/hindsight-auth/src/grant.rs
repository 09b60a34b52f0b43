//! Which namespaces a credential reaches, and with which rights.

use std::fmt;
use std::str::FromStr;

use hindsight_core::Namespace;
use serde::{Deserialize, Serialize};

use crate::right::{BadRight, Right, Rights};

/// Some namespaces: one by its name, or all that begin alike (`team-*`, `*`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pattern {
    /// The one.
    Exact(Namespace),
    /// Those that begin so; all of them when it is empty.
    Prefix(String),
}

/// A text that names no namespaces.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{found:?} names no namespaces: expected a namespace such as ops, a beginning such as team-*, or * for all"
)]
pub struct BadPattern {
    /// The text.
    pub found: String,
}

impl Pattern {
    /// All of them.
    #[must_use]
    pub fn all() -> Pattern {
        Pattern::Prefix(String::new())
    }

    /// Whether it reaches every namespace that there is or will be.
    #[must_use]
    pub fn is_all(&self) -> bool {
        matches!(self, Pattern::Prefix(prefix) if prefix.is_empty())
    }

    /// Whether `namespace` is among them.
    #[must_use]
    pub fn reaches(&self, namespace: &Namespace) -> bool {
        match self {
            Pattern::Exact(exact) => exact == namespace,
            Pattern::Prefix(prefix) => namespace.as_str().starts_with(prefix.as_str()),
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pattern::Exact(namespace) => namespace.fmt(f),
            Pattern::Prefix(prefix) => write!(f, "{prefix}*"),
        }
    }
}

impl FromStr for Pattern {
    type Err = BadPattern;

    fn from_str(text: &str) -> Result<Pattern, BadPattern> {
        let bad = || BadPattern { found: text.to_owned() };
        match text.strip_suffix('*') {
            Some("") => Ok(Pattern::all()),
            // A beginning that is no namespace itself is none of any.
            Some(prefix) => match prefix.parse::<Namespace>() {
                Ok(_) => Ok(Pattern::Prefix(prefix.to_owned())),
                Err(_) => Err(bad()),
            },
            None => text.parse().map(Pattern::Exact).map_err(|_| bad()),
        }
    }
}

impl Serialize for Pattern {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Pattern, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// Rights in some namespaces. As text: `team-*=read,write`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grant {
    /// Where.
    pub namespaces: Pattern,
    /// What.
    pub rights: Rights,
}

/// A text that is no grant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadGrant {
    /// The namespaces are wrong.
    #[error(transparent)]
    Pattern(#[from] BadPattern),
    /// A right is wrong.
    #[error(transparent)]
    Right(#[from] BadRight),
    /// A part is missing.
    #[error("{found:?} is no grant: expected NAMESPACES=RIGHT,RIGHT such as team-*=read,write")]
    Form {
        /// The text.
        found: String,
    },
}

impl FromStr for Grant {
    type Err = BadGrant;

    fn from_str(text: &str) -> Result<Grant, BadGrant> {
        let (namespaces, rights) =
            text.split_once('=').ok_or_else(|| BadGrant::Form { found: text.to_owned() })?;
        let rights: Result<Rights, BadRight> =
            rights.split(',').map(str::trim).map(Right::from_str).collect();
        Ok(Grant { namespaces: namespaces.parse()?, rights: rights? })
    }
}

impl fmt::Display for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}=", self.namespaces)?;
        for (index, right) in self.rights.list().into_iter().enumerate() {
            write!(f, "{}{right}", if index > 0 { "," } else { "" })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s1_a_pattern_reaches_what_it_says() {
        let reaches =
            |pattern: &str, name: &str| pattern.parse::<Pattern>().unwrap().reaches(&name.parse().unwrap());
        assert!(reaches("ops", "ops") && !reaches("ops", "ops2") && !reaches("ops", "Ops"));
        assert!(reaches("team-*", "team-a") && reaches("team-*", "team-") && !reaches("team-*", "team"));
        assert!(reaches("*", "anything"));
        for bad in ["", "a*b", "../*", "**", "-x", "a b"] {
            assert!(bad.parse::<Pattern>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn s6_a_grant_is_read_as_it_is_written() {
        let grant: Grant = "team-*=write, read".parse().unwrap();
        assert_eq!(grant.to_string(), "team-*=read,write");
        for bad in ["team-*", "ops=", "ops=root", "a b=read"] {
            assert!(bad.parse::<Grant>().is_err(), "{bad:?}");
        }
    }
}

//! What a credential may do.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// One right. `admin` includes all others, `read` includes `observe`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Right {
    /// Reading that leaves no trace: get, list, history, counts, and recalls that say `observe`.
    Observe,
    /// Recall, which counts what it returns.
    Read,
    /// Storing and changing memories, and feedback.
    Write,
    /// Taking memories out of recall, and bringing them back.
    Forget,
    /// Erasing memories for good.
    Purge,
    /// Changing rules.
    Rules,
    /// Reading the audit trail.
    Audit,
    /// Taking a backup of everything.
    Backup,
    /// Everything, tokens among it.
    Admin,
}

/// A text that names no right.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{found:?} is no right: expected one of {}", Right::names().join(", "))]
pub struct BadRight {
    /// The text.
    pub found: String,
}

impl Right {
    /// All of them.
    pub const ALL: [Right; 9] = [
        Right::Observe,
        Right::Read,
        Right::Write,
        Right::Forget,
        Right::Purge,
        Right::Rules,
        Right::Audit,
        Right::Backup,
        Right::Admin,
    ];

    /// Its word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Right::Observe => "observe",
            Right::Read => "read",
            Right::Write => "write",
            Right::Forget => "forget",
            Right::Purge => "purge",
            Right::Rules => "rules",
            Right::Audit => "audit",
            Right::Backup => "backup",
            Right::Admin => "admin",
        }
    }

    fn names() -> Vec<&'static str> {
        Right::ALL.iter().map(|right| right.as_str()).collect()
    }

    const fn bit(self) -> u16 {
        1 << self as u16
    }
}

impl fmt::Display for Right {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Right {
    type Err = BadRight;

    fn from_str(text: &str) -> Result<Right, BadRight> {
        let found = Right::ALL.into_iter().find(|right| right.as_str() == text);
        found.ok_or_else(|| BadRight { found: text.to_owned() })
    }
}

/// A set of rights.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<Right>", into = "Vec<Right>")]
pub struct Rights(u16);

impl Rights {
    /// Whether the set allows what needs `right`.
    #[must_use]
    pub const fn allow(self, right: Right) -> bool {
        let enough = match right {
            Right::Observe => Right::Observe.bit() | Right::Read.bit(),
            other => other.bit(),
        };
        self.0 & (enough | Right::Admin.bit()) != 0
    }

    /// Whether it is empty.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether it holds `right` itself, not by another that includes it.
    #[must_use]
    pub const fn contains(self, right: Right) -> bool {
        self.0 & right.bit() != 0
    }

    /// The rights that were given, in their order.
    #[must_use]
    pub fn list(self) -> Vec<Right> {
        Right::ALL.into_iter().filter(|right| self.contains(*right)).collect()
    }
}

impl FromIterator<Right> for Rights {
    fn from_iter<T: IntoIterator<Item = Right>>(rights: T) -> Rights {
        Rights(rights.into_iter().fold(0, |set, right| set | right.bit()))
    }
}

impl From<Vec<Right>> for Rights {
    fn from(rights: Vec<Right>) -> Rights {
        rights.into_iter().collect()
    }
}

impl From<Rights> for Vec<Right> {
    fn from(rights: Rights) -> Vec<Right> {
        rights.list()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s6_only_admin_and_read_include_others() {
        for held in Right::ALL {
            let rights: Rights = [held].into_iter().collect();
            for needed in Right::ALL {
                let expected =
                    held == needed || held == Right::Admin || (held, needed) == (Right::Read, Right::Observe);
                assert_eq!(rights.allow(needed), expected, "{held} for {needed}");
            }
            assert!(!Rights::default().allow(held));
            assert_eq!(held.as_str().parse(), Ok(held));
            assert_eq!(rights.list(), [held]);
        }
        assert!("root".parse::<Right>().unwrap_err().to_string().contains("observe, read, write"));
    }
}

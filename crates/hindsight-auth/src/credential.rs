//! One credential: what a token stands for.

use hindsight_core::{Namespace, SourceKind, Timestamp};
use serde::{Deserialize, Serialize};

use crate::{Grant, Pattern, Right, TokenId};

/// Most letters of a name.
pub const NAME_CHARS_MAX: usize = 100;
/// Most grants of one credential.
pub const GRANTS_MAX: usize = 64;

/// What a token stands for; the token itself is not in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Credential {
    /// The public part of the token.
    pub id: TokenId,
    /// What people call it.
    pub name: String,
    /// What it may do, and where.
    pub grants: Vec<Grant>,
    /// The best grade that memories written with it have (S4).
    pub source: SourceKind,
    /// The agent that it belongs to: it writes and sees private memories as this one, and as no other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// When it was made.
    pub created_at: Timestamp,
    /// From when on it is worth nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// When it was used last, to the minute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_used_at: Option<Timestamp>,
    /// When it was taken back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked_at: Option<Timestamp>,
}

/// Whether a credential counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CredentialState {
    /// It does.
    Valid,
    /// Its time is over.
    Expired,
    /// It was taken back.
    Revoked,
}

/// What a new credential is to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wish {
    /// What people call it.
    pub name: String,
    /// What it may do, and where.
    pub grants: Vec<Grant>,
    /// The best grade of what is written with it; `admin` for one with the right of that name, else `agent_verified`.
    pub source: Option<SourceKind>,
    /// The agent that it belongs to.
    pub agent_id: Option<String>,
    /// From when on it is worth nothing.
    pub expires_at: Option<Timestamp>,
}

/// A wish that can't be fulfilled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {problem}")]
pub struct BadWish {
    /// The field.
    pub field: &'static str,
    /// What is wrong with it, and what would be right.
    pub problem: String,
}

impl Wish {
    /// Whether it can be fulfilled.
    ///
    /// # Errors
    /// The first field that is wrong.
    pub fn check(&self, now: Timestamp) -> Result<(), BadWish> {
        let bad = |field, problem: String| Err(BadWish { field, problem });
        let name = self.name.trim();
        if name.is_empty() || name.chars().count() > NAME_CHARS_MAX || name.chars().any(char::is_control) {
            return bad(
                "name",
                format!("is not 1 to {NAME_CHARS_MAX} printable letters: say who holds the token"),
            );
        }
        if self.grants.is_empty() {
            return bad("grants", "is empty: say what the token may do, and where".to_owned());
        }
        if self.grants.len() > GRANTS_MAX {
            return bad("grants", format!("has {}: at most {GRANTS_MAX}", self.grants.len()));
        }
        if self.grants.iter().any(|grant| grant.rights.is_empty()) {
            return bad("grants", "has one without a right: say what the token may do there".to_owned());
        }
        if self.agent_id.as_deref().is_some_and(|agent| {
            agent.trim().is_empty() || agent.chars().count() > hindsight_core::limits::WORD_CHARS_MAX
        }) {
            return bad("agent_id", "is empty or too long: name an agent, or leave it out".to_owned());
        }
        if self.expires_at.is_some_and(|at| at <= now) {
            return bad("expires_at", "is over already: give a time to come".to_owned());
        }
        Ok(())
    }

    /// The grade that it comes to.
    #[must_use]
    pub fn grade(&self) -> SourceKind {
        let admin = self.grants.iter().any(|grant| grant.rights.contains(Right::Admin));
        self.source.unwrap_or(if admin { SourceKind::Admin } else { SourceKind::AgentVerified })
    }
}

impl Credential {
    /// Whether it counts at `now`.
    #[must_use]
    pub fn state(&self, now: Timestamp) -> CredentialState {
        if self.revoked_at.is_some() {
            CredentialState::Revoked
        } else if self.expires_at.is_some_and(|at| at <= now) {
            CredentialState::Expired
        } else {
            CredentialState::Valid
        }
    }

    /// Whether it has `right` in `namespace`.
    #[must_use]
    pub fn may(&self, right: Right, namespace: &Namespace) -> bool {
        self.grants.iter().any(|grant| grant.rights.allow(right) && grant.namespaces.reaches(namespace))
    }

    /// Whether it reaches `namespace`, with whatever right.
    #[must_use]
    pub fn reaches(&self, namespace: &Namespace) -> bool {
        self.grants.iter().any(|grant| grant.namespaces.reaches(namespace))
    }

    /// Whether it has `right` anywhere.
    #[must_use]
    pub fn may_somewhere(&self, right: Right) -> bool {
        self.grants.iter().any(|grant| grant.rights.allow(right))
    }

    /// Whether it has `right` in every namespace, and so over the database as a whole.
    #[must_use]
    pub fn may_everywhere(&self, right: Right) -> bool {
        self.grants.iter().any(|grant| grant.rights.allow(right) && grant.namespaces.is_all())
    }

    /// The namespace that it is for, if it is for one alone.
    #[must_use]
    pub fn only_namespace(&self) -> Option<&Namespace> {
        let mut names = self.grants.iter().map(|grant| match &grant.namespaces {
            Pattern::Exact(namespace) => Some(namespace),
            Pattern::Prefix(_) => None,
        });
        let first = names.next()??;
        names.all(|name| name == Some(first)).then_some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn credential(grants: &[&str]) -> Credential {
        Credential {
            id: "aaaaaaaa".parse().unwrap(),
            name: "x".into(),
            grants: grants.iter().map(|grant| grant.parse().unwrap()).collect(),
            source: SourceKind::Agent,
            agent_id: None,
            created_at: Timestamp::from_ms(0),
            expires_at: Some(Timestamp::from_ms(10)),
            last_used_at: None,
            revoked_at: None,
        }
    }

    #[test]
    fn s1_a_right_counts_where_it_was_granted() {
        let both = credential(&["ops=read", "team-*=write"]);
        let (ops, team) = ("ops".parse().unwrap(), "team-a".parse().unwrap());
        assert!(both.may(Right::Read, &ops) && !both.may(Right::Write, &ops));
        assert!(both.may(Right::Write, &team) && !both.may(Right::Read, &team));
        assert!(both.may_somewhere(Right::Write) && !both.may_everywhere(Right::Write));
        assert_eq!(both.only_namespace(), None);
        assert_eq!(credential(&["ops=read", "ops=write"]).only_namespace(), Some(&ops));
        assert_eq!(credential(&["ops=read", "home=write"]).only_namespace(), None);
        assert_eq!(credential(&["*=read"]).only_namespace(), None);
        assert!(credential(&["*=admin"]).may_everywhere(Right::Backup));
    }

    #[test]
    fn s6_its_time_ends() {
        let mut one = credential(&["ops=read"]);
        assert_eq!(one.state(Timestamp::from_ms(9)), CredentialState::Valid);
        assert_eq!(one.state(Timestamp::from_ms(10)), CredentialState::Expired);
        one.revoked_at = Some(Timestamp::from_ms(5));
        assert_eq!(one.state(Timestamp::from_ms(9)), CredentialState::Revoked);
    }
}

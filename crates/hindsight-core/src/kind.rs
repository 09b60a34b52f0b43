//! The closed word lists of the model: kinds, layers, statuses, states, scopes, sources, rules.
//!
//! Each word is spelled the same in JSON, in the log dump, on the command line and in the docs.

/// Declares an enum whose variants are words: `as_str`, `ALL`, `FromStr`, `Display` and serde agree on one spelling.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident, $what:literal { $($(#[$vdoc:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum $name { $($(#[$vdoc])* $variant),+ }

        impl $name {
            /// Every word of the list, in its order of declaration.
            pub const ALL: &'static [$name] = &[$($name::$variant),+];

            /// The word as it stands in JSON, on the command line and in the docs.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $($name::$variant => $word),+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::kind::UnknownWord;

            fn from_str(word: &str) -> Result<Self, $crate::kind::UnknownWord> {
                match word {
                    $($word => Ok($name::$variant),)+
                    _ => Err($crate::kind::UnknownWord { what: $what, word: word.to_owned(), expected: &[$($word),+] }),
                }
            }
        }
    };
}

pub(crate) use words;

/// A word that is not in its list.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown {what} {word:?}: expected one of {}", expected.join(", "))]
pub struct UnknownWord {
    /// What the word should have named, such as `kind`.
    pub what: &'static str,
    /// The word as it was given.
    pub word: String,
    /// The words that are right.
    pub expected: &'static [&'static str],
}

words! {
    /// What a memory is (M2).
    Kind, "kind" {
        /// One finished task: what was done, with which parameters, how it ended.
        Episode = "episode",
        /// Something that is true about an entity.
        Fact = "fact",
        /// What somebody likes, wants or must avoid.
        Preference = "preference",
        /// How a kind of task is done.
        Procedure = "procedure",
        /// A lesson distilled from episodes, with a polarity.
        Rule = "rule",
    }
}

words! {
    /// The four layers of memory (M1). Every stored kind belongs to one; `working` holds sessions.
    Layer, "layer" {
        /// The current session's context.
        Working = "working",
        /// One record per finished task.
        Episodic = "episodic",
        /// Facts, preferences and rules.
        Semantic = "semantic",
        /// How tasks are done.
        Procedural = "procedural",
    }
}

words! {
    /// How a task ended.
    Status, "status" {
        /// It reached its goal.
        Success = "success",
        /// It did not.
        Failure = "failure",
        /// It reached a part of its goal.
        Partial = "partial",
    }
}

words! {
    /// Where a memory is in its life.
    State, "state" {
        /// Recalled by default.
        Active = "active",
        /// Replaced by a newer one; kept as history.
        Superseded = "superseded",
        /// Past its time; searched only on request.
        Archived = "archived",
        /// Held back until somebody reviews it.
        Quarantined = "quarantined",
        /// Deleted softly; restorable until it is purged.
        Forgotten = "forgotten",
    }
}

words! {
    /// Who may see a memory inside its namespace.
    Scope, "scope" {
        /// Every agent of the namespace.
        Shared = "shared",
        /// Only the agent that wrote it.
        Agent = "agent",
    }
}

words! {
    /// Where a memory came from; each grade has a trust (S4).
    SourceKind, "source kind" {
        /// An administrator wrote it.
        Admin = "admin",
        /// An agent saw it with its own eyes, such as the outcome of a task.
        AgentVerified = "agent_verified",
        /// A tool returned it.
        Tool = "tool",
        /// An agent concluded it.
        Agent = "agent",
        /// A user said it.
        UserInput = "user_input",
        /// It came from outside: a web page, a document, another party.
        External = "external",
    }
}

words! {
    /// Whether a rule says what to do or what to leave (M2).
    Polarity, "polarity" {
        /// This worked.
        Do = "do",
        /// This failed before.
        Avoid = "avoid",
    }
}

words! {
    /// The life of a rule (L5).
    RuleState, "rule state" {
        /// Found, not yet confirmed by feedback.
        Observing = "observing",
        /// Confirmed; recalled before episodes of equal score.
        Active = "active",
        /// Falsified or withdrawn.
        Deprecated = "deprecated",
    }
}

words! {
    /// What happened to a rule (L5).
    RuleEventKind, "rule event" {
        /// Episodes agreed on it, and it came into being.
        Found = "found",
        /// It was proposed by somebody, and episodes were found to say the same.
        Adopted = "adopted",
        /// More episodes, or fewer, speak for it.
        Revised = "revised",
        /// It helped often enough to become active.
        Confirmed = "confirmed",
        /// It was wrong too often and is deprecated.
        Falsified = "falsified",
        /// Somebody changed its state or validity.
        ByHand = "by_hand",
    }
}

words! {
    /// What a consolidation does to a rule (L5).
    RuleChange, "rule change" {
        /// There was no rule for the case.
        Created = "created",
        /// The rule says so already, and has a new version.
        Revised = "revised",
        /// There was a rule for the case that taught otherwise; it is history.
        Replaced = "replaced",
    }
}

words! {
    /// Why a memory is no part of a summary (L6).
    LeftOut, "reason" {
        /// It states a property that has one value at a time: a newer value replaces a memory, and a summary as a whole can't be
        /// replaced for one of its lines.
        SingleValued = "single_valued",
        /// It ends at a time of its own.
        Ends = "ends",
        /// The summary is full.
        Full = "full",
    }
}

impl Kind {
    /// The layer a kind belongs to (M1).
    #[must_use]
    pub const fn layer(self) -> Layer {
        match self {
            Kind::Episode => Layer::Episodic,
            Kind::Fact | Kind::Preference | Kind::Rule => Layer::Semantic,
            Kind::Procedure => Layer::Procedural,
        }
    }
}

words! {
    /// What a write does with a memory that says what another one says already (W6).
    OnDuplicate, "on_duplicate" {
        /// The known memory becomes surer and nothing new is stored. A draft that brings its own id is stored all the same.
        Reinforce = "reinforce",
        /// The write is refused and names the known memory.
        Reject = "reject",
        /// It is stored beside the known one.
        Allow = "allow",
    }
}

words! {
    /// What a write did.
    Outcome, "outcome" {
        /// A new memory came into being.
        Created = "created",
        /// Nothing new was stored: a memory that says the same became surer.
        Reinforced = "reinforced",
        /// A new memory came into being and replaced older ones that it contradicts.
        Superseded = "superseded",
        /// Nothing was stored, and nothing became surer: an agent said what a recall had told it.
        Echoed = "echoed",
    }
}

words! {
    /// How a memory that a write met stands to the new one (W7).
    Relation, "relation" {
        /// The new memory replaced it.
        Superseded = "superseded",
        /// It replaced the new memory, which holds for an earlier time: that one was stored as history.
        SupersededBy = "superseded_by",
        /// They contradict each other and nothing was decided: both are there.
        Conflict = "conflict",
    }
}

words! {
    /// What an agent says of a memory that a recall returned (L1).
    Verdict, "verdict" {
        /// It went into the task.
        Used = "used",
        /// It did not help.
        Ignored = "ignored",
        /// It is not so, and never was.
        Wrong = "wrong",
        /// It was so, and is no longer.
        Outdated = "outdated",
    }
}

words! {
    /// Which of the two times a question about the past goes by (M9).
    Axis, "axis" {
        /// What was true in the world, by what is known today.
        Valid = "valid",
        /// What the database knew, right or wrong.
        Known = "known",
    }
}

words! {
    /// What a task must not do: memories that advise it are held back (R15).
    Prohibition, "policy" {
        /// Change nothing, anywhere.
        ReadOnly = "read_only",
        /// Delete nothing.
        NoDelete = "no_delete",
        /// Send nothing out, and call nobody outside.
        NoExternal = "no_external",
        /// Spend, move or pay back no money.
        NoMoney = "no_money",
    }
}

words! {
    /// What became of one memory in a recall (R11). The first that applies, in this order.
    Reason, "reason" {
        /// There is none with this id.
        NoSuchMemory = "no_such_memory",
        /// Another agent keeps it to itself.
        OtherAgents = "other_agents",
        /// It was forgotten.
        Forgotten = "forgotten",
        /// A newer one replaced it.
        Superseded = "superseded",
        /// Its time in recall is over.
        Expired = "expired",
        /// It is true from later on.
        NotValidYet = "not_valid_yet",
        /// It was true until earlier.
        NoLongerValid = "no_longer_valid",
        /// The database learned it after the time that is asked for.
        NotKnownYet = "not_known_yet",
        /// It is in the archive.
        Archived = "archived",
        /// It waits for a review.
        Quarantined = "quarantined",
        /// It is a rule that is not active.
        RuleNotActive = "rule_not_active",
        /// A condition of the filter refuses it.
        Filtered = "filtered",
        /// No channel found it.
        NotFound = "not_found",
        /// It is less like the query than the floor asks for.
        BelowMinScore = "below_min_score",
        /// It advises what the task's policy forbids.
        HeldBack = "held_back",
        /// A newer hit says the same.
        Collapsed = "collapsed",
        /// Others rank before it, and there is room for no more.
        BeyondTopK = "beyond_top_k",
        /// The budget of tokens was spent.
        OutOfBudget = "out_of_budget",
        /// It was returned.
        Returned = "returned",
    }
}

words! {
    /// What the change feed says of a memory or of a whole namespace (L9).
    ChangeKind, "change" {
        /// A memory came into being.
        Created = "created",
        /// A memory has a new version: its texts, or how it stands.
        Changed = "changed",
        /// A memory was deleted softly.
        Forgotten = "forgotten",
        /// Memories were erased for good; which is not said any more.
        Purged = "purged",
        /// The namespace was erased with all memories in it.
        NamespacePurged = "namespace_purged",
        /// The namespace was dropped with all memories in it.
        NamespaceDropped = "namespace_dropped",
    }
}

impl Default for Axis {
    fn default() -> Axis {
        Axis::Valid
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_spelled_the_same_in_text_and_in_json() {
        for kind in Kind::ALL {
            assert_eq!(kind.as_str().parse::<Kind>().unwrap(), *kind);
            assert_eq!(serde_json::to_string(kind).unwrap(), format!("{:?}", kind.as_str()));
        }
        for source in SourceKind::ALL {
            assert_eq!(serde_json::to_string(source).unwrap(), format!("{:?}", source.as_str()));
        }
    }

    #[test]
    fn an_unknown_word_is_answered_with_the_right_ones() {
        let error = "diary".parse::<Kind>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "unknown kind \"diary\": expected one of episode, fact, preference, procedure, rule"
        );
    }
}

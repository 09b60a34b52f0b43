//! The closed word lists: enum numbers on the wire, enums in core. Zero is no word: it means "absent".

use hindsight_core::{
    Axis, ChangeKind, Durability, Fusion, Invalid, Kind, Layer, LeftOut, Mode, OnDuplicate, Outcome,
    Polarity, Prohibition, Reason, Relation, RuleChange, RuleEventKind, RuleState, Scope, SourceKind, State,
    Status, VectorRole, Verdict,
};

use crate::v1;

/// A word that has a number on the wire.
pub trait Word: Copy {
    /// The word behind a number; none for zero and for numbers without a word.
    fn of_number(number: i32) -> Option<Self>;
    /// Its number.
    fn number(self) -> i32;
    /// The names of the whole list as the proto files spell them, zero left out.
    fn names() -> Vec<&'static str>;
}

/// Ties a core enum to the wire enum of the same variants. Both matches are exhaustive, so a new word on either
/// side does not compile until the other has it.
macro_rules! word {
    ($core:ident { $($variant:ident),+ }) => {
        impl Word for $core {
            fn of_number(number: i32) -> Option<Self> {
                match v1::$core::try_from(number).ok()? {
                    v1::$core::Unspecified => None,
                    $(v1::$core::$variant => Some($core::$variant),)+
                }
            }

            fn number(self) -> i32 {
                match self { $($core::$variant => v1::$core::$variant,)+ }.into()
            }

            fn names() -> Vec<&'static str> {
                vec![$(v1::$core::$variant.as_str_name()),+]
            }
        }
    };
}

word!(Kind { Episode, Fact, Preference, Procedure, Rule });
word!(Layer { Working, Episodic, Semantic, Procedural });
word!(Status { Success, Failure, Partial });
word!(State { Active, Superseded, Archived, Quarantined, Forgotten });
word!(Scope { Shared, Agent });
word!(SourceKind { Admin, AgentVerified, Tool, Agent, UserInput, External });
word!(Polarity { Do, Avoid });
word!(RuleState { Observing, Active, Deprecated });
word!(VectorRole { Content, Summary, Keywords });
word!(Mode { Hybrid, Vector, Keyword });
word!(Fusion { Weighted, Rrf });
word!(Axis { Valid, Known });
word!(Prohibition { ReadOnly, NoDelete, NoExternal, NoMoney });
word!(Reason {
    NoSuchMemory,
    OtherAgents,
    Forgotten,
    Superseded,
    Expired,
    NotValidYet,
    NoLongerValid,
    NotKnownYet,
    Archived,
    Quarantined,
    RuleNotActive,
    Filtered,
    NotFound,
    BelowMinScore,
    HeldBack,
    Collapsed,
    BeyondTopK,
    OutOfBudget,
    Returned
});
word!(OnDuplicate { Reinforce, Reject, Allow });
word!(Outcome { Created, Reinforced, Superseded, Echoed });
word!(Relation { Superseded, SupersededBy, Conflict });
word!(RuleEventKind { Found, Adopted, Revised, Confirmed, Falsified, ByHand });
word!(RuleChange { Created, Revised, Replaced });
word!(LeftOut { SingleValued, Ends, Full });
word!(Durability { Sync, Async });
word!(Verdict { Used, Ignored, Wrong, Outdated });
word!(ChangeKind { Created, Changed, Forgotten, Purged, NamespacePurged, NamespaceDropped });

/// A word that may be absent.
///
/// # Errors
/// When the number stands for no word.
pub fn optional<W: Word>(field: &str, number: i32) -> Result<Option<W>, Invalid> {
    if number == 0 { Ok(None) } else { known(field, number).map(Some) }
}

/// A word that must be there.
///
/// # Errors
/// When the number is zero or stands for no word.
pub fn required<W: Word>(field: &str, number: i32) -> Result<W, Invalid> {
    if number == 0 {
        return Err(Invalid::one(field, format!("is missing: expected one of {}", W::names().join(", "))));
    }
    known(field, number)
}

/// A list of words, such as those of a filter. Of several bad ones the first is named.
///
/// # Errors
/// When a number is zero or stands for no word.
pub fn list<W: Word>(field: &str, numbers: &[i32]) -> Result<Vec<W>, Invalid> {
    let words = numbers.iter().enumerate();
    words.map(|(index, number)| known(&format!("{field}[{index}]"), *number)).collect()
}

/// The numbers of a list of words.
#[must_use]
pub fn numbers<W: Word>(words: &[W]) -> Vec<i32> {
    words.iter().map(|word| word.number()).collect()
}

/// The number of a word that may be absent.
#[must_use]
pub fn number<W: Word>(word: Option<W>) -> i32 {
    word.map_or(0, Word::number)
}

fn known<W: Word>(field: &str, number: i32) -> Result<W, Invalid> {
    W::of_number(number).ok_or_else(|| {
        Invalid::one(field, format!("unknown value {number}: expected one of {}", W::names().join(", ")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_number_is_answered_with_the_right_names() {
        let invalid = optional::<Kind>("kind", 99).unwrap_err();
        assert_eq!(
            invalid.to_string(),
            "kind: unknown value 99: expected one of KIND_EPISODE, KIND_FACT, KIND_PREFERENCE, KIND_PROCEDURE, KIND_RULE"
        );
        assert_eq!(optional::<Kind>("kind", 0), Ok(None));
        assert!(required::<Scope>("scope", 0).unwrap_err().to_string().starts_with("scope: is missing"));
        let invalid = list::<Status>("statuses", &[1, 0, -7]).unwrap_err();
        assert_eq!(invalid.violations[0].field, "statuses[1]");
    }

    #[test]
    fn every_word_has_a_number_of_its_own() {
        for kind in Kind::ALL {
            assert_eq!(Kind::of_number(kind.number()), Some(*kind));
        }
        for source in SourceKind::ALL {
            assert_eq!(SourceKind::of_number(source.number()), Some(*source));
        }
        assert_eq!(Kind::names().len(), Kind::ALL.len());
        assert_eq!(numbers(&[State::Active, State::Forgotten]), [1, 5]);
    }
}

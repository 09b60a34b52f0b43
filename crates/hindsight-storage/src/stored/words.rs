//! The numbers that stand for the core's words on disk. A number is never given a second meaning.

use hindsight_core::{Kind, Polarity, RuleState, Scope, SourceKind, State, Status, VectorRole};

use crate::codec::CodecError;

/// A word that has a number on disk.
pub(super) trait Word: Sized {
    /// The number.
    fn code(&self) -> u8;
    /// The word of a number that stands in `field`.
    fn from_code(field: &'static str, code: u8) -> Result<Self, CodecError>;
}

macro_rules! codes {
    ($name:ident { $($variant:ident = $code:literal),+ $(,)? }) => {
        impl Word for $name {
            fn code(&self) -> u8 {
                match self { $($name::$variant => $code),+ }
            }

            fn from_code(field: &'static str, code: u8) -> Result<Self, CodecError> {
                match code {
                    $($code => Ok($name::$variant),)+
                    found => Err(CodecError::Word { field, found }),
                }
            }
        }
    };
}

codes!(Kind { Episode = 1, Fact = 2, Preference = 3, Procedure = 4, Rule = 5 });
codes!(Status { Success = 1, Failure = 2, Partial = 3 });
codes!(State { Active = 1, Superseded = 2, Archived = 3, Quarantined = 4, Forgotten = 5 });
codes!(Scope { Shared = 1, Agent = 2 });
codes!(SourceKind { Admin = 1, AgentVerified = 2, Tool = 3, Agent = 4, UserInput = 5, External = 6 });
codes!(Polarity { Do = 1, Avoid = 2 });
codes!(RuleState { Observing = 1, Active = 2, Deprecated = 3 });
codes!(VectorRole { Content = 1, Summary = 2, Keywords = 3 });

#[cfg(test)]
mod tests {
    use super::*;

    fn check<T: Word + Copy + PartialEq + std::fmt::Debug>(words: &[T]) {
        for (at, word) in words.iter().enumerate() {
            assert_eq!(T::from_code("field", word.code()).unwrap(), *word);
            assert!(words[..at].iter().all(|other| other.code() != word.code()), "{word:?}");
        }
        assert!(matches!(T::from_code("field", 0), Err(CodecError::Word { field: "field", found: 0 })));
        assert!(T::from_code("field", 200).is_err());
    }

    #[test]
    fn every_word_has_a_number_of_its_own() {
        check(Kind::ALL);
        check(Status::ALL);
        check(State::ALL);
        check(Scope::ALL);
        check(SourceKind::ALL);
        check(Polarity::ALL);
        check(RuleState::ALL);
        check(&[VectorRole::Content, VectorRole::Summary, VectorRole::Keywords]);
    }
}

//! What serde finds wrong, in parts.

use std::fmt;

use hindsight_core::Invalid;
use serde::de;

use crate::words::nearest;

/// An error of reading a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fault {
    /// A field that the type does not have. serde's path ends with it or before it.
    UnknownField { field: String, expected: &'static [&'static str] },
    /// A word that is not in its list.
    UnknownWord { word: String, expected: &'static [&'static str] },
    /// A field that must be there.
    Missing { field: &'static str },
    /// A value of another type, or outside the type's range.
    Unexpected { found: String, expected: String },
    /// What the type itself says.
    Other(String),
}

impl Fault {
    /// The violation, for a value at `path`; `also` are field names that could have been meant.
    pub(super) fn into_invalid(self, path: &str, also: &[&'static str]) -> Invalid {
        match self {
            Fault::UnknownField { field, expected } => {
                let known = || expected.iter().copied().chain(also.iter().copied());
                let hint = match nearest(&field, known()) {
                    Some(meant) => format!("did you mean {meant}?"),
                    None => format!("expected one of {}", known().collect::<Vec<_>>().join(", ")),
                };
                Invalid::one(join(path, &field), format!("is no field here: {hint}"))
            }
            Fault::UnknownWord { word, expected } => {
                let hint = match nearest(&word, expected.iter().copied()) {
                    Some(meant) => format!("did you mean {meant}?"),
                    None => format!("expected one of {}", expected.join(", ")),
                };
                Invalid::one(super::field_of(path), format!("unknown word {word:?}: {hint}"))
            }
            Fault::Missing { field } => Invalid::one(join(path, field), "is missing"),
            Fault::Unexpected { found, expected } => {
                Invalid::one(super::field_of(path), format!("is {found}: expected {expected}"))
            }
            Fault::Other(problem) => Invalid::one(super::field_of(path), problem),
        }
    }
}

fn join(path: &str, field: &str) -> String {
    match path {
        "" | "." => field.to_owned(),
        path if path == field || path.ends_with(&format!(".{field}")) => path.to_owned(),
        path => format!("{path}.{field}"),
    }
}

/// The name of one of Rust's number types, in words.
fn in_words(expected: &str) -> String {
    match expected {
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number, 0 or more",
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
        "f32" | "f64" => "a number",
        other => other,
    }
    .to_owned()
}

/// Texts of a caller are shown back to it, cut.
fn shown(text: &str) -> String {
    text.chars().take(80).collect()
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.clone().into_invalid("", &[]).to_string())
    }
}

impl std::error::Error for Fault {}

impl de::Error for Fault {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Fault::Other(message.to_string())
    }

    fn invalid_type(found: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Fault::Unexpected { found: shown(&found.to_string()), expected: in_words(&expected.to_string()) }
    }

    fn invalid_value(found: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Self::invalid_type(found, expected)
    }

    fn invalid_length(found: usize, expected: &dyn de::Expected) -> Self {
        Fault::Unexpected { found: format!("of length {found}"), expected: expected.to_string() }
    }

    fn unknown_variant(word: &str, expected: &'static [&'static str]) -> Self {
        Fault::UnknownWord { word: shown(word), expected }
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        Fault::UnknownField { field: shown(field), expected }
    }

    fn missing_field(field: &'static str) -> Self {
        Fault::Missing { field }
    }
}

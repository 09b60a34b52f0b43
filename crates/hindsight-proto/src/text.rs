//! Texts that may be absent: on the wire the empty text stands for none.

use hindsight_core::Invalid;

/// A text from the wire.
pub(crate) fn optional(text: String) -> Option<String> {
    (!text.is_empty()).then_some(text)
}

/// A text for the wire.
pub(crate) fn or_empty(text: Option<String>) -> String {
    text.unwrap_or_default()
}

/// Reads a text that has a form of its own, such as an id.
pub(crate) fn parsed<T>(field: &str, text: &str) -> Result<T, Invalid>
where
    T: std::str::FromStr,
    T::Err: std::fmt::Display,
{
    if text.is_empty() {
        return Err(missing(field));
    }
    text.parse().map_err(|error: T::Err| Invalid::one(field, error.to_string()))
}

/// Reads a text that has a form of its own and may be absent.
pub(crate) fn parsed_optional<T>(field: &str, text: &str) -> Result<Option<T>, Invalid>
where
    T: std::str::FromStr,
    T::Err: std::fmt::Display,
{
    if text.is_empty() { Ok(None) } else { parsed(field, text).map(Some) }
}

/// The violation of a field that must be there.
pub(crate) fn missing(field: &str) -> Invalid {
    Invalid::one(field, "is missing")
}

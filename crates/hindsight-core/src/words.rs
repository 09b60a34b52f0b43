//! Reading lists of words the way people write them.

use serde::{Deserialize, Deserializer};

/// Reads a list, or a single value as a list of one.
///
/// # Errors
/// What the value's own type says of a value it can't take.
pub(crate) fn one_or_many<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: serde::de::DeserializeOwned,
{
    use serde::de::Error as _;
    // Through a JSON value, so that the error is the element's own ("unknown variant `x`, expected one of …")
    // and not "did not match any variant".
    let one = |value| serde_json::from_value::<T>(value).map_err(D::Error::custom);
    match serde_json::Value::deserialize(deserializer)? {
        serde_json::Value::Array(items) => items.into_iter().map(one).collect(),
        single => Ok(vec![one(single)?]),
    }
}

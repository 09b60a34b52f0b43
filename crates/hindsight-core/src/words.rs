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

/// Gives a type whose text form is `Display` and `FromStr` the same form in JSON.
macro_rules! text_form {
    ($name:ty) => {
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

pub(crate) use text_form;

//! Reading JSON so that each error names its field.
//!
//! `serde_json`'s own errors are sentences; a caller needs the path of the field, and for a field that does not exist
//! the name that was meant. So a body is read in two steps: bytes to a value, value to a type through [`Json`], whose
//! errors keep their parts.

mod deserializer;
mod fault;

use hindsight_core::Invalid;
use serde::de::DeserializeOwned;
use serde_json::Value;

use deserializer::Json;

/// Reads the text of a body.
///
/// # Errors
/// What is not JSON, with the field it stands at, and its line and column.
pub(crate) fn parse(bytes: &[u8]) -> Result<Value, Invalid> {
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize::<_, Value>(&mut reader).map_err(|error| {
        let path = error.path().to_string();
        Invalid::one(field_of(&path), format!("is not JSON: {}", error.inner()))
    })?;
    reader.end().map_err(|error| Invalid::one("body", format!("is not JSON: {error}")))?;
    Ok(value)
}

/// Reads a value as a `T`. `path` is the value's own, empty for a whole body; `also` are names beside those of `T`
/// that the caller could have meant.
///
/// # Errors
/// The first field that is wrong, by its path.
pub(crate) fn read<T: DeserializeOwned>(
    value: Value,
    path: &str,
    also: &[&'static str],
) -> Result<T, Invalid> {
    serde_path_to_error::deserialize(Json(value)).map_err(|error| {
        let inner = error.path().to_string();
        let whole = match (path, inner.as_str()) {
            (path, ".") => path.to_owned(),
            ("", inner) => inner.to_owned(),
            (path, inner) if inner.starts_with('[') => format!("{path}{inner}"),
            (path, inner) => format!("{path}.{inner}"),
        };
        error.into_inner().into_invalid(&whole, also)
    })
}

/// The root has no name of its own.
fn field_of(path: &str) -> &str {
    match path {
        "." | "?" | "" => "body",
        path => path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hindsight_core::draft::RecordDraft;
    use hindsight_core::{Draft, Patch};

    fn error<T: DeserializeOwned + std::fmt::Debug>(text: &str) -> String {
        let value = parse(text.as_bytes()).unwrap();
        read::<T>(value, "", &["namespace"]).unwrap_err().to_string()
    }

    #[test]
    fn a_field_that_does_not_exist_is_named_with_the_one_that_was_meant() {
        assert_eq!(error::<Draft>(r#"{"contnt":"x"}"#), "contnt: is no field here: did you mean content?");
        assert_eq!(
            error::<RecordDraft>(r#"{"actions":[{"tool":"a"},{"tol":"b"}]}"#),
            "actions[1].tol: is no field here: did you mean tool?"
        );
        assert_eq!(
            error::<Draft>(r#"{"namspace":"x"}"#),
            "namspace: is no field here: did you mean namespace?"
        );
        let unlike = error::<Draft>(r#"{"banana":1}"#);
        assert!(
            unlike.starts_with("banana: is no field here: expected one of ") && unlike.contains("content")
        );
    }

    #[test]
    fn a_wrong_type_or_word_is_named_by_its_path() {
        assert_eq!(error::<Draft>(r#"{"content":5}"#), "content: is integer `5`: expected a string");
        let word = error::<Draft>(r#"{"kind":"diary"}"#);
        assert_eq!(
            word,
            "kind: unknown word \"diary\": expected one of episode, fact, preference, procedure, rule"
        );
        let near = error::<Draft>(r#"{"kind":"episod"}"#);
        assert!(near.contains("did you mean episode?"), "{near}");
        assert_eq!(error::<Draft>(r#"{"claims":[{"subject":"a"}]}"#), "claims[0].attribute: is missing");
        let time = error::<Draft>(r#"{"occurred_at":"soon"}"#);
        assert!(time.starts_with("occurred_at: \"soon\" is not a time: expected RFC 3339"), "{time}");
        assert!(error::<Draft>("[]").starts_with("body: is sequence"), "{}", error::<Draft>("[]"));
    }

    #[test]
    fn numbers_that_json_can_not_hold_are_named() {
        for text in [r#"{"importance":1e999}"#, r#"{"importance":NaN}"#] {
            let error = parse(text.as_bytes()).unwrap_err();
            assert_eq!(error.violations[0].field, "importance", "{error}");
        }
        assert!(parse(br#"{"a":1} x"#).is_err());
        assert_eq!(parse(b"").unwrap_err().violations[0].field, "body");
    }

    #[test]
    fn what_is_right_is_read() {
        let text = r#"{"content":"过敏","importance":1,"kind":"fact","occurred_at":"2026-11-30",
            "metadata":{"a":[1,-2,1.5,null,true]},"entities":[{"name":"x","type":"tool"}]}"#;
        let draft: Draft = read(parse(text.as_bytes()).unwrap(), "", &[]).unwrap();
        assert_eq!(draft.content, "过敏");
        assert_eq!(draft.importance, Some(1.0));
        assert_eq!(draft.metadata["a"], serde_json::json!([1, -2, 1.5, null, true]));
        let patch: Patch = read(parse(br#"{"valid_to":null}"#).unwrap(), "", &[]).unwrap();
        assert_eq!(patch.valid_to, Some(None));
    }
}

//! JSON objects: `google.protobuf.Struct` on the wire, `serde_json::Map` in core.
//!
//! Every number is a double on the wire. A whole one comes back as an integer, so that `3` stays `3`; an integer of
//! more than 53 bits loses its last digits there, which [`check_exact`] lets a client refuse.

use hindsight_core::Invalid;
use hindsight_core::limits::JSON_DEPTH_MAX;
use prost_types::value::Kind;
use prost_types::{ListValue, Struct, Value as WireValue};
use serde_json::{Map, Number, Value};

/// Letters of a key that an error may repeat: keys are the caller's and may be long.
const KEY_CHARS_SHOWN: usize = 64;

/// An object for the wire; an empty one is absent.
#[must_use]
pub fn to_wire(object: Map<String, Value>) -> Option<Struct> {
    (!object.is_empty()).then(|| struct_of(object))
}

/// An object from the wire; an absent one is empty.
///
/// # Errors
/// When a number is not finite, a value is none of JSON's, or the nesting is deeper than
/// [`JSON_DEPTH_MAX`]. The field is the path of the value, such as `metadata.sizes[2]`.
pub fn from_wire(field: &str, object: Option<Struct>) -> Result<Map<String, Value>, Invalid> {
    object.map_or_else(|| Ok(Map::new()), |object| map_of(object, JSON_DEPTH_MAX)).map_err(|bad| match bad {
        Bad::TooDeep => Invalid::one(field, format!("is nested deeper than {JSON_DEPTH_MAX} levels")),
        Bad::Value { path, what } => Invalid::one(format!("{field}{path}"), what),
    })
}

/// Checks that every integer of an object keeps all its digits on the wire.
///
/// # Errors
/// The path of the first that does not.
pub fn check_exact(field: &str, object: &Map<String, Value>) -> Result<(), Invalid> {
    object.iter().try_for_each(|(key, value)| value_is_exact(&format!("{field}.{}", shown(key)), value))
}

fn value_is_exact(field: &str, value: &Value) -> Result<(), Invalid> {
    match value {
        Value::Object(object) => check_exact(field, object),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .try_for_each(|(index, item)| value_is_exact(&format!("{field}[{index}]"), item)),
        Value::Number(number) if !number.is_f64() => {
            let back = number.as_f64().and_then(json_number);
            if back.as_ref() == Some(number) {
                return Ok(());
            }
            Err(Invalid::one(
                field,
                format!("is {number}: gRPC carries whole numbers of 53 bits; send it as text"),
            ))
        }
        _ => Ok(()),
    }
}

enum Bad {
    TooDeep,
    Value { path: String, what: String },
}

impl Bad {
    /// The same, seen from the container that holds the value at `place`.
    fn inside(self, place: &str) -> Bad {
        match self {
            Bad::TooDeep => Bad::TooDeep,
            Bad::Value { path, what } => Bad::Value { path: format!("{place}{path}"), what },
        }
    }
}

/// `levels` is how many containers may still be nested, this one included.
fn map_of(object: Struct, levels: usize) -> Result<Map<String, Value>, Bad> {
    let Some(levels) = levels.checked_sub(1) else { return Err(Bad::TooDeep) };
    let fields = object.fields.into_iter();
    fields
        .map(|(key, value)| match value_of(value, levels) {
            Ok(value) => Ok((key, value)),
            Err(bad) => Err(bad.inside(&format!(".{}", shown(&key)))),
        })
        .collect()
}

fn list_of(list: ListValue, levels: usize) -> Result<Value, Bad> {
    let Some(levels) = levels.checked_sub(1) else { return Err(Bad::TooDeep) };
    let items = list.values.into_iter().enumerate();
    items
        .map(|(index, item)| value_of(item, levels).map_err(|bad| bad.inside(&format!("[{index}]"))))
        .collect()
}

fn value_of(value: WireValue, levels: usize) -> Result<Value, Bad> {
    let bad = |what: String| Bad::Value { path: String::new(), what };
    match value.kind {
        Some(Kind::NullValue(_)) => Ok(Value::Null),
        Some(Kind::BoolValue(value)) => Ok(Value::Bool(value)),
        Some(Kind::StringValue(text)) => Ok(Value::String(text)),
        Some(Kind::NumberValue(number)) => json_number(number)
            .map(Value::Number)
            .ok_or_else(|| bad(format!("is {number}: expected a finite number"))),
        Some(Kind::StructValue(object)) => map_of(object, levels).map(Value::Object),
        Some(Kind::ListValue(list)) => list_of(list, levels),
        None => Err(bad("has no value: expected null, a bool, number, text, list or object".to_owned())),
    }
}

/// A whole number as an integer, any other finite one as it is.
fn json_number(number: f64) -> Option<Number> {
    const TWO_POW_63: f64 = 9_223_372_036_854_775_808.0;
    if number.fract() == 0.0 {
        #[expect(clippy::cast_possible_truncation, reason = "whole, and the range was checked")]
        #[expect(clippy::cast_sign_loss, reason = "the range was checked")]
        if (-TWO_POW_63..TWO_POW_63).contains(&number) {
            return Some(Number::from(number as i64));
        } else if (TWO_POW_63..TWO_POW_63 * 2.0).contains(&number) {
            return Some(Number::from(number as u64));
        }
    }
    Number::from_f64(number)
}

fn struct_of(object: Map<String, Value>) -> Struct {
    Struct { fields: object.into_iter().map(|(key, value)| (key, wire_value(value))).collect() }
}

fn wire_value(value: Value) -> WireValue {
    let kind = match value {
        Value::Null => Kind::NullValue(0),
        Value::Bool(value) => Kind::BoolValue(value),
        // Without `arbitrary_precision` every JSON number has a double; the fallback never happens.
        Value::Number(number) => Kind::NumberValue(number.as_f64().unwrap_or_default()),
        Value::String(text) => Kind::StringValue(text),
        Value::Array(items) => {
            Kind::ListValue(ListValue { values: items.into_iter().map(wire_value).collect() })
        }
        Value::Object(object) => Kind::StructValue(struct_of(object)),
    };
    WireValue { kind: Some(kind) }
}

fn shown(key: &str) -> &str {
    key.char_indices().nth(KEY_CHARS_SHOWN).map_or(key, |(end, _)| &key[..end])
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn object(value: Value) -> Map<String, Value> {
        let Value::Object(object) = value else { panic!("expected an object") };
        object
    }

    fn number(value: f64) -> Struct {
        let value = WireValue { kind: Some(Kind::NumberValue(value)) };
        let list = WireValue { kind: Some(Kind::ListValue(ListValue { values: vec![value] })) };
        Struct { fields: [("a".to_owned(), list)].into() }
    }

    #[test]
    fn json_comes_through_and_whole_numbers_stay_whole() {
        let there = object(json!({
            "名": "值", "n": 3, "neg": -7, "f": 0.25, "big": 9_007_199_254_740_992_i64, "yes": true,
            "nothing": null, "list": [1, [2.5], {}], "in": {"k": []}
        }));
        assert_eq!(from_wire("metadata", to_wire(there.clone())), Ok(there));
        assert_eq!(to_wire(Map::new()), None);
        assert_eq!(
            from_wire("m", Some(number(1e18))).unwrap()["a"][0].as_i64(),
            Some(1_000_000_000_000_000_000)
        );
        assert_eq!(
            from_wire("m", Some(number(1e19))).unwrap()["a"][0].as_u64(),
            Some(10_000_000_000_000_000_000)
        );
        assert_eq!(from_wire("m", Some(number(1e300))).unwrap()["a"][0].as_f64(), Some(1e300));
    }

    #[test]
    fn what_is_no_json_is_named_by_its_path() {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let invalid = from_wire("metadata", Some(number(bad))).unwrap_err();
            assert_eq!(invalid.violations[0].field, "metadata.a[0]");
        }
        let empty = Struct { fields: [("k".repeat(500), WireValue { kind: None })].into() };
        let invalid = from_wire("metadata", Some(empty)).unwrap_err();
        assert_eq!(invalid.violations[0].field, format!("metadata.{}", "k".repeat(64)));
    }

    #[test]
    fn depth_ends_where_core_ends_it() {
        let nested = |levels: usize| {
            let mut value = json!({});
            for _ in 1..levels {
                value = json!({ "k": value });
            }
            to_wire(object(json!({ "k": value })))
        };
        assert!(from_wire("metadata", nested(JSON_DEPTH_MAX - 1)).is_ok());
        let invalid = from_wire("metadata", nested(JSON_DEPTH_MAX)).unwrap_err();
        assert_eq!(invalid.to_string(), "metadata: is nested deeper than 16 levels");
    }

    #[test]
    fn digits_are_not_lost_unsaid() {
        assert_eq!(
            check_exact("metadata", &object(json!({"a": 9_007_199_254_740_992_u64, "b": 0.1}))),
            Ok(())
        );
        let invalid = check_exact("metadata", &object(json!({"a": [{"id": 9_007_199_254_740_993_u64}]})));
        assert_eq!(invalid.unwrap_err().violations[0].field, "metadata.a[0].id");
    }
}

//! `--map`: which key of a foreign line holds what.

use std::str::FromStr;

use hindsight_core::Invalid;
use serde_json::{Map, Value};

/// What a line may carry, as generic lines name it.
const FIELDS: [&str; 13] = [
    "text",
    "id",
    "timestamp",
    "speaker",
    "session",
    "entities",
    "outcome",
    "kind",
    "summary",
    "tags",
    "keywords",
    "task_type",
    "namespace",
];
/// The memory's own words for the same.
const ALIASES: [(&str, &str); 4] =
    [("content", "text"), ("occurred_at", "timestamp"), ("status", "outcome"), ("session_id", "session")];

/// Fields, each with the key that it is read from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Mapping(Vec<(&'static str, String)>);

impl FromStr for Mapping {
    type Err = String;

    /// Reads `field=key,field=key`; a key may lead into objects, as `message.text`.
    fn from_str(text: &str) -> Result<Mapping, String> {
        let mut pairs = Vec::new();
        for pair in text.split(',').map(str::trim).filter(|pair| !pair.is_empty()) {
            let Some((field, key)) = pair.split_once('=') else {
                return Err(format!("{pair:?} is no FIELD=KEY, such as content=body"));
            };
            let (field, key) = (field.trim(), key.trim());
            let plain = ALIASES.iter().find(|(alias, _)| *alias == field).map_or(field, |(_, plain)| plain);
            let Some(known) = FIELDS.iter().copied().find(|known| *known == plain) else {
                return Err(format!("{field:?} is no field: expected one of {}", FIELDS.join(", ")));
            };
            if key.is_empty() || pairs.iter().any(|(other, _)| *other == known) {
                return Err(format!("{pair:?}: a field is read from one key, which is named once"));
            }
            pairs.push((known, key.to_owned()));
        }
        Ok(Mapping(pairs))
    }
}

impl Mapping {
    /// A line in the words of generic lines; what no field is read from stays, and becomes metadata.
    ///
    /// # Errors
    /// When the text is not where the mapping says.
    pub(super) fn apply(&self, mut line: Map<String, Value>) -> Result<Map<String, Value>, Invalid> {
        let mut mapped = Map::new();
        for (field, key) in &self.0 {
            if let Some(value) = take(&mut line, key) {
                mapped.insert((*field).to_owned(), value);
            } else if *field == "text" {
                return Err(Invalid::one(key.as_str(), "is missing: --map reads the text from there"));
            }
        }
        // A key of the line that is called like a field that is read from elsewhere must not take its place.
        let others = line.into_iter().filter(|(name, _)| !mapped.contains_key(name));
        let others: Vec<_> = others.collect();
        mapped.extend(others);
        Ok(mapped)
    }
}

/// Takes the value at a key, or at the end of a path of keys.
fn take(object: &mut Map<String, Value>, path: &str) -> Option<Value> {
    if let Some(value) = object.remove(path) {
        return Some(value);
    }
    let (first, rest) = path.split_once('.')?;
    take(object.get_mut(first)?.as_object_mut()?, rest)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn mapped(mapping: &str, line: Value) -> Result<Value, Invalid> {
        let Value::Object(line) = line else { panic!("a line is an object") };
        mapping.parse::<Mapping>().unwrap().apply(line).map(Value::Object)
    }

    #[test]
    fn keys_are_read_from_where_the_mapping_says() {
        let line = json!({"body": {"text": "hi", "lang": "en"}, "date": 7, "text": "other", "x": 1});
        assert_eq!(
            mapped("content=body.text, occurred_at=date", line).unwrap(),
            json!({"text": "hi", "timestamp": 7, "body": {"lang": "en"}, "x": 1})
        );
        let refused = mapped("text=body", json!({"x": 1})).unwrap_err().to_string();
        assert!(refused.starts_with("body: is missing"), "{refused}");
    }

    #[test]
    fn what_is_no_mapping_is_refused() {
        for (text, word) in [
            ("content", "FIELD=KEY"),
            ("mood=x", "no field"),
            ("text=a,content=b", "once"),
            ("text=", "once"),
        ] {
            let refused = text.parse::<Mapping>().unwrap_err();
            assert!(refused.contains(word), "{refused}");
        }
    }
}

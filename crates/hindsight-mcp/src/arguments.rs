//! The arguments of a tool call, read as models send them: numbers and truths as text, a list as one value or as JSON
//! in a string, `null`, `"null"` and empty text for "not given". What can't be read, and what no tool knows, is refused
//! by name.

use std::fmt::Display;
use std::str::FromStr;

use hindsight_core::Invalid;
use rmcp::model::JsonObject;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The arguments of one call; each is taken out once.
pub(crate) struct Arguments {
    map: JsonObject,
    known: Vec<&'static str>,
}

impl Arguments {
    pub(crate) fn new(map: Option<JsonObject>) -> Arguments {
        Arguments { map: map.unwrap_or_default(), known: Vec::new() }
    }

    fn take(&mut self, name: &'static str) -> Option<Value> {
        self.known.push(name);
        match self.map.remove(name)? {
            Value::Null => None,
            Value::String(text) if matches!(text.trim(), "" | "null") => None,
            value => Some(value),
        }
    }

    /// Text; a number or a truth counts as its text.
    pub(crate) fn text(&mut self, name: &'static str) -> Result<Option<String>, Invalid> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(value @ (Value::Number(_) | Value::Bool(_))) => Ok(Some(value.to_string())),
            Some(_) => Err(Invalid::one(name, "is no text")),
        }
    }

    /// Text that must be there; `right` says what it is.
    pub(crate) fn needed(&mut self, name: &'static str, right: &str) -> Result<String, Invalid> {
        self.text(name)?.ok_or_else(|| Invalid::one(name, format!("is missing: {right}")))
    }

    /// Text that stands for something: a kind, a time, an id.
    pub(crate) fn parsed<T>(&mut self, name: &'static str) -> Result<Option<T>, Invalid>
    where
        T: FromStr,
        T::Err: Display,
    {
        let text = self.text(name)?;
        text.map(|text| text.trim().parse().map_err(|bad: T::Err| Invalid::one(name, bad.to_string())))
            .transpose()
    }

    /// A number.
    pub(crate) fn number(&mut self, name: &'static str) -> Result<Option<f64>, Invalid> {
        self.in_text(name, "is no number: expected one such as 0.5")
    }

    /// A whole number that is not negative.
    pub(crate) fn whole(&mut self, name: &'static str) -> Result<Option<usize>, Invalid> {
        self.in_text(name, "is no whole number from 0 on: expected one such as 8")
    }

    /// A truth.
    pub(crate) fn flag(&mut self, name: &'static str) -> Result<bool, Invalid> {
        Ok(self.in_text(name, "is neither true nor false")?.unwrap_or(false))
    }

    fn in_text<T: DeserializeOwned>(
        &mut self,
        name: &'static str,
        wrong: &str,
    ) -> Result<Option<T>, Invalid> {
        let Some(value) = self.take(name) else { return Ok(None) };
        let value = match value {
            Value::String(text) => serde_json::from_str(text.trim()).unwrap_or(Value::String(text)),
            value => value,
        };
        serde_json::from_value(value).map(Some).map_err(|_| Invalid::one(name, wrong))
    }

    /// Texts: a list, a list as JSON in a string, or a single one.
    pub(crate) fn texts(&mut self, name: &'static str) -> Result<Vec<String>, Invalid> {
        let values = match self.list(name)? {
            None => return Ok(Vec::new()),
            Some(values) => values,
        };
        let text = |(index, value): (usize, Value)| match value {
            Value::String(text) => Ok(text),
            Value::Number(number) => Ok(number.to_string()),
            _ => Err(Invalid::one(format!("{name}[{index}]"), "is no text")),
        };
        values.into_iter().enumerate().map(text).collect()
    }

    /// Objects: a list, a list as JSON in a string, or a single one.
    pub(crate) fn objects<T: DeserializeOwned>(&mut self, name: &'static str) -> Result<Vec<T>, Invalid> {
        let values = self.list(name)?.unwrap_or_default();
        let object = |(index, value)| {
            serde_json::from_value(value)
                .map_err(|bad| Invalid::one(format!("{name}[{index}]"), bad.to_string()))
        };
        values.into_iter().enumerate().map(object).collect()
    }

    fn list(&mut self, name: &'static str) -> Result<Option<Vec<Value>>, Invalid> {
        Ok(match self.take(name) {
            None => None,
            Some(Value::Array(values)) => Some(values),
            Some(Value::String(text)) if text.trim_start().starts_with('[') => {
                let wrong =
                    |_| Invalid::one(name, "looks like a list and is no JSON: expected [\"a\", \"b\"]");
                Some(serde_json::from_str(&text).map_err(wrong)?)
            }
            Some(single) => Some(vec![single]),
        })
    }

    /// Refuses what is left over.
    pub(crate) fn finish(self) -> Result<(), Invalid> {
        let Some((name, _)) = self.map.into_iter().next() else { return Ok(()) };
        let problem = match name.as_str() {
            "namespace" | "user_id" => {
                "is no argument: this connection is bound to one namespace, by its address or its command line"
                    .to_owned()
            }
            _ => format!("is no argument of this tool: it has {}", self.known.join(", ")),
        };
        Err(Invalid::one(name, problem))
    }
}

#[cfg(test)]
mod tests {
    use hindsight_core::{Kind, time::Span};
    use serde_json::json;

    use super::*;

    fn arguments(value: Value) -> Arguments {
        Arguments::new(value.as_object().cloned())
    }

    #[test]
    fn what_models_send_is_understood() {
        let mut given = arguments(json!({
            "limit": "5", "explain": "true", "tags": "[\"a\", \"b\"]", "ids": "mem_1", "kind": "null", "since": null,
            "min_score": 0.25, "last": " 7d ", "query": 42, "until": ""
        }));
        assert_eq!(given.whole("limit").unwrap(), Some(5));
        assert!(given.flag("explain").unwrap());
        assert_eq!(given.texts("tags").unwrap(), ["a", "b"]);
        assert_eq!(given.texts("ids").unwrap(), ["mem_1"]);
        assert_eq!(given.parsed::<Kind>("kind").unwrap(), None);
        assert_eq!(given.text("since").unwrap(), None);
        assert_eq!(given.number("min_score").unwrap(), Some(0.25));
        assert_eq!(given.parsed::<Span>("last").unwrap(), Some("7d".parse().unwrap()));
        assert_eq!(given.text("query").unwrap().as_deref(), Some("42"));
        assert_eq!(given.text("until").unwrap(), None);
        assert!(given.finish().is_ok());
    }

    #[test]
    fn what_is_wrong_is_named() {
        let field = |invalid: Invalid| invalid.violations[0].field.clone();
        let mut given = arguments(json!({
            "limit": -1, "explain": "perhaps", "tags": "[a", "kind": "diary", "query": {}, "ids": [{}]
        }));
        assert_eq!(field(given.whole("limit").unwrap_err()), "limit");
        assert_eq!(field(given.flag("explain").unwrap_err()), "explain");
        assert_eq!(field(given.texts("tags").unwrap_err()), "tags");
        assert!(given.parsed::<Kind>("kind").unwrap_err().to_string().contains("preference"));
        assert_eq!(field(given.text("query").unwrap_err()), "query");
        assert_eq!(field(given.texts("ids").unwrap_err()), "ids[0]");
        assert_eq!(field(given.needed("text", "say what to keep").unwrap_err()), "text");
    }

    #[test]
    fn no_argument_names_a_namespace() {
        let foreign = arguments(json!({"namespace": "other"})).finish().unwrap_err().to_string();
        assert!(foreign.contains("bound to one namespace"), "{foreign}");
        let mut other = arguments(json!({"top_k": 3}));
        other.whole("limit").unwrap();
        assert_eq!(
            other.finish().unwrap_err().to_string(),
            "top_k: is no argument of this tool: it has limit"
        );
    }
}

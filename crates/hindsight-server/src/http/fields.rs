//! A JSON object whose fields belong partly to the call and partly to what the call carries, side by side.

use hindsight_core::{Invalid, MemoryId, Namespace, RawVector, RawVectors};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::json;

/// The fields of one object, taken out by name; what is left over is read as one type, or refused.
pub(super) struct Fields {
    path: String,
    map: Map<String, Value>,
    /// Names that were asked for, also those that were not there: what a caller may have meant.
    known: Vec<&'static str>,
}

impl Fields {
    /// The fields of a whole body.
    ///
    /// # Errors
    /// When it is no JSON object.
    pub(super) fn of_body(bytes: &[u8]) -> Result<Fields, Invalid> {
        Fields::of_value(json::parse(bytes)?, "")
    }

    /// The fields of a value at `path`.
    ///
    /// # Errors
    /// When it is no object.
    pub(super) fn of_value(value: Value, path: &str) -> Result<Fields, Invalid> {
        match value {
            Value::Object(map) => Ok(Fields { path: path.to_owned(), map, known: Vec::new() }),
            _ => {
                let field = if path.is_empty() { "body" } else { path };
                Err(Invalid::one(field, "is no JSON object: expected {\"field\": value, …}"))
            }
        }
    }

    /// Fields that were put together from something else.
    pub(super) fn of_map(map: Map<String, Value>) -> Fields {
        Fields { path: String::new(), map, known: Vec::new() }
    }

    /// Lets fields that are `null` count as absent.
    pub(super) fn without_nulls(mut self) -> Fields {
        self.map.retain(|_, value| !value.is_null());
        self
    }

    /// The field's value, if it is there and not `null`.
    ///
    /// # Errors
    /// When it can't be read as a `T`.
    pub(super) fn take<T: DeserializeOwned>(&mut self, name: &'static str) -> Result<Option<T>, Invalid> {
        self.known.push(name);
        match self.map.remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => json::read(value, &self.path_of(name), &[]).map(Some),
        }
    }
    /// As [`Fields::take`], for a field with two names.
    ///
    /// # Errors
    /// Also when both are there.
    pub(super) fn take_either<T: DeserializeOwned>(
        &mut self,
        name: &'static str,
        other: &'static str,
    ) -> Result<Option<T>, Invalid> {
        match (self.take(name)?, self.take(other)?) {
            (Some(_), Some(_)) => {
                Err(Invalid::one(self.path_of(other), format!("is {name} by another name: give one of them")))
            }
            (one, None) | (None, one) => Ok(one),
        }
    }

    /// What names the namespace: a field, or else the header.
    ///
    /// # Errors
    /// When the field is no text.
    pub(super) fn namespace_named(&mut self, header: Option<&str>) -> Result<Option<String>, Invalid> {
        let text = self.take::<String>("namespace")?;
        Ok(text.or_else(|| header.map(str::to_owned)))
    }

    /// Whether a field is there and `true`; it stays.
    pub(super) fn says(&self, name: &str) -> bool {
        self.map.get(name) == Some(&Value::Bool(true))
    }

    /// The namespace that a text names.
    ///
    /// # Errors
    /// When there is none, or it can't name one.
    pub(super) fn namespace_of(text: Option<&str>) -> Result<Namespace, Invalid> {
        let text =
            text.ok_or_else(|| Invalid::one("namespace", "is missing: name the tenant, such as \"ops\""))?;
        text.parse().map_err(|bad: hindsight_core::namespace::BadNamespace| {
            Invalid::one("namespace", bad.to_string())
        })
    }

    /// Vectors with their model: both or none.
    ///
    /// # Errors
    /// When one comes without the other, or they can't be read.
    pub(super) fn vectors(&mut self) -> Result<Option<RawVectors>, Invalid> {
        let vectors: Option<Vec<RawVector>> = self.take("vectors")?;
        let model: Option<String> = self.take("embedding_model")?;
        match (vectors.filter(|vectors| !vectors.is_empty()), model) {
            (Some(vectors), Some(model)) => Ok(Some(RawVectors { model, vectors })),
            (None, None) => Ok(None),
            (Some(_), None) => Err(self.missing("embedding_model", "name the model that made the vectors")),
            (None, Some(_)) => Err(self.missing("vectors", "embedding_model names the model that made them")),
        }
    }

    /// Ids of memories, in a list or a single one.
    ///
    /// # Errors
    /// The first that is no id, or both fields together.
    pub(super) fn ids(&mut self) -> Result<Option<Vec<MemoryId>>, Invalid> {
        let single: Option<MemoryId> = self.take("id")?;
        let many: Option<Vec<MemoryId>> = self.take("ids")?;
        match (single, many) {
            (Some(_), Some(_)) => Err(Invalid::one("id", "comes with ids: give one of them")),
            (Some(id), None) => Ok(Some(vec![id])),
            (None, many) => Ok(many),
        }
    }

    /// What is left over, as one type.
    ///
    /// # Errors
    /// The first field that the type does not have or can't take.
    pub(super) fn rest<T: DeserializeOwned>(self) -> Result<T, Invalid> {
        json::read(Value::Object(self.map), &self.path, &self.known)
    }

    /// Refuses what is left over.
    ///
    /// # Errors
    /// The first field that nobody asked for.
    pub(super) fn finish(self) -> Result<(), Invalid> {
        #[derive(serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Nothing {}

        self.rest::<Nothing>().map(|Nothing {}| ())
    }

    fn missing(&self, name: &'static str, right: &str) -> Invalid {
        Invalid::one(self.path_of(name), format!("is missing: {right}"))
    }

    fn path_of(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(text: &str) -> Fields {
        Fields::of_body(text.as_bytes()).unwrap()
    }

    #[test]
    fn what_nobody_asked_for_is_refused_by_name() {
        let mut left = fields(r#"{"namespace":"ops","top_q":5}"#);
        assert_eq!(left.namespace_named(None).unwrap().as_deref(), Some("ops"));
        assert_eq!(left.take::<usize>("top_k"), Ok(None));
        assert_eq!(left.finish().unwrap_err().to_string(), "top_q: is no field here: did you mean top_k?");
    }

    #[test]
    fn the_namespace_may_come_from_the_header() {
        let named = |text: &str, header| {
            let named = fields(text).namespace_named(header)?;
            Fields::namespace_of(named.as_deref())
        };
        assert_eq!(named("{}", Some("ops")).unwrap().as_str(), "ops");
        assert_eq!(named(r#"{"namespace":"a"}"#, Some("ops")).unwrap().as_str(), "a");
        for bad in ["{}", r#"{"namespace":"../x"}"#, r#"{"namespace":5}"#] {
            assert_eq!(named(bad, None).unwrap_err().violations[0].field, "namespace", "{bad}");
        }
    }

    #[test]
    fn vectors_and_their_model_come_together() {
        let both =
            fields(r#"{"vectors":[{"values":[1,2.5]}],"embedding_model":"m"}"#).vectors().unwrap().unwrap();
        assert_eq!(both.vectors[0].values, [1.0, 2.5]);
        let field = |text: &str| fields(text).vectors().unwrap_err().violations[0].field.clone();
        assert_eq!(field(r#"{"vectors":[{"values":[1]}]}"#), "embedding_model");
        assert_eq!(field(r#"{"embedding_model":"m"}"#), "vectors");
        assert_eq!(field(r#"{"vectors":[{"values":["x"]}],"embedding_model":"m"}"#), "vectors[0].values[0]");
    }

    #[test]
    fn one_field_by_two_names_is_ambiguous() {
        let mut both = fields(r#"{"filter":{},"filters":{}}"#);
        assert!(both.take_either::<Value>("filter", "filters").is_err());
        let mut one = fields(r#"{"filters":{}}"#);
        assert!(one.take_either::<Value>("filter", "filters").unwrap().is_some());
    }
}

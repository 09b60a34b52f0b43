//! JSON schemas that every client takes: flat objects, one type a field, what may be left out is not `required`.

use std::sync::Arc;

use rmcp::model::JsonObject;
use serde_json::{Value, json};

/// The schema of a tool's arguments, built field by field. Fields stand in the order of their names, always the same,
/// so that a client may cache the text.
#[derive(Default)]
pub(crate) struct Schema {
    properties: JsonObject,
    required: Vec<&'static str>,
}

impl Schema {
    fn with(mut self, name: &'static str, mut field: Value, what: &str) -> Schema {
        if let (Some(field), false) = (field.as_object_mut(), what.is_empty()) {
            field.insert("description".to_owned(), Value::from(what));
        }
        self.properties.insert(name.to_owned(), field);
        self
    }

    /// The last of these fields must be given.
    pub(crate) fn require(mut self, name: &'static str) -> Schema {
        self.required.push(name);
        self
    }

    pub(crate) fn text(self, name: &'static str, what: &str) -> Schema {
        self.with(name, json!({"type": "string"}), what)
    }

    /// One of some words.
    pub(crate) fn word(self, name: &'static str, words: &[&str], what: &str) -> Schema {
        self.with(name, json!({"type": "string", "enum": words}), what)
    }

    pub(crate) fn texts(self, name: &'static str, what: &str) -> Schema {
        self.with(name, json!({"type": "array", "items": {"type": "string"}}), what)
    }

    pub(crate) fn number(self, name: &'static str, what: &str) -> Schema {
        self.with(name, json!({"type": "number"}), what)
    }

    pub(crate) fn whole(self, name: &'static str, what: &str) -> Schema {
        self.with(name, json!({"type": "integer"}), what)
    }

    pub(crate) fn flag(self, name: &'static str, what: &str) -> Schema {
        self.with(name, json!({"type": "boolean"}), what)
    }

    /// Objects with text fields.
    pub(crate) fn objects(self, name: &'static str, fields: &[&str], what: &str) -> Schema {
        let properties: JsonObject =
            fields.iter().map(|field| ((*field).to_owned(), json!({"type": "string"}))).collect();
        self.with(name, json!({"type": "array", "items": {"type": "object", "properties": properties}}), what)
    }

    pub(crate) fn build(self) -> Arc<JsonObject> {
        let mut schema = JsonObject::new();
        schema.insert("type".to_owned(), Value::from("object"));
        schema.insert("properties".to_owned(), Value::Object(self.properties));
        if !self.required.is_empty() {
            schema.insert("required".to_owned(), Value::from(self.required));
        }
        Arc::new(schema)
    }
}

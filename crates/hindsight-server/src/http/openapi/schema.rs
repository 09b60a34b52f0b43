//! Schemas of JSON, made from the messages of the wire: the names are the same, enums are their lower-case word, times are
//! RFC 3339.

use std::collections::BTreeMap;

use prost::Message as _;
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{DescriptorProto, EnumDescriptorProto, FieldDescriptorProto, FileDescriptorSet};
use serde_json::{Map, Value, json};

/// Fields of JSON whose type no message of the wire has under that name.
pub(super) fn special(name: &str) -> Option<Value> {
    let one_or_many =
        || json!({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]});
    let time = || json!({"type": "string", "format": "date-time"});
    Some(match name {
        "filter" | "filters" => reference("Filter"),
        "items" => json!({"type": "array", "items": {"type": "object"}}),
        "record" => reference("Record"),
        "half_life" => {
            json!({"anyOf": [{"type": "string"}, {"type": "number"}], "description": "a span such as 7d, or days"})
        }
        "time_decay_factor" => json!({"type": "number"}),
        "time_range" => {
            json!({"type": "object", "properties": {"from": time(), "to": time()}, "additionalProperties": false})
        }
        "last" => json!({"anyOf": [{"type": "string"}, {"type": "integer"}]}),
        "from" | "to" | "valid_until" | "since" | "until" | "as_of" | "now" => time(),
        "idle_ttl" | "changes" | "life" | "rules" | "likeness" | "durability" | "policy" | "grants"
        | "turns" | "weights" | "condition" => {
            json!({})
        }
        "all" | "any" | "not" => json!({"type": "array", "items": reference("Filter")}),
        "kind" | "kinds" | "layer" | "layers" | "status" | "statuses" | "state" | "states" | "tag"
        | "tool" | "tools" | "entity" | "error_code" | "error_codes" | "root_cause" | "root_causes"
        | "session" | "session_id" | "session_ids" | "sessions" | "agent" | "agent_ids" | "agents"
        | "source_kind" | "source_kinds" | "sources" | "rule_state" | "rule_states" | "task_types" => {
            one_or_many()
        }
        "dry_run" | "whole_namespace" | "with_derived" => json!({"type": "boolean"}),
        "ids" | "used" | "ignored" | "wrong" | "outdated" => {
            json!({"type": "array", "items": {"type": "string"}})
        }
        _ => return None,
    })
}

pub(super) fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}

/// The messages and enums of the wire.
pub(super) struct Wire {
    messages: BTreeMap<String, DescriptorProto>,
    enums: BTreeMap<String, EnumDescriptorProto>,
}

impl Wire {
    pub(super) fn read() -> Wire {
        // The set is part of the program; without it the document has no types.
        let files = FileDescriptorSet::decode(hindsight_proto::DESCRIPTOR_SET).unwrap_or_default().file;
        let (mut messages, mut enums) = (BTreeMap::new(), BTreeMap::new());
        for file in files.into_iter().filter(|file| file.package() == "hindsight.v1") {
            messages
                .extend(file.message_type.into_iter().map(|message| (message.name().to_owned(), message)));
            enums.extend(file.enum_type.into_iter().map(|known| (known.name().to_owned(), known)));
        }
        Wire { messages, enums }
    }

    /// The schema of a field, in the first of these messages that has it.
    pub(super) fn field(&self, messages: &[&str], name: &str) -> Option<Value> {
        let fields = messages
            .iter()
            .filter_map(|message| self.messages.get(*message))
            .flat_map(|message| &message.field);
        fields.into_iter().find(|field| field.name() == name).map(|field| self.schema(field))
    }

    fn schema(&self, field: &FieldDescriptorProto) -> Value {
        let one = match field.r#type() {
            Type::String => json!({"type": "string"}),
            Type::Bool => json!({"type": "boolean"}),
            Type::Float | Type::Double => json!({"type": "number"}),
            Type::Bytes => json!({"type": "string", "contentEncoding": "base64"}),
            Type::Uint32 | Type::Uint64 | Type::Fixed32 | Type::Fixed64 => {
                json!({"type": "integer", "minimum": 0})
            }
            Type::Int32 | Type::Int64 | Type::Sint32 | Type::Sint64 | Type::Sfixed32 | Type::Sfixed64 => {
                json!({"type": "integer"})
            }
            Type::Enum => json!({"type": "string", "enum": self.words(short(field.type_name()))}),
            Type::Message | Type::Group => match field.type_name() {
                ".google.protobuf.Timestamp" => json!({"type": "string", "format": "date-time"}),
                ".google.protobuf.Duration" => json!({"type": "string"}),
                ".google.protobuf.Struct" => json!({"type": "object"}),
                // What a nested part may hold is said by the server, field by field, when it is wrong.
                _ => json!({"type": "object", "title": short(field.type_name())}),
            },
        };
        if field.label() == Label::Repeated { json!({"type": "array", "items": one}) } else { one }
    }

    /// The words of an enum: its values without its own name before them, and without the one that means none.
    fn words(&self, name: &str) -> Vec<String> {
        let values = self.enums.get(name).map(|known| known.value.as_slice()).unwrap_or_default();
        let words = values.iter().filter(|value| value.number() != 0).map(|value| {
            let prefix: String = name.chars().enumerate().fold(String::new(), |mut text, (at, letter)| {
                if at > 0 && letter.is_uppercase() {
                    text.push('_');
                }
                text.push(letter.to_ascii_uppercase());
                text
            });
            value.name().strip_prefix(&prefix).unwrap_or(value.name()).trim_start_matches('_').to_lowercase()
        });
        words.collect()
    }
}

/// The last part of a name.
fn short(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

/// An object of these fields and no others.
pub(super) fn object(properties: Map<String, Value>, required: &[&str]) -> Value {
    let mut schema = json!({"type": "object", "properties": properties, "additionalProperties": false});
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

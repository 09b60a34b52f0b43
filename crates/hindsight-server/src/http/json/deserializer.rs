//! A JSON value as a source for serde, with errors in parts.

use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error as _, IntoDeserializer, Unexpected, VariantAccess,
    Visitor,
};
use serde::forward_to_deserialize_any;
use serde_json::Value;

use super::fault::Fault;

/// A value that is read as a type.
pub(super) struct Json(pub(super) Value);

impl<'de> IntoDeserializer<'de, Fault> for Json {
    type Deserializer = Json;

    fn into_deserializer(self) -> Json {
        self
    }
}

impl<'de> Deserializer<'de> for Json {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.0 {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(value),
            Value::Number(number) => match (number.as_u64(), number.as_i64(), number.as_f64()) {
                (Some(value), _, _) => visitor.visit_u64(value),
                (_, Some(value), _) => visitor.visit_i64(value),
                (_, _, Some(value)) => visitor.visit_f64(value),
                _ => Err(Fault::invalid_type(Unexpected::Other("a number out of range"), &visitor)),
            },
            Value::String(text) => visitor.visit_string(text),
            Value::Array(items) => {
                let mut items = SeqDeserializer::new(items.into_iter().map(Json));
                let value = visitor.visit_seq(&mut items)?;
                items.end().map(|()| value)
            }
            Value::Object(fields) => {
                let fields = fields.into_iter().map(|(name, value)| (name, Json(value)));
                let mut fields = MapDeserializer::new(fields);
                let value = visitor.visit_map(&mut fields)?;
                fields.end().map(|()| value)
            }
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.0 {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        match self.0 {
            Value::String(word) => visitor.visit_enum(Word(word)),
            Value::Null => Err(Fault::invalid_type(Unexpected::Other("null"), &"a word")),
            Value::Bool(value) => Err(Fault::invalid_type(Unexpected::Bool(value), &"a word")),
            Value::Number(_) => Err(Fault::invalid_type(Unexpected::Other("a number"), &"a word")),
            Value::Array(_) => Err(Fault::invalid_type(Unexpected::Seq, &"a word")),
            Value::Object(_) => Err(Fault::invalid_type(Unexpected::Map, &"a word")),
        }
    }

    /// serde takes a list of the fields' values for a struct; here that would let a caller's slip through.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        match self.0 {
            Value::Array(_) => Err(Fault::invalid_type(Unexpected::Seq, &"an object")),
            _ => self.deserialize_any(visitor),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        seq tuple tuple_struct map identifier ignored_any
    }
}

/// A word of a closed list. None of the lists has words with contents.
struct Word(String);

impl<'de> EnumAccess<'de> for Word {
    type Error = Fault;
    type Variant = NoContents;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, NoContents), Fault> {
        let word = seed.deserialize(self.0.into_deserializer())?;
        Ok((word, NoContents))
    }
}

struct NoContents;

impl<'de> VariantAccess<'de> for NoContents {
    type Error = Fault;

    fn unit_variant(self) -> Result<(), Fault> {
        Ok(())
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, _seed: S) -> Result<S::Value, Fault> {
        Err(Fault::invalid_type(Unexpected::UnitVariant, &"a word with a value"))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _length: usize, visitor: V) -> Result<V::Value, Fault> {
        Err(Fault::invalid_type(Unexpected::UnitVariant, &visitor))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        Err(Fault::invalid_type(Unexpected::UnitVariant, &visitor))
    }
}

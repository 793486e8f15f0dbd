//! JSON tree that keeps the order of members.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Number;
use serde_json::value::RawValue;

/// JSON value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum SchemaValue {
    Null,
    Bool(bool),
    Number(Number),
    String(String),
    Array(Vec<SchemaValue>),
    Object(SchemaMembers),
}

/// Members of an object, in their order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct SchemaMembers(Vec<(String, SchemaValue)>);

/// Members of an object, in their order, with unparsed values.
pub(super) struct SchemaRoot<'a>(pub(super) Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for SchemaRoot<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AnyObject;

        impl<'de> Visitor<'de> for AnyObject {
            type Value = SchemaRoot<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<SchemaRoot<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some((name, value)) = map.next_entry::<String, &RawValue>()? {
                    members.push((name, value));
                }
                Ok(SchemaRoot(members))
            }
        }

        deserializer.deserialize_map(AnyObject)
    }
}

impl SchemaValue {
    pub(super) fn string(text: &str) -> Self {
        Self::String(text.to_owned())
    }

    pub(super) fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn as_array(&self) -> Option<&[SchemaValue]> {
        match self {
            Self::Array(values) => Some(values),
            _ => None,
        }
    }

    pub(super) fn as_object(&self) -> Option<&SchemaMembers> {
        match self {
            Self::Object(members) => Some(members),
            _ => None,
        }
    }

    /// Returns the JSON Schema type of this value. `None` for objects and arrays, which an enumeration of strict mode
    /// cannot hold.
    pub(super) fn type_word(&self) -> Option<&'static str> {
        Some(match self {
            Self::Null => "null",
            Self::Bool(_) => "boolean",
            Self::Number(number) if number.is_f64() => "number",
            Self::Number(_) => "integer",
            Self::String(_) => "string",
            Self::Array(_) | Self::Object(_) => return None,
        })
    }
}

impl SchemaMembers {
    pub(super) fn get(&self, name: &str) -> Option<&SchemaValue> {
        self.0.iter().find(|(own, _)| own == name).map(|(_, value)| value)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Sets a member, at its place if it exists and at the end if not.
    pub(super) fn set(&mut self, name: &str, value: SchemaValue) {
        match self.0.iter_mut().find(|(own, _)| own == name) {
            Some((_, own)) => *own = value,
            None => self.0.push((name.to_owned(), value)),
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &SchemaValue)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }
}

impl<'de> Deserialize<'de> for SchemaValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AnyJson;

        impl<'de> Visitor<'de> for AnyJson {
            type Value = SchemaValue;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON value")
            }

            fn visit_unit<E>(self) -> Result<SchemaValue, E> {
                Ok(SchemaValue::Null)
            }

            fn visit_bool<E>(self, value: bool) -> Result<SchemaValue, E> {
                Ok(SchemaValue::Bool(value))
            }

            fn visit_i64<E>(self, value: i64) -> Result<SchemaValue, E> {
                Ok(SchemaValue::Number(value.into()))
            }

            fn visit_u64<E>(self, value: u64) -> Result<SchemaValue, E> {
                Ok(SchemaValue::Number(value.into()))
            }

            fn visit_f64<E>(self, value: f64) -> Result<SchemaValue, E> {
                Ok(Number::from_f64(value).map_or(SchemaValue::Null, SchemaValue::Number))
            }

            fn visit_str<E>(self, value: &str) -> Result<SchemaValue, E> {
                Ok(SchemaValue::String(value.to_owned()))
            }

            fn visit_string<E>(self, value: String) -> Result<SchemaValue, E> {
                Ok(SchemaValue::String(value))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<SchemaValue, A::Error> {
                let mut values = Vec::new();
                while let Some(value) = seq.next_element()? {
                    values.push(value);
                }
                Ok(SchemaValue::Array(values))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<SchemaValue, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(SchemaValue::Object(SchemaMembers(members)))
            }
        }

        deserializer.deserialize_any(AnyJson)
    }
}

impl Serialize for SchemaValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Number(number) => number.serialize(serializer),
            Self::String(text) => serializer.serialize_str(text),
            Self::Array(values) => values.serialize(serializer),
            Self::Object(members) => {
                let mut map = serializer.serialize_map(Some(members.0.len()))?;
                for (name, value) in members.iter() {
                    map.serialize_entry(name, value)?;
                }
                map.end()
            }
        }
    }
}

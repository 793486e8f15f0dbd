//! JSON objects that keep unchanged members as they were written.

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;
use windlass_types::JsonError;

/// An object with its keys in order and its values as exact text.
#[derive(Debug, Clone, Default)]
pub(crate) struct Object(Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Keys;
        impl<'de> Visitor<'de> for Keys {
            type Value = Object;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_unit<E>(self) -> Result<Object, E> {
                Ok(Object::default())
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object, A::Error> {
                let mut object = Object::default();
                while let Some(entry) = map.next_entry()? {
                    object.0.push(entry);
                }
                Ok(object)
            }
        }
        deserializer.deserialize_any(Keys)
    }
}

impl Object {
    /// Reads a member as another type; absent and `null` give its default.
    pub(crate) fn get<T: serde::de::DeserializeOwned + Default>(&self, key: &str) -> Result<T, JsonError> {
        match self.0.iter().find(|(known, _)| known == key) {
            Some((_, value)) => Ok(serde_json::from_str::<Option<T>>(value.get())?.unwrap_or_default()),
            None => Ok(T::default()),
        }
    }

    /// Sets a member to JSON text, in its place or at the end.
    pub(crate) fn set(&mut self, key: &str, json: String) -> Result<(), JsonError> {
        let value = RawValue::from_string(json)?;
        match self.0.iter_mut().find(|(known, _)| known == key) {
            Some((_, old)) => *old = value,
            None => self.0.push((key.to_owned(), value)),
        }
        Ok(())
    }

    /// Removes a member. Returns `true` if it existed.
    pub(crate) fn remove(&mut self, key: &str) -> bool {
        let len_before = self.0.len();
        self.0.retain(|(known, _)| known != key);
        self.0.len() != len_before
    }

    /// Returns the value of a member as it is written.
    pub(crate) fn text_of(&self, key: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == key).map(|(_, value)| value.get())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the text, one member a line, indented by `depth` steps.
    pub(crate) fn text(&self, depth: usize) -> String {
        let members = self.0.iter().map(|(key, value)| format!("{}: {}", quoted(key), value.get()));
        lines('{', '}', depth, members)
    }
}

/// Returns a list of texts, one a line, indented by `depth` steps.
pub(crate) fn list_text(items: &[String], depth: usize) -> String {
    lines('[', ']', depth, items.iter().map(|item| quoted(item)))
}

pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn lines(open: char, close: char, depth: usize, items: impl Iterator<Item = String>) -> String {
    let items: Vec<String> = items.collect();
    if items.is_empty() {
        return format!("{open}{close}");
    }
    let (outer, inner) = ("  ".repeat(depth), "  ".repeat(depth.saturating_add(1)));
    format!("{open}\n{inner}{}\n{outer}{close}", items.join(&format!(",\n{inner}")))
}

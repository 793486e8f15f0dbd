//! JSON values with their positions in a text.

use std::fmt;
use std::ops::Range;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The members of an object in their order, each value as its exact text.
#[derive(Debug)]
pub(super) struct Members<'a>(pub(super) Vec<(String, &'a RawValue)>);

impl<'a> Members<'a> {
    /// Reads the members of an object; `None` for other values.
    pub(super) fn of(text: &'a str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// Text of a member's value. The last of several with one name is used, as by the programs that write notebooks.
    pub(super) fn get(&self, name: &str) -> Option<&'a str> {
        self.0.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.get())
    }

    /// Value of a text member.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        self.get(name).and_then(|value| serde_json::from_str(value).ok())
    }

    /// Value of a whole-number member.
    pub(super) fn number(&self, name: &str) -> Option<u64> {
        self.get(name).and_then(|value| serde_json::from_str(value).ok())
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;

        impl<'de> Visitor<'de> for Object {
            type Value = Vec<(String, &'de RawValue)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(members)
            }
        }

        deserializer.deserialize_map(Object).map(Self)
    }
}

/// The elements of an array, each as its exact text; `None` for other values.
pub(super) fn elements(text: &str) -> Option<Vec<&str>> {
    let elements: Vec<&RawValue> = serde_json::from_str(text).ok()?;
    Some(elements.into_iter().map(RawValue::get).collect())
}

/// A text, or an array of texts that belong together: notebooks use both for the same value.
pub(super) fn joined(text: &str) -> Option<String> {
    if text.starts_with('"') {
        return serde_json::from_str(text).ok();
    }
    let lines: Vec<String> = serde_json::from_str(text).ok()?;
    Some(lines.concat())
}

/// Range of a part within the whole text.
pub(super) fn span(whole: &str, part: &str) -> Range<usize> {
    let start = part.as_ptr().addr().saturating_sub(whole.as_ptr().addr());
    start..start + part.len()
}

//! Events of a newer version.

use super::json::ENVELOPE;
use crate::JsonText;
use serde::de::{self, Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use std::fmt;

/// An event of a type that this version does not know, with the exact text of its fields. A program that passes events
/// on writes it as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownEvent {
    event_type: String,
    fields: Vec<(String, JsonText)>,
}

impl UnknownEvent {
    /// The `type` of the event.
    pub fn event_type(&self) -> &str {
        &self.event_type
    }

    /// Returns a field of the event itself. The envelope's fields are in the [`Event`](crate::Event).
    pub fn field(&self, name: &str) -> Option<&JsonText> {
        self.fields().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    /// Returns the fields of the event itself by name, in the order in which they came.
    pub fn fields(&self) -> impl Iterator<Item = (&str, &JsonText)> {
        self.fields.iter().map(|(name, value)| (name.as_str(), value))
    }
}

impl Serialize for UnknownEvent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap;
        let mut map = serializer.serialize_map(Some(self.fields.len().saturating_add(1)))?;
        map.serialize_entry("type", &self.event_type)?;
        for (name, value) in &self.fields {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for UnknownEvent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(UnknownEventVisitor)
    }
}

struct UnknownEventVisitor;

impl<'de> Visitor<'de> for UnknownEventVisitor {
    type Value = UnknownEvent;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an event")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<UnknownEvent, A::Error> {
        let mut event_type = None;
        let mut fields: Vec<(String, JsonText)> = Vec::new();
        while let Some(name) = map.next_key::<String>()? {
            if name == "type" {
                event_type = Some(map.next_value()?);
                continue;
            }
            let value = map.next_value()?;
            if !ENVELOPE.contains(&name.as_str()) {
                fields.push((name, value));
            }
        }
        let event_type = event_type.ok_or_else(|| de::Error::missing_field("type"))?;
        Ok(UnknownEvent { event_type, fields })
    }
}

//! Lines of other programs: their kinds, and changes of their fields that leave the other text unchanged.

use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;
use windlass_types::JsonText;

/// Kind of a line of another program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Output of a turn that has no other form.
    Output,
    /// Message of the user or of a task that arrived during a run.
    Queued,
    /// Progress, which is not read again.
    Progress,
    /// Any other line of the conversation.
    Chained,
    /// Replaced contents.
    Replacement,
    /// Any other line beside the conversation.
    Beside,
}

impl Kind {
    /// `true` if a line of this kind is part of the conversation.
    pub(crate) fn is_chained(self) -> bool {
        !matches!(self, Self::Replacement | Self::Beside)
    }
}

#[derive(Deserialize)]
struct Named<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Option<Cow<'a, str>>,
}

pub(crate) fn kind_of(json: &JsonText) -> Kind {
    #[derive(Deserialize)]
    struct ForeignLine<'a> {
        #[serde(borrow, rename = "type")]
        kind: Cow<'a, str>,
        #[serde(borrow, default)]
        attachment: Option<&'a RawValue>,
    }
    let Ok(line) = serde_json::from_str::<ForeignLine<'_>>(json.as_str()) else { return Kind::Beside };
    match &*line.kind {
        "progress" => Kind::Progress,
        "system" | "assistant" => Kind::Chained,
        "attachment" => {
            let named = line.attachment.and_then(|raw| serde_json::from_str::<Named<'_>>(raw.get()).ok());
            match named.and_then(|named| named.kind).as_deref() {
                Some("structured_output") => Kind::Output,
                Some("queued_command" | "task_notification") => Kind::Queued,
                _ => Kind::Chained,
            }
        }
        "content-replacement" => Kind::Replacement,
        _ => Kind::Beside,
    }
}

/// An object whose fields keep their order and their text.
pub(crate) struct Object<'a>(Vec<(Cow<'a, str>, Cow<'a, RawValue>)>);

impl<'a> Object<'a> {
    pub(crate) fn read(json: &'a JsonText) -> Option<Self> {
        serde_json::from_str(json.as_str()).ok()
    }

    pub(crate) fn get<T: Deserialize<'a>>(&'a self, name: &str) -> Option<T> {
        let (_, raw) = self.0.iter().rfind(|(key, _)| key == name)?;
        serde_json::from_str(raw.get()).ok()
    }

    pub(crate) fn remove(&mut self, name: &str) {
        self.0.retain(|(key, _)| key != name);
    }

    /// Sets a field in its place, or at the end.
    pub(crate) fn set(&mut self, name: &'static str, value: &impl Serialize) {
        let Ok(raw) = serde_json::value::to_raw_value(value) else { return };
        let at = self.0.iter().position(|(key, _)| key == name);
        self.remove(name);
        let at = at.unwrap_or(self.0.len()).min(self.0.len());
        self.0.insert(at, (Cow::Borrowed(name), Cow::Owned(raw)));
    }

    pub(crate) fn to_json(&self) -> Option<JsonText> {
        JsonText::of(self).ok()
    }
}

impl Serialize for Object<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Object<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Object<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields = Vec::new();
                while let Some((key, value)) = map.next_entry::<String, &'de RawValue>()? {
                    fields.push((Cow::Owned(key), Cow::Borrowed(value)));
                }
                Ok(Object(fields))
            }
        }
        deserializer.deserialize_map(Fields)
    }
}

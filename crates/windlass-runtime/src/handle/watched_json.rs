//! Items of watchers as JSON, and back. Events have no type `missed`.

use crate::handle::event_feed::Watched;
use serde::de::{Deserializer, Error};
use serde::{Deserialize, Serialize, Serializer};
use std::sync::Arc;
use windlass_types::{Event, JsonText};

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Written {
    Missed { from: u64, to: u64 },
}

impl Serialize for Watched {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Event(event) => event.serialize(serializer),
            Self::Missed { from, to } => Written::Missed { from: *from, to: *to }.serialize(serializer),
        }
    }
}

#[derive(Deserialize)]
struct Tag {
    #[serde(rename = "type")]
    name: String,
}

#[derive(Deserialize)]
struct Gap {
    from: u64,
    to: u64,
}

impl<'de> Deserialize<'de> for Watched {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // Events keep JSON of others as exact text, which serde's own tagged and untagged enums would lose.
        let text = JsonText::deserialize(deserializer)?;
        if text.to::<Tag>().map_err(D::Error::custom)?.name == "missed" {
            let Gap { from, to } = text.to().map_err(D::Error::custom)?;
            return Ok(Self::Missed { from, to });
        }
        text.to::<Event>().map(|event| Self::Event(Arc::new(event))).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_types::EventKind;

    #[test]
    fn events_and_gaps_come_back_as_they_were() {
        let frame = JsonText::parse(r#"{ "n":1.0000000000000000001 }"#).unwrap();
        let event = Event::new(u64::MAX, "s".into(), "r".into(), 1, EventKind::ModelFrame { frame });
        for (seen, expected) in [
            (
                Watched::Event(Arc::new(event)),
                r#"{"seq":18446744073709551615,"session_id":"s","agent":[],"run_id":"r","turn":1,"at":"1970-01-01T00:00:00.000Z","type":"model_frame","frame":{ "n":1.0000000000000000001 }}"#,
            ),
            (Watched::Missed { from: 3, to: u64::MAX }, r#"{"type":"missed","from":3,"to":18446744073709551615}"#),
        ] {
            assert_eq!(serde_json::to_string(&seen).unwrap(), expected);
            assert_eq!(serde_json::from_str::<Watched>(expected).unwrap(), seen);
        }
        assert!(serde_json::from_str::<Watched>(r#"{"type":"missed","from":3}"#).is_err());
        assert!(serde_json::from_str::<Watched>(r#"{"from":3,"to":4}"#).is_err());
    }
}

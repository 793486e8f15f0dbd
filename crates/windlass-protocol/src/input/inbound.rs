//! Messages of hosts.

use super::{Control, HostPrompt, LineType};
use crate::channel::requests::HostResponse;
use serde::Deserialize;
use std::collections::BTreeMap;
use windlass_types::text::lone_surrogates_replaced;
use windlass_types::{JsonError, JsonText};

/// A message of the host. Unknown messages are tolerated and ignored.
#[derive(Debug, Clone)]
pub(crate) enum Inbound {
    /// A prompt.
    User(Box<HostPrompt>),
    /// A control request.
    Request {
        id: String,
        subtype: String,
        /// Whole request, with unknown fields.
        body: JsonText,
    },
    /// Response to a request of the server: its id, and the response or the error.
    Response { id: String, answer: HostResponse },
    /// The host no longer waits for an answer.
    Cancel { id: String },
    /// Variables that replace those of the environment.
    Environment(BTreeMap<String, String>),
    /// A keep-alive, or a message of a later version.
    Other { kind: String },
}

#[derive(Deserialize)]
struct EnvironmentLine {
    variables: BTreeMap<String, String>,
}

impl Inbound {
    /// Parses a line.
    ///
    /// # Errors
    /// The line is not a JSON object, or a message of a known type lacks required fields.
    pub(crate) fn parse(line: &[u8]) -> Result<Self, JsonError> {
        if line.trim_ascii_start().first() != Some(&b'{') {
            // serde would read an array as the fields of an object.
            return Err(<serde_json::Error as serde::de::Error>::custom("it is not a JSON object").into());
        }
        // Half a surrogate pair is valid JSON but not Unicode. Hosts send it when they cut a text inside a character.
        let repaired = std::str::from_utf8(line).map(lone_surrogates_replaced);
        let line = repaired.as_deref().map_or(line, str::as_bytes);
        let tag: LineType<'_> = serde_json::from_slice(line)?;
        let kind = tag.kind.unwrap_or_default();
        if let Some(control) = Control::parse(&kind, line)? {
            return Ok(match control {
                Control::Request { id, subtype, body } => Self::Request { id, subtype, body },
                Control::Response { id, answer } => Self::Response { id, answer },
                Control::Cancel { id } => Self::Cancel { id },
            });
        }
        Ok(match &*kind {
            "user" => Self::User(Box::new(HostPrompt::parse(line)?)),
            "update_environment_variables" => {
                Self::Environment(serde_json::from_slice::<EnvironmentLine>(line)?.variables)
            }
            other => Self::Other { kind: other.to_owned() },
        })
    }
}

#[cfg(test)]
mod tests;

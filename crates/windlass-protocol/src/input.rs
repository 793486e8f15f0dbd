//! What hosts send: one JSON object a line.

mod line;
mod user;

pub(crate) use line::{LineError, LineReader};
pub(crate) use user::{Priority, UserMessage};

use serde::Deserialize;
use std::borrow::Cow;
use std::collections::BTreeMap;
use windlass_types::{JsonError, JsonText};

/// A message of the host. What is not known is tolerated and left alone.
#[derive(Debug)]
pub(crate) enum Inbound {
    /// A prompt.
    User(Box<UserMessage>),
    /// An order or a question.
    Request {
        id: String,
        subtype: String,
        /// The whole request, with the fields that we do not know.
        body: JsonText,
    },
    /// The answer to a request of ours: its id, and what was said or what went wrong.
    Response { id: String, answer: Result<Option<JsonText>, String> },
    /// The host no longer waits for an answer.
    Cancel { id: String },
    /// Variables that replace those of the environment.
    Environment(BTreeMap<String, String>),
    /// A sign of life, or something of a later version.
    Other { kind: String },
}

#[derive(Deserialize)]
struct Tag<'a> {
    #[serde(rename = "type", borrow, default)]
    kind: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct RequestLine {
    request_id: String,
    request: JsonText,
}

#[derive(Deserialize)]
struct Subtype {
    subtype: String,
}

#[derive(Deserialize)]
struct ResponseLine {
    response: ResponseBody,
}

#[derive(Deserialize)]
struct ResponseBody {
    request_id: String,
    #[serde(default)]
    subtype: Option<String>,
    #[serde(default)]
    response: Option<JsonText>,
    #[serde(default)]
    error: Option<String>,
}

#[derive(Deserialize)]
struct CancelLine {
    request_id: String,
}

#[derive(Deserialize)]
struct EnvironmentLine {
    variables: BTreeMap<String, String>,
}

impl Inbound {
    /// Reads a line.
    ///
    /// # Errors
    /// It is not a JSON object, or a message of a known type lacks what that type needs.
    pub(crate) fn parse(line: &[u8]) -> Result<Self, JsonError> {
        if line.trim_ascii_start().first() != Some(&b'{') {
            // An array would pass for the fields of an object.
            return Err(<serde_json::Error as serde::de::Error>::custom("it is not a JSON object").into());
        }
        let tag: Tag<'_> = serde_json::from_slice(line)?;
        let kind = tag.kind.unwrap_or_default();
        Ok(match &*kind {
            "user" => Self::User(Box::new(UserMessage::parse(line)?)),
            "control_request" => {
                let RequestLine { request_id: id, request: body } = serde_json::from_slice(line)?;
                let Subtype { subtype } = body.to()?;
                Self::Request { id, subtype, body }
            }
            "control_response" => {
                let ResponseLine { response } = serde_json::from_slice(line)?;
                let answer = match (response.subtype.as_deref(), response.error) {
                    (Some("error"), error) => Err(error.unwrap_or_else(|| "the host gave no reason".to_owned())),
                    _ => Ok(response.response),
                };
                Self::Response { id: response.request_id, answer }
            }
            "control_cancel_request" => Self::Cancel { id: serde_json::from_slice::<CancelLine>(line)?.request_id },
            "update_environment_variables" => {
                Self::Environment(serde_json::from_slice::<EnvironmentLine>(line)?.variables)
            }
            other => Self::Other { kind: other.to_owned() },
        })
    }
}

#[cfg(test)]
mod tests;

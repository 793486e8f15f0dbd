//! Control traffic, which both sides write alike.

use crate::channel::requests::{ErrorResponse, HostResponse};
use serde::Deserialize;
#[cfg(feature = "server")]
use std::borrow::Cow;
use windlass_types::{JsonError, JsonText};

/// Type of a message.
#[cfg(feature = "server")]
#[derive(Deserialize)]
pub(crate) struct LineType<'a> {
    #[serde(rename = "type", borrow, default)]
    pub(crate) kind: Option<Cow<'a, str>>,
}

/// A control request, a response, or a cancelled request.
#[derive(Debug)]
pub(crate) enum Control {
    Request {
        id: String,
        subtype: String,
        /// Whole request, with unknown fields.
        body: JsonText,
    },
    Response {
        id: String,
        answer: HostResponse,
    },
    Cancel {
        id: String,
    },
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
    #[serde(default)]
    error_code: Option<String>,
}

#[derive(Deserialize)]
struct CancelLine {
    request_id: String,
}

impl Control {
    /// Parses a line of a type, if that is one of control traffic.
    ///
    /// # Errors
    /// The line lacks required fields of its type.
    pub(crate) fn parse(kind: &str, line: &[u8]) -> Result<Option<Self>, JsonError> {
        Ok(Some(match kind {
            "control_request" => {
                let RequestLine { request_id: id, request: body } = serde_json::from_slice(line)?;
                let Subtype { subtype } = body.to()?;
                Self::Request { id, subtype, body }
            }
            "control_response" => {
                let ResponseLine { response } = serde_json::from_slice(line)?;
                let ResponseBody { request_id: id, subtype, response, error, error_code: code } = response;
                let answer = match (subtype.as_deref(), error) {
                    (Some("error"), error) => {
                        Err(ErrorResponse { error: error.unwrap_or_else(|| "no reason was given".to_owned()), code })
                    }
                    _ => Ok(response),
                };
                Self::Response { id, answer }
            }
            "control_cancel_request" => Self::Cancel { id: serde_json::from_slice::<CancelLine>(line)?.request_id },
            _ => return Ok(None),
        }))
    }
}

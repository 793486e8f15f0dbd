//! Answers to requests of the host.

use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use windlass_types::JsonText;

/// Reason why a request is not carried out.
#[derive(Debug)]
pub(super) struct RequestRefusal {
    pub(super) error: String,
    pub(super) code: Option<&'static str>,
}

impl RequestRefusal {
    pub(super) fn new(error: impl Into<String>) -> Self {
        Self { error: error.into(), code: None }
    }

    pub(super) fn coded(error: impl Into<String>, code: &'static str) -> Self {
        Self { error: error.into(), code: Some(code) }
    }
}

/// Answer to a request: a JSON value, or success without one.
pub(super) type RequestAnswer = Result<Option<Value>, RequestRefusal>;

/// Reply to a request: at once, or when the job that it began is done.
pub(super) enum RequestReply {
    Now(Option<Value>),
    Later,
}

impl RequestReply {
    pub(super) fn value(value: Value) -> Result<Self, RequestRefusal> {
        Ok(Self::Now(Some(value)))
    }
}

pub(super) fn field<T: for<'de> Deserialize<'de>>(body: &JsonText, name: &str) -> Result<Option<T>, RequestRefusal> {
    let fields: BTreeMap<String, JsonText> = body.to().map_err(|error| RequestRefusal::new(error.to_string()))?;
    match fields.get(name).filter(|value| value.as_str() != "null") {
        None => Ok(None),
        Some(value) => {
            value.to().map(Some).map_err(|error| RequestRefusal::new(format!("`{name}` cannot be read: {error}")))
        }
    }
}

/// `true` if a field was given, even null.
pub(super) fn has_field(body: &JsonText, name: &str) -> Result<bool, RequestRefusal> {
    let fields: BTreeMap<String, JsonText> = body.to().map_err(|error| RequestRefusal::new(error.to_string()))?;
    Ok(fields.contains_key(name))
}

/// Features of later versions of the protocol that this side supports.
pub(super) const CAPABILITIES: [&str; 2] = ["interrupt_receipt_v1", "interrupt_cancel_queued_v1"];

/// Refusal of an unsupported request.
pub(super) fn unsupported(subtype: &str) -> RequestRefusal {
    RequestRefusal::coded(format!("Unsupported control request subtype: {subtype}"), "unsupported_request")
}

/// Refusal of a request that needs an open session.
pub(super) fn not_open() -> RequestRefusal {
    RequestRefusal::new("The session is not open yet: it is opened by the first message.")
}

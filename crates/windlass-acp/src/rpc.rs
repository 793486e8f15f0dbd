//! Messages of JSON-RPC 2.0.

use crate::error::{AcpError, AcpErrorKind};
use serde_json::{Value, json};

/// Id of a request: a number, a text or `null`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct RequestId(Value);

impl RequestId {
    pub(crate) const NULL: Self = Self(Value::Null);

    /// The id in this value, if it can be one.
    pub(crate) fn of(value: &Value) -> Option<Self> {
        let is_id = value.is_null() || value.is_i64() || value.is_u64() || value.is_string();
        is_id.then(|| Self(value.clone()))
    }

    pub(crate) fn as_str(&self) -> Option<&str> {
        self.0.as_str()
    }
}

/// Message of the client.
#[derive(Debug)]
pub(crate) enum Incoming {
    /// A request, answered once.
    Request { id: RequestId, method: String, params: Value },
    /// A notification, which has no answer.
    Notification { method: String, params: Value },
    /// The answer to a request of the agent.
    Response { id: RequestId, result: Result<Value, String> },
}

/// Message that cannot be read, with the id to answer it by.
#[derive(Debug)]
pub(crate) struct Unreadable {
    pub(crate) id: RequestId,
    pub(crate) error: AcpError,
}

/// Reads a message.
pub(crate) fn parse(line: &[u8]) -> Result<Incoming, Unreadable> {
    let unreadable = |id: RequestId, error| Unreadable { id, error };
    let value: Value = serde_json::from_slice(line).map_err(|error| {
        let message = format!("the line is no JSON: {error}");
        unreadable(RequestId::NULL, AcpError::new(AcpErrorKind::NotJson, message))
    })?;
    let invalid = |id: RequestId, message: &str| unreadable(id, AcpError::invalid_request(message));
    let Value::Object(mut fields) = value else {
        return Err(invalid(RequestId::NULL, "the message is no object: send one JSON-RPC message a line"));
    };
    let given = fields.get("id").cloned();
    let id = given.as_ref().and_then(RequestId::of);
    let answered = id.clone().unwrap_or(RequestId::NULL);
    if fields.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Err(invalid(answered, "the message has no \"jsonrpc\": \"2.0\""));
    }
    if given.is_some() && id.is_none() {
        return Err(invalid(answered, "the id of the message is neither a whole number nor a text"));
    }
    let params = fields.remove("params").unwrap_or(Value::Null);
    match (fields.remove("method"), id) {
        (Some(Value::String(method)), Some(id)) => Ok(Incoming::Request { id, method, params }),
        (Some(Value::String(method)), None) => Ok(Incoming::Notification { method, params }),
        (Some(_), _) => Err(invalid(answered, "the method of the message is no text")),
        (None, Some(id)) => match (fields.remove("result"), fields.remove("error")) {
            (Some(result), None) => Ok(Incoming::Response { id, result: Ok(result) }),
            (_, Some(error)) => {
                let text = error.get("message").and_then(Value::as_str).unwrap_or("no reason was given");
                Ok(Incoming::Response { id, result: Err(text.to_owned()) })
            }
            (None, None) => Err(invalid(answered, "the message has neither a method nor a result")),
        },
        (None, None) => Err(invalid(answered, "the message has neither a method nor an id")),
    }
}

/// Answer to a request.
pub(crate) fn answer(id: &RequestId, result: &Result<Value, AcpError>) -> Value {
    match result {
        Ok(result) => json!({ "jsonrpc": "2.0", "id": id.0, "result": result }),
        Err(error) => {
            let error = json!({ "code": error.kind.code(), "message": error.message });
            json!({ "jsonrpc": "2.0", "id": id.0, "error": error })
        }
    }
}

/// Request of the agent.
pub(crate) fn request(id: &str, method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

/// Notification of the agent.
pub(crate) fn notification(method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": method, "params": params })
}

/// A message as a line.
pub(crate) fn line(message: &Value) -> Vec<u8> {
    let mut line = message.to_string().into_bytes();
    line.push(b'\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_broken_message_has_its_code() {
        for (line, code) in [
            ("not json", -32700),
            ("", -32700),
            ("[]", -32600),
            ("1", -32600),
            ("{}", -32600),
            (r#"{"jsonrpc":"1.0","id":1,"method":"x"}"#, -32600),
            (r#"{"jsonrpc":"2.0","id":1}"#, -32600),
            (r#"{"jsonrpc":"2.0","id":{},"method":"x"}"#, -32600),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"x"}"#, -32600),
            (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, -32600),
        ] {
            let unreadable = parse(line.as_bytes()).unwrap_err();
            assert_eq!(unreadable.error.kind.code(), code, "{line}");
        }
    }

    #[test]
    fn requests_notifications_and_responses_are_told_apart() {
        let read = |text: &str| parse(text.as_bytes()).unwrap();
        assert!(matches!(read(r#"{"jsonrpc":"2.0","id":null,"method":"x"}"#), Incoming::Request { .. }));
        assert!(matches!(read(r#"{"jsonrpc":"2.0","method":"x"}"#), Incoming::Notification { .. }));
        assert!(matches!(
            read(r#"{"jsonrpc":"2.0","id":"a","result":null}"#),
            Incoming::Response { result: Ok(_), .. }
        ));
        let failed = read(r#"{"jsonrpc":"2.0","id":"a","error":{"code":1,"message":"no"}}"#);
        assert!(matches!(failed, Incoming::Response { result: Err(text), .. } if text == "no"));
    }
}

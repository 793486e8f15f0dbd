//! Repair of answers that are no valid messages.
//!
//! A call waits for the answer of its request. A malformed answer is repaired, or becomes an error of that request:
//! nothing else would end the call.

use super::execution::with_execution;
use super::intake::{MOST_DEPTH, MOST_VALUES, is_too_much};
use crate::text::{LONGEST_ERROR, clipped};
use rmcp::model::{ErrorCode, ErrorData, JsonRpcError, JsonRpcMessage, RequestId, ServerJsonRpcMessage};
use serde_json::{Map, Value, json};
use windlass_types::text::lone_surrogates_replaced;

/// Code of the errors that replace unreadable answers. No server uses it.
pub(crate) const UNREADABLE: ErrorCode = ErrorCode(-1_000_001);
/// Code of the errors of requests that the server accepted and did not answer. No server uses it.
pub(crate) const UNANSWERED: ErrorCode = ErrorCode(-1_000_002);

/// Reads the messages of a text: one, or those of a batch. An unreadable answer becomes an error of its request, with
/// the code [`UNREADABLE`] and without an id if the answer has none.
///
/// # Errors
/// Fails if the text is no message and no answer.
pub(crate) fn read(text: &[u8]) -> Result<Vec<ServerJsonRpcMessage>, String> {
    if is_too_much(text) {
        let problem = format!("it holds more than {MOST_VALUES} values, or is nested more than {MOST_DEPTH} deep");
        return unreadable(text, problem);
    }
    if let Ok(message) = strictly(text) {
        return Ok(vec![message]);
    }
    let text = String::from_utf8_lossy(text);
    let sound = lone_surrogates_replaced(&text);
    match serde_json::from_str(&sound) {
        Ok(Value::Array(batch)) => batch.into_iter().map(mended).collect(),
        Ok(value) => mended(value).map(|message| vec![message]),
        Err(problem) => unreadable(text.as_bytes(), format!("it is not JSON: {problem}")),
    }
}

/// Returns the error that replaces an unread answer, if the text is one.
///
/// # Errors
/// Returns the problem if the text is no answer.
pub(crate) fn unreadable(text: &[u8], problem: String) -> Result<Vec<ServerJsonRpcMessage>, String> {
    match MessageEnvelope::of(text) {
        envelope if envelope.is_answer() => Ok(vec![failed(envelope.id, UNREADABLE, problem)]),
        _ => Err(problem),
    }
}

/// Creates an error in place of an answer.
pub(crate) fn failed(id: Option<RequestId>, code: ErrorCode, message: String) -> ServerJsonRpcMessage {
    JsonRpcMessage::Error(JsonRpcError::new(id, ErrorData::new(code, message, None)))
}

fn strictly(text: &[u8]) -> Result<ServerJsonRpcMessage, serde_json::Error> {
    match std::str::from_utf8(text).ok().and_then(with_execution) {
        Some(message) => serde_json::from_value(message),
        None => serde_json::from_slice(text),
    }
}

/// Converts a value to a message, or repairs it if it is an answer.
fn mended(value: Value) -> Result<ServerJsonRpcMessage, String> {
    let Value::Object(mut fields) = value else { return Err("it is no object".to_owned()) };
    let is_tagged = fields.contains_key("jsonrpc");
    let id = fields.get("id").and_then(|id| serde_json::from_value::<RequestId>(id.clone()).ok());
    let error = fields.remove("error").filter(|error| !error.is_null());
    let result = fields.get("result").is_some_and(|result| error.is_none() || !result.is_null());
    let is_answer = !fields.contains_key("method") && if id.is_some() { is_tagged || result } else { is_tagged };
    if let (true, Some(error)) = (is_answer, error) {
        return Ok(JsonRpcMessage::Error(JsonRpcError::new(id, error_of(error))));
    }
    if is_answer && !result {
        return Ok(failed(id, UNREADABLE, "it has neither a result nor an error".to_owned()));
    }
    fields.insert("jsonrpc".to_owned(), json!("2.0"));
    let fields = with_execution_of(fields);
    match serde_json::from_value(fields) {
        Ok(message) => Ok(message),
        Err(_) if is_answer => Ok(failed(id, UNREADABLE, "it is no message of the protocol".to_owned())),
        Err(problem) => Err(problem.to_string()),
    }
}

fn with_execution_of(fields: Map<String, Value>) -> Value {
    let fields = Value::Object(fields);
    with_execution(&fields.to_string()).unwrap_or(fields)
}

/// Reads a server's error leniently: some write a string, or an invalid code.
fn error_of(error: Value) -> ErrorData {
    // Codes such as `4.0` are read too, like ids.
    let code = |code: &Value| match serde_json::from_value(code.clone()) {
        Ok(RequestId::Number(code)) => i32::try_from(code).ok().map(ErrorCode),
        _ => None,
    };
    let (code, message, data) = match error {
        Value::String(message) => (None, Some(message), None),
        Value::Object(mut fields) => {
            let message = fields.get("message").and_then(Value::as_str).map(str::to_owned);
            let message = message.unwrap_or_else(|| Value::Object(fields.clone()).to_string());
            (fields.get("code").and_then(code), Some(message), fields.remove("data"))
        }
        other => (None, Some(other.to_string()), None),
    };
    let message = message.map(|message| clipped(&message, LONGEST_ERROR)).unwrap_or_default();
    ErrorData::new(code.unwrap_or(ErrorCode::INTERNAL_ERROR), message, data)
}

/// Outer members of a message in a text that may be cut, or no JSON at all.
#[derive(Debug, Default, PartialEq)]
struct MessageEnvelope {
    id: Option<RequestId>,
    is_tagged: bool,
    has_method: bool,
    has_outcome: bool,
}

impl MessageEnvelope {
    /// Reads the members of the outermost object, up to the point where the text is no JSON.
    fn of(text: &[u8]) -> Self {
        let mut envelope = Self::default();
        let (mut depth, mut string, mut escaped) = (0_usize, None, false);
        // Last string of the outermost object: a member's name if a colon follows.
        let mut name: Option<&[u8]> = None;
        for (at, byte) in text.iter().enumerate() {
            match (byte, string) {
                (_, Some(_)) if escaped => escaped = false,
                (b'\\', Some(_)) => escaped = true,
                (b'"', Some(start)) => {
                    name = text.get(start..at).filter(|_| depth == 1);
                    string = None;
                }
                (_, Some(_)) => {}
                (b'"', None) => string = Some(at + 1),
                (b':', None) if depth == 1 => {
                    if let Some(name) = name.take() {
                        envelope.member(name, text.get(at + 1..).unwrap_or_default());
                    }
                }
                (b'{' | b'[', None) => depth += 1,
                (b'}' | b']', None) => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        envelope
    }

    fn member(&mut self, name: &[u8], value: &[u8]) {
        match name {
            b"jsonrpc" => self.is_tagged = true,
            b"method" => self.has_method = true,
            b"result" | b"error" => self.has_outcome = true,
            b"id" => {
                let mut values = serde_json::Deserializer::from_slice(value).into_iter::<RequestId>();
                self.id = values.next().and_then(Result::ok);
            }
            _ => {}
        }
    }

    /// `true` if the text was intended as an answer, not as a line for people or a log.
    fn is_answer(&self) -> bool {
        self.is_tagged && !self.has_method && (self.has_outcome || self.id.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<Vec<Value>, String> {
        let messages = read(text.as_bytes())?;
        Ok(messages.iter().map(|message| serde_json::to_value(message).unwrap()).collect())
    }

    fn one(text: &str) -> Value {
        let mut messages = of(text).unwrap_or_else(|problem| panic!("{text}: {problem}"));
        assert_eq!(messages.len(), 1, "{text}");
        messages.remove(0)
    }

    #[test]
    fn errors_that_are_none_in_form_are_errors_of_their_request() {
        for (error, code, message) in [
            (r#""plain text""#, -32603, "plain text"),
            (r#"{"code":-32001,"message":"gone"}"#, -32001, "gone"),
            (r#"{"code":"ENOENT","message":"gone"}"#, -32603, "gone"),
            (r#"{"message":"gone"}"#, -32603, "gone"),
            (r#"{"code":4.0,"message":"gone"}"#, 4, "gone"),
            (r#"{"reason":"gone"}"#, -32603, r#"{"reason":"gone"}"#),
            ("17", -32603, "17"),
            (r#"["a"]"#, -32603, r#"["a"]"#),
        ] {
            for rest in ["", r#","result":null"#] {
                let message_of = one(&format!(r#"{{"jsonrpc":"2.0","id":2,"error":{error}{rest}}}"#));
                assert_eq!(message_of["id"], 2, "{error}");
                let found = (&message_of["error"]["code"], message_of["error"]["message"].as_str());
                assert_eq!(found, (&json!(code), Some(message)), "{error}");
            }
        }
    }

    #[test]
    fn results_that_are_none_in_form_are_read_or_fail_their_request() {
        for text in [
            r#"{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"a\ud83d b"}]}}"#,
            r#"{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"a\udE00 b"}]}}"#,
            r#"{"jsonrpc":"2.0","id":2,"error":null,"result":{"content":[{"type":"text","text":"a\ufffd b"}]}}"#,
            r#"{"id":2,"result":{"content":[{"type":"text","text":"a\ufffd b"}]}}"#,
            r#"{"jsonrpc":"1.0","id":2.0,"result":{"content":[{"type":"text","text":"a\ufffd b"}]}}"#,
            r#"[{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"a\ufffd b"}]}}]"#,
        ] {
            let message = one(text);
            assert_eq!((&message["id"], &message["result"]["content"][0]["text"]), (&json!(2), &json!("a\u{fffd} b")));
        }
        let bytes =
            b"{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"caf\xe9\"}]}}";
        let text = serde_json::to_string(&read(bytes).unwrap().remove(0)).unwrap();
        assert!(text.contains("caf\u{fffd}"), "{text}");
        for (text, id) in [
            (r#"{"jsonrpc":"2.0","id":2}"#, json!(2)),
            (r#"{"jsonrpc":"2.0","id":2,"result":{"a":NaN}}"#, json!(2)),
            (r#"{"jsonrpc":"2.0","id":2,"result":{"a":1e999}}"#, json!(2)),
            (r#"{"jsonrpc":"2.0","id":2,"result":{"a":"\x41"}}"#, json!(2)),
            (r#"{"result":{"a":"\x41"},"jsonrpc":"2.0","id":"2"}"#, json!("2")),
            (r#"{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"te"#, json!(2)),
            (r#"{"jsonrpc":"2.0","result":{"a":1}}"#, Value::Null),
            (r#"{"jsonrpc":"2.0","id":true,"result":{"a":1}}"#, Value::Null),
        ] {
            let message = one(text);
            assert_eq!((&message["id"], &message["error"]["code"]), (&id, &json!(UNREADABLE.0)), "{text}");
        }
    }

    #[test]
    fn what_is_no_answer_is_none() {
        for text in [
            "Server is ready!",
            r#"{"a":1}"#,
            r#"{"level":30,"id":2,"error":"of a log"}"#,
            r#"{"level":30,"id":2,"msg":"of a lo"#,
            r#"{"jsonrpc"}"#,
            "[1,2]",
            "[]x",
            r#"{"jsonrpc":"2.0","id":2,"method":"ping","params":{"a":"\x41"}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"id":1,"error":NaN}}"#,
            r#"{"params":{"jsonrpc":"2.0","id":2,"result":NaN}}"#,
        ] {
            assert!(read(text.as_bytes()).is_err(), "{text}");
        }
        let batch = r#"[{"jsonrpc":"2.0","method":"ping","id":1},{"jsonrpc":"2.0","id":2,"result":{}}]"#;
        assert_eq!(of(batch).unwrap().len(), 2);
    }

    #[test]
    fn what_is_too_much_is_an_error_of_its_request() {
        let deep = format!(r#"{{"jsonrpc":"2.0","id":7,"result":{}1{}}}"#, "[".repeat(200), "]".repeat(200));
        let many = format!(r#"{{"jsonrpc":"2.0","result":[{}1],"id":7}}"#, "1,".repeat(MOST_VALUES));
        for text in [deep, many] {
            let message = one(&text);
            assert_eq!((&message["id"], &message["error"]["code"]), (&json!(7), &json!(UNREADABLE.0)));
            assert!(message["error"]["message"].as_str().unwrap().contains("more than"));
        }
    }
}

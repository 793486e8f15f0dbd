//! Frames of the control traffic, the same in both directions.

use crate::line;
use serde::Serialize;
use windlass_types::JsonText;

#[derive(Serialize)]
pub(crate) struct RequestFrame<'a, B> {
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    pub(crate) request_id: &'a str,
    pub(crate) request: &'a B,
}

#[derive(Serialize)]
pub(crate) struct CancelFrame<'a> {
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    pub(crate) request_id: &'a str,
}

/// Response to a control request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ControlResponse<'a> {
    /// The request was carried out, with these data if there are any.
    Done(Option<&'a JsonText>),
    /// The request was refused, for this reason.
    Refused { error: &'a str, code: Option<&'a str> },
}

#[derive(Serialize)]
struct ResponseFrame<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    response: ResponseBody<'a>,
}

#[derive(Serialize)]
struct ResponseBody<'a> {
    subtype: &'static str,
    request_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    response: Option<&'a JsonText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_code: Option<&'a str>,
}

impl<'a> ResponseFrame<'a> {
    fn new(request_id: &'a str, response: &ControlResponse<'a>) -> Self {
        let (subtype, response, error, error_code) = match *response {
            ControlResponse::Done(response) => ("success", response, None, None),
            ControlResponse::Refused { error, code } => ("error", None, Some(error), code),
        };
        Self { kind: "control_response", response: ResponseBody { subtype, request_id, response, error, error_code } }
    }
}

/// Maximum number of characters of an error that is too long for a line.
const MAX_ERROR_CHARS: usize = 2_000;

/// Writes the response to a request as one line. A response longer than `max_line` bytes becomes an error that reports
/// its length. If even that is too long, the id alone fills the line: then the line exceeds the limit, because the side
/// that sent such an id can read it.
pub(crate) fn answer(request_id: &str, response: &ControlResponse<'_>, max_line: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    if line::push_within(&mut bytes, &ResponseFrame::new(request_id, response), max_line) {
        return bytes;
    }
    let (error, code) = match *response {
        ControlResponse::Done(response) => {
            let size = response.map_or(0, |json| json.as_str().len());
            let error = format!("The answer has {size} bytes; a line of this protocol holds {max_line}. Ask for less.");
            (error, Some(TOO_LONG))
        }
        ControlResponse::Refused { error, code } => (error.chars().take(MAX_ERROR_CHARS).chain(['…']).collect(), code),
    };
    let short = ControlResponse::Refused { error: &error, code };
    if !line::push_within(&mut bytes, &ResponseFrame::new(request_id, &short), max_line) {
        line::push_within(&mut bytes, &ResponseFrame::new(request_id, &short), usize::MAX);
    }
    bytes
}

/// Error code of a response that does not fit into a line.
const TOO_LONG: &str = "answer_too_long";

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value;

    /// The only line of a response.
    fn read(bytes: Vec<u8>) -> Value {
        let text = String::from_utf8(bytes).unwrap();
        assert_eq!(text.matches('\n').count(), 1, "{text}");
        serde_json::from_str(&text).unwrap()
    }

    proptest! {
        #[test]
        fn every_request_has_exactly_one_answer_whatever_its_size(
            id in "(.{0,40}|[x\u{2028}]{400,700})",
            size in 0_usize..2_000,
            filler in "[a-z\u{0}\"\u{2028}é]",
            succeeds: bool,
            code in proptest::option::of("[a-z]{0,900}"),
        ) {
            const LIMIT: usize = 600;
            let text = filler.repeat(size);
            let json = JsonText::of(&text).unwrap();
            let response = match succeeds {
                true => ControlResponse::Done(Some(&json)),
                false => ControlResponse::Refused { error: &text, code: code.as_deref() },
            };
            let bytes = answer(&id, &response, LIMIT);
            let fits = bytes.len() <= LIMIT;
            let response = read(bytes)["response"].clone();
            prop_assert_eq!(response["request_id"].as_str(), Some(id.as_str()));
            match response["subtype"].as_str() {
                Some("success") => prop_assert!(succeeds && fits && response["response"] == text),
                subtype => prop_assert!(subtype == Some("error") && response["error"].is_string()),
            }
        }
    }

    #[test]
    fn an_answer_that_does_not_fit_says_how_long_it_is() {
        let json = JsonText::of(&"x".repeat(998)).unwrap();
        let response = read(answer("q", &ControlResponse::Done(Some(&json)), 500))["response"].clone();
        assert_eq!((&response["subtype"], &response["error_code"]), (&"error".into(), &"answer_too_long".into()));
        let error = response["error"].as_str().unwrap();
        assert!(error.contains("1000 bytes") && error.contains("500"), "{error}");
    }
}

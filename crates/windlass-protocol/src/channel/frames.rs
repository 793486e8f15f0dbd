//! Frames of the control traffic, the same in both directions.

use serde::Serialize;
use windlass_types::JsonText;

#[derive(Serialize)]
pub(crate) struct Request<'a, B> {
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    pub(crate) request_id: &'a str,
    pub(crate) request: &'a B,
}

#[derive(Serialize)]
pub(crate) struct Cancel<'a> {
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    pub(crate) request_id: &'a str,
}

#[derive(Serialize)]
pub(crate) struct Response<'a> {
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

impl<'a> Response<'a> {
    pub(crate) fn success(request_id: &'a str, response: Option<&'a JsonText>) -> Self {
        let body = ResponseBody { subtype: "success", request_id, response, error: None, error_code: None };
        Self { kind: "control_response", response: body }
    }

    pub(crate) fn error(request_id: &'a str, error: &'a str, error_code: Option<&'a str>) -> Self {
        let body = ResponseBody { subtype: "error", request_id, response: None, error: Some(error), error_code };
        Self { kind: "control_response", response: body }
    }
}

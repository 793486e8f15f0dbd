//! Frames that are not about a run.

pub(crate) use crate::channel::frames::Response;

use serde::Serialize;

/// A system frame that is not about a run: the state of the session, or its mode.
#[derive(Serialize)]
pub(crate) struct State<'a> {
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    pub(crate) subtype: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) state: Option<&'static str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) sdk_host_only: bool,
    #[serde(rename = "permissionMode", skip_serializing_if = "Option::is_none")]
    pub(crate) permission_mode: Option<&'a str>,
    pub(crate) uuid: String,
    pub(crate) session_id: &'a str,
}

//! Frame of a subscription's rate limit.

use super::Uuid;
use serde::Serialize;

#[derive(Serialize)]
pub(crate) struct RateLimitEvent<'a> {
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    pub(crate) rate_limit_info: RateLimitInfo<'a>,
    pub(crate) uuid: Uuid,
    pub(crate) session_id: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RateLimitInfo<'a> {
    pub(crate) status: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) resets_at: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rate_limit_type: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) utilization: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) overage_status: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) overage_resets_at: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) overage_disabled_reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) is_using_overage: Option<bool>,
}

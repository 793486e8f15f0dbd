//! Frame of a subscription's rate limit.

use super::{FrameEnvelope, FrameMapper};
use crate::frame::{RateLimitEvent, RateLimitInfo};
use crate::line;
use windlass_types::{RateLimit, RateLimitKind, RateLimitStatus, Utilization};

impl FrameMapper {
    /// Appends a rate limit. Hosts know a closed set of each name. A limit with another status is not sent to them; an
    /// unknown name in another field is left out.
    pub(super) fn rate_limit(&mut self, envelope: FrameEnvelope<'_>, limit: &RateLimit, out: &mut Vec<u8>) {
        let Some(status) = status_name(&limit.status) else { return };
        let frame = RateLimitEvent {
            kind: "rate_limit_event",
            rate_limit_info: RateLimitInfo {
                status,
                resets_at: limit.resets_at,
                rate_limit_type: limit.kind.as_ref().and_then(|kind| match kind {
                    RateLimitKind::Other(_) => None,
                    kind => Some(kind.as_str()),
                }),
                utilization: limit.utilization.map(Utilization::get),
                overage_status: limit.overage_status.as_ref().and_then(status_name),
                overage_resets_at: limit.overage_resets_at,
                overage_disabled_reason: limit.overage_disabled_reason.as_deref().map(reason),
                is_using_overage: limit.is_using_overage,
            },
            uuid: self.uuid(),
            session_id: envelope.session_id,
        };
        line::push(out, &frame);
    }
}

fn status_name(status: &RateLimitStatus) -> Option<&str> {
    match status {
        RateLimitStatus::Other(_) => None,
        status => Some(status.as_str()),
    }
}

/// Reason with a name that hosts know, which includes one for unknown reasons.
fn reason(reason: &str) -> &str {
    const KNOWN: [&str; 12] = [
        "overage_not_provisioned",
        "org_level_disabled",
        "org_level_disabled_until",
        "out_of_credits",
        "seat_tier_level_disabled",
        "member_level_disabled",
        "seat_tier_zero_credit_limit",
        "group_zero_credit_limit",
        "member_zero_credit_limit",
        "org_service_level_disabled",
        "no_limits_configured",
        "fetch_error",
    ];
    if KNOWN.contains(&reason) { reason } else { "unknown" }
}

use super::*;
use windlass::event::Utilization;

#[test]
fn only_what_is_short_is_worth_a_warning() {
    use RateLimitStatus::{Allowed, AllowedWarning, Rejected};
    let warned = |limit: &RateLimit| warning(limit).unwrap_or_default();
    let five_hours = RateLimit::new(AllowedWarning)
        .with_kind(Some(RateLimitKind::FiveHour))
        .with_utilization(Utilization::new(0.829))
        .with_resets_at(Some(1_795_166_400));
    assert_eq!(warned(&five_hours), "83% of the five-hour limit is used; it begins anew at 2026-11-20 09:20 UTC");
    for (limit, expected) in [
        (RateLimit::new(Allowed).with_utilization(Utilization::new(0.99)), ""),
        (RateLimit::new("paused".into()), ""),
        (RateLimit::new(AllowedWarning), "the usage limit is nearly used up"),
        (RateLimit::new(Rejected).with_kind(Some(RateLimitKind::SevenDay)), "the weekly limit is used up"),
        (RateLimit::new(Rejected).with_resets_at(Some(u64::MAX)), "the usage limit is used up"),
        (
            RateLimit::new(Rejected).with_overage(Some(Allowed), None),
            "the usage limit is used up, and extra usage is paid for",
        ),
    ] {
        assert_eq!(warned(&limit), expected);
    }
}

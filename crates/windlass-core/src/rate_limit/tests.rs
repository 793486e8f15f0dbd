use super::*;
use windlass_types::{RateLimitKind, RateLimitStatus};

fn limit() -> RateLimit {
    RateLimit::new(RateLimitStatus::AllowedWarning)
        .with_kind(Some(RateLimitKind::FiveHour))
        .with_utilization(Utilization::new(0.28))
        .with_resets_at(Some(1_000_000))
        .with_overage(Some(RateLimitStatus::Allowed), Some(2_000_000))
        .with_overage_disabled_reason(Some("out_of_credits".into()))
}

type Change = fn(&mut RateLimit);

#[test]
fn what_is_news() {
    let cases: [(&str, Change, bool); 18] = [
        ("nothing", |_| (), false),
        ("status", |limit| limit.status = RateLimitStatus::Rejected, true),
        ("status that is not known", |limit| limit.status = "novel".into(), true),
        ("kind", |limit| limit.kind = Some(RateLimitKind::SevenDay), true),
        ("no kind", |limit| limit.kind = None, false),
        ("the next window", |limit| limit.resets_at = Some(1_018_000), true),
        ("a minute", |limit| limit.resets_at = Some(1_000_060), true),
        ("a second", |limit| limit.resets_at = Some(999_999), false),
        ("no time", |limit| limit.resets_at = None, false),
        ("a hundredth more", |limit| limit.utilization = Utilization::new(0.29), true),
        ("a hundredth less", |limit| limit.utilization = Utilization::new(0.27), true),
        ("half a hundredth", |limit| limit.utilization = Utilization::new(0.285), false),
        ("no utilization", |limit| limit.utilization = None, false),
        ("overage", |limit| limit.overage_status = Some(RateLimitStatus::Rejected), true),
        ("overage time", |limit| limit.overage_resets_at = Some(3_000_000), true),
        ("overage reason", |limit| limit.overage_disabled_reason = Some("unknown".into()), true),
        ("overage in use", |limit| limit.is_using_overage = Some(true), true),
        ("without overage", |limit| *limit = limit.clone().with_overage(None, None), false),
    ];
    for (what, change, news) in cases {
        let mut reported = limit();
        change(&mut reported);
        assert_eq!(is_news(&limit(), &reported), news, "{what}");
    }
    let mut bare = limit();
    bare.utilization = None;
    assert!(is_news(&bare, &limit()), "what is reported for the first time");
}

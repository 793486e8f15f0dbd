use super::*;

#[test]
fn a_utilization_is_a_fraction() {
    for (given, kept) in [
        (0.0, Some(0.0)),
        (0.82, Some(0.82)),
        (1.0, Some(1.0)),
        (1.07, Some(1.0)),
        (f64::INFINITY, Some(1.0)),
        (-0.01, None),
        (f64::NEG_INFINITY, None),
        (f64::NAN, None),
    ] {
        assert_eq!(Utilization::new(given).map(Utilization::get), kept, "{given}");
    }
    assert!(Utilization::new(-0.0).is_some_and(|zero| zero.get().is_sign_positive()));
}

#[test]
fn it_is_written_and_read_as_providers_name_it() {
    let only_status = RateLimit::new(RateLimitStatus::Allowed);
    let all = RateLimit::new(RateLimitStatus::Rejected)
        .with_kind(Some(RateLimitKind::SevenDayOpus))
        .with_utilization(Utilization::new(1.0))
        .with_resets_at(Some(1_795_170_000))
        .with_overage(Some(RateLimitStatus::Other("paused".into())), Some(7))
        .with_overage_disabled_reason(Some("out_of_credits".into()));
    for (limit, json) in [
        (only_status, r#"{"status":"allowed"}"#),
        (
            all,
            r#"{"status":"rejected","resets_at":1795170000,"kind":"seven_day_opus","utilization":1.0,"overage_status":"paused","overage_resets_at":7,"overage_disabled_reason":"out_of_credits","is_using_overage":false}"#,
        ),
    ] {
        assert_eq!(serde_json::to_string(&limit).unwrap(), json);
        assert_eq!(serde_json::from_str::<RateLimit>(json).unwrap(), limit);
    }
    assert!(serde_json::from_str::<RateLimit>(r#"{"status":"allowed","utilization":-1}"#).is_err());
}

#[test]
fn every_name_is_read_as_it_is_written() {
    for name in ["allowed", "allowed_warning", "rejected", "from_the_future"] {
        assert_eq!(RateLimitStatus::from(name).to_string(), name);
    }
    assert_eq!(RateLimitStatus::from("from_the_future"), RateLimitStatus::Other("from_the_future".into()));
    for name in [
        "five_hour",
        "seven_day",
        "seven_day_opus",
        "seven_day_sonnet",
        "seven_day_overage_included",
        "overage",
        "from_the_future",
    ] {
        let kind = RateLimitKind::from(name);
        assert_eq!(matches!(kind, RateLimitKind::Other(_)), name == "from_the_future");
        assert_eq!(kind.to_string(), name);
    }
}

#[test]
fn overage_is_used_when_the_allowance_is_gone_and_the_request_was_served() {
    use RateLimitStatus::{Allowed, AllowedWarning, Rejected};
    for (status, overage, using) in [
        (Rejected, Some(Allowed), Some(true)),
        (Rejected, Some(AllowedWarning), Some(true)),
        (Rejected, Some(Rejected), Some(false)),
        (Allowed, Some(Allowed), Some(false)),
        (Rejected, None, None),
    ] {
        assert_eq!(RateLimit::new(status).with_overage(overage, None).is_using_overage, using);
    }
}

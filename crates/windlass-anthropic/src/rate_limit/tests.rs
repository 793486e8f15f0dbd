use super::*;
use proptest::prelude::*;
use windlass_http::{HeaderName, HeaderValue};

fn headers(given: &[(&str, &str)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in given {
        let name = HeaderName::from_bytes(format!("{PREFIX}{name}").as_bytes()).unwrap();
        headers.append(name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
    }
    headers
}

fn read(given: &[(&str, &str)]) -> Option<RateLimit> {
    rate_limit(200, &headers(given))
}

const FULL: [(&str, &str); 11] = [
    ("status", "allowed_warning"),
    ("reset", "1795170000"),
    ("representative-claim", "five_hour"),
    ("fallback", "available"),
    ("5h-status", "allowed_warning"),
    ("5h-utilization", "0.82"),
    ("5h-reset", "1795170001"),
    ("7d-utilization", "0.3"),
    ("7d-reset", "1795570000"),
    ("overage-status", "rejected"),
    ("overage-disabled-reason", "org_level_disabled"),
];

fn with(name: &str, value: &str) -> Vec<(&'static str, String)> {
    FULL.iter().map(|(n, v)| (*n, if *n == name { value.to_owned() } else { (*v).to_owned() })).collect()
}

fn changed(name: &str, value: &str) -> Option<RateLimit> {
    let given = with(name, value);
    read(&given.iter().map(|(name, value)| (*name, value.as_str())).collect::<Vec<_>>())
}

#[test]
fn the_representative_claim_says_which_window_counts() {
    let five_hours = RateLimit::new(RateLimitStatus::AllowedWarning)
        .with_kind(Some(RateLimitKind::FiveHour))
        .with_utilization(Utilization::new(0.82))
        .with_resets_at(Some(1_795_170_000))
        .with_overage(Some(RateLimitStatus::Rejected), None)
        .with_overage_disabled_reason(Some("org_level_disabled".into()));
    assert_eq!(read(&FULL), Some(five_hours.clone()));
    let week = five_hours.clone().with_kind(Some(RateLimitKind::SevenDay)).with_utilization(Utilization::new(0.3));
    assert_eq!(changed("representative-claim", "seven_day"), Some(week));
    // An unknown window, or one without figures in the answer, has no utilization.
    for claim in ["seven_day_opus", "one_moon"] {
        let other = five_hours.clone().with_kind(Some(claim.into())).with_utilization(None);
        assert_eq!(changed("representative-claim", claim), Some(other));
    }
}

#[test]
fn each_window_has_its_own_headers() {
    for (claim, window) in [
        ("five_hour", "5h"),
        ("seven_day", "7d"),
        ("seven_day_opus", "7d_opus"),
        ("seven_day_sonnet", "7d_sonnet"),
        ("seven_day_overage_included", "7d_oi"),
        ("overage", "overage"),
    ] {
        let (utilization, reset) = (format!("{window}-utilization"), format!("{window}-reset"));
        let given =
            [("status", "allowed"), ("representative-claim", claim), (&utilization, "0.5"), (&reset, "1795170000")];
        let limit = read(&given).unwrap();
        assert_eq!(limit.kind.map(String::from).as_deref(), Some(claim));
        assert_eq!((limit.utilization, limit.resets_at), (Utilization::new(0.5), Some(1_795_170_000)), "{claim}");
    }
}

#[test]
fn without_a_status_there_is_no_allowance_to_report() {
    let without = FULL.get(1..).unwrap();
    assert_eq!(read(without), None);
    assert_eq!(read(&[]), None);
    for answer in [400, 500, 529] {
        assert_eq!(rate_limit(answer, &headers(without)), None);
    }
    // A refusal that names a window is due to that window.
    assert_eq!(rate_limit(429, &headers(without)).unwrap().status, RateLimitStatus::Rejected);
    assert_eq!(rate_limit(429, &headers(&[("5h-utilization", "1")])), None);
    // A refusal whose status allows requests has another reason.
    assert_eq!(rate_limit(429, &headers(&[("status", "allowed")])).unwrap().status, RateLimitStatus::Allowed);
}

#[test]
fn limits_a_minute_are_no_allowance() {
    let mut headers = HeaderMap::new();
    for name in ["anthropic-ratelimit-requests-remaining", "anthropic-ratelimit-status", "x-ratelimit-reset"] {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static("7"));
    }
    assert_eq!(rate_limit(200, &headers), None);
    assert_eq!(rate_limit(429, &headers), None);
}

#[test]
fn odd_values_are_left_out_and_the_rest_is_read() {
    let long = "a".repeat(65);
    for status in ["", " ", "Allowed!", "allowed allowed", long.as_str(), "erlaubt\u{e4}"] {
        assert_eq!(changed("status", status), None, "{status:?}");
    }
    assert_eq!(changed("status", "queueing_soft").unwrap().status, RateLimitStatus::Other("queueing_soft".into()));
    for claim in ["", "five hour", long.as_str()] {
        let limit = changed("representative-claim", claim).unwrap();
        assert_eq!((limit.kind, limit.utilization), (None, None), "{claim:?}");
    }
    for (fraction, read) in [
        ("0", Some(0.0)),
        ("1.02", Some(1.0)),
        ("-0.1", None),
        ("NaN", None),
        ("inf", None),
        ("82%", None),
        ("", None),
        ("1e999", None),
    ] {
        let limit = changed("5h-utilization", fraction).unwrap();
        assert_eq!(limit.utilization.map(Utilization::get), read, "{fraction:?}");
    }
    // The time of the window itself replaces an unreadable one.
    for (time, read) in [
        ("1795170000", 1_795_170_000),
        ("2026-11-20T09:20:00Z", 1_795_166_400),
        ("0", 1_795_170_001),
        ("-5", 1_795_170_001),
        ("1795170000.5", 1_795_170_001),
        ("99999999999999", 1_795_170_001),
        ("99999999999999999999999", 1_795_170_001),
        ("soon", 1_795_170_001),
    ] {
        assert_eq!(changed("reset", time).unwrap().resets_at, Some(read), "{time:?}");
    }
}

#[test]
fn overage_in_use_follows_from_both_statuses() {
    let given = [("status", "rejected"), ("overage-status", "allowed"), ("overage-reset", "1795170000")];
    let limit = read(&given).unwrap();
    assert_eq!((limit.is_using_overage, limit.overage_resets_at), (Some(true), Some(1_795_170_000)));
    assert_eq!(read(&FULL).unwrap().is_using_overage, Some(false));
    // A request that was refused all the same was not served.
    assert_eq!(rate_limit(429, &headers(&given)).unwrap().is_using_overage, Some(false));
    assert_eq!(rate_limit(429, &headers(given.get(..1).unwrap())).unwrap().is_using_overage, None);
}

proptest! {
    #[test]
    fn no_value_is_too_odd(values in proptest::collection::vec(proptest::collection::vec(0x20_u8.., 0..80), FULL.len())) {
        let mut headers = HeaderMap::new();
        for ((name, _), value) in FULL.iter().zip(&values) {
            if let Ok(value) = HeaderValue::from_bytes(value) {
                headers.insert(HeaderName::from_bytes(format!("{PREFIX}{name}").as_bytes()).unwrap(), value);
            }
        }
        if let Some(limit) = rate_limit(429, &headers) {
            prop_assert!(limit.status.as_str().len() <= MAX_NAME);
            prop_assert!(limit.utilization.is_none_or(|used| (0.0..=1.0).contains(&used.get())));
        }
    }
}

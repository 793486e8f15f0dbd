use crate::{HeaderName, HeaderValue};

use super::*;

type Headers<'a> = &'a [(&'static str, &'a str)];

fn wait(headers: Headers<'_>) -> Option<Duration> {
    let map = headers
        .iter()
        .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_str(value).unwrap()))
        .collect();
    // 1994-11-06 08:49:37 UTC.
    retry_after(&map, SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777))
}

#[test]
fn all_forms() {
    let seconds = |seconds| Some(Duration::from_secs(seconds));
    let cases: [(Headers<'_>, Option<Duration>); 14] = [
        (&[], None),
        (&[("retry-after", "7")], seconds(7)),
        (&[("retry-after", " 0 ")], seconds(0)),
        (&[("retry-after", "1.5")], Some(Duration::from_millis(1500))),
        (&[("retry-after", "99999999999999999999")], seconds(2_678_400)),
        (&[("retry-after", "-1")], None),
        (&[("retry-after", "NaN")], None),
        (&[("retry-after", "soon")], None),
        (&[("retry-after-ms", "250"), ("retry-after", "7")], Some(Duration::from_millis(250))),
        (&[("retry-after", "Sun, 06 Nov 1994 08:50:37 GMT")], seconds(60)),
        (&[("retry-after", "Sun, 06 Nov 1994 08:00:00 GMT")], seconds(0)),
        (&[("retry-after", "Sat, 01 Mar 2036 00:00:05 GMT"), ("date", "Fri, 29 Feb 2036 23:59:55 GMT")], seconds(10)),
        (&[("retry-after", "Sun, 06 Nov 2094 08:49:37 GMT")], seconds(2_678_400)),
        (&[("retry-after", "Sun, 41 Nov 1994 08:49:37 GMT")], None),
    ];
    for (headers, expected) in cases {
        assert_eq!(wait(headers), expected, "{headers:?}");
    }
}

#[test]
fn days_follow_each_other() {
    assert_eq!(days_since_epoch(1970, 0, 1), 0);
    assert_eq!(days_since_epoch(2000, 1, 29) + 1, days_since_epoch(2000, 2, 1));
    assert_eq!(days_since_epoch(2100, 1, 28) + 1, days_since_epoch(2100, 2, 1));
    assert_eq!(days_since_epoch(2026, 11, 31) + 1, days_since_epoch(2027, 0, 1));
}

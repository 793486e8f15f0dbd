//! Headers about retries: `retry-after` and `x-should-retry`.

use std::time::{Duration, SystemTime};

use crate::HeaderMap;

/// Maximum wait that is passed on. The caller decides which waits it obeys; this only bounds the value.
const MAX_WAIT: Duration = Duration::from_secs(31 * 24 * 60 * 60);

/// Returns the wait that the server asks for: `retry-after-ms`, or `retry-after` in seconds or as a date. A date is
/// compared with the server's own `date`, so that a wrong clock here does not matter.
pub fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let seconds = |text: &str| text.parse::<f64>().ok().filter(|seconds| seconds.is_finite() && *seconds >= 0.0);
    let wait = if let Some(milliseconds) = text("retry-after-ms").and_then(seconds) {
        milliseconds / 1000.0
    } else {
        let header = text("retry-after")?;
        match seconds(header) {
            Some(seconds) => seconds,
            None => {
                let until = http_date(header)?;
                let now = text("date").and_then(http_date).unwrap_or_else(|| unix_seconds(now));
                until.saturating_sub(now) as f64
            }
        }
    };
    Some(Duration::from_secs_f64(wait.min(MAX_WAIT.as_secs_f64())))
}

/// Returns the value of the header `x-should-retry`, which the vendor's own clients heed before the status: `true` if
/// the server wants a retry.
pub fn should_retry(headers: &HeaderMap) -> Option<bool> {
    match headers.get("x-should-retry")?.to_str().ok()?.trim() {
        value if value.eq_ignore_ascii_case("true") => Some(true),
        value if value.eq_ignore_ascii_case("false") => Some(false),
        _ => None,
    }
}

fn unix_seconds(time: SystemTime) -> u64 {
    time.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// Returns the Unix seconds of a date such as `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, section 5.6.7). The two
/// obsolete forms are not read.
fn http_date(text: &str) -> Option<u64> {
    let mut words = text.split_once(", ")?.1.split(' ');
    let day: i64 = words.next()?.parse().ok()?;
    let name = words.next()?;
    let names = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let month = i64::try_from(names.iter().position(|month| *month == name)?).ok()?;
    let year: i64 = words.next()?.parse().ok()?;
    let mut clock = words.next()?.split(':').map(str::parse::<i64>);
    let (Some(Ok(hour)), Some(Ok(minute)), Some(Ok(second)), None) =
        (clock.next(), clock.next(), clock.next(), clock.next())
    else {
        return None;
    };
    let in_range = (1..=31).contains(&day)
        && (1970..=9999).contains(&year)
        && (0..24).contains(&hour)
        && (0..60).contains(&minute)
        && (0..=60).contains(&second);
    if words.next() != Some("GMT") || !in_range {
        return None;
    }
    let days = days_since_epoch(year, month, day);
    u64::try_from(days * 86_400 + hour * 3_600 + minute * 60 + second).ok()
}

/// Returns the days from 1970-01-01 to a date of the Gregorian calendar; months from zero. The year is counted from
/// March, so that the leap day is its last.
fn days_since_epoch(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month < 2 { (year - 1, month + 10) } else { (year, month - 2) };
    let leap_days = year / 4 - year / 100 + year / 400;
    // Days before month m of a year from March: 0, 31, 61, 92, 122, 153 …
    let month_days = (153 * month + 2) / 5;
    // 0000-03-01 is 719,468 days before the epoch.
    year * 365 + leap_days + month_days + day - 1 - 719_468
}

#[cfg(test)]
mod tests;

//! Warnings about a subscription's allowance.

use windlass::event::Timestamp;
use windlass::event::{RateLimit, RateLimitKind, RateLimitStatus};

/// Returns the warning about a limit, if one is due.
pub(crate) fn warning(limit: &RateLimit) -> Option<String> {
    let name = match &limit.kind {
        Some(RateLimitKind::FiveHour) => "five-hour limit",
        Some(RateLimitKind::SevenDay) => "weekly limit",
        Some(RateLimitKind::SevenDayOpus) => "weekly limit for Opus",
        Some(RateLimitKind::SevenDaySonnet) => "weekly limit for Sonnet",
        Some(RateLimitKind::Overage) => "limit of extra usage",
        _ => "usage limit",
    };
    let description = match (&limit.status, limit.utilization) {
        (RateLimitStatus::AllowedWarning, Some(used)) => format!("{:.0}% of the {name} is used", used.get() * 100.0),
        (RateLimitStatus::AllowedWarning, None) => format!("the {name} is nearly used up"),
        (RateLimitStatus::Rejected, _) if limit.is_using_overage == Some(true) => {
            format!("the {name} is used up, and extra usage is paid for")
        }
        (RateLimitStatus::Rejected, _) => format!("the {name} is used up"),
        _ => return None,
    };
    Some(match limit.resets_at.and_then(minute) {
        Some(time) => format!("{description}; it begins anew at {time}"),
        None => description,
    })
}

/// Formats a time to the minute.
fn minute(seconds: u64) -> Option<String> {
    let text = Timestamp::from_millis(seconds.checked_mul(1000)?).to_string();
    let (date, time) = text.split_once('T')?;
    Some(format!("{date} {} UTC", time.get(..5)?))
}

#[cfg(test)]
mod tests;

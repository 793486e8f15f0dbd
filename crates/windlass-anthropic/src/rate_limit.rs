//! Headers that hold a subscription's allowance.
//!
//! Only the headers with the prefix `anthropic-ratelimit-unified-`, which answers to the credentials of a subscription
//! carry. The others, such as `anthropic-ratelimit-requests-remaining`, count down an API key's limits per minute and
//! are no allowance. The API's own pages do not describe the unified ones; the names are those that clients have
//! reported:
//! - status, reset, representative claim, overage:
//!   <https://github.com/anthropics/claude-code/issues/12829>,
//!   <https://github.com/griffinwork40/agent-afk/pull/490>
//! - utilization and reset of each window: <https://github.com/anomalyco/opencode/issues/49653>
//! - fields that hosts see: <https://github.com/meawoppl/rust-code-agent-sdks/pull/180>
//!
//! Unreadable values are left out; an answer never fails because of them.

use windlass_http::HeaderMap;
use windlass_types::{RateLimit, RateLimitKind, RateLimitStatus, Timestamp, Utilization};

const PREFIX: &str = "anthropic-ratelimit-unified-";
/// Maximum length of a name that is kept, in bytes.
const MAX_NAME: usize = 64;
/// First second of the year 10000: no window ends so late.
const END_OF_TIME: u64 = 253_402_300_800;

/// Reads the allowance in the headers of an answer with this status, if they show whether requests are served.
///
/// - `-status`: `allowed`, `allowed_warning`, `rejected`. Missing in a 429 that names a window, it is `rejected`.
/// - `-representative-claim`: the decisive window, such as `five_hour`.
/// - `-reset`: the begin of the next such window, in seconds since the epoch; else the time of the window itself.
/// - `-5h-utilization`, `-5h-reset`, and so on: a window's own figures, of which only those of the decisive window are
///   used.
/// - `-overage-status`, `-overage-reset`, `-overage-disabled-reason`: use beyond the allowance.
pub(crate) fn rate_limit(answer: u16, headers: &HeaderMap) -> Option<RateLimit> {
    let read = Unified(headers);
    let kind = read.name("representative-claim").map(RateLimitKind::from);
    let window = kind.as_ref().and_then(window);
    let own = |what: &str| window.map(|window| format!("{window}-{what}"));
    let resets_at = read.time("reset").or_else(|| read.time(&own("reset")?));
    let status = match read.name("status") {
        Some(status) => RateLimitStatus::from(status),
        None if answer == 429 && (kind.is_some() || resets_at.is_some()) => RateLimitStatus::Rejected,
        None => return None,
    };
    let mut limit = RateLimit::new(status)
        .with_resets_at(resets_at)
        .with_utilization(own("utilization").and_then(|name| read.fraction(&name)))
        .with_kind(kind)
        .with_overage(read.name("overage-status").map(RateLimitStatus::from), read.time("overage-reset"))
        .with_overage_disabled_reason(read.name("overage-disabled-reason").map(str::to_owned));
    if answer != 200 {
        // A refused request is not paid for either.
        limit.is_using_overage = limit.is_using_overage.map(|_| false);
    }
    Some(limit)
}

/// Returns the name of a window in the headers of its own figures.
fn window(kind: &RateLimitKind) -> Option<&'static str> {
    Some(match kind {
        RateLimitKind::FiveHour => "5h",
        RateLimitKind::SevenDay => "7d",
        RateLimitKind::SevenDayOpus => "7d_opus",
        RateLimitKind::SevenDaySonnet => "7d_sonnet",
        RateLimitKind::SevenDayOverageIncluded => "7d_oi",
        RateLimitKind::Overage => "overage",
        _ => return None,
    })
}

struct Unified<'a>(&'a HeaderMap);

impl<'a> Unified<'a> {
    fn text(&self, name: &str) -> Option<&'a str> {
        self.0.get(format!("{PREFIX}{name}"))?.to_str().ok().map(str::trim)
    }

    /// Returns a word of lower-case letters, digits and underscores, as all known values are.
    fn name(&self, name: &str) -> Option<&'a str> {
        let is_name = |text: &&str| {
            (1..=MAX_NAME).contains(&text.len())
                && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
        };
        self.text(name).filter(is_name)
    }

    /// Returns seconds since the epoch, also from a date of RFC 3339, which occurs now and then.
    fn time(&self, name: &str) -> Option<u64> {
        let text = self.text(name)?;
        let seconds = text.parse().ok().or_else(|| Timestamp::parse(text).map(|time| time.millis() / 1000));
        seconds.filter(|seconds| (1..END_OF_TIME).contains(seconds))
    }

    fn fraction(&self, name: &str) -> Option<Utilization> {
        let fraction = self.text(name)?.parse::<f64>().ok().filter(|fraction| fraction.is_finite())?;
        Utilization::new(fraction)
    }
}

#[cfg(test)]
mod tests;

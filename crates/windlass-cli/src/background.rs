//! Time limit for background work at the end of a run.

use std::time::Duration;

/// Variable with that limit in milliseconds; zero means no limit. Default: ten minutes.
const LIMIT_VARIABLE: &str = "CLAUDE_CODE_PRINT_BG_WAIT_CEILING_MS";
const DEFAULT: Duration = Duration::from_secs(600);

/// Returns the time limit for background work; `None` means no limit.
pub(crate) fn wait() -> Option<Duration> {
    ceiling(std::env::var(LIMIT_VARIABLE).ok().as_deref())
}

fn ceiling(value: Option<&str>) -> Option<Duration> {
    match value.and_then(|value| value.trim().parse::<u64>().ok()) {
        Some(0) => None,
        Some(milliseconds) => Some(Duration::from_millis(milliseconds)),
        None => Some(DEFAULT),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_waits_for_ever_and_nonsense_is_the_default() {
        for (value, expected) in [
            (None, Some(DEFAULT)),
            (Some("x"), Some(DEFAULT)),
            (Some("-1"), Some(DEFAULT)),
            (Some("0"), None),
            (Some(" 1500 "), Some(Duration::from_millis(1_500))),
        ] {
            assert_eq!(ceiling(value), expected, "{value:?}");
        }
    }
}

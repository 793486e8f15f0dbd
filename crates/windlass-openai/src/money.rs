//! Costs of calls that endpoints report.

use windlass_types::NanoUsd;

/// Maximum plausible cost of a call. A higher reported cost is an error, and must not exhaust a budget.
const MAX_PLAUSIBLE_COST: NanoUsd = NanoUsd::new(10_000 * 1_000_000_000);

/// Returns the amount, unless it is implausibly high.
pub(crate) fn plausible(amount: NanoUsd) -> Option<NanoUsd> {
    (amount <= MAX_PLAUSIBLE_COST).then_some(amount)
}

/// Reads an amount in dollars, as a JSON number.
pub(crate) fn dollars(json: &str) -> Option<NanoUsd> {
    plausible(NanoUsd::from_decimal(json)?)
}

/// Converts an amount in ten billionths of a dollar (xAI, "Cost tracking"). Rounds up.
pub(crate) fn ticks(ticks: u64) -> Option<NanoUsd> {
    plausible(NanoUsd::new(ticks.div_ceil(10)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_and_those_that_cannot_be_right_are_not() {
        assert_eq!(dollars("0.95"), Some(NanoUsd::new(950_000_000)));
        assert_eq!(dollars("0"), Some(NanoUsd::ZERO));
        assert_eq!(ticks(37_756_000), Some(NanoUsd::new(3_775_600)));
        assert_eq!(ticks(1), Some(NanoUsd::new(1)));
        assert_eq!(ticks(100_000_000_000_001), None);
        for wrong in ["-0.01", "NaN", "1e9", "10000.000000001", "null", "\"0.5\"", "{}", "true"] {
            assert_eq!(dollars(wrong), None, "{wrong}");
        }
    }
}

//! Money, reserved before a call and settled after it.

use crate::{Limits, ModelProfile, UnpricedModels};
use windlass_types::NanoUsd;

/// A call is not worth making for fewer output tokens than this.
const LEAST_OUTPUT_TOKENS: u32 = 1_024;

/// What the budget says about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reservation {
    /// It may write at most so many tokens.
    Granted { max_output_tokens: u32 },
    /// The price is unknown, so the budget does not hold.
    Unpriced,
    /// It does not buy this call.
    Exhausted,
}

/// Reserves the most that a call can cost: all input at the dearest input rate,
/// and as much output as is left for.
pub(crate) fn reserve(
    limits: &Limits,
    spent: NanoUsd,
    model: &ModelProfile,
    input_tokens: impl FnOnce() -> u64,
    wanted: u32,
) -> Reservation {
    let Some(budget) = limits.max_budget else {
        return Reservation::Granted { max_output_tokens: wanted };
    };
    let Some(price) = model.info.price else {
        return match limits.unpriced {
            UnpricedModels::Allow => Reservation::Unpriced,
            UnpricedModels::Refuse => Reservation::Exhausted,
        };
    };
    // Long prompts may have a price of their own.
    let input_tokens = input_tokens();
    let price = model.info.price_for(input_tokens).unwrap_or(price);
    let dearest = price.input.max(price.cache_write).max(price.cache_write_1h);
    let left = budget.saturating_sub(spent).saturating_sub(dearest.times(input_tokens));
    let affordable = left.nano().checked_div(price.output.nano()).unwrap_or(u64::from(u32::MAX));
    let granted = u32::try_from(affordable).unwrap_or(u32::MAX).min(wanted);
    if granted < LEAST_OUTPUT_TOKENS.min(wanted) {
        return Reservation::Exhausted;
    }
    Reservation::Granted { max_output_tokens: granted }
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_types::{ModelInfo, Price, Usage};

    fn model(price: Option<Price>) -> ModelProfile {
        let mut info = ModelInfo::new(200_000, 64_000);
        info.price = price;
        ModelProfile::new("m", info)
    }

    #[test]
    fn a_granted_call_never_costs_more_than_is_left() {
        let price = Price::new(3_000, 15_000);
        for budget in [0, 1_000_000, 30_000_000, 2_000_000_000] {
            for spent in [0, 500_000, 40_000_000] {
                for input in [10, 1_000, 100_000] {
                    let limits = Limits { max_budget: Some(NanoUsd::new(budget)), ..Limits::default() };
                    let granted = reserve(&limits, NanoUsd::new(spent), &model(Some(price)), || input, 32_000);
                    if let Reservation::Granted { max_output_tokens } = granted {
                        let mut worst = Usage::new(0, u64::from(max_output_tokens));
                        worst.cache_creation_input_tokens = input;
                        worst.cache_creation_1h_input_tokens = input;
                        assert!(price.cost(&worst).nano() + spent <= budget);
                        assert!(max_output_tokens >= LEAST_OUTPUT_TOKENS);
                    }
                }
            }
        }
    }

    #[test]
    fn a_long_prompt_is_reserved_at_its_own_price() {
        let mut long = model(Some(Price::new(100, 500)));
        long.info.long_prompt = Some(windlass_types::LongPrompt::new(100_000, Price::new(500, 2_500)));
        // 100,001 tokens at twice 500 leave 25,000,000 for output at 2,500.
        let limits = Limits { max_budget: Some(NanoUsd::new(100_001_000 + 25_000_000)), ..Limits::default() };
        let granted = reserve(&limits, NanoUsd::ZERO, &long, || 100_001, 32_000);
        assert!(matches!(granted, Reservation::Granted { max_output_tokens: 10_000 }));
    }

    #[test]
    fn unknown_prices_follow_the_option() {
        let mut limits = Limits { max_budget: Some(NanoUsd::new(1)), ..Limits::default() };
        assert_eq!(reserve(&limits, NanoUsd::ZERO, &model(None), || 1, 10), Reservation::Unpriced);
        limits.unpriced = UnpricedModels::Refuse;
        assert_eq!(reserve(&limits, NanoUsd::ZERO, &model(None), || 1, 10), Reservation::Exhausted);
    }
}

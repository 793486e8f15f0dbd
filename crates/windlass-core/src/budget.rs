//! Money, reserved before a call and settled after it.

use crate::{Limits, ModelProfile, UnpricedModels};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use windlass_types::NanoUsd;

/// A call is not worth making for fewer output tokens than this.
const LEAST_OUTPUT_TOKENS: u32 = 1_024;

/// What the agents of a session have spent, all together, and what calls that go on may still cost.
///
/// One ledger is shared by the machines of all agents, so that their calls cannot each spend what is left.
#[derive(Debug, Clone, Default)]
pub struct Ledger(Arc<Mutex<Book>>);

#[derive(Debug, Default)]
struct Book {
    spent: NanoUsd,
    reserved: NanoUsd,
}

impl Ledger {
    fn book(&self) -> MutexGuard<'_, Book> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was spent until now.
    pub fn spent(&self) -> NanoUsd {
        self.book().spent
    }

    pub(crate) fn spend(&self, cost: NanoUsd) {
        let mut book = self.book();
        book.spent = book.spent.saturating_add(cost);
    }

    /// Books what a call cost, and frees what was held for it, in one step.
    pub(crate) fn settle(&self, mut hold: Hold, cost: NanoUsd) {
        let mut book = self.book();
        book.spent = book.spent.saturating_add(cost);
        if Arc::ptr_eq(&self.0, &hold.ledger.0) {
            book.reserved = book.reserved.saturating_sub(std::mem::take(&mut hold.amount));
        }
    }

    fn hold(&self, book: &mut Book, amount: NanoUsd) -> Hold {
        book.reserved = book.reserved.saturating_add(amount);
        Hold { ledger: self.clone(), amount }
    }
}

/// What a call may cost at most. It is free for others when this is dropped.
#[derive(Debug, Default)]
pub(crate) struct Hold {
    ledger: Ledger,
    amount: NanoUsd,
}

impl Drop for Hold {
    fn drop(&mut self) {
        if self.amount == NanoUsd::ZERO {
            return;
        }
        let mut book = self.ledger.book();
        book.reserved = book.reserved.saturating_sub(self.amount);
    }
}

/// What the budget says about a call.
#[derive(Debug)]
pub(crate) enum Reservation {
    /// It may write at most so many tokens, while this is held.
    Granted { max_output_tokens: u32, hold: Hold },
    /// The price is unknown, so the budget does not hold.
    Unpriced,
    /// Calls of other agents hold what it would need: it is free again when they end.
    Busy,
    /// It does not buy this call.
    Exhausted,
}

/// Reserves the most that a call can cost: all input at the dearest input rate,
/// and as much output as is left for.
pub(crate) fn reserve(
    limits: &Limits,
    ledger: &Ledger,
    model: &ModelProfile,
    input_tokens: impl FnOnce() -> u64,
    wanted: u32,
) -> Reservation {
    let Some(budget) = limits.max_budget else {
        return Reservation::Granted { max_output_tokens: wanted, hold: Hold::default() };
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
    let input = price.input.max(price.cache_write).max(price.cache_write_1h).times(input_tokens);
    let mut book = ledger.book();
    let buys = |left: NanoUsd| {
        let affordable = left.saturating_sub(input).nano().checked_div(price.output.nano());
        let granted = u32::try_from(affordable.unwrap_or(u64::from(u32::MAX))).unwrap_or(u32::MAX).min(wanted);
        (granted >= LEAST_OUTPUT_TOKENS.min(wanted)).then_some(granted)
    };
    let unspent = budget.saturating_sub(book.spent);
    match buys(unspent.saturating_sub(book.reserved)) {
        Some(max_output_tokens) => {
            let most = input.saturating_add(price.output.times(u64::from(max_output_tokens)));
            Reservation::Granted { max_output_tokens, hold: ledger.hold(&mut book, most) }
        }
        None if buys(unspent).is_some() => Reservation::Busy,
        None => Reservation::Exhausted,
    }
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
                    let granted = reserve(&limits, &spent_so_far(spent), &model(Some(price)), || input, 32_000);
                    if let Reservation::Granted { max_output_tokens, .. } = granted {
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
        let granted = reserve(&limits, &Ledger::default(), &long, || 100_001, 32_000);
        assert!(matches!(granted, Reservation::Granted { max_output_tokens: 10_000, .. }));
    }

    #[test]
    fn unknown_prices_follow_the_option() {
        let mut limits = Limits { max_budget: Some(NanoUsd::new(1)), ..Limits::default() };
        let ledger = Ledger::default();
        assert!(matches!(reserve(&limits, &ledger, &model(None), || 1, 10), Reservation::Unpriced));
        limits.unpriced = UnpricedModels::Refuse;
        assert!(matches!(reserve(&limits, &ledger, &model(None), || 1, 10), Reservation::Exhausted));
    }

    #[test]
    fn what_calls_of_other_agents_may_cost_is_not_spent_twice() {
        let price = Price::new(1_000, 1_000);
        let limits = Limits { max_budget: Some(NanoUsd::new(10_000_000)), ..Limits::default() };
        let (ledger, model) = (Ledger::default(), model(Some(price)));
        let ask = |wanted| reserve(&limits, &ledger, &model, || 100, wanted);
        let Reservation::Granted { max_output_tokens: 6_000, hold: first } = ask(6_000) else { panic!("refused") };
        let Reservation::Granted { max_output_tokens: second, hold: _second } = ask(6_000) else { panic!("refused") };
        assert!((3_000..4_000).contains(&second), "{second}");
        assert!(matches!(ask(6_000), Reservation::Busy));
        drop(first);
        assert!(matches!(ask(4_000), Reservation::Granted { max_output_tokens: 4_000, .. }));
        ledger.spend(NanoUsd::new(9_000_000));
        assert!(matches!(ask(4_000), Reservation::Exhausted));
        assert_eq!(ledger.spent(), NanoUsd::new(9_000_000));
    }

    #[test]
    fn a_call_that_is_settled_holds_nothing() {
        let limits = Limits { max_budget: Some(NanoUsd::new(10_000_000)), ..Limits::default() };
        let (ledger, model) = (Ledger::default(), model(Some(Price::new(1_000, 1_000))));
        let ask = |wanted| reserve(&limits, &ledger, &model, || 0, wanted);
        let Reservation::Granted { hold, .. } = ask(9_000) else { panic!("refused") };
        ledger.settle(hold, NanoUsd::new(2_000_000));
        assert_eq!(ledger.spent(), NanoUsd::new(2_000_000));
        assert!(matches!(ask(8_000), Reservation::Granted { max_output_tokens: 8_000, .. }));
        // A call that nothing was held for.
        ledger.settle(Hold::default(), NanoUsd::new(1_000_000));
        assert!(matches!(ask(8_000), Reservation::Granted { max_output_tokens: 7_000, .. }));
    }

    fn spent_so_far(spent: u64) -> Ledger {
        let ledger = Ledger::default();
        ledger.spend(NanoUsd::new(spent));
        ledger
    }
}

//! Money: what a call may cost is reserved before it is made, and settled when it has ended.
//!
//! A machine decides by its own inputs alone. So the budget of a session is kept in a [`Ledger`] outside of all
//! machines, by the driver of the main agent. A machine asks it with [`Effect::Reserve`](crate::Effect::Reserve) and
//! reports with [`Effect::Settle`](crate::Effect::Settle).

use crate::{EffectId, Limits, ModelProfile, UnpricedModels};
use std::collections::BTreeMap;
use windlass_types::NanoUsd;

/// A call is not worth making for fewer output tokens than this.
const LEAST_OUTPUT_TOKENS: u32 = 1_024;

/// What a model call may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallCost {
    /// The budget that it is paid from: that of the whole session.
    pub budget: NanoUsd,
    /// What its input costs at most.
    pub input: NanoUsd,
    /// What each token of its output costs.
    pub per_output_token: NanoUsd,
    /// How many tokens it may write at most.
    pub max_output_tokens: u32,
}

impl CallCost {
    /// How many output tokens an amount buys, if that is worth the call.
    fn bought_with(&self, amount: NanoUsd) -> Option<u32> {
        if self.input > amount {
            return None;
        }
        let tokens = amount.saturating_sub(self.input).nano().checked_div(self.per_output_token.nano());
        let tokens = u32::try_from(tokens.unwrap_or(u64::MAX)).unwrap_or(u32::MAX).min(self.max_output_tokens);
        (tokens >= LEAST_OUTPUT_TOKENS.min(self.max_output_tokens)).then_some(tokens)
    }

    fn with_output(&self, tokens: u32) -> NanoUsd {
        self.input.saturating_add(self.per_output_token.times(u64::from(tokens)))
    }
}

/// The answer to [`Effect::Reserve`](crate::Effect::Reserve).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a reservation is granted or it is not")]
pub enum Reservation {
    /// The call may write this many tokens. What they cost is held until the call is settled.
    Granted {
        /// The tokens.
        max_output_tokens: u32,
    },
    /// The budget does not buy the call.
    Exhausted,
}

/// An agent that spends from a [`Ledger`]; the keeper of the ledger chooses it.
pub type LedgerKey = u64;

/// The answers for calls that waited: the agent, its [`Effect::Reserve`](crate::Effect::Reserve), and the answer.
pub type LedgerAnswers = Vec<(LedgerKey, EffectId, Reservation)>;

/// What the agents of a session have spent, all together, and what their open calls may still cost.
///
/// There is one for all agents of a session, so that their calls cannot each spend what is left. A call that open
/// calls of others leave no money for waits until one of these is settled.
#[derive(Debug, Clone, Default)]
pub struct Ledger {
    spent: NanoUsd,
    held: BTreeMap<(LedgerKey, EffectId), NanoUsd>,
    /// In the order in which they asked.
    waiting: Vec<(LedgerKey, EffectId, CallCost)>,
}

impl Ledger {
    /// A ledger of a session that has cost this much already.
    pub fn new(spent: NanoUsd) -> Self {
        Self { spent, ..Self::default() }
    }

    /// What all agents have spent until now.
    pub fn spent(&self) -> NanoUsd {
        self.spent
    }

    /// Asks for what a call may cost. `None`: the answer is given by [`Ledger::settle`], [`Ledger::release`] or
    /// [`Ledger::leave`] when other calls have ended.
    pub fn reserve(&mut self, agent: LedgerKey, effect: EffectId, cost: CallCost) -> Option<Reservation> {
        let answer = self.decide(agent, effect, &cost);
        if answer.is_none() {
            self.waiting.push((agent, effect, cost));
        }
        answer
    }

    /// Books what a call cost, and frees what was held for it. Returns the answers for calls that waited.
    #[must_use = "calls that waited get their answers here"]
    pub fn settle(&mut self, agent: LedgerKey, reservation: Option<EffectId>, cost: NanoUsd) -> LedgerAnswers {
        self.spent = self.spent.saturating_add(cost);
        if let Some(effect) = reservation {
            self.held.remove(&(agent, effect));
        }
        self.answers()
    }

    /// Takes back what was asked for, granted or not. Returns the answers for calls that waited.
    #[must_use = "calls that waited get their answers here"]
    pub fn release(&mut self, agent: LedgerKey, effect: EffectId) -> LedgerAnswers {
        self.waiting.retain(|(waiting, asked, _)| (*waiting, *asked) != (agent, effect));
        self.held.remove(&(agent, effect));
        self.answers()
    }

    /// An agent has ended. What was held for it is free. Returns the answers for calls that waited.
    #[must_use = "calls that waited get their answers here"]
    pub fn leave(&mut self, agent: LedgerKey) -> LedgerAnswers {
        self.waiting.retain(|(waiting, ..)| *waiting != agent);
        self.held.retain(|(holder, _), _| *holder != agent);
        self.answers()
    }

    fn answers(&mut self) -> LedgerAnswers {
        let mut answers = Vec::new();
        for (agent, effect, cost) in std::mem::take(&mut self.waiting) {
            match self.decide(agent, effect, &cost) {
                Some(answer) => answers.push((agent, effect, answer)),
                None => self.waiting.push((agent, effect, cost)),
            }
        }
        answers
    }

    fn decide(&mut self, agent: LedgerKey, effect: EffectId, cost: &CallCost) -> Option<Reservation> {
        let unspent = cost.budget.saturating_sub(self.spent);
        let held = self.held.values().fold(NanoUsd::ZERO, |sum, held| sum.saturating_add(*held));
        match cost.bought_with(unspent.saturating_sub(held)) {
            Some(max_output_tokens) => {
                self.held.insert((agent, effect), cost.with_output(max_output_tokens));
                Some(Reservation::Granted { max_output_tokens })
            }
            None if cost.bought_with(unspent).is_some() => None,
            None => Some(Reservation::Exhausted),
        }
    }
}

/// What limits a call of a model.
#[derive(Debug)]
pub(crate) enum Price {
    /// No budget.
    Unlimited,
    /// A budget that does not hold: the model's price is not known.
    Unknown,
    /// A budget that does not allow models without a known price.
    Refused,
    /// The budget must be asked.
    Costs(CallCost),
}

/// What limits a call with this many input tokens that may write this many output tokens.
pub(crate) fn price(
    limits: &Limits,
    model: &ModelProfile,
    input_tokens: impl FnOnce() -> u64,
    max_output_tokens: u32,
) -> Price {
    let Some(budget) = limits.max_budget else { return Price::Unlimited };
    let Some(price) = model.info.price else {
        return match limits.unpriced {
            UnpricedModels::Allow => Price::Unknown,
            UnpricedModels::Refuse => Price::Refused,
        };
    };
    // Long prompts may have a price of their own.
    let input_tokens = input_tokens();
    let price = model.info.price_for(input_tokens).unwrap_or(price);
    let input = price.input.max(price.cache_write).max(price.cache_write_1h).times(input_tokens);
    Price::Costs(CallCost { budget, input, per_output_token: price.output, max_output_tokens })
}

impl Limits {
    /// What a call of a model that is no part of the conversation may cost at most. `None`: no limit. A model without a
    /// price costs more than any budget that refuses such models.
    pub fn cost_beside(&self, model: &ModelProfile, input_tokens: u64, max_output_tokens: u32) -> Option<CallCost> {
        match price(self, model, || input_tokens, max_output_tokens) {
            Price::Unlimited | Price::Unknown => None,
            Price::Costs(cost) => Some(cost),
            Price::Refused => Some(CallCost {
                budget: NanoUsd::ZERO,
                input: NanoUsd::new(1),
                per_output_token: NanoUsd::ZERO,
                max_output_tokens,
            }),
        }
    }
}

#[cfg(test)]
mod tests;

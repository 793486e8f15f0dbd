//! Budget: the maximum cost of a request is reserved before it is sent, and settled when it has ended.
//!
//! A machine decides by its inputs alone. The budget of a session is therefore kept in a [`Ledger`] outside all
//! machines, by the driver of the main agent. A machine asks it with [`Effect::Reserve`](crate::Effect::Reserve) and
//! reports with [`Effect::Settle`](crate::Effect::Settle).

use crate::{EffectId, Limits, ModelProfile, Spent, UnpricedModels};
use std::collections::BTreeMap;
use std::sync::Arc;
use windlass_types::{ModelUsage, NanoUsd, SpentRecord};

/// Minimum number of output tokens that makes a request worthwhile.
const MIN_OUTPUT_TOKENS: u32 = 1_024;

/// Reason why a model is not called, and a remedy.
pub(crate) const NO_PRICE: &str = "its price is not known, and the session has a budget. Name a model with a known \
                                   price, or say what this one costs.";

/// Maximum cost of a model request.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallCost {
    /// Budget of the whole session. `None`: no limit.
    pub budget: Option<NanoUsd>,
    /// The model.
    pub model: Arc<str>,
    /// Maximum cost of the input, in nano US dollars.
    pub input: NanoUsd,
    /// Cost of each output token, in nano US dollars.
    pub per_output_token: NanoUsd,
    /// Maximum number of output tokens.
    pub max_output_tokens: u32,
}

impl CallCost {
    /// Returns the number of output tokens that an amount buys, if they make the request worthwhile.
    fn bought_with(&self, amount: NanoUsd) -> Option<u32> {
        if self.input > amount {
            return None;
        }
        let tokens = amount.saturating_sub(self.input).nano().checked_div(self.per_output_token.nano());
        let tokens = u32::try_from(tokens.unwrap_or(u64::MAX)).unwrap_or(u32::MAX).min(self.max_output_tokens);
        (tokens >= MIN_OUTPUT_TOKENS.min(self.max_output_tokens)).then_some(tokens)
    }

    fn with_output(&self, tokens: u32) -> NanoUsd {
        self.input.saturating_add(self.per_output_token.times(u64::from(tokens)))
    }
}

/// Answer to [`Effect::Reserve`](crate::Effect::Reserve).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a reservation is granted or it is not")]
pub enum Reservation {
    /// The request may write this many tokens. Their cost stays reserved until the request is settled.
    Granted {
        /// Maximum number of output tokens.
        max_output_tokens: u32,
    },
    /// The budget does not cover the request.
    Exhausted,
}

/// Key of an agent that spends from a [`Ledger`]; the keeper of the ledger assigns it.
pub type LedgerKey = u64;

/// Answers for requests that waited: the agent, its [`Effect::Reserve`](crate::Effect::Reserve), and the answer.
pub type LedgerAnswers = Vec<(LedgerKey, EffectId, Reservation)>;

/// Spending of all agents of a session together, and the amounts reserved for their open requests.
///
/// All agents of a session share one ledger, so that their requests cannot each spend the remaining budget. A request
/// that cannot be covered because of open requests of others waits until one of these is settled.
///
/// [`Ledger::record`] returns the entry for the log, so that a session whose process is killed keeps its spending.
#[derive(Debug, Clone, Default)]
pub struct Ledger {
    spent: Spent,
    /// Model and maximum cost of each open request.
    held: BTreeMap<(LedgerKey, EffectId), (Arc<str>, NanoUsd)>,
    changes: LedgerChanges,
    /// Waiting requests, in the order of their arrival.
    waiting: Vec<(LedgerKey, EffectId, CallCost)>,
}

/// Changes since the last record.
#[derive(Debug, Clone, Copy, Default)]
struct LedgerChanges {
    any: bool,
    /// `true` if the sums by model must be recorded; the log may also lack those of an earlier process.
    models: bool,
}

impl Ledger {
    /// Returns the ledger of a session with this earlier spending.
    pub fn new(spent: Spent) -> Self {
        Self { spent, changes: LedgerChanges { any: false, models: true }, ..Self::default() }
    }

    /// Returns the spending of all agents until now.
    pub fn spent(&self) -> NanoUsd {
        self.spent.cost
    }

    /// Returns the spending until now with the amounts reserved for open requests, if it has changed since the last
    /// record.
    pub fn record(&mut self) -> Option<SpentRecord> {
        if !self.changes.any {
            return None;
        }
        let changes = std::mem::take(&mut self.changes);
        let mut held_by_model = BTreeMap::<String, NanoUsd>::new();
        for (model, cost) in self.held.values() {
            let model_total = held_by_model.entry(model.to_string()).or_default();
            *model_total = model_total.saturating_add(*cost);
        }
        let by_model = if changes.models { self.spent.by_model.clone() } else { BTreeMap::new() };
        Some(SpentRecord::new(self.spent.cost, by_model, held_by_model))
    }

    /// Reserves the cost of a request. `None`: the answer is returned by [`Ledger::settle`], [`Ledger::release`] or
    /// [`Ledger::leave`] when other requests have ended.
    pub fn reserve(&mut self, agent: LedgerKey, effect: EffectId, cost: CallCost) -> Option<Reservation> {
        let answer = self.decide(agent, effect, &cost);
        if answer.is_none() {
            self.waiting.push((agent, effect, cost));
        }
        answer
    }

    /// Books a model request and frees its reservation. Returns the answers for requests that waited.
    #[must_use = "calls that waited get their answers here"]
    pub fn settle(
        &mut self,
        agent: LedgerKey,
        reservation: Option<EffectId>,
        model: &str,
        call: &ModelUsage,
    ) -> LedgerAnswers {
        if *call != ModelUsage::default() {
            self.spent.charge(model, call);
            self.changes = LedgerChanges { any: true, models: true };
        }
        if let Some(effect) = reservation {
            self.free(agent, effect);
        }
        self.answers()
    }

    fn free(&mut self, agent: LedgerKey, effect: EffectId) {
        self.changes.any |= self.held.remove(&(agent, effect)).is_some();
    }

    /// Withdraws a reservation, granted or not. Returns the answers for requests that waited.
    #[must_use = "calls that waited get their answers here"]
    pub fn release(&mut self, agent: LedgerKey, effect: EffectId) -> LedgerAnswers {
        self.waiting.retain(|(waiting, asked, _)| (*waiting, *asked) != (agent, effect));
        self.free(agent, effect);
        self.answers()
    }

    /// Frees all reservations of an agent that has ended. Returns the answers for requests that waited.
    #[must_use = "calls that waited get their answers here"]
    pub fn leave(&mut self, agent: LedgerKey) -> LedgerAnswers {
        self.waiting.retain(|(waiting, ..)| *waiting != agent);
        let len_before = self.held.len();
        self.held.retain(|(holder, _), _| *holder != agent);
        self.changes.any |= self.held.len() < len_before;
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
        let Some(budget) = cost.budget else { return Some(self.hold(agent, effect, cost, cost.max_output_tokens)) };
        let unspent = budget.saturating_sub(self.spent.cost);
        let held = self.held.values().fold(NanoUsd::ZERO, |sum, (_, held)| sum.saturating_add(*held));
        match cost.bought_with(unspent.saturating_sub(held)) {
            Some(max_output_tokens) => Some(self.hold(agent, effect, cost, max_output_tokens)),
            None if cost.bought_with(unspent).is_some() => None,
            None => Some(Reservation::Exhausted),
        }
    }

    fn hold(&mut self, agent: LedgerKey, effect: EffectId, cost: &CallCost, max_output_tokens: u32) -> Reservation {
        self.held.insert((agent, effect), (Arc::clone(&cost.model), cost.with_output(max_output_tokens)));
        self.changes.any = true;
        Reservation::Granted { max_output_tokens }
    }
}

/// Limit of a model request by the budget.
#[derive(Debug)]
pub(crate) enum Price {
    /// No budget, and a model with unknown price.
    Unlimited,
    /// A budget without effect, because the model's price is unknown.
    Unknown,
    /// A budget that does not allow models with unknown price.
    Refused,
    /// Limited by the ledger, which must be asked.
    Costs(CallCost),
}

/// Returns the limit of a request with these input tokens and this maximum of output tokens.
pub(crate) fn price(
    limits: &Limits,
    model: &ModelProfile,
    input_tokens: impl FnOnce() -> u64,
    max_output_tokens: u32,
) -> Price {
    let budget = limits.max_budget;
    let Some(price) = model.info.price else {
        return match limits.unpriced {
            _ if budget.is_none() => Price::Unlimited,
            UnpricedModels::Allow => Price::Unknown,
            UnpricedModels::Refuse => Price::Refused,
        };
    };
    // Long prompts may have a price of their own.
    let input_tokens = input_tokens();
    let price = model.info.price_for(input_tokens).unwrap_or(price);
    let input = price.input.max(price.cache_write).max(price.cache_write_1h).times(input_tokens);
    let model = model.id.as_str().into();
    Price::Costs(CallCost { budget, model, input, per_output_token: price.output, max_output_tokens })
}

impl Limits {
    /// `true` if this model may be called: there is no budget, the price is known, or models without one are allowed.
    pub fn allow_price_of(&self, model: &ModelProfile) -> bool {
        self.max_budget.is_none() || self.unpriced == UnpricedModels::Allow || model.info.price.is_some()
    }

    /// `true` if there is a budget, and models without a known price may not be called.
    pub fn refuse_unpriced_models(&self) -> bool {
        self.max_budget.is_some() && self.unpriced == UnpricedModels::Refuse
    }

    /// Returns the maximum cost of a model request outside the conversation. `None`: unknown, and not limited. A model
    /// without a price costs more than any budget that refuses such models.
    pub fn cost_beside(&self, model: &ModelProfile, input_tokens: u64, max_output_tokens: u32) -> Option<CallCost> {
        match price(self, model, || input_tokens, max_output_tokens) {
            Price::Unlimited | Price::Unknown => None,
            Price::Costs(cost) => Some(cost),
            Price::Refused => Some(CallCost {
                budget: Some(NanoUsd::ZERO),
                model: model.id.as_str().into(),
                input: NanoUsd::new(1),
                per_output_token: NanoUsd::ZERO,
                max_output_tokens,
            }),
        }
    }
}

#[cfg(test)]
mod tests;

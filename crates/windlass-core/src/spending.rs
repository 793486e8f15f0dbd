//! Spending of a session.

use std::collections::BTreeMap;
use windlass_types::{ModelUsage, NanoUsd, RunRecord, SpentRecord};

/// Cost of model requests, and their tokens by model.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Spent {
    /// Cost of all requests, in nano US dollars.
    pub cost: NanoUsd,
    /// Tokens and cost by model.
    pub by_model: BTreeMap<String, ModelUsage>,
}

impl Spent {
    /// Books a model request.
    pub(crate) fn charge(&mut self, model: &str, call: &ModelUsage) {
        self.by_model.entry(model.to_owned()).or_default().merge(call);
        self.cost = self.cost.saturating_add(call.cost);
    }
}

/// Spending of a session: a fold of the records in its log, and the requests that were booked since.
#[derive(Debug, Default)]
pub(crate) struct Spending {
    spent: Spent,
    /// Maximum cost of the requests that are open in the log, by model.
    held: BTreeMap<String, NanoUsd>,
    /// Record of the last run.
    run: Option<RunRecord>,
}

impl Spending {
    /// Applies the end of a run. Its record may lack requests of agents in the background; that of a later process
    /// includes the requests that were cut.
    pub(crate) fn apply_run(&mut self, record: &RunRecord) {
        if record.cost >= self.at_most() {
            self.held.clear();
        }
        if record.cost >= self.spent.cost {
            self.spent = Spent { cost: record.cost, by_model: record.model_usage.clone() };
        }
        self.run = Some(record.clone());
    }

    /// Applies the record of a reserved or billed request.
    pub(crate) fn apply(&mut self, record: &SpentRecord) {
        self.spent.cost = record.cost;
        if !record.model_usage.is_empty() {
            self.spent.by_model.clone_from(&record.model_usage);
        }
        self.held.clone_from(&record.held);
    }

    /// Counts requests that were open at the end of the log as spent: the cost is unknown when a process was killed.
    /// Returns their cost.
    pub(crate) fn count_cut_calls(&mut self) -> NanoUsd {
        let previous_cost = self.spent.cost;
        for (model, held) in std::mem::take(&mut self.held) {
            let model_usage = self.spent.by_model.entry(model).or_default();
            model_usage.cost = model_usage.cost.saturating_add(held);
            self.spent.cost = self.spent.cost.saturating_add(held);
        }
        self.spent.cost.saturating_sub(previous_cost)
    }

    /// Books a request.
    pub(crate) fn charge(&mut self, model: &str, call: &ModelUsage) {
        self.spent.charge(model, call);
    }

    /// Returns the cost of all requests, open ones at their reservation.
    pub(crate) fn at_most(&self) -> NanoUsd {
        self.held.values().fold(self.spent.cost, |sum, held| sum.saturating_add(*held))
    }

    pub(crate) fn spent(&self) -> &Spent {
        &self.spent
    }

    /// Returns the record of the last run with the requests that were booked since, if there are any.
    pub(crate) fn unrecorded(&self) -> Option<RunRecord> {
        let run = self.run.as_ref().filter(|run| run.model_usage != self.spent.by_model)?;
        let mut record = run.clone();
        (record.cost, record.model_usage) = (self.spent.cost, self.spent.by_model.clone());
        Some(record)
    }
}

#[cfg(test)]
mod tests;

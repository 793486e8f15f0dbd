//! What a session has spent.

use crate::ModelProfile;
use std::collections::BTreeMap;
use windlass_types::{ModelUsage, NanoUsd, RunRecord, Usage};

/// What a session has spent: as its last run recorded it, and what was booked since.
#[derive(Debug, Default)]
pub(crate) struct Spending {
    pub(crate) cost: NanoUsd,
    pub(crate) by_model: BTreeMap<String, ModelUsage>,
    /// The record of the last run.
    recorded: Option<RunRecord>,
}

impl Spending {
    /// What the record of a run has.
    pub(crate) fn of(record: &RunRecord) -> Self {
        Self { cost: record.cost, by_model: record.model_usage.clone(), recorded: Some(record.clone()) }
    }

    /// Books a call.
    pub(crate) fn charge(&mut self, model: &ModelProfile, usage: Usage, cost: Option<NanoUsd>) {
        let total = self.by_model.entry(model.id.clone()).or_default();
        total.add(usage, cost);
        total.context_window = model.info.context_window;
        total.max_output_tokens = model.info.max_output_tokens;
        self.cost = self.cost.saturating_add(cost.unwrap_or_default());
    }

    /// The record of the last run with what was booked since, if anything was.
    pub(crate) fn unrecorded(&self) -> Option<RunRecord> {
        let recorded = self.recorded.as_ref().filter(|recorded| recorded.model_usage != self.by_model)?;
        let mut record = recorded.clone();
        (record.cost, record.model_usage) = (self.cost, self.by_model.clone());
        Some(record)
    }
}

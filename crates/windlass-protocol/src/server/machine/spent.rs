//! What the session has used, as its events report it.

use std::collections::BTreeMap;
use std::fmt::Write;
use windlass_types::{ModelUsage, NanoUsd, RunResult, Usage};

/// What the session has used since it was opened here; the cost is that of the whole session.
#[derive(Debug, Clone, Default)]
pub(crate) struct Spent {
    pub(crate) cost: NanoUsd,
    pub(crate) models: BTreeMap<String, ModelUsage>,
    pub(crate) duration_ms: u64,
    pub(crate) duration_api_ms: u64,
    /// What the last model call was billed for.
    pub(crate) last: Usage,
}

impl Spent {
    /// A model call was billed.
    pub(crate) fn call(&mut self, usage: &Usage, cost: NanoUsd) {
        self.last = *usage;
        self.cost = cost;
    }

    /// A model call of an agent below the main one was billed: it is no part of the conversation.
    pub(crate) fn call_of_agent(&mut self, cost: NanoUsd) {
        self.cost = self.cost.max(cost);
    }

    /// A run ended.
    pub(crate) fn run(&mut self, result: &RunResult) {
        self.cost = result.cost;
        self.models.clone_from(&result.model_usage);
        self.duration_ms = self.duration_ms.saturating_add(result.duration_ms);
        self.duration_api_ms = self.duration_api_ms.saturating_add(result.duration_api_ms);
    }

    /// Tokens that the conversation takes up: those of the last model call.
    pub(crate) fn context_tokens(&self) -> u64 {
        self.last.total_input().saturating_add(self.last.output_tokens)
    }

    /// What users read.
    pub(crate) fn text(&self) -> String {
        let mut text = format!(
            "Total cost: ${:.4}\nDuration of the runs: {:.1} s, of it in the model: {:.1} s",
            self.cost.usd(),
            self.duration_ms as f64 / 1e3,
            self.duration_api_ms as f64 / 1e3,
        );
        for (model, used) in &self.models {
            let usage = &used.usage;
            // Writing to a string does not fail.
            let _ = write!(
                text,
                "\n{model}: {} input, {} output, {} cache read, {} cache write (${:.4})",
                usage.input_tokens,
                usage.output_tokens,
                usage.cache_read_input_tokens,
                usage.cache_creation_input_tokens,
                used.cost.usd(),
            );
        }
        text
    }
}

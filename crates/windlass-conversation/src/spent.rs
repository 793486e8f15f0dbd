//! Money, tokens and time of a session, from its events.

use std::collections::BTreeMap;
use std::fmt::Write;
use windlass_types::{ModelUsage, NanoUsd, RunResult, Usage};

/// Use of a session since it was opened here.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Spent {
    /// Cost of the whole session, in nano-USD.
    pub cost: NanoUsd,
    /// Usage by model.
    pub models: BTreeMap<String, ModelUsage>,
    /// Duration of the runs, in milliseconds.
    pub duration_ms: u64,
    /// Duration of the model calls, in milliseconds.
    pub duration_api_ms: u64,
    /// Usage that the last model call was billed for.
    pub last: Usage,
}

impl Spent {
    /// Records a model call.
    pub(crate) fn call(&mut self, usage: &Usage, cost: NanoUsd) {
        self.last = *usage;
        self.cost = cost;
    }

    /// Records a model call of a subagent, which is no part of the conversation.
    pub(crate) fn call_of_agent(&mut self, cost: NanoUsd) {
        self.cost = self.cost.max(cost);
    }

    /// Records the end of a run.
    pub(crate) fn run(&mut self, result: &RunResult) {
        self.cost = result.cost;
        self.models.clone_from(&result.model_usage);
        self.duration_ms = self.duration_ms.saturating_add(result.duration_ms);
        self.duration_api_ms = self.duration_api_ms.saturating_add(result.duration_api_ms);
    }

    /// Tokens that the conversation takes up: those of the last model call.
    pub fn context_tokens(&self) -> u64 {
        self.last.total_input().saturating_add(self.last.output_tokens)
    }

    /// Report for people.
    pub fn text(&self) -> String {
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

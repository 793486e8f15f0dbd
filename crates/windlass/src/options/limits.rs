//! Limits of runs and of their parts.

use super::Options;
use std::time::Duration;
use windlass_runtime::UnpricedModels;

/// Limits of runs and of their parts, beside [`max_turns`](crate::SessionBuilder::max_turns) and
/// [`max_budget_usd`](crate::SessionBuilder::max_budget_usd). Values that are not set stay as they are.
///
/// ```
/// use windlass::options::LimitOptions;
///
/// let query = windlass::query("Hello").limits(LimitOptions::new().max_retries(2));
/// ```
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct LimitOptions {
    unpriced_models: Option<UnpricedModels>,
    retries: Option<u32>,
    structured_output_retries: Option<u32>,
    server_wait: Option<Duration>,
    stop_continuations: Option<u32>,
    repeated_turns: Option<u32>,
    hook_time: Option<Duration>,
}

impl LimitOptions {
    /// No value is set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Treatment of models without a known price under a [budget](crate::SessionBuilder::max_budget_usd): called with a
    /// warning, or refused. Default: refused.
    pub fn unpriced_models(mut self, unpriced: UnpricedModels) -> Self {
        self.unpriced_models = Some(unpriced);
        self
    }

    /// Maximum number of retries of a failed model call. Default: 10.
    pub fn max_retries(mut self, retries: u32) -> Self {
        self.retries = Some(retries);
        self
    }

    /// Maximum number of times that a missing or unfit structured output is requested again. Default: 5.
    pub fn max_structured_output_retries(mut self, retries: u32) -> Self {
        self.structured_output_retries = Some(retries);
        self
    }

    /// Maximum total wait of one model call's retries at the provider's request, all waits together. Default: 15
    /// minutes.
    pub fn max_server_wait(mut self, wait: Duration) -> Self {
        self.server_wait = Some(wait);
        self
    }

    /// Maximum number of times that Stop hooks keep a run going. At the next such request the run ends as a success, and
    /// a notice in its events reports that. Default: 8.
    pub fn max_stop_continuations(mut self, times: u32) -> Self {
        self.stop_continuations = Some(times);
        self
    }

    /// Number of consecutive turns that only repeat calls of the run, with the same inputs and results, that stops the
    /// run. The model is reminded after a tenth of them. Calls of a second or longer are taken for waiting and not
    /// counted. 0: never. Default: 150.
    pub fn max_repeated_turns(mut self, turns: u32) -> Self {
        self.repeated_turns = Some(turns);
        self
    }

    /// Time limit for a hook's answer, unless the hook sets a [limit of its own](crate::Hook::time_limit). A hook that
    /// takes longer has failed: a gate (before a tool, before a prompt, a permission request) denies, any other is
    /// skipped. [`EventKind::HookRan`](crate::EventKind::HookRan) reports the failure. Default: ten minutes.
    pub fn hook_timeout(mut self, limit: Duration) -> Self {
        self.hook_time = Some(limit);
        self
    }

    pub(crate) fn apply(self, options: &mut Options) {
        let limits = &mut options.limits;
        limits.unpriced = self.unpriced_models.or(limits.unpriced);
        limits.max_retries = self.retries.or(limits.max_retries);
        limits.structured_output_retries = self.structured_output_retries.or(limits.structured_output_retries);
        limits.base.max_server_wait = self.server_wait.unwrap_or(limits.base.max_server_wait);
        limits.base.max_stop_continuations = self.stop_continuations.unwrap_or(limits.base.max_stop_continuations);
        limits.base.max_repeated_turns = self.repeated_turns.unwrap_or(limits.base.max_repeated_turns);
        limits.hook_time = self.hook_time.or(limits.hook_time);
    }
}

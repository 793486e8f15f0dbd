//! Usage, as the relatives of the API write it.

use serde::Deserialize;
use windlass_types::Usage;

/// A usage object. A figure that is missing or null is zero.
///
/// Sources: OpenAI, "The chat completion object"; DeepSeek has `prompt_cache_hit_tokens`, Moonshot `cached_tokens`, LiteLLM
/// `cache_read_input_tokens` and `cache_creation_input_tokens`, OpenRouter `cache_write_tokens`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct WireUsage {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    total_tokens: Option<u64>,
    prompt_tokens_details: Option<PromptDetails>,
    completion_tokens_details: Option<OutputDetails>,
    prompt_cache_hit_tokens: Option<u64>,
    cached_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct PromptDetails {
    cached_tokens: Option<u64>,
    cache_write_tokens: Option<u64>,
    cache_creation_tokens: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct OutputDetails {
    reasoning_tokens: Option<u64>,
}

impl WireUsage {
    /// The usage in its normal form: plain input apart from what was cached, reasoning as part of the output.
    pub(super) fn normal(&self, reasoning_beside_output: bool) -> Usage {
        let details = self.prompt_tokens_details.as_ref();
        let first = |figures: &[Option<u64>]| figures.iter().flatten().copied().find(|figure| *figure > 0).unwrap_or(0);
        let prompt = first(&[self.prompt_tokens]);
        let read = first(&[
            details.and_then(|details| details.cached_tokens),
            self.prompt_cache_hit_tokens,
            self.cache_read_input_tokens,
            self.cached_tokens,
        ])
        .min(prompt);
        let written = first(&[
            details.and_then(|details| details.cache_write_tokens),
            details.and_then(|details| details.cache_creation_tokens),
            self.cache_creation_input_tokens,
        ])
        .min(prompt - read);
        let mut usage = Usage::new(prompt - read - written, self.output(prompt, reasoning_beside_output));
        usage.cache_read_input_tokens = read;
        usage.cache_creation_input_tokens = written;
        usage
    }

    /// The output with its reasoning. Servers that count it beside the completion show it by a sum that holds all three, or by
    /// more reasoning than output.
    fn output(&self, prompt: u64, reasoning_beside_output: bool) -> u64 {
        let output = self.completion_tokens.unwrap_or_default();
        let reasoning =
            self.completion_tokens_details.as_ref().and_then(|details| details.reasoning_tokens).unwrap_or(0);
        let both = output.saturating_add(reasoning);
        let sum = match self.total_tokens.filter(|total| *total > 0) {
            Some(total) => total == prompt.saturating_add(both),
            None => reasoning_beside_output,
        };
        if reasoning > output || sum { both } else { output }
    }
}

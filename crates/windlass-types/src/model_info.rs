//! What is known of a model.

use crate::{NanoUsd, Usage};

/// What is known of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModelInfo {
    /// Input and output together, in tokens.
    pub context_window: u64,
    /// The most tokens that it can write.
    pub max_output_tokens: u32,
    /// Output tokens to ask for when the user sets no limit.
    pub default_output_tokens: u32,
    /// Whether it can reason with a token budget.
    pub thinking_budget: bool,
    /// Whether it can decide itself how much to reason.
    pub adaptive_thinking: bool,
    /// Whether it sees images.
    pub vision: bool,
    /// Whether it reads PDF documents.
    pub documents: bool,
    /// Whether prompts can be cached.
    pub prompt_cache: bool,
    /// What it costs, when known.
    pub price: Option<Price>,
}

impl ModelInfo {
    /// A model with these limits, no further abilities and no price.
    pub fn new(context_window: u64, max_output_tokens: u32) -> Self {
        Self {
            context_window,
            max_output_tokens,
            default_output_tokens: max_output_tokens,
            thinking_budget: false,
            adaptive_thinking: false,
            vision: false,
            documents: false,
            prompt_cache: false,
            price: None,
        }
    }

    /// The cost of a call, when the price is known.
    pub fn cost(&self, usage: &Usage) -> Option<NanoUsd> {
        self.price.map(|price| price.cost(usage))
    }
}

/// What one token costs, in billionths of a dollar: 3 USD per million tokens is 3,000.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Price {
    /// Plain input.
    pub input: NanoUsd,
    /// Output.
    pub output: NanoUsd,
    /// Input written to the cache for five minutes.
    pub cache_write: NanoUsd,
    /// Input written to the cache for one hour.
    pub cache_write_1h: NanoUsd,
    /// Input read from the cache.
    pub cache_read: NanoUsd,
}

impl Price {
    /// A price from the plain rates in billionths of a dollar per token. Cache
    /// writes cost 1.25 times the input rate (twice for one hour), reads a tenth
    /// (Anthropic, "Prompt caching", pricing).
    pub const fn new(input: u64, output: u64) -> Self {
        Self {
            input: NanoUsd::new(input),
            output: NanoUsd::new(output),
            cache_write: NanoUsd::new(input.saturating_add(input / 4)),
            cache_write_1h: NanoUsd::new(input.saturating_mul(2)),
            cache_read: NanoUsd::new(input / 10),
        }
    }

    /// The cost of a call.
    pub fn cost(&self, usage: &Usage) -> NanoUsd {
        let long = usage.cache_creation_1h_input_tokens.min(usage.cache_creation_input_tokens);
        let short = usage.cache_creation_input_tokens - long;
        self.input
            .times(usage.input_tokens)
            .saturating_add(self.output.times(usage.output_tokens))
            .saturating_add(self.cache_write.times(short))
            .saturating_add(self.cache_write_1h.times(long))
            .saturating_add(self.cache_read.times(usage.cache_read_input_tokens))
    }
}

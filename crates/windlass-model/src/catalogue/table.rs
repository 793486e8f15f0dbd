//! Tables of models.
//!
//! Sources, read in November 2026:
//! - windows, output limits, rates and kinds of thinking: Anthropic, "Models overview" and the
//!   overview page of each model, <https://platform.claude.com/docs/en/about-claude/models/overview>;
//! - rates, cache rates and rates of long prompts: Anthropic, "Pricing",
//!   <https://platform.claude.com/docs/en/about-claude/pricing>;
//! - efforts: Anthropic, "Effort", <https://platform.claude.com/docs/en/build-with-claude/effort>;
//! - default outputs: what is usual for agents on each family; the vendor names none.
//!
//! A rate without a source is left out: the model then has no price.

use crate::{Abilities, ModelRow, ModelSource};
use windlass_types::{Effort, LongPrompt, Price};

/// Model of a user who names none.
pub const DEFAULT_MODEL: &str = "claude-opus-5-5";

const UP_TO_HIGH: &[Effort] = &[Effort::Low, Effort::Medium, Effort::High];
const WITHOUT_XHIGH: &[Effort] = &[Effort::Low, Effort::Medium, Effort::High, Effort::Max];

/// Models whose reasoning is bound to the conversation before it. Source: Anthropic, "Fix a thinking block bound to a
/// different conversation",
/// <https://platform.claude.com/docs/en/build-with-claude/preserved-thinking/fix-bound-to-a-different-conversation>.
pub(super) const BINDING: &[&str] = &[
    "claude-fable-5-2",
    "claude-mythos-5-2",
    "claude-fable-5-1",
    "claude-mythos-5-1",
    "claude-opus-5-5",
    "claude-sonnet-5-5",
    "claude-haiku-5-5",
];

const PRICING: &str = "https://platform.claude.com/docs/en/about-claude/pricing";
const OVERVIEW: ModelSource = ModelSource::new(PRICING, "2026-11-23");

const ADAPTIVE: Abilities = Abilities::media().adaptive(&Effort::ALL);

/// Returns a model that decides itself how much to reason; rates in nano US dollars per token.
const fn adaptive(id: &'static str, default_output: u32, input: u64, output: u64) -> ModelRow {
    ModelRow::new(id, OVERVIEW)
        .limits(1_000_000, 128_000)
        .default_output(default_output)
        .abilities(ADAPTIVE)
        .price(Price::new(input, output))
}

const fn budgeted(id: &'static str, max_output: u32, input: u64, output: u64) -> ModelRow {
    ModelRow::new(id, OVERVIEW)
        .limits(200_000, max_output)
        .default_output(32_000)
        .abilities(Abilities::media().budget())
        .price(Price::new(input, output))
}

/// Sets the price of an adaptive model whose cache reads do not cost a tenth of the input rate.
const fn read_at(row: ModelRow, cache_read: u64) -> ModelRow {
    match row.price {
        Some(price) => row.price(price.with_cache_read(cache_read)),
        None => row,
    }
}

/// Price of Sonnet 4 and 4.5 beyond 200,000 tokens, which only the beta reaches.
const SONNET_LONG: &[LongPrompt] = &[LongPrompt::new(200_000, Price::new(6_000, 22_500))];
const HAIKU_LONG: &[LongPrompt] = &[LongPrompt::new(100_000, Price::new(500, 2_500))];

/// Families: models of one family differ by their date only.
pub(super) const FAMILIES: &[ModelRow] = &[
    read_at(adaptive("claude-fable-5-1", 128_000, 10_000, 50_000), 250).aliases(&["fable"]),
    read_at(adaptive("claude-mythos-5-1", 128_000, 10_000, 50_000), 250),
    adaptive("claude-fable-5", 64_000, 10_000, 50_000),
    adaptive("claude-mythos-5", 64_000, 10_000, 50_000),
    read_at(adaptive(DEFAULT_MODEL, 128_000, 4_000, 20_000), 200).aliases(&["default", "opus"]),
    adaptive("claude-opus-5", 64_000, 5_000, 25_000),
    adaptive("claude-opus-4-8", 64_000, 5_000, 25_000),
    adaptive("claude-opus-4-7", 64_000, 5_000, 25_000),
    adaptive("claude-opus-4-6", 32_000, 5_000, 25_000).abilities(Abilities::media().adaptive(WITHOUT_XHIGH).budget()),
    budgeted("claude-opus-4-5", 64_000, 5_000, 25_000).abilities(Abilities::media().budget().with_efforts(UP_TO_HIGH)),
    budgeted("claude-opus-4-1", 32_000, 15_000, 75_000),
    budgeted("claude-opus-4-0", 32_000, 15_000, 75_000),
    budgeted("claude-opus-4", 32_000, 15_000, 75_000),
    // Cache reads were a tenth of the input rate until 2026-10-07.
    read_at(adaptive("claude-sonnet-5-5", 128_000, 2_000, 10_000), 100).aliases(&["sonnet"]),
    adaptive("claude-sonnet-5", 64_000, 2_000, 10_000),
    adaptive("claude-sonnet-4-6", 32_000, 3_000, 15_000).abilities(Abilities::media().adaptive(WITHOUT_XHIGH).budget()),
    budgeted("claude-sonnet-4-5", 64_000, 3_000, 15_000).long_prompts(SONNET_LONG),
    budgeted("claude-sonnet-4-0", 64_000, 3_000, 15_000).long_prompts(SONNET_LONG),
    budgeted("claude-sonnet-4", 64_000, 3_000, 15_000).long_prompts(SONNET_LONG),
    adaptive("claude-haiku-5-5", 128_000, 100, 500).long_prompts(HAIKU_LONG).aliases(&["haiku"]),
    budgeted("claude-haiku-4-5", 64_000, 1_000, 5_000),
];

//! The tables.
//!
//! Sources, read in November 2026:
//! - windows, output limits, rates and kinds of thinking: Anthropic, "Models overview" and the
//!   overview page of each model, <https://platform.claude.com/docs/en/about-claude/models/overview>;
//! - rates, cache rates and rates of long prompts: Anthropic, "Pricing",
//!   <https://platform.claude.com/docs/en/about-claude/pricing>;
//! - efforts: Anthropic, "Effort", <https://platform.claude.com/docs/en/build-with-claude/effort>;
//! - default outputs: what is usual for agents on each family; the vendor names none.
//!
//! A rate that no source gives is left out: the model then has no price.

use windlass_types::Effort;

/// The model of a user who names none.
pub const DEFAULT_MODEL: &str = "claude-opus-5-5";

pub(super) const ALIASES: &[(&str, &str)] = &[
    ("default", DEFAULT_MODEL),
    ("opus", "claude-opus-5-5"),
    ("sonnet", "claude-sonnet-5-5"),
    ("haiku", "claude-haiku-5-5"),
    ("fable", "claude-fable-5-1"),
];

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

/// Models that differ by their date only.
pub(super) struct Family {
    pub(super) id: &'static str,
    pub(super) window: u64,
    pub(super) max_output: u32,
    pub(super) default_output: u32,
    pub(super) budget: bool,
    pub(super) adaptive: bool,
    pub(super) efforts: &'static [Effort],
    /// Billionths of a dollar for a token of input and of output.
    pub(super) rates: Option<(u64, u64)>,
    /// Where it is not a tenth of the input rate.
    pub(super) cache_read: Option<u64>,
    /// Over so many input tokens, these rates.
    pub(super) long_price: Option<(u64, u64, u64)>,
}

const fn adaptive(id: &'static str, default_output: u32, input: u64, output: u64) -> Family {
    Family {
        id,
        window: 1_000_000,
        max_output: 128_000,
        default_output,
        budget: false,
        adaptive: true,
        efforts: &Effort::ALL,
        rates: Some((input, output)),
        cache_read: None,
        long_price: None,
    }
}

const fn budgeted(id: &'static str, max_output: u32, input: u64, output: u64) -> Family {
    Family {
        id,
        window: 200_000,
        max_output,
        default_output: 32_000,
        budget: true,
        adaptive: false,
        efforts: &[],
        rates: Some((input, output)),
        cache_read: None,
        long_price: None,
    }
}

/// Sonnet 4 and 4.5 cost more beyond 200,000 tokens, which only the beta reaches.
const SONNET_LONG: Option<(u64, u64, u64)> = Some((200_000, 6_000, 22_500));

pub(super) const FAMILIES: &[Family] = &[
    Family { cache_read: Some(250), ..adaptive("claude-fable-5-1", 128_000, 10_000, 50_000) },
    Family { cache_read: Some(250), ..adaptive("claude-mythos-5-1", 128_000, 10_000, 50_000) },
    adaptive("claude-fable-5", 64_000, 10_000, 50_000),
    adaptive("claude-mythos-5", 64_000, 10_000, 50_000),
    Family { cache_read: Some(200), ..adaptive("claude-opus-5-5", 128_000, 4_000, 20_000) },
    adaptive("claude-opus-5", 64_000, 5_000, 25_000),
    adaptive("claude-opus-4-8", 64_000, 5_000, 25_000),
    adaptive("claude-opus-4-7", 64_000, 5_000, 25_000),
    Family { budget: true, efforts: WITHOUT_XHIGH, ..adaptive("claude-opus-4-6", 32_000, 5_000, 25_000) },
    Family { efforts: UP_TO_HIGH, ..budgeted("claude-opus-4-5", 64_000, 5_000, 25_000) },
    budgeted("claude-opus-4-1", 32_000, 15_000, 75_000),
    budgeted("claude-opus-4-0", 32_000, 15_000, 75_000),
    budgeted("claude-opus-4", 32_000, 15_000, 75_000),
    // Cache reads were a tenth of the input rate until 2026-10-07.
    Family { cache_read: Some(100), ..adaptive("claude-sonnet-5-5", 128_000, 2_000, 10_000) },
    adaptive("claude-sonnet-5", 64_000, 2_000, 10_000),
    Family { budget: true, efforts: WITHOUT_XHIGH, ..adaptive("claude-sonnet-4-6", 32_000, 3_000, 15_000) },
    Family { long_price: SONNET_LONG, ..budgeted("claude-sonnet-4-5", 64_000, 3_000, 15_000) },
    Family { long_price: SONNET_LONG, ..budgeted("claude-sonnet-4-0", 64_000, 3_000, 15_000) },
    Family { long_price: SONNET_LONG, ..budgeted("claude-sonnet-4", 64_000, 3_000, 15_000) },
    Family { long_price: Some((100_000, 500, 2_500)), ..adaptive("claude-haiku-5-5", 128_000, 100, 500) },
    budgeted("claude-haiku-4-5", 64_000, 1_000, 5_000),
];

//! Model table.
//!
//! Windows, output limits and abilities: the page of each model under <https://developers.openai.com/api/docs/models/>.
//! Rates: <https://developers.openai.com/api/docs/pricing>. Most figures were taken from two open lists of prices that
//! name these pages, LiteLLM 1.109 and genai-prices 0.2; those of `gpt-6.2-sol` and `gpt-6-sol` from the vendor's
//! pages, as far as they were readable.
//!
//! The vendor's rates of cache writes for 30 minutes and for 12 hours take the places of Anthropic's five minutes and
//! one hour. Models before `gpt-5.6` bill writes as other input. A model without a source for its limits is not in the
//! table and gets conservative ones.

use super::UP_TO_HIGH;
use windlass_model::{Abilities, ModelRow, ModelSource};
use windlass_types::{Effort, LongPrompt, Price};

const PAGE: ModelSource = ModelSource::new("https://developers.openai.com/api/docs/pricing", "2026-11-23");

const UP_TO_XHIGH: &[Effort] = &[Effort::Low, Effort::Medium, Effort::High, Effort::XHigh];

/// Number of input tokens above which input costs twice and output one and a half times as much.
const LONG_PROMPT_TOKENS: u64 = 272_000;

/// Models that differ only in their date.
pub(super) struct OpenAiFamily {
    pub(super) row: ModelRow,
    /// `true` if reasoning can be switched off by the effort `none`.
    pub(super) can_skip_reasoning: bool,
    /// `true` if tools may be added in the middle of the conversation, as `additional_tools` items. The types of the
    /// vendor's own library have them without a note on models, so only the newest models get them.
    pub(super) appends_tools: bool,
}

pub(super) const FAMILIES: &[OpenAiFamily] = &[
    OpenAiFamily {
        row: ModelRow::new("gpt-6.2-sol", PAGE)
            .limits(1_050_000, 128_000)
            .default_output(64_000)
            .abilities(Abilities::media().adaptive(&Effort::ALL))
            .price(Price::new(2_000, 10_000).with_cache_read(100))
            .long_prompts(&[LongPrompt::new(LONG_PROMPT_TOKENS, Price::new(4_000, 15_000).with_cache_read(200))])
            .aliases(&["default", "sol"]),
        can_skip_reasoning: false,
        appends_tools: true,
    },
    OpenAiFamily {
        row: ModelRow::new("gpt-6.1-sol", PAGE)
            .limits(1_050_000, 128_000)
            .default_output(64_000)
            .abilities(Abilities::media().adaptive(&Effort::ALL))
            .price(Price::new(2_000, 10_000).with_cache_read(100))
            .long_prompts(&[LongPrompt::new(LONG_PROMPT_TOKENS, Price::new(4_000, 15_000).with_cache_read(200))]),
        can_skip_reasoning: false,
        appends_tools: true,
    },
    OpenAiFamily {
        row: ModelRow::new("gpt-6.1-terra", PAGE)
            .limits(1_050_000, 128_000)
            .default_output(64_000)
            .abilities(Abilities::media().adaptive(&Effort::ALL))
            .price(Price::new(1_000, 5_000).with_cache_read(50))
            .long_prompts(&[LongPrompt::new(LONG_PROMPT_TOKENS, Price::new(2_000, 7_500).with_cache_read(100))])
            .aliases(&["terra"]),
        can_skip_reasoning: true,
        appends_tools: true,
    },
    OpenAiFamily {
        row: ModelRow::new("gpt-6-astra", PAGE)
            .limits(1_050_000, 128_000)
            .default_output(64_000)
            .abilities(Abilities::media().adaptive(&Effort::ALL))
            .price(Price::new(10_000, 50_000))
            .long_prompts(&[LongPrompt::new(LONG_PROMPT_TOKENS, Price::new(20_000, 75_000))])
            .aliases(&["astra"]),
        can_skip_reasoning: false,
        appends_tools: true,
    },
    OpenAiFamily {
        row: ModelRow::new("gpt-6-sol", PAGE)
            .limits(1_050_000, 128_000)
            .default_output(64_000)
            .abilities(Abilities::media().adaptive(&Effort::ALL))
            .price(Price::new(2_000, 10_000))
            .long_prompts(&[LongPrompt::new(LONG_PROMPT_TOKENS, Price::new(4_000, 15_000))]),
        can_skip_reasoning: true,
        appends_tools: true,
    },
    OpenAiFamily {
        row: ModelRow::new("gpt-6-luna", PAGE)
            .limits(1_050_000, 128_000)
            .default_output(64_000)
            .abilities(Abilities::media().adaptive(&Effort::ALL))
            .price(Price::new(100, 500))
            .long_prompts(&[LongPrompt::new(LONG_PROMPT_TOKENS, Price::new(200, 750))])
            .aliases(&["luna"]),
        can_skip_reasoning: true,
        appends_tools: true,
    },
    OpenAiFamily {
        row: ModelRow::new("gpt-5.6-sol", PAGE)
            .limits(1_050_000, 128_000)
            .default_output(64_000)
            .abilities(Abilities::media().adaptive(UP_TO_XHIGH))
            .price(Price::new(4_000, 20_000))
            .long_prompts(&[LongPrompt::new(LONG_PROMPT_TOKENS, Price::new(8_000, 30_000))]),
        can_skip_reasoning: true,
        appends_tools: false,
    },
    OpenAiFamily {
        row: ModelRow::new("gpt-5.6-terra", PAGE)
            .limits(1_050_000, 128_000)
            .default_output(64_000)
            .abilities(Abilities::media().adaptive(UP_TO_XHIGH))
            .price(Price::new(2_000, 12_000))
            .long_prompts(&[LongPrompt::new(LONG_PROMPT_TOKENS, Price::new(4_000, 18_000))]),
        can_skip_reasoning: true,
        appends_tools: false,
    },
    OpenAiFamily {
        row: ModelRow::new("gpt-5.6-luna", PAGE)
            .limits(1_050_000, 128_000)
            .default_output(64_000)
            .abilities(Abilities::media().adaptive(UP_TO_XHIGH))
            .price(Price::new(200, 1_200))
            .long_prompts(&[LongPrompt::new(LONG_PROMPT_TOKENS, Price::new(400, 1_800))]),
        can_skip_reasoning: true,
        appends_tools: false,
    },
    OpenAiFamily {
        row: ModelRow::new("gpt-5.5", PAGE)
            .limits(1_050_000, 128_000)
            .default_output(64_000)
            .abilities(Abilities::media().adaptive(UP_TO_XHIGH))
            .price(Price::plain(5_000, 30_000).with_cache_read(500))
            .long_prompts(&[LongPrompt::new(LONG_PROMPT_TOKENS, Price::plain(10_000, 45_000).with_cache_read(1_000))]),
        can_skip_reasoning: true,
        appends_tools: false,
    },
    OpenAiFamily {
        row: ModelRow::new("gpt-5.4", PAGE)
            .limits(1_050_000, 128_000)
            .default_output(64_000)
            .abilities(Abilities::media().adaptive(UP_TO_XHIGH))
            .price(Price::plain(2_500, 15_000).with_cache_read(250))
            .long_prompts(&[LongPrompt::new(LONG_PROMPT_TOKENS, Price::plain(5_000, 22_500).with_cache_read(500))]),
        can_skip_reasoning: true,
        appends_tools: false,
    },
    OpenAiFamily {
        row: ModelRow::new("gpt-5.4-mini", PAGE)
            .limits(400_000, 128_000)
            .default_output(64_000)
            .abilities(Abilities::media().adaptive(UP_TO_XHIGH))
            .price(Price::plain(750, 4_500).with_cache_read(75)),
        can_skip_reasoning: true,
        appends_tools: false,
    },
    OpenAiFamily {
        row: ModelRow::new("gpt-5.4-nano", PAGE)
            .limits(400_000, 128_000)
            .default_output(64_000)
            .abilities(Abilities::media().adaptive(UP_TO_XHIGH))
            .price(Price::plain(200, 1_250).with_cache_read(20)),
        can_skip_reasoning: true,
        appends_tools: false,
    },
    OpenAiFamily {
        row: ModelRow::new("gpt-5.3-codex", PAGE)
            .limits(400_000, 128_000)
            .default_output(64_000)
            .abilities(Abilities::media().adaptive(UP_TO_XHIGH))
            .price(Price::plain(1_750, 14_000).with_cache_read(175)),
        can_skip_reasoning: false,
        appends_tools: false,
    },
    OpenAiFamily {
        row: ModelRow::new("gpt-5.2", PAGE)
            .limits(400_000, 128_000)
            .default_output(64_000)
            .abilities(Abilities::media().adaptive(UP_TO_XHIGH))
            .price(Price::plain(1_750, 14_000).with_cache_read(175)),
        can_skip_reasoning: true,
        appends_tools: false,
    },
    OpenAiFamily {
        row: ModelRow::new("gpt-5.1", PAGE)
            .limits(400_000, 128_000)
            .default_output(64_000)
            .abilities(Abilities::media().adaptive(UP_TO_HIGH))
            .price(Price::plain(1_250, 10_000).with_cache_read(125)),
        can_skip_reasoning: true,
        appends_tools: false,
    },
    OpenAiFamily {
        row: ModelRow::new("gpt-5", PAGE)
            .limits(400_000, 128_000)
            .default_output(64_000)
            .abilities(Abilities::media().adaptive(UP_TO_HIGH))
            .price(Price::plain(1_250, 10_000).with_cache_read(125)),
        can_skip_reasoning: false,
        appends_tools: false,
    },
    OpenAiFamily {
        row: ModelRow::new("gpt-5-mini", PAGE)
            .limits(400_000, 128_000)
            .default_output(64_000)
            .abilities(Abilities::media().adaptive(UP_TO_HIGH))
            .price(Price::plain(250, 2_000).with_cache_read(25)),
        can_skip_reasoning: false,
        appends_tools: false,
    },
    OpenAiFamily {
        row: ModelRow::new("gpt-5-nano", PAGE)
            .limits(400_000, 128_000)
            .default_output(64_000)
            .abilities(Abilities::media().adaptive(UP_TO_HIGH))
            .price(Price::plain(50, 400).with_cache_read(5)),
        can_skip_reasoning: false,
        appends_tools: false,
    },
    OpenAiFamily {
        row: ModelRow::new("o3", PAGE)
            .limits(200_000, 100_000)
            .default_output(64_000)
            .abilities(Abilities::media().adaptive(UP_TO_HIGH))
            .price(Price::plain(2_000, 8_000).with_cache_read(500)),
        can_skip_reasoning: false,
        appends_tools: false,
    },
    OpenAiFamily {
        row: ModelRow::new("o4-mini", PAGE)
            .limits(200_000, 100_000)
            .default_output(64_000)
            .abilities(Abilities::media().adaptive(UP_TO_HIGH))
            .price(Price::plain(1_100, 4_400).with_cache_read(275)),
        can_skip_reasoning: false,
        appends_tools: false,
    },
    OpenAiFamily {
        row: ModelRow::new("gpt-4.1", PAGE)
            .limits(1_047_576, 32_768)
            .default_output(32_768)
            .abilities(Abilities::media())
            .price(Price::plain(2_000, 8_000).with_cache_read(500)),
        can_skip_reasoning: false,
        appends_tools: false,
    },
    OpenAiFamily {
        row: ModelRow::new("gpt-4.1-mini", PAGE)
            .limits(1_047_576, 32_768)
            .default_output(32_768)
            .abilities(Abilities::media())
            .price(Price::plain(400, 1_600).with_cache_read(100)),
        can_skip_reasoning: false,
        appends_tools: false,
    },
    OpenAiFamily {
        row: ModelRow::new("gpt-4.1-nano", PAGE)
            .limits(1_047_576, 32_768)
            .default_output(32_768)
            .abilities(Abilities::media())
            .price(Price::plain(100, 400).with_cache_read(25)),
        can_skip_reasoning: false,
        appends_tools: false,
    },
    OpenAiFamily {
        row: ModelRow::new("gpt-4o", PAGE)
            .limits(128_000, 16_384)
            .default_output(16_384)
            .abilities(Abilities::media())
            .price(Price::plain(2_500, 10_000).with_cache_read(1_250)),
        can_skip_reasoning: false,
        appends_tools: false,
    },
    OpenAiFamily {
        row: ModelRow::new("gpt-4o-mini", PAGE)
            .limits(128_000, 16_384)
            .default_output(16_384)
            .abilities(Abilities::media())
            .price(Price::plain(150, 600).with_cache_read(75)),
        can_skip_reasoning: false,
        appends_tools: false,
    },
];

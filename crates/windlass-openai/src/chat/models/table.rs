//! Model tables of endpoints.
//!
//! Most figures come from two open price lists, LiteLLM 1.109 and genai-prices 0.2. Each row names the vendor's page
//! that the lists cite; few of these pages were checked. Figures that no page states are left out, such as the output
//! limits of many vendors. Rates are in billionths of a dollar per token, rounded up.

use windlass_model::{Abilities, LongPrompt, ModelRow, ModelSource, Price};

/// Day on which the lists were read.
const READ_ON: &str = "2026-11-23";

/// Row of a model that accepts media, such as images.
const fn vision_row(id: &'static str, page: ModelSource) -> ModelRow {
    ModelRow::new(id, page).abilities(Abilities::media())
}

/// Returns the models of an endpoint.
pub(super) fn rows(endpoint: &str) -> &'static [ModelRow] {
    match endpoint {
        "deepseek" => DEEPSEEK,
        "groq" => GROQ,
        "mistral" => MISTRAL,
        "xai" => XAI,
        "moonshot" => MOONSHOT,
        "zai" => ZAI,
        "qwen" => QWEN,
        "together" => TOGETHER,
        "openrouter" => OPENROUTER,
        _ => &[],
    }
}

const DEEPSEEK_PAGE: ModelSource = ModelSource::new("https://api-docs.deepseek.com/quick_start/pricing", READ_ON);

/// Models of DeepSeek at the prices of peak hours. Calls at other hours cost half as much.
const DEEPSEEK: &[ModelRow] = &[
    ModelRow::new("deepseek-v4-pro", DEEPSEEK_PAGE)
        .limits(1_000_000, 393_216)
        .price(Price::plain(1_320, 3_960).with_cache_read(44))
        .aliases(&["default", "pro"]),
    vision_row("deepseek-flash", DEEPSEEK_PAGE)
        .limits(1_000_000, 393_216)
        .price(Price::plain(300, 1_200).with_cache_read(6))
        .aliases(&["flash"]),
    vision_row("deepseek-v4-flash", DEEPSEEK_PAGE)
        .limits(1_000_000, 393_216)
        .price(Price::plain(300, 1_200).with_cache_read(6)),
    vision_row("deepseek-v4-flash-vision-exp", DEEPSEEK_PAGE)
        .limits(1_000_000, 393_216)
        .price(Price::plain(300, 1_200).with_cache_read(6)),
];

const GROQ_PAGE: ModelSource = ModelSource::new("https://console.groq.com/docs/models", READ_ON);

/// Models of Groq. Cached input costs half as much as other input, for models with a cache price.
const GROQ: &[ModelRow] = &[
    ModelRow::new("openai/gpt-oss-120b", GROQ_PAGE)
        .limits(131_072, 65_536)
        .price(Price::plain(150, 600).with_cache_read(75))
        .aliases(&["default"]),
    ModelRow::new("openai/gpt-oss-20b", GROQ_PAGE)
        .limits(131_072, 65_536)
        .price(Price::plain(75, 300).with_cache_read(38)),
    vision_row("qwen/qwen3.8-27b", GROQ_PAGE).limits(131_072, 16_384).price(Price::plain(800, 4_000)),
];

const MISTRAL_PAGE: ModelSource = ModelSource::new("https://mistral.ai/pricing/api", READ_ON);

const MISTRAL: &[ModelRow] = &[
    vision_row("mistral-large-4", MISTRAL_PAGE)
        .window(1_048_576)
        .price(Price::plain(1_360, 4_180).with_cache_read(140))
        .aliases(&["default", "large"]),
    vision_row("mistral-large-2512", MISTRAL_PAGE).window(262_144).price(Price::plain(500, 1_500).with_cache_read(50)),
    vision_row("mistral-medium-3-5", MISTRAL_PAGE)
        .window(262_144)
        .price(Price::plain(1_500, 7_500).with_cache_read(150))
        .aliases(&["medium"]),
    vision_row("mistral-medium-2604", MISTRAL_PAGE)
        .window(262_144)
        .price(Price::plain(1_500, 7_500).with_cache_read(150)),
    vision_row("mistral-small-2603", MISTRAL_PAGE)
        .window(262_144)
        .price(Price::plain(150, 600).with_cache_read(15))
        .aliases(&["small"]),
    ModelRow::new("codestral-2508", MISTRAL_PAGE)
        .window(128_000)
        .price(Price::plain(300, 900).with_cache_read(30))
        .aliases(&["codestral"]),
    vision_row("ministral-14b-2512", MISTRAL_PAGE).window(262_144).price(Price::plain(200, 200).with_cache_read(20)),
    vision_row("ministral-8b-2512", MISTRAL_PAGE).window(262_144).price(Price::plain(150, 150).with_cache_read(15)),
];

const XAI_PAGE: ModelSource = ModelSource::new("https://docs.x.ai/docs/models", READ_ON);

const XAI: &[ModelRow] = &[
    vision_row("grok-4.7", XAI_PAGE)
        .window(500_000)
        .price(Price::plain(2_000, 6_000).with_cache_read(500))
        .long_prompts(&[LongPrompt::new(200_000, Price::plain(4_000, 12_000).with_cache_read(1_000))])
        .aliases(&["default", "grok"]),
    vision_row("grok-4.6", XAI_PAGE)
        .window(500_000)
        .price(Price::plain(2_000, 6_000).with_cache_read(500))
        .long_prompts(&[LongPrompt::new(200_000, Price::plain(4_000, 12_000).with_cache_read(1_000))]),
    vision_row("grok-4.5", XAI_PAGE)
        .window(500_000)
        .price(Price::plain(2_000, 6_000).with_cache_read(300))
        .long_prompts(&[LongPrompt::new(200_000, Price::plain(4_000, 12_000).with_cache_read(600))]),
    vision_row("grok-4.3", XAI_PAGE)
        .window(1_000_000)
        .price(Price::plain(1_250, 2_500).with_cache_read(200))
        .long_prompts(&[LongPrompt::new(200_000, Price::plain(2_500, 5_000).with_cache_read(400))]),
    vision_row("grok-build-0.1", XAI_PAGE)
        .window(256_000)
        .price(Price::plain(1_000, 2_000).with_cache_read(200))
        .long_prompts(&[LongPrompt::new(200_000, Price::plain(2_000, 4_000).with_cache_read(400))])
        .aliases(&["build"]),
];

const MOONSHOT_PAGE: ModelSource = ModelSource::new("https://platform.kimi.ai/docs/pricing/chat", READ_ON);

const MOONSHOT: &[ModelRow] = &[
    vision_row("kimi-k3.1-pro", MOONSHOT_PAGE)
        .window(1_048_576)
        .price(Price::plain(2_000, 10_000).with_cache_read(200).with_cache_write(2_000, 4_000))
        .aliases(&["default", "kimi"]),
    vision_row("kimi-k3", MOONSHOT_PAGE)
        .window(1_048_576)
        .price(Price::plain(3_000, 15_000).with_cache_read(300).with_cache_write(3_000, 6_000)),
    vision_row("kimi-k2.7-code", MOONSHOT_PAGE)
        .window(262_144)
        .price(Price::plain(950, 4_000).with_cache_read(190))
        .aliases(&["code"]),
    vision_row("kimi-k2.6", MOONSHOT_PAGE).window(262_144).price(Price::plain(950, 4_000).with_cache_read(160)),
];

const ZAI_PAGE: ModelSource = ModelSource::new("https://docs.z.ai/guides/overview/pricing", READ_ON);

const ZAI: &[ModelRow] = &[
    ModelRow::new("glm-5.3", ZAI_PAGE)
        .limits(1_000_000, 128_000)
        .price(Price::plain(1_400, 4_400).with_cache_read(260))
        .aliases(&["default", "glm"]),
    vision_row("glm-5.3-flash", ZAI_PAGE)
        .limits(1_048_576, 128_000)
        .price(Price::plain(150, 500).with_cache_read(30))
        .aliases(&["flash"]),
    ModelRow::new("glm-5.2", ZAI_PAGE)
        .limits(1_000_000, 128_000)
        .price(Price::plain(1_400, 4_400).with_cache_read(260)),
    ModelRow::new("glm-5.1", ZAI_PAGE).limits(200_000, 128_000).price(Price::plain(1_400, 4_400).with_cache_read(260)),
    ModelRow::new("glm-5", ZAI_PAGE).limits(200_000, 128_000).price(Price::plain(1_000, 3_200).with_cache_read(200)),
    ModelRow::new("glm-4.7", ZAI_PAGE).limits(200_000, 128_000).price(Price::plain(600, 2_200).with_cache_read(110)),
    ModelRow::new("glm-4.6", ZAI_PAGE).limits(200_000, 128_000).price(Price::plain(600, 2_200).with_cache_read(110)),
];

const QWEN_PAGE: ModelSource = ModelSource::new("https://www.alibabacloud.com/help/en/model-studio/models", READ_ON);

const QWEN: &[ModelRow] = &[
    vision_row("qwen3.8-max", QWEN_PAGE)
        .limits(991_808, 131_072)
        .price(Price::plain(2_000, 6_000).with_cache_read(250))
        .aliases(&["default", "max"]),
    vision_row("qwen3.8-flash", QWEN_PAGE)
        .limits(991_808, 131_072)
        .price(Price::plain(150, 470).with_cache_read(16).with_cache_write(200, 200))
        .aliases(&["flash"]),
    ModelRow::new("qwen3.7-max", QWEN_PAGE)
        .limits(991_808, 65_536)
        .price(Price::plain(2_500, 7_500).with_cache_read(500).with_cache_write(3_125, 3_125)),
    vision_row("qwen3.7-plus", QWEN_PAGE)
        .limits(991_808, 65_536)
        .price(Price::plain(400, 1_600).with_cache_read(80))
        .long_prompts(&[LongPrompt::new(256_000, Price::plain(1_200, 4_800).with_cache_read(240))])
        .aliases(&["plus"]),
    vision_row("qwen3.5-plus", QWEN_PAGE)
        .limits(991_808, 65_536)
        .price(Price::plain(400, 2_400))
        .long_prompts(&[LongPrompt::new(256_000, Price::plain(500, 3_000))]),
    ModelRow::new("qwen3-max", QWEN_PAGE).limits(258_048, 65_536).price(Price::plain(1_200, 6_000)).long_prompts(&[
        LongPrompt::new(32_000, Price::plain(2_400, 12_000)),
        LongPrompt::new(128_000, Price::plain(3_000, 15_000)),
    ]),
    ModelRow::new("qwen3-coder-plus", QWEN_PAGE)
        .limits(997_952, 65_536)
        .price(Price::plain(1_000, 5_000).with_cache_read(100))
        .long_prompts(&[
            LongPrompt::new(32_000, Price::plain(1_800, 9_000).with_cache_read(180)),
            LongPrompt::new(128_000, Price::plain(3_000, 15_000).with_cache_read(300)),
            LongPrompt::new(256_000, Price::plain(6_000, 60_000).with_cache_read(600)),
        ])
        .aliases(&["coder"]),
    ModelRow::new("qwen3-coder-flash", QWEN_PAGE)
        .limits(997_952, 65_536)
        .price(Price::plain(300, 1_500).with_cache_read(80))
        .long_prompts(&[
            LongPrompt::new(32_000, Price::plain(500, 2_500).with_cache_read(120)),
            LongPrompt::new(128_000, Price::plain(800, 4_000).with_cache_read(200)),
            LongPrompt::new(256_000, Price::plain(1_600, 9_600).with_cache_read(400)),
        ]),
];

const TOGETHER_PAGE: ModelSource = ModelSource::new("https://www.together.ai/pricing", READ_ON);

const TOGETHER: &[ModelRow] = &[
    vision_row("moonshotai/Kimi-K3", TOGETHER_PAGE)
        .window(1_048_576)
        .price(Price::plain(3_000, 15_000).with_cache_read(300)),
    ModelRow::new("zai-org/GLM-5.3", TOGETHER_PAGE)
        .limits(1_048_575, 128_000)
        .price(Price::plain(1_400, 4_400).with_cache_read(260)),
    vision_row("zai-org/GLM-5.3-Flash", TOGETHER_PAGE)
        .limits(1_048_575, 128_000)
        .price(Price::plain(150, 500).with_cache_read(30)),
    ModelRow::new("deepseek-ai/DeepSeek-V4.1-Flash", TOGETHER_PAGE)
        .window(1_048_576)
        .price(Price::plain(300, 1_200).with_cache_read(6)),
    ModelRow::new("deepseek-ai/DeepSeek-V4-Pro-0813", TOGETHER_PAGE)
        .window(1_048_576)
        .price(Price::plain(1_320, 3_960).with_cache_read(130)),
    vision_row("MiniMaxAI/MiniMax-M3", TOGETHER_PAGE)
        .window(524_288)
        .price(Price::plain(300, 1_200).with_cache_read(60)),
    ModelRow::new("openai/gpt-oss-120b", TOGETHER_PAGE).window(131_072).price(Price::plain(150, 600)),
    ModelRow::new("openai/gpt-oss-20b", TOGETHER_PAGE).window(131_072).price(Price::plain(50, 200)),
];

const OPENROUTER_PAGE: ModelSource = ModelSource::new("https://openrouter.ai/models", READ_ON);

/// Row of an Anthropic model. [`Price::new`] sets the price of a one-hour cache write to twice the input price.
const fn claude_row(id: &'static str, input: u64, output: u64, cache_read: u64) -> ModelRow {
    vision_row(id, OPENROUTER_PAGE).window(1_000_000).price(Price::new(input, output).with_cache_read(cache_read))
}

/// Row of an OpenAI model. Prompts over 272,000 tokens cost twice as much for input and 1.5 times for output.
const fn gpt_row(id: &'static str, price: Price, long: &'static [LongPrompt]) -> ModelRow {
    vision_row(id, OPENROUTER_PAGE).limits(1_050_000, 128_000).price(price).long_prompts(long)
}

/// Models of OpenRouter that cost the same at each of its vendors. Other models have no row, because the router reports
/// the cost with each answer.
const OPENROUTER: &[ModelRow] = &[
    claude_row("anthropic/claude-fable-5.1", 10_000, 50_000, 250).aliases(&["fable"]),
    claude_row("anthropic/claude-opus-5.5", 4_000, 20_000, 200).aliases(&["default", "opus"]),
    claude_row("anthropic/claude-opus-5", 5_000, 25_000, 500),
    claude_row("anthropic/claude-sonnet-5.5", 2_000, 10_000, 100).aliases(&["sonnet"]),
    claude_row("anthropic/claude-sonnet-5", 2_000, 10_000, 200),
    claude_row("anthropic/claude-haiku-5.5", 100, 500, 10)
        .long_prompts(&[LongPrompt::new(100_000, Price::new(500, 2_500))])
        .aliases(&["haiku"]),
    gpt_row("openai/gpt-6-astra", Price::new(10_000, 50_000), &[LongPrompt::new(272_000, Price::new(20_000, 75_000))]),
    gpt_row(
        "openai/gpt-6.1-sol",
        Price::new(2_000, 10_000).with_cache_read(100),
        &[LongPrompt::new(272_000, Price::new(4_000, 15_000).with_cache_read(200))],
    ),
    gpt_row(
        "openai/gpt-6.1-terra",
        Price::new(1_000, 5_000).with_cache_read(50),
        &[LongPrompt::new(272_000, Price::new(2_000, 7_500).with_cache_read(100))],
    ),
    gpt_row("openai/gpt-6-sol", Price::new(2_000, 10_000), &[LongPrompt::new(272_000, Price::new(4_000, 15_000))]),
    gpt_row("openai/gpt-6-luna", Price::new(100, 500), &[LongPrompt::new(272_000, Price::new(200, 750))]),
    vision_row("x-ai/grok-4.7", OPENROUTER_PAGE)
        .window(500_000)
        .price(Price::plain(2_000, 6_000).with_cache_read(500))
        .long_prompts(&[LongPrompt::new(200_000, Price::plain(4_000, 12_000).with_cache_read(1_000))])
        .aliases(&["grok"]),
    vision_row("moonshotai/kimi-k3.1-pro", OPENROUTER_PAGE)
        .window(1_048_576)
        .price(Price::plain(2_000, 10_000).with_cache_read(200))
        .aliases(&["kimi"]),
];

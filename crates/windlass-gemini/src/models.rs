//! Known models.
//!
//! Sources: <https://ai.google.dev/gemini-api/docs/models> (limits, abilities),
//! <https://ai.google.dev/gemini-api/docs/pricing> (prices, as of November 2026),
//! <https://ai.google.dev/gemini-api/docs/thinking> and
//! <https://docs.cloud.google.com/gemini-enterprise-agent-platform/models/guides/gemini-4-argon> (levels and budgets).

use windlass_model::{KnownModel, ModelRow, ModelSource};
use windlass_types::{Api, Effort, LongPrompt, ModelInfo, NanoUsd, Price};

/// Maximum numbers of tokens of a prompt and of an answer. The answer comes on top of the prompt before Gemini 4, and
/// is part of it since.
const WINDOW: u64 = 1_048_576;
const OUTPUT: u32 = 65_536;

/// Default output limit: reasoning counts as output, and a low limit ends a message in the middle of it.
const DEFAULT_OUTPUT: u32 = 32_768;

const PAGE: ModelSource = ModelSource::new("https://ai.google.dev/gemini-api/docs/pricing", "2026-11-23");

/// Row of a model with its price in billionths of a dollar for a token. A cached token costs a tenth of a plain one, as
/// with [`Price::new`]; the API does not bill writes to its own cache separately.
const fn flat(id: &'static str, input: u64, output: u64) -> ModelRow {
    let price = Price::new(input, output).with_cache_write(input, input);
    ModelRow::new(id, PAGE).limits(WINDOW, OUTPUT).default_output(DEFAULT_OUTPUT).price(price)
}

const PRO_LONG: &[LongPrompt] = &[LongPrompt::new(200_000, Price::new(4_000, 18_000).with_cache_write(4_000, 4_000))];
const OLD_PRO_LONG: &[LongPrompt] =
    &[LongPrompt::new(200_000, Price::new(2_500, 15_000).with_cache_write(2_500, 2_500))];

/// Models with a known price, by the prefixes of their names. The longest matching prefix is used.
const MODELS: &[ModelRow] = &[
    // The price from 2026-12-01 on. Until then it is half of that. Source:
    // https://ai.google.dev/gemini-api/docs/generate-content/latest-model.
    flat("gemini-4-argon", 4_000, 20_000)
        .price(Price::new(4_000, 20_000).with_cache_read(200).with_cache_write(4_000, 4_000))
        .aliases(&["argon"]),
    // The price from 2027-01-01 on. Until then it is half of that, also for the two that follow.
    flat("gemini-3.8-flash", 1_500, 7_500).aliases(&["default", "flash"]),
    flat("gemini-3.7-flash", 1_500, 7_500),
    flat("gemini-3.6-flash", 1_500, 7_500),
    flat("gemini-3.5-flash", 1_500, 9_000),
    flat("gemini-3.5-flash-lite", 300, 2_500).aliases(&["flash-lite"]),
    flat("gemini-3.1-pro-preview", 2_000, 12_000).long_prompts(PRO_LONG).aliases(&["pro"]),
    flat("gemini-3.1-flash-lite", 250, 1_500),
    flat("gemini-3-flash-preview", 500, 3_000),
    flat("gemini-2.5-pro", 1_250, 10_000).long_prompts(OLD_PRO_LONG),
    flat("gemini-2.5-flash", 300, 2_500),
    flat("gemini-2.5-flash-lite", 100, 400),
];

/// Maximum bytes and number of images and documents: some ways to these models take requests of 20 MB only
/// (<https://firebase.google.com/docs/vertex-ai/input-file-requirements>, read 2026-11-28).
const MEDIA: (usize, usize) = (16 * 1024 * 1024, 90);
/// Cost of one web search: 14 USD for a thousand. Source: <https://ai.google.dev/gemini-api/docs/pricing>, by several
/// who quote it; the page itself was not read.
const SEARCH: NanoUsd = NanoUsd::new(14_000_000);
/// Cost of one prompt with web searches before Gemini 3: 35 USD for a thousand. Same source as [`SEARCH`].
const OLD_SEARCH: NanoUsd = NanoUsd::new(35_000_000);

/// Name parts of models of a known family with another price, or a price by another unit.
const OTHER_PRICES: [&str; 5] = ["-tts", "-image", "-live", "-audio", "-native"];

/// Control of a model's reasoning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ThinkingControl {
    /// No control, or none is known.
    None,
    /// Number of tokens.
    Budget { least: u32, most: u32, can_be_off: bool },
    /// Level. All models have `HIGH`.
    Level { has_minimal: bool, has_low: bool, has_medium: bool, has_xhigh: bool },
}

/// Model properties on which requests depend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct GeminiFamily {
    pub(crate) dial: ThinkingControl,
    /// `true` for Gemini 3 and later: calls have ids and signatures, and results may hold images.
    pub(crate) is_modern: bool,
}

/// Returns generation and the rest of the name of a Gemini model. Names such as `gemini-flash-latest` count as the
/// newest.
fn generation(model: &str) -> Option<((u32, u32), &str)> {
    let name = model.rsplit('/').next().unwrap_or(model);
    let rest = name.strip_prefix("gemini-")?;
    let (number, kind) = rest.split_once('-').unwrap_or((rest, ""));
    let (major, minor) = number.split_once('.').unwrap_or((number, "0"));
    match (major.parse(), minor.parse()) {
        (Ok(major), Ok(minor)) => Some(((major, minor), kind)),
        _ if name.ends_with("-latest") => Some(((u32::MAX, 0), rest)),
        _ => None,
    }
}

/// Returns the properties on which requests to a model depend. Unknown models get only features that all models
/// support.
pub(crate) fn family(model: &str) -> GeminiFamily {
    let name = model.rsplit('/').next().unwrap_or(model);
    if name.starts_with("gemma-4") {
        let dial = ThinkingControl::Level { has_minimal: true, has_low: false, has_medium: false, has_xhigh: false };
        return GeminiFamily { dial, is_modern: false };
    }
    let Some((version, kind)) = generation(model) else {
        return GeminiFamily { dial: ThinkingControl::None, is_modern: false };
    };
    let dial = match version {
        (2, 5) if kind.starts_with("pro") => ThinkingControl::Budget { least: 128, most: 32_768, can_be_off: false },
        (2, 5) if kind.starts_with("flash-lite") => {
            ThinkingControl::Budget { least: 512, most: 24_576, can_be_off: true }
        }
        (2, 5) if kind.starts_with("flash") => ThinkingControl::Budget { least: 1, most: 24_576, can_be_off: true },
        (3.., _) => ThinkingControl::Level {
            has_minimal: kind.starts_with("flash") && version <= (3, 6),
            has_low: true,
            has_medium: version != (3, 0) || !kind.starts_with("pro"),
            has_xhigh: kind.starts_with("hydrogen") || kind.starts_with("neon"),
        },
        _ => ThinkingControl::None,
    };
    GeminiFamily { dial, is_modern: version.0 >= 3 }
}

/// Resolves a name to a model.
pub(crate) fn resolve(name: &str) -> String {
    let name = name.trim();
    let name = name.strip_prefix("models/").unwrap_or(name);
    let is_alias = |row: &&ModelRow| row.aliases.iter().any(|alias| alias.eq_ignore_ascii_case(name));
    MODELS.iter().find(is_alias).map_or(name, |row| row.id).to_owned()
}

/// Returns aliases that resemble a name which is neither an alias nor looks like a model.
pub(crate) fn similar(name: &str) -> Vec<String> {
    let name = resolve(name);
    if name.contains(['-', '/']) {
        return Vec::new();
    }
    let near = windlass_types::near::nearest(&name, MODELS.iter().flat_map(|row| row.aliases.iter().copied()));
    near.into_iter().map(str::to_owned).collect()
}

/// Returns the known description of a model.
pub(crate) fn info(model: &str) -> ModelInfo {
    let family = family(model);
    let known = generation(model).is_some_and(|(version, _)| version >= (2, 5));
    if !known {
        let mut info = ModelInfo::new(131_072, 8_192);
        info.adaptive_thinking = family.dial != ThinkingControl::None;
        return info;
    }
    let mut info = ModelInfo::new(WINDOW, OUTPUT);
    info.default_output_tokens = DEFAULT_OUTPUT;
    info.adaptive_thinking = family.dial != ThinkingControl::None;
    info.thinking_budget = matches!(family.dial, ThinkingControl::Budget { .. });
    if let ThinkingControl::Level { has_medium, has_xhigh, .. } = family.dial {
        info.efforts = Effort::ALL.to_vec();
        info.efforts.retain(|effort| match effort {
            Effort::Medium => has_medium,
            Effort::XHigh => has_xhigh,
            Effort::Max => false,
            _ => true,
        });
    }
    (info.vision, info.documents, info.prompt_cache) = (true, true, true);
    info.media = info.media.with_total(MEDIA.0, MEDIA.1);
    let name = model.rsplit('/').next().unwrap_or(model);
    if name.starts_with("gemini-") && !OTHER_PRICES.iter().any(|other| name.contains(other)) {
        info.web_search = Some(if family.is_modern { SEARCH } else { OLD_SEARCH });
    }
    if let Some(row) = MODELS.iter().filter(|row| is_of(name, row.id)).max_by_key(|row| row.id.len()) {
        (info.price, info.long_prompts) = (row.price, row.long_prompts.to_vec());
    }
    info
}

/// Returns the built-in models. `provider` is the service that has them.
pub(crate) fn known(provider: &str) -> Vec<KnownModel> {
    let known = MODELS.iter().map(|row| {
        let mut info = info(row.id);
        info.api = Api::new(provider, Api::GEMINI);
        row.known(info)
    });
    known.collect()
}

/// `true` if a model is that of a prefix, or a dated version of it.
fn is_of(name: &str, prefix: &str) -> bool {
    let rest = name.strip_prefix(prefix);
    let is_same = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'));
    is_same && !OTHER_PRICES.iter().any(|other| name.contains(other))
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_types::Usage;

    #[test]
    fn families_are_told_apart() {
        for (model, is_modern, least) in [
            ("gemini-2.5-pro", false, Some(128)),
            ("gemini-2.5-flash-lite-preview-06-17", false, Some(512)),
            ("publishers/google/models/gemini-2.5-flash", false, Some(1)),
            ("gemini-2.0-flash", false, None),
            ("gemini-3-flash-preview", true, None),
            ("gemini-3.1-pro-preview", true, None),
            ("gemini-4-argon", true, None),
            ("gemini-5-x", true, None),
            ("gemini-flash-latest", true, None),
            ("learnlm-2", false, None),
            ("gemini-exp", false, None),
        ] {
            let family = family(model);
            assert_eq!(family.is_modern, is_modern, "{model}");
            let budget = if let ThinkingControl::Budget { least, .. } = family.dial { Some(least) } else { None };
            assert_eq!(budget, least, "{model}");
            assert_eq!(matches!(family.dial, ThinkingControl::Level { .. }), is_modern, "{model}");
        }
    }

    #[test]
    fn models_have_the_efforts_that_they_have_levels_for() {
        use Effort::{High, Low, Medium, XHigh};
        assert_eq!(info("gemini-4-argon").efforts, [Low, Medium, High]);
        assert_eq!(info("gemini-4-neon").efforts, [Low, Medium, High, XHigh]);
        assert_eq!(info("gemini-3-pro-preview").efforts, [Low, High]);
        assert_eq!(info("gemini-2.5-pro").efforts, []);
    }

    #[test]
    fn prices_depend_on_the_length_of_the_prompt() {
        let pro = info("gemini-3.1-pro-preview");
        let mut usage = Usage::new(1_000, 10);
        assert_eq!(pro.cost(&usage), Some(NanoUsd::new(2_000 * 1_000 + 12_000 * 10)));
        usage.cache_read_input_tokens = 200_000;
        assert_eq!(pro.cost(&usage), Some(NanoUsd::new(4_000 * 1_000 + 18_000 * 10 + 400 * 200_000)));
        assert_eq!(info("gemini-2.5-flash-lite").cost(&Usage::new(1, 1)), Some(NanoUsd::new(500)));
        for unpriced in ["gemini-2.5-flash-preview-tts", "gemini-4-neon", "gemini-3.8-flashy", "other"] {
            assert_eq!(info(unpriced).price, None, "{unpriced}");
        }
    }

    #[test]
    fn names_resolve() {
        assert_eq!(resolve("Flash"), "gemini-3.8-flash");
        assert_eq!(resolve(" models/gemini-2.5-pro "), "gemini-2.5-pro");
        assert_eq!(resolve("tunedModels/x"), "tunedModels/x");
        assert_eq!(similar("flsh").first().map(String::as_str), Some("flash"));
        assert!(similar("gemini-9").is_empty() && similar("pro").is_empty());
    }
}

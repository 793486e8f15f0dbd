//! Known models.
//!
//! Limits come from excerpts of the vendor's pages and from threads that cite them; not every card was read, and some
//! figures are conservative estimates. They can be checked on: the model cards at
//! <https://docs.aws.amazon.com/bedrock/latest/userguide/models-cards.html> (limits, abilities),
//! <https://docs.aws.amazon.com/nova/latest/nova2-userguide/> (Nova),
//! <https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html>,
//! <https://docs.aws.amazon.com/bedrock/latest/userguide/structured-output.html> and
//! <https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolChoice.html>. Prices depend on the region,
//! and are left to the user.

use windlass_model::{Catalogue, KnownModel, ModelSource};
use windlass_types::{Api, Effort, MediaLimits, ModelInfo};

/// Page that lists limits and abilities.
const PAGE: ModelSource =
    ModelSource::new("https://docs.aws.amazon.com/bedrock/latest/userguide/models-cards.html", "2026-11-23");

/// Aliases with their models, and the inference profiles of these.
const ALIASES: &[(&str, &str, InferenceProfile)] = &[
    ("default", "amazon.nova-2-lite-v1:0", InferenceProfile::Global),
    ("gpt-oss", "openai.gpt-oss-120b-1:0", InferenceProfile::None),
    ("nova-2-lite", "amazon.nova-2-lite-v1:0", InferenceProfile::Global),
    ("nova-lite", "amazon.nova-lite-v1:0", InferenceProfile::Geography),
    ("nova-micro", "amazon.nova-micro-v1:0", InferenceProfile::Geography),
    ("nova-premier", "amazon.nova-premier-v1:0", InferenceProfile::Geography),
    ("nova-pro", "amazon.nova-pro-v1:0", InferenceProfile::Geography),
];

/// Inference profile through which a model is called. Most cannot be called without one. Source:
/// <https://docs.aws.amazon.com/bedrock/latest/userguide/inference-profiles-support.html>.
#[derive(Debug, Clone, Copy)]
enum InferenceProfile {
    None,
    Global,
    /// Profile of the region's geography.
    Geography,
}

impl InferenceProfile {
    fn prefix(self, region: &str) -> &'static str {
        match (self, region.split('-').next().unwrap_or_default()) {
            (Self::None, _) => "",
            (Self::Global, _) => "global.",
            (Self::Geography, "us") if region.starts_with("us-gov-") => "us-gov.",
            (Self::Geography, "us") => "us.",
            (Self::Geography, "eu") => "eu.",
            (Self::Geography, "ap") => "apac.",
            // Other geographies have none; the model itself may be available there.
            (Self::Geography, _) => "",
        }
    }
}

/// Vendors that model names begin with.
const VENDORS: [&str; 16] = [
    "ai21",
    "amazon",
    "anthropic",
    "cohere",
    "deepseek",
    "google",
    "meta",
    "minimax",
    "mistral",
    "moonshot",
    "moonshotai",
    "nvidia",
    "openai",
    "qwen",
    "writer",
    "zai",
];

/// Control of a model's reasoning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReasoningControl {
    /// No control, or none is known.
    None,
    /// Control of Claude, by tokens or by words.
    Claude,
    /// `reasoningConfig`.
    Nova,
    /// `reasoning_effort`. `off` is the value closest to no reasoning.
    Effort { off: &'static str, words: &'static [(Effort, &'static str)] },
    /// `reasoning.effort`.
    Reasoning { off: &'static str, words: &'static [(Effort, &'static str)] },
}

/// Places of a prompt that can have cache points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Caching {
    None,
    /// Behind the system prompt and messages.
    Prompt,
    /// Behind the tools as well; `has_hour` is `true` if the cache may last an hour.
    ToolsToo {
        has_hour: bool,
    },
}

/// Extent to which a model can be made to call a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Choices {
    /// The model always chooses.
    Auto,
    /// The model can be made to call any tool.
    Any,
    /// The model can be made to call a certain tool.
    One,
}

/// Model properties on which requests depend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ConverseFamily {
    pub(crate) dial: ReasoningControl,
    pub(crate) caching: Caching,
    pub(crate) choices: Choices,
    /// `true` if tool results may hold images and documents.
    pub(crate) has_media_in_results: bool,
    /// `true` if calls can be constrained to the schemas of their tools.
    pub(crate) has_strict_tools: bool,
    /// `true` if schemas may have only a few members at the top level.
    pub(crate) has_plain_schemas: bool,
}

/// Properties of an unknown model: only features that all models support.
const CAREFUL: ConverseFamily = ConverseFamily {
    dial: ReasoningControl::None,
    caching: Caching::None,
    choices: Choices::Auto,
    has_media_in_results: false,
    has_strict_tools: false,
    has_plain_schemas: false,
};

const THREE_WORDS: &[(Effort, &str)] = &[(Effort::Low, "low"), (Effort::Medium, "medium"), (Effort::High, "high")];

const ALL_WORDS: &[(Effort, &str)] = &[
    (Effort::Low, "low"),
    (Effort::Medium, "medium"),
    (Effort::High, "high"),
    (Effort::XHigh, "xhigh"),
    (Effort::Max, "max"),
];

const KIMI_WORDS: &[(Effort, &str)] = &[(Effort::Low, "low"), (Effort::High, "high"), (Effort::Max, "max")];

/// Returns the name of a model from its vendor on, without a region or a profile in front, or the rest of an ARN. A
/// name without vendor stays unchanged.
fn bare(model: &str) -> &str {
    let name = model.rsplit('/').next().unwrap_or(model);
    let mut rest = name;
    while let Some((first, behind)) = rest.split_once('.') {
        if VENDORS.contains(&first) {
            return rest;
        }
        rest = behind;
    }
    name
}

/// `true` for Claude, which the native Messages API of the service serves better.
pub(crate) fn is_claude(model: &str) -> bool {
    bare(model).starts_with("anthropic.claude")
}

/// `true` for the name of a model of another vendor, or of a resource that does not show its model.
pub(crate) fn is_for_converse(name: &str) -> bool {
    // Aliases of Claude have no vendor; both APIs have this one.
    if name.trim().eq_ignore_ascii_case("default") {
        return false;
    }
    let model = resolve(name, "");
    let has_vendor = bare(&model).split_once('.').is_some_and(|(vendor, _)| VENDORS.contains(&vendor));
    (has_vendor || model.starts_with("arn:")) && !is_claude(&model)
}

/// Returns the properties on which requests to a model depend.
pub(crate) fn family(model: &str) -> ConverseFamily {
    let (vendor, name) = bare(model).split_once('.').unwrap_or(("", model));
    let strict = ConverseFamily { has_strict_tools: true, ..CAREFUL };
    match vendor {
        "anthropic" => ConverseFamily {
            dial: ReasoningControl::Claude,
            caching: Caching::ToolsToo { has_hour: version(name) >= (4, 5) },
            choices: Choices::One,
            has_media_in_results: true,
            has_strict_tools: version(name) >= (4, 5),
            has_plain_schemas: false,
        },
        "amazon" if name.starts_with("nova") => ConverseFamily {
            dial: if name.starts_with("nova-2-lite") { ReasoningControl::Nova } else { ReasoningControl::None },
            caching: Caching::Prompt,
            choices: Choices::One,
            has_media_in_results: true,
            has_strict_tools: false,
            has_plain_schemas: true,
        },
        "openai" if name.starts_with("gpt-oss") => {
            ConverseFamily { dial: ReasoningControl::Effort { off: "low", words: THREE_WORDS }, ..strict }
        }
        "openai" => ConverseFamily { dial: ReasoningControl::Reasoning { off: "none", words: ALL_WORDS }, ..CAREFUL },
        "moonshot" | "moonshotai" if name.starts_with("kimi-k3") => {
            ConverseFamily { dial: ReasoningControl::Effort { off: "low", words: KIMI_WORDS }, ..strict }
        }
        "mistral" if name.contains("large") => ConverseFamily { choices: Choices::Any, ..strict },
        "deepseek" if !name.starts_with("r1") => strict,
        "google" | "minimax" | "mistral" | "moonshot" | "moonshotai" | "nvidia" | "qwen" => strict,
        _ => CAREFUL,
    }
}

/// Returns the version of Claude in a name: the first two numbers that are no date.
fn version(name: &str) -> (u32, u32) {
    let mut parts = name.split('-').filter(|part| part.len() <= 2).map(str::parse::<u32>).skip_while(Result::is_err);
    let major = parts.next().and_then(Result::ok).unwrap_or(0);
    (major, parts.next().and_then(Result::ok).unwrap_or(0))
}

/// Limits of models, by the prefix of the name. The longest matching prefix is used.
struct KnownLimits {
    prefix: &'static str,
    window: u64,
    output: u32,
    has_vision: bool,
    has_documents: bool,
}

const fn text(prefix: &'static str, window: u64, output: u32) -> KnownLimits {
    KnownLimits { prefix, window, output, has_vision: false, has_documents: false }
}

const fn vision(prefix: &'static str, window: u64, output: u32) -> KnownLimits {
    KnownLimits { prefix, window, output, has_vision: true, has_documents: false }
}

const fn documents(prefix: &'static str, window: u64, output: u32) -> KnownLimits {
    KnownLimits { prefix, window, output, has_vision: true, has_documents: true }
}

/// Known models. If a card gives no output limit, the figure is a conservative estimate.
const KNOWN: &[KnownLimits] = &[
    documents("amazon.nova-2-lite", 1_000_000, 65_535),
    documents("amazon.nova-lite", 300_000, 5_000),
    text("amazon.nova-micro", 128_000, 5_000),
    documents("amazon.nova-premier", 1_000_000, 5_000),
    documents("amazon.nova-pro", 300_000, 5_000),
    text("deepseek.v3", 131_072, 8_192),
    vision("google.gemma-3", 128_000, 8_192),
    text("meta.llama3-1", 128_000, 4_096),
    text("meta.llama3-3", 128_000, 4_096),
    vision("meta.llama4", 1_000_000, 8_000),
    text("minimax.minimax-m2", 196_608, 8_192),
    text("mistral.devstral-2", 256_000, 8_192),
    text("mistral.mistral-large-2402", 32_000, 4_000),
    vision("mistral.mistral-large-3", 256_000, 8_192),
    text("moonshot.kimi-k2-thinking", 262_143, 16_000),
    vision("moonshotai.kimi-k2.5", 262_143, 16_000),
    vision("moonshotai.kimi-k3", 262_143, 16_000),
    vision("openai.gpt-5", 272_000, 32_768),
    vision("openai.gpt-6", 272_000, 32_768),
    text("openai.gpt-oss", 128_000, 16_384),
    text("qwen.qwen3-235b", 128_000, 8_000),
    text("qwen.qwen3-coder", 128_000, 8_000),
    text("qwen.qwen3-coder-next", 256_000, 16_000),
    vision("qwen.qwen3-vl", 256_000, 8_000),
];

/// Returns the models of the table, each by the prefix of its name. Prices depend on the region, and so does the target
/// of an alias: the inference profile there.
pub(crate) fn known(provider: &str) -> Vec<KnownModel> {
    let of = |row: &KnownLimits| {
        let mut info = info(row.prefix);
        info.api = Api::new(provider, Api::CONVERSE);
        let mut known = KnownModel::new(row.prefix, info);
        (known.context_window, known.source) = (Some(row.window), Some(PAGE));
        known
    };
    KNOWN.iter().map(of).collect()
}

/// Resolves a name to the model as it is called in a region.
pub(crate) fn resolve(name: &str, region: &str) -> String {
    let name = name.trim();
    let known = ALIASES.iter().find(|(alias, ..)| alias.eq_ignore_ascii_case(name));
    known.map_or_else(|| name.to_owned(), |(_, model, profile)| format!("{}{model}", profile.prefix(region)))
}

/// Returns aliases that resemble a name which is neither an alias nor looks like a model.
pub(crate) fn similar(name: &str) -> Vec<String> {
    let name = resolve(name, "");
    if name.contains(['.', ':', '/']) {
        return Vec::new();
    }
    let near = windlass_types::near::nearest(&name, ALIASES.iter().map(|(alias, ..)| *alias));
    near.into_iter().map(str::to_owned).collect()
}

/// Returns the known description of a model.
pub(crate) fn info(model: &str) -> ModelInfo {
    let (family, name) = (family(model), bare(model));
    let mut info = if is_claude(model) { claude(model) } else { limits(name) };
    info.media = media();
    info.prompt_cache = family.caching != Caching::None;
    match family.dial {
        ReasoningControl::None | ReasoningControl::Claude => {}
        ReasoningControl::Nova => {
            info.adaptive_thinking = true;
            info.efforts = vec![Effort::Low, Effort::Medium, Effort::High];
        }
        ReasoningControl::Effort { words, .. } | ReasoningControl::Reasoning { words, .. } => {
            info.adaptive_thinking = true;
            info.efforts = words.iter().map(|(effort, _)| *effort).collect();
        }
    }
    info
}

/// Returns the limits of the API: 20 images and 5 documents of a message, 3.75 MB an image, 4.5 MB a document
/// (<https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Message.html>, read 2026-11-28). No limit is
/// documented for whole requests; 20 MB is the limit of other calls of the service.
fn media() -> MediaLimits {
    let mut media = MediaLimits::default().with_total(15 * 1024 * 1024, 20);
    (media.documents, media.image_bytes, media.document_bytes) = (5, 5_000_000, 6_000_000);
    media
}

/// Returns the description of Claude from the catalogue, without its price, and without tools between messages.
fn claude(model: &str) -> ModelInfo {
    let mut info = Catalogue::new().info(bare(model));
    (info.price, info.appends_tools) = (None, false);
    info.long_prompts.clear();
    info
}

fn limits(name: &str) -> ModelInfo {
    let known = KNOWN.iter().filter(|known| is_of(name, known.prefix)).max_by_key(|known| known.prefix.len());
    let Some(known) = known else { return ModelInfo::new(32_768, 4_096) };
    let mut info = ModelInfo::new(known.window, known.output);
    info.default_output_tokens = known.output.min(32_768);
    (info.vision, info.documents) = (known.has_vision, known.has_documents);
    info
}

/// `true` if a model name has a prefix that does not end within a longer number.
fn is_of(name: &str, prefix: &str) -> bool {
    let ends_in_digit = prefix.ends_with(|last: char| last.is_ascii_digit());
    let rest = name.strip_prefix(prefix);
    rest.is_some_and(|rest| !ends_in_digit || !rest.starts_with(|next: char| next.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_are_told_apart_whatever_stands_around_the_name() {
        let around = [
            "amazon.nova-2-lite-v1:0",
            "eu.amazon.nova-2-lite-v1:0",
            "us-gov.amazon.nova-2-lite-v1:0",
            "arn:aws:bedrock:us-east-1:123456789012:inference-profile/global.amazon.nova-2-lite-v1:0",
            "arn:aws:bedrock:us-east-1::foundation-model/amazon.nova-2-lite-v1:0",
        ];
        for model in around {
            assert_eq!(
                (family(model).dial, family(model).caching),
                (ReasoningControl::Nova, Caching::Prompt),
                "{model}"
            );
            assert_eq!(info(model).context_window, 1_000_000, "{model}");
        }
        for model in ["", ".", "x", "arn:aws:bedrock:us-east-1:1:application-inference-profile/abc", "titan.x", "a/b"] {
            assert_eq!(family(model), CAREFUL, "{model}");
            let info = info(model);
            assert_eq!((info.context_window, info.max_output_tokens, info.price), (32_768, 4_096, None), "{model}");
        }
    }

    #[test]
    fn claude_is_what_it_is_elsewhere() {
        for (model, version_, has_hour) in [
            ("anthropic.claude-3-7-sonnet-20250219-v1:0", (3, 7), false),
            ("us.anthropic.claude-sonnet-4-20250514-v1:0", (4, 0), false),
            ("eu.anthropic.claude-sonnet-4-5-20250929-v1:0", (4, 5), true),
            ("global.anthropic.claude-opus-5", (5, 0), true),
            ("anthropic.claude-instant-v1", (0, 0), false),
        ] {
            assert!(is_claude(model), "{model}");
            assert_eq!(version(bare(model)), version_, "{model}");
            assert_eq!(family(model).caching, Caching::ToolsToo { has_hour }, "{model}");
        }
        let info = info("us.anthropic.claude-sonnet-4-5-20250929-v1:0");
        assert_eq!((info.context_window, info.vision, info.price), (200_000, true, None));
        // Except for images, which the API limits.
        let media = super::info("global.anthropic.claude-opus-5").media;
        assert_eq!((media.count, media.documents, media.image_bytes), (20, 5, 5_000_000));
        assert_eq!((MediaLimits::of_file(5_000_000), MediaLimits::of_file(6_000_000)), (3_750_000, 4_500_000));
        assert!(!is_claude("amazon.nova-lite-v1:0") && !is_claude("my.anthropic"));
    }

    #[test]
    fn names_without_another_vendor_may_be_claude() {
        for name in ["default", "opus", "claude-opus-5", "us.anthropic.claude-opus-5", "sonnet[1m]", "x", ""] {
            assert!(!is_for_converse(name), "{name}");
        }
        let profile = "arn:aws:bedrock:us-east-1:1:inference-profile/";
        assert!(!is_for_converse(&format!("{profile}us.anthropic.claude-opus-5")));
        let hidden = "arn:aws:bedrock:us-east-1:1:application-inference-profile/abc";
        for name in
            ["nova-pro", "us.amazon.nova-pro-v1:0", "openai.gpt-oss-20b-1:0", hidden, &format!("{profile}us.meta.x")]
        {
            assert!(is_for_converse(name), "{name}");
        }
    }

    #[test]
    fn efforts_are_those_that_have_a_word() {
        use Effort::{High, Low, Max, Medium};
        assert_eq!(info("openai.gpt-oss-20b-1:0").efforts, [Low, Medium, High]);
        assert_eq!(info("global.moonshotai.kimi-k3").efforts, [Low, High, Max]);
        assert_eq!(info("us.openai.gpt-5.6-sol").efforts, Effort::ALL);
        assert_eq!(info("meta.llama3-3-70b-instruct-v1:0").efforts, []);
    }

    #[test]
    fn another_version_is_not_a_known_one() {
        assert_eq!(info("openai.gpt-50").context_window, 32_768);
        assert_eq!(info("qwen.qwen3-coder-next").context_window, 256_000);
        assert_eq!(info("qwen.qwen3-coder-480b-a35b-v1:0").context_window, 128_000);
    }

    #[test]
    fn names_resolve() {
        for (region, model) in [
            ("us-east-1", "us.amazon.nova-pro-v1:0"),
            ("us-gov-west-1", "us-gov.amazon.nova-pro-v1:0"),
            ("eu-west-3", "eu.amazon.nova-pro-v1:0"),
            ("ap-south-1", "apac.amazon.nova-pro-v1:0"),
            ("sa-east-1", "amazon.nova-pro-v1:0"),
            ("", "amazon.nova-pro-v1:0"),
        ] {
            assert_eq!(resolve(" Nova-Pro ", region), model);
        }
        assert_eq!(resolve("default", "eu-west-3"), "global.amazon.nova-2-lite-v1:0");
        assert_eq!(resolve("gpt-oss", "eu-west-3"), "openai.gpt-oss-120b-1:0");
        assert_eq!(resolve("eu.amazon.nova-pro-v1:0", "us-east-1"), "eu.amazon.nova-pro-v1:0");
        assert_eq!(similar("nova-pr").first().map(String::as_str), Some("nova-pro"));
        assert!(similar("amazon.nova").is_empty() && similar("nova-pro").is_empty());
    }
}

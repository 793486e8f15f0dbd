//! Known models of the vendor.

mod table;

use table::{FAMILIES, OpenAiFamily};
use windlass_model::KnownModel;
use windlass_types::{Api, Effort, ModelInfo, NanoUsd};

/// Maximum bytes and number of images and documents in a request. The vendor takes 500 images and 50 MB of them in a
/// request (<https://developers.openai.com/api/docs/guides/images-vision>, read 2026-11-28).
const MEDIA: (usize, usize) = (40 * 1024 * 1024, 450);
/// Cost of one web search: 10 USD for a thousand. The pages that the model reads are also billed as input. Source:
/// <https://developers.openai.com/api/docs/pricing>.
const SEARCH: NanoUsd = NanoUsd::new(10_000_000);

/// Default model.
#[cfg(test)]
pub(crate) const DEFAULT_MODEL: &str = "gpt-6.2-sol";

/// Properties of a model beside its description.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Model {
    pub(crate) info: ModelInfo,
    /// `true` if reasoning can be switched off by the effort `none`.
    pub(crate) can_skip_reasoning: bool,
}

impl Model {
    /// `true` if the model reasons: sampling settings are refused then, and reasoning is available encrypted.
    pub(crate) fn reasons(&self) -> bool {
        self.info.adaptive_thinking || self.info.thinking_budget || !self.info.efforts.is_empty()
    }
}

pub(super) const UP_TO_HIGH: &[Effort] = &[Effort::Low, Effort::Medium, Effort::High];

/// Returns the known properties of a model. An unknown one gets conservative limits and no price.
pub(crate) fn model(name: &str) -> Model {
    match family(name) {
        Some(family) => family.model(),
        None => unknown(name),
    }
}

/// Returns the ids and the aliases of the table.
pub(crate) fn names<'a>() -> impl Iterator<Item = &'a str> {
    FAMILIES.iter().flat_map(|family| std::iter::once(family.row.id).chain(family.row.aliases.iter().copied()))
}

/// Resolves an alias to a model.
pub(crate) fn resolve(name: &str) -> &str {
    let is_alias = |family: &&OpenAiFamily| family.row.aliases.iter().any(|alias| alias.eq_ignore_ascii_case(name));
    FAMILIES.iter().find(is_alias).map_or(name, |family| family.row.id)
}

/// `true` if the name is that of a model in the table, or of a release of one.
pub(crate) fn is_known(name: &str) -> bool {
    family(name).is_some()
}

/// Returns the models of the table.
pub(crate) fn known(provider: &str) -> Vec<KnownModel> {
    let known = FAMILIES.iter().map(|family| {
        let mut info = family.model().info;
        info.api = Api::new(provider, Api::RESPONSES);
        family.row.known(info)
    });
    known.collect()
}

fn family(name: &str) -> Option<&'static OpenAiFamily> {
    FAMILIES.iter().find(|family| family.row.is(name))
}

impl OpenAiFamily {
    fn model(&self) -> Model {
        let mut info = self.row.info();
        info.appends_tools = self.appends_tools;
        info.web_search = Some(SEARCH);
        info.media = info.media.with_total(MEDIA.0, MEDIA.1);
        Model { info, can_skip_reasoning: self.can_skip_reasoning }
    }
}

fn described(window: u64, max_output: u32) -> ModelInfo {
    let mut info = ModelInfo::new(window, max_output);
    info.vision = true;
    info.documents = true;
    info.prompt_cache = true;
    info
}

/// Prefixes of generations before those that reason.
const WITHOUT_REASONING: [&str; 4] = ["gpt-3", "gpt-4", "chatgpt-", "davinci"];

/// Windows and output limits of old models, by the prefixes of their ids (OpenAI, "Models").
const OLD_LIMITS: [(&str, (u64, u32)); 5] = [
    ("gpt-4-turbo", (128_000, 4_096)),
    ("gpt-4-1106", (128_000, 4_096)),
    ("gpt-4-0125", (128_000, 4_096)),
    ("gpt-4-32k", (32_768, 8_192)),
    ("gpt-3.5", (16_385, 4_096)),
];

fn unknown(name: &str) -> Model {
    let numbered =
        |prefix: &str| name.strip_prefix(prefix).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let is_old = WITHOUT_REASONING.iter().any(|prefix| name.starts_with(prefix));
    // The vendor's generations since `o1` and `gpt-5` reason, except those of its chat product.
    let reasons = !is_old && (numbered("gpt-") || numbered("o")) && !name.contains("-chat");
    let old = OLD_LIMITS.iter().find(|(prefix, _)| name.starts_with(prefix)).map(|(_, limits)| *limits);
    let mut info = match old {
        Some((window, output)) => described(window, output),
        None if is_old || reasons => described(128_000, 16_384),
        None => ModelInfo::new(128_000, 8_192),
    };
    info.prompt_cache = true;
    if reasons {
        info.adaptive_thinking = true;
        info.efforts = UP_TO_HIGH.to_vec();
    }
    Model { info, can_skip_reasoning: false }
}

#[cfg(test)]
mod tests;

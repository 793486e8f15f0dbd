//! How models are described that a provider knows by itself: as rows of its table, and as what users look up.

use crate::{LongPrompt, ModelInfo, Price};
use windlass_types::Effort;

/// Where the figures of a model are from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct ModelSource {
    /// The page that has them.
    pub url: &'static str,
    /// The day on which they were read from it: `2026-11-23`.
    pub read: &'static str,
}

impl ModelSource {
    /// A page, and the day on which it was read.
    pub const fn new(url: &'static str, read: &'static str) -> Self {
        Self { url, read }
    }
}

/// A model that a provider knows by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct KnownModel {
    /// Its id, as the provider takes it.
    pub id: String,
    /// Names that stand for it.
    pub aliases: Vec<String>,
    /// Input and output together, in tokens, where that is published or the user says it.
    pub context_window: Option<u64>,
    /// The most tokens that it can write, where that is published or the user says it.
    pub max_output_tokens: Option<u32>,
    /// What requests are made with. Limits that are not published have careful values here.
    pub info: ModelInfo,
    /// Where the figures are from. `None`: the user gave them.
    pub source: Option<ModelSource>,
    /// What the user gave instead, by the names that settings have for it: `contextWindow`, `inputPrice`.
    pub overridden: Vec<&'static str>,
}

impl KnownModel {
    /// A model with these figures that no page has.
    pub fn new(id: impl Into<String>, info: ModelInfo) -> Self {
        let (aliases, overridden) = (Vec::new(), Vec::new());
        Self { id: id.into(), aliases, context_window: None, max_output_tokens: None, info, source: None, overridden }
    }
}

/// What a model can do, as tables say it. What is not said it cannot do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Abilities {
    /// Whether it can reason with a token budget.
    pub thinking_budget: bool,
    /// Whether it can decide itself how much to reason.
    pub adaptive_thinking: bool,
    /// The efforts that it can be asked for.
    pub efforts: &'static [Effort],
    /// Whether it sees images.
    pub vision: bool,
    /// Whether it reads PDF documents.
    pub documents: bool,
    /// Whether prompts can be cached.
    pub prompt_cache: bool,
}

impl Abilities {
    /// None at all.
    pub const NONE: Self = Self {
        thinking_budget: false,
        adaptive_thinking: false,
        efforts: &[],
        vision: false,
        documents: false,
        prompt_cache: false,
    };

    /// Images and PDF documents, and a prompt cache.
    pub const fn media() -> Self {
        Self { vision: true, documents: true, prompt_cache: true, ..Self::NONE }
    }

    /// Reasoning of which the model decides itself how much, with these efforts.
    #[must_use]
    pub const fn adaptive(mut self, efforts: &'static [Effort]) -> Self {
        (self.adaptive_thinking, self.efforts) = (true, efforts);
        self
    }

    /// These efforts, of a model that otherwise does not decide how much to reason.
    #[must_use]
    pub const fn with_efforts(mut self, efforts: &'static [Effort]) -> Self {
        self.efforts = efforts;
        self
    }

    /// Reasoning with a budget.
    #[must_use]
    pub const fn budget(mut self) -> Self {
        self.thinking_budget = true;
        self
    }
}

/// A row of the table that a provider has of its models. It is made in constants, and figures without a source are left out.
///
/// ```
/// # mod windlass { pub mod provider { pub use windlass_model::*; } }
/// use windlass::provider::{Abilities, ModelRow, ModelSource, Price};
///
/// const PAGE: ModelSource = ModelSource::new("https://llm.acme.example/models", "2026-11-23");
/// const ROW: ModelRow = ModelRow::new("acme-1", PAGE)
///     .limits(200_000, 32_000)
///     .abilities(Abilities::media())
///     .price(Price::new(3_000, 15_000).with_cache_read(500));
/// assert_eq!(ROW.info().context_window, 200_000);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModelRow {
    /// Its id, without the date of a release.
    pub id: &'static str,
    /// Names that stand for it.
    pub aliases: &'static [&'static str],
    /// Input and output together, in tokens.
    pub context_window: Option<u64>,
    /// The most tokens that it can write.
    pub max_output_tokens: Option<u32>,
    /// Output tokens to ask for when the user sets no limit.
    pub default_output_tokens: Option<u32>,
    /// What it can do.
    pub abilities: Abilities,
    /// What it costs.
    pub price: Option<Price>,
    /// What calls with a long prompt cost instead.
    pub long_prompts: &'static [LongPrompt],
    /// Where this is from.
    pub source: ModelSource,
}

/// What is assumed of a window that no source names, and of an output limit.
const CAREFUL: (u64, u32) = (128_000, 8_192);

/// The most output that is assumed where a source names the window and no limit of the output.
const CAREFUL_OUTPUT: u32 = 32_768;

impl ModelRow {
    /// A model of which only the name is known.
    pub const fn new(id: &'static str, source: ModelSource) -> Self {
        Self {
            id,
            aliases: &[],
            context_window: None,
            max_output_tokens: None,
            default_output_tokens: None,
            abilities: Abilities::NONE,
            price: None,
            long_prompts: &[],
            source,
        }
    }

    /// Sets the window and the output limit, in tokens.
    #[must_use]
    pub const fn limits(mut self, window: u64, output: u32) -> Self {
        (self.context_window, self.max_output_tokens) = (Some(window), Some(output));
        self
    }

    /// Sets the window of a model whose vendor names no limit of the output.
    #[must_use]
    pub const fn window(mut self, window: u64) -> Self {
        self.context_window = Some(window);
        self
    }

    /// Sets the output tokens to ask for when the user sets no limit.
    #[must_use]
    pub const fn default_output(mut self, tokens: u32) -> Self {
        self.default_output_tokens = Some(tokens);
        self
    }

    /// Sets what it can do.
    #[must_use]
    pub const fn abilities(mut self, abilities: Abilities) -> Self {
        self.abilities = abilities;
        self
    }

    /// Sets what it costs.
    #[must_use]
    pub const fn price(mut self, price: Price) -> Self {
        self.price = Some(price);
        self
    }

    /// Sets what calls with a long prompt cost instead.
    #[must_use]
    pub const fn long_prompts(mut self, tiers: &'static [LongPrompt]) -> Self {
        self.long_prompts = tiers;
        self
    }

    /// Sets the names that stand for it.
    #[must_use]
    pub const fn aliases(mut self, aliases: &'static [&'static str]) -> Self {
        self.aliases = aliases;
        self
    }

    /// Whether a name is its id, with the date of a release behind it or not. Another version is another model: it must not be
    /// billed as a known one.
    pub fn is(&self, name: &str) -> bool {
        name.strip_prefix(self.id).is_some_and(is_release)
    }

    /// What requests are made with. What no source names has a careful value.
    pub fn info(&self) -> ModelInfo {
        let window = self.context_window.unwrap_or(CAREFUL.0);
        let assumed = if self.context_window.is_some() { CAREFUL_OUTPUT } else { CAREFUL.1 };
        let half = u32::try_from(window / 2).unwrap_or(u32::MAX);
        let output = self.max_output_tokens.unwrap_or(assumed.min(half));
        let mut info = ModelInfo::new(window, output);
        info.default_output_tokens = self.default_output_tokens.unwrap_or(CAREFUL_OUTPUT).min(output);
        info.thinking_budget = self.abilities.thinking_budget;
        info.adaptive_thinking = self.abilities.adaptive_thinking;
        info.efforts = self.abilities.efforts.to_vec();
        info.vision = self.abilities.vision;
        info.documents = self.abilities.documents;
        info.prompt_cache = self.abilities.prompt_cache;
        info.price = self.price;
        info.long_prompts = self.long_prompts.to_vec();
        info
    }

    /// What users look up. `info`: what requests are really made with, where a provider changes that.
    pub fn known(&self, info: ModelInfo) -> KnownModel {
        let mut known = KnownModel::new(self.id, info);
        known.aliases = self.aliases.iter().map(|alias| (*alias).to_owned()).collect();
        (known.context_window, known.max_output_tokens) = (self.context_window, self.max_output_tokens);
        known.source = Some(self.source);
        known
    }
}

/// What may stand behind an id: the date of a release, or `latest`.
fn is_release(rest: &str) -> bool {
    let Some(release) = rest.strip_prefix(['-', '@']) else { return rest.is_empty() };
    let digits = release.bytes().filter(u8::is_ascii_digit).count();
    let is_date = matches!(release.len(), 8 | 10)
        && digits == 8
        && release.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    release == "latest" || is_date
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: ModelSource = ModelSource::new("https://a.example", "2026-11-23");

    #[test]
    fn releases_are_the_model_and_versions_are_not() {
        let row = ModelRow::new("m-1", PAGE);
        for name in ["m-1", "m-1-latest", "m-1-20261101", "m-1-2026-11-01", "m-1@20261101"] {
            assert!(row.is(name), "{name}");
        }
        for name in ["m-1.5", "m-12", "m-1-pro", "m-1-2026", "m", "x/m-1", "m-1-", "m-1-20261101x"] {
            assert!(!row.is(name), "{name}");
        }
    }

    #[test]
    fn what_no_source_names_is_careful() {
        let unknown = ModelRow::new("m", PAGE).info();
        assert_eq!((unknown.context_window, unknown.max_output_tokens, unknown.price), (128_000, 8_192, None));
        let windowed = ModelRow::new("m", PAGE).window(1_000_000);
        assert_eq!(windowed.info().max_output_tokens, 32_768);
        assert_eq!(windowed.known(windowed.info()).max_output_tokens, None);
        assert_eq!(ModelRow::new("m", PAGE).window(8_000).info().max_output_tokens, 4_000);
        let full = ModelRow::new("m", PAGE).limits(1_000_000, 100_000);
        assert_eq!(full.info().default_output_tokens, 32_768);
        assert_eq!(full.default_output(64_000).info().default_output_tokens, 64_000);
    }
}

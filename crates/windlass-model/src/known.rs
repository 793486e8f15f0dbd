//! Descriptions of models in a provider's table, and for users.

use crate::{LongPrompt, ModelInfo, Price};
use windlass_types::Effort;

/// Source of the figures of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct ModelSource {
    /// Page with the figures.
    pub url: &'static str,
    /// Day on which they were read: `2026-11-23`.
    pub read: &'static str,
}

impl ModelSource {
    /// Returns a page, and the day on which it was read.
    pub const fn new(url: &'static str, read: &'static str) -> Self {
        Self { url, read }
    }
}

/// A model that a provider knows without its server.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct KnownModel {
    /// Id of the model, as the provider accepts it.
    pub id: String,
    /// Aliases of the model.
    pub aliases: Vec<String>,
    /// Input and output together, in tokens, if published or set by the user.
    pub context_window: Option<u64>,
    /// Maximum number of output tokens, if published or set by the user.
    pub max_output_tokens: Option<u32>,
    /// Description used for requests. Unpublished limits have conservative values here.
    pub info: ModelInfo,
    /// Source of the figures. `None`: the user set them.
    pub source: Option<ModelSource>,
    /// Values set by the user, by their names in settings: `contextWindow`, `inputPrice`.
    pub overridden: Vec<&'static str>,
}

impl KnownModel {
    /// Returns a model with these figures and no source.
    pub fn new(id: impl Into<String>, info: ModelInfo) -> Self {
        let (aliases, overridden) = (Vec::new(), Vec::new());
        Self { id: id.into(), aliases, context_window: None, max_output_tokens: None, info, source: None, overridden }
    }
}

/// Abilities of a model in a table. Unlisted abilities are absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Abilities {
    /// `true` if the model can reason with a token budget.
    pub thinking_budget: bool,
    /// `true` if the model can decide itself how much to reason.
    pub adaptive_thinking: bool,
    /// Supported effort levels.
    pub efforts: &'static [Effort],
    /// `true` if the model sees images.
    pub vision: bool,
    /// `true` if the model reads PDF documents.
    pub documents: bool,
    /// `true` if prompts can be cached.
    pub prompt_cache: bool,
}

impl Abilities {
    /// No abilities.
    pub const NONE: Self = Self {
        thinking_budget: false,
        adaptive_thinking: false,
        efforts: &[],
        vision: false,
        documents: false,
        prompt_cache: false,
    };

    /// Returns images and PDF documents, and a prompt cache.
    pub const fn media() -> Self {
        Self { vision: true, documents: true, prompt_cache: true, ..Self::NONE }
    }

    /// Adds adaptive reasoning, whose amount the model decides itself, with these efforts.
    #[must_use]
    pub const fn adaptive(mut self, efforts: &'static [Effort]) -> Self {
        (self.adaptive_thinking, self.efforts) = (true, efforts);
        self
    }

    /// Adds these efforts, for a model without adaptive reasoning.
    #[must_use]
    pub const fn with_efforts(mut self, efforts: &'static [Effort]) -> Self {
        self.efforts = efforts;
        self
    }

    /// Adds reasoning with a budget.
    #[must_use]
    pub const fn budget(mut self) -> Self {
        self.thinking_budget = true;
        self
    }
}

/// A row of a provider's table of models. It is built in constants, and figures without a source are left out.
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
    /// Id of the model, without the date of a release.
    pub id: &'static str,
    /// Aliases of the model.
    pub aliases: &'static [&'static str],
    /// Input and output together, in tokens.
    pub context_window: Option<u64>,
    /// Maximum number of output tokens.
    pub max_output_tokens: Option<u32>,
    /// Output tokens to request when the user sets no limit.
    pub default_output_tokens: Option<u32>,
    /// Abilities of the model.
    pub abilities: Abilities,
    /// Price of the model.
    pub price: Option<Price>,
    /// Prices of requests with a long prompt.
    pub long_prompts: &'static [LongPrompt],
    /// Source of the figures.
    pub source: ModelSource,
}

/// Assumed context window and output limit without a source, in tokens.
const CAREFUL: (u64, u32) = (128_000, 8_192);

/// Assumed maximum output in tokens if a source names the window and no limit of the output.
const CAREFUL_OUTPUT: u32 = 32_768;

impl ModelRow {
    /// Returns a model with only its name.
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

    /// Sets the output tokens to request when the user sets no limit.
    #[must_use]
    pub const fn default_output(mut self, tokens: u32) -> Self {
        self.default_output_tokens = Some(tokens);
        self
    }

    /// Sets the abilities.
    #[must_use]
    pub const fn abilities(mut self, abilities: Abilities) -> Self {
        self.abilities = abilities;
        self
    }

    /// Sets the price.
    #[must_use]
    pub const fn price(mut self, price: Price) -> Self {
        self.price = Some(price);
        self
    }

    /// Sets the prices of requests with a long prompt.
    #[must_use]
    pub const fn long_prompts(mut self, tiers: &'static [LongPrompt]) -> Self {
        self.long_prompts = tiers;
        self
    }

    /// Sets the aliases.
    #[must_use]
    pub const fn aliases(mut self, aliases: &'static [&'static str]) -> Self {
        self.aliases = aliases;
        self
    }

    /// `true` if a name is the id of the model, with or without the date of a release. Another version is another
    /// model: it must not be billed as a known one.
    pub fn is(&self, name: &str) -> bool {
        name.strip_prefix(self.id).is_some_and(is_release)
    }

    /// Returns the description for requests. Values without a source are conservative.
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

    /// Returns the description for users. `info`: actual description for requests, if a provider changes it.
    pub fn known(&self, info: ModelInfo) -> KnownModel {
        let mut known = KnownModel::new(self.id, info);
        known.aliases = self.aliases.iter().map(|alias| (*alias).to_owned()).collect();
        (known.context_window, known.max_output_tokens) = (self.context_window, self.max_output_tokens);
        known.source = Some(self.source);
        known
    }
}

/// `true` if the rest of an id is empty, or the date of a release, or `latest`.
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

//! User's overrides of models: limits, prices, aliases.

use crate::{ModelInfo, Price};
use windlass_types::NanoUsd;

/// A user's description of a model. A field that is `None` keeps the provider's value.
///
/// ```
/// # mod windlass { pub mod provider { pub use windlass_model::*; } }
/// use windlass::provider::ModelOverride;
///
/// let mine = ModelOverride::new().context_window(64_000).input_price(0.25).output_price(1.5);
/// # assert_eq!(mine.context_window, Some(64_000));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ModelOverride {
    /// Input and output together, in tokens.
    pub context_window: Option<u64>,
    /// Maximum number of output tokens.
    pub max_output_tokens: Option<u32>,
    /// Output tokens to request.
    pub default_output_tokens: Option<u32>,
    /// Maximum number of images and documents of one request.
    pub max_images: Option<u32>,
    /// Price of the model; for long prompts too.
    pub price: Option<Price>,
    /// Parts of the price, if the whole is not set.
    pub rates: Rates,
}

/// Parts of a price, each for one token. With one of them the price applies to long prompts too. A model without a
/// known price needs those of input and output; the cache rates then equal the input rate unless they are set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Rates {
    /// Plain input.
    pub input: Option<NanoUsd>,
    /// Output.
    pub output: Option<NanoUsd>,
    /// Input read from the cache.
    pub cache_read: Option<NanoUsd>,
    /// Input written to the cache for five minutes.
    pub cache_write: Option<NanoUsd>,
    /// Input written to the cache for one hour.
    pub cache_write_1h: Option<NanoUsd>,
}

/// Generates the setters of prices.
macro_rules! prices {
    ($($(#[$doc:meta])* $name:ident => $field:ident;)*) => {
        $($(#[$doc])*
        #[must_use]
        pub fn $name(mut self, usd_per_million: f64) -> Self {
            // The shortest decimal of the number is the one written in the program.
            self.rates.$field = NanoUsd::per_token(&usd_per_million.to_string()).or(self.rates.$field);
            self
        })*
    };
}

impl ModelOverride {
    /// Returns an override without any value.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the context window, input and output together, in tokens.
    #[must_use]
    pub fn context_window(mut self, tokens: u64) -> Self {
        self.context_window = Some(tokens);
        self
    }

    /// Sets the maximum number of output tokens.
    #[must_use]
    pub fn max_output_tokens(mut self, tokens: u32) -> Self {
        self.max_output_tokens = Some(tokens);
        self
    }

    /// Sets the output tokens to request when no limit is set.
    #[must_use]
    pub fn default_output_tokens(mut self, tokens: u32) -> Self {
        self.default_output_tokens = Some(tokens);
        self
    }

    /// Sets the maximum number of images and documents of one request. Those of the oldest results are dropped before
    /// it has more.
    #[must_use]
    pub fn max_images(mut self, count: u32) -> Self {
        self.max_images = Some(count);
        self
    }

    /// Sets the whole price, for long prompts too.
    #[must_use]
    pub fn price(mut self, price: Price) -> Self {
        self.price = Some(price);
        self
    }

    prices! {
        /// Sets the price of plain input, in US dollars per million tokens. An amount that is negative or not a number
        /// is ignored.
        input_price => input;
        /// Sets the price of output, in US dollars per million tokens. An amount that is negative or not a number is
        /// ignored.
        output_price => output;
        /// Sets the price of input read from the cache, in US dollars per million tokens. An amount that is negative or
        /// not a number is ignored.
        cache_read_price => cache_read;
        /// Sets the price of input written to the cache for five minutes, in US dollars per million tokens. An amount
        /// that is negative or not a number is ignored.
        cache_write_price => cache_write;
        /// Sets the price of input written to the cache for one hour, in US dollars per million tokens. An amount that
        /// is negative or not a number is ignored.
        cache_write_1h_price => cache_write_1h;
    }

    /// `true` if the override sets a price.
    pub fn has_price(&self) -> bool {
        self.price.is_some() || self.rates != Rates::default()
    }

    /// Applies the set values to a description.
    pub fn apply(&self, info: &mut ModelInfo) {
        if let Some(window) = self.context_window {
            (info.context_window, info.window_from_server) = (window, false);
        }
        info.max_output_tokens = self.max_output_tokens.unwrap_or(info.max_output_tokens);
        let default = self.default_output_tokens.unwrap_or(info.default_output_tokens);
        info.default_output_tokens = default.min(info.max_output_tokens);
        if let Some(count) = self.max_images {
            info.media.count = usize::try_from(count).unwrap_or(usize::MAX);
        }
        if let Some(price) = self.priced(info.price) {
            info.price = Some(price);
            info.long_prompts.clear();
        }
    }

    /// Returns the price of the override, completed from the known one.
    fn priced(&self, known: Option<Price>) -> Option<Price> {
        if !self.has_price() {
            return None;
        }
        let plain = |rates: &Rates| Some(Price::plain(rates.input?.nano(), rates.output?.nano()));
        let mut price = self.price.or(known).or_else(|| plain(&self.rates))?;
        let Rates { input, output, cache_read, cache_write, cache_write_1h } = self.rates;
        price.input = input.unwrap_or(price.input);
        price.output = output.unwrap_or(price.output);
        price.cache_read = cache_read.unwrap_or(price.cache_read);
        price.cache_write = cache_write.unwrap_or(price.cache_write);
        price.cache_write_1h = cache_write_1h.unwrap_or(price.cache_write_1h.max(price.cache_write));
        Some(price)
    }

    /// Returns the set values, by their names in settings.
    pub fn names(&self) -> Vec<&'static str> {
        let whole = self.price.is_some();
        let given = [
            ("contextWindow", self.context_window.is_some()),
            ("maxOutputTokens", self.max_output_tokens.is_some()),
            ("defaultOutputTokens", self.default_output_tokens.is_some()),
            ("maxImages", self.max_images.is_some()),
            ("inputPrice", whole || self.rates.input.is_some()),
            ("outputPrice", whole || self.rates.output.is_some()),
            ("cacheReadPrice", whole || self.rates.cache_read.is_some()),
            ("cacheWritePrice", whole || self.rates.cache_write.is_some()),
            ("cacheWrite1hPrice", whole || self.rates.cache_write_1h.is_some()),
        ];
        given.into_iter().filter(|(_, is_given)| *is_given).map(|(name, _)| name).collect()
    }
}

/// User's overrides of models, by their names or prefixes of them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ModelOverrides {
    aliases: Vec<(String, String)>,
    models: Vec<(String, ModelOverride)>,
}

/// Maximum number of resolved aliases of aliases.
const MOST_STEPS: usize = 8;

impl ModelOverrides {
    /// Returns overrides of no model.
    pub fn new() -> Self {
        Self::default()
    }

    /// `true` if no model is overridden and there are no aliases.
    pub fn is_empty(&self) -> bool {
        self.aliases.is_empty() && self.models.is_empty()
    }

    /// Adds an alias of a model. Case is ignored.
    pub fn add_alias(&mut self, alias: impl Into<String>, model: impl Into<String>) {
        self.aliases.push((alias.into(), model.into()));
    }

    /// Overrides values of all models whose name begins with a prefix. For each value, the longest prefix wins, and of
    /// equal ones the last. A prefix with the provider in it (`openai/my-`) applies to models of that provider, one
    /// without it to those of any.
    pub fn add(&mut self, prefix: impl Into<String>, values: ModelOverride) {
        self.models.push((prefix.into(), values));
        // Stable: applied in this order, the most specific and latest comes last.
        self.models.sort_by_key(|(prefix, _)| prefix.len());
    }

    /// Adds the overrides of another set, which win over these if prefixes are equally long.
    pub fn extend(&mut self, other: Self) {
        self.aliases.extend(other.aliases);
        for (prefix, values) in other.models {
            self.add(prefix, values);
        }
    }

    /// Resolves an alias to its model. `None`: the name is not an alias.
    pub fn alias(&self, name: &str) -> Option<&str> {
        let mut found = None;
        let mut name = name;
        for _ in 0..MOST_STEPS {
            let Some((_, model)) = self.aliases.iter().rev().find(|(alias, _)| alias.eq_ignore_ascii_case(name)) else {
                break;
            };
            (found, name) = (Some(model.as_str()), model.as_str());
        }
        found
    }

    /// Returns the aliases, with their models.
    pub fn aliases(&self) -> impl Iterator<Item = (&str, &str)> {
        self.aliases.iter().map(|(alias, model)| (alias.as_str(), model.as_str()))
    }

    /// Returns the prefixes, with the overrides of their models.
    pub fn models(&self) -> impl Iterator<Item = (&str, &ModelOverride)> {
        self.models.iter().map(|(prefix, values)| (prefix.as_str(), values))
    }

    /// Returns the overrides of a model of a provider, the most specific last. `provider` may be empty.
    pub fn of<'a>(&'a self, model: &'a str, provider: &'a str) -> impl Iterator<Item = &'a ModelOverride> {
        self.models.iter().filter(move |(prefix, _)| is_meant(prefix, model, provider)).map(|(_, values)| values)
    }

    /// Applies the overrides of a model of a provider to its description.
    pub fn apply(&self, model: &str, provider: &str, info: &mut ModelInfo) {
        for values in self.of(model, provider) {
            values.apply(info);
        }
    }
}

/// `true` if a prefix matches a model: by its name as it is, with its provider in front, or, if the prefix names no
/// provider, without.
pub(crate) fn is_meant(prefix: &str, model: &str, provider: &str) -> bool {
    if model.starts_with(prefix) {
        return true;
    }
    let bare = model.strip_prefix(provider).and_then(|rest| rest.strip_prefix('/'));
    match (bare, prefix.strip_prefix(provider).and_then(|rest| rest.strip_prefix('/'))) {
        (Some(bare), _) => !prefix.contains('/') && bare.starts_with(prefix),
        (None, Some(of_provider)) => !provider.is_empty() && model.starts_with(of_provider),
        (None, None) => false,
    }
}

#[cfg(test)]
mod tests;

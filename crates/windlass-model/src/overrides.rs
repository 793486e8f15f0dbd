//! What users say of models: limits, prices, names that stand for them.

use crate::{ModelInfo, Price};
use windlass_types::NanoUsd;

/// A user's description of a model. What is `None` stays as the provider has it.
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
    /// The most tokens that it can write.
    pub max_output_tokens: Option<u32>,
    /// Output tokens to ask for.
    pub default_output_tokens: Option<u32>,
    /// Most images and documents of one request.
    pub max_images: Option<u32>,
    /// What it costs; for long prompts too.
    pub price: Option<Price>,
    /// Parts of the price, where the whole is not given.
    pub rates: Rates,
}

/// Parts of a price, each for one token. With one of them the price holds for long prompts too. A model without a known
/// price needs those of input and output; what concerns the cache then costs as much as other input unless it is given.
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

/// Writes the setters of prices.
macro_rules! prices {
    ($($(#[$doc:meta])* $name:ident => $field:ident;)*) => {
        $($(#[$doc])*
        #[must_use]
        pub fn $name(mut self, usd_per_million: f64) -> Self {
            // The shortest decimal of the number is what was written in the program.
            self.rates.$field = NanoUsd::per_token(&usd_per_million.to_string()).or(self.rates.$field);
            self
        })*
    };
}

impl ModelOverride {
    /// An override without any value.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the context window, input and output together, in tokens.
    #[must_use]
    pub fn context_window(mut self, tokens: u64) -> Self {
        self.context_window = Some(tokens);
        self
    }

    /// Sets the most tokens that it can write.
    #[must_use]
    pub fn max_output_tokens(mut self, tokens: u32) -> Self {
        self.max_output_tokens = Some(tokens);
        self
    }

    /// Sets the output tokens to ask for when no limit is set.
    #[must_use]
    pub fn default_output_tokens(mut self, tokens: u32) -> Self {
        self.default_output_tokens = Some(tokens);
        self
    }

    /// Sets the most images and documents of one request. Those of the oldest results go before it has more.
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
        /// Sets the price of plain input, in dollars for a million tokens. An amount that is negative or no number is ignored.
        input_price => input;
        /// Sets the price of output, in dollars for a million tokens. An amount that is negative or no number is ignored.
        output_price => output;
        /// Sets the price of input read from the cache, in dollars for a million tokens. An amount that is negative or no number
        /// is ignored.
        cache_read_price => cache_read;
        /// Sets the price of input written to the cache for five minutes, in dollars for a million tokens. An amount that is
        /// negative or no number is ignored.
        cache_write_price => cache_write;
        /// Sets the price of input written to the cache for one hour, in dollars for a million tokens. An amount that is negative
        /// or no number is ignored.
        cache_write_1h_price => cache_write_1h;
    }

    /// Whether it says what the model costs.
    pub fn has_price(&self) -> bool {
        self.price.is_some() || self.rates != Rates::default()
    }

    /// Writes what is given over what is known.
    pub fn apply(&self, info: &mut ModelInfo) {
        info.context_window = self.context_window.unwrap_or(info.context_window);
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

    /// The price that it gives, with what it leaves out from the one that is known.
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

    /// What is given, by the names that settings have for it.
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

/// What a user says of models, by their names or the beginnings of them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ModelOverrides {
    aliases: Vec<(String, String)>,
    models: Vec<(String, ModelOverride)>,
}

/// Aliases that stand for aliases are followed so far.
const MOST_STEPS: usize = 8;

impl ModelOverrides {
    /// Overrides of no model.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether no model is overridden and no name stands for another.
    pub fn is_empty(&self) -> bool {
        self.aliases.is_empty() && self.models.is_empty()
    }

    /// Lets a name stand for a model. Case does not count.
    pub fn add_alias(&mut self, alias: impl Into<String>, model: impl Into<String>) {
        self.aliases.push((alias.into(), model.into()));
    }

    /// Overrides values of all models whose name begins with a prefix. The longest prefix wins, and of equal ones the last, for
    /// each value on its own. A prefix with the provider in it (`openai/my-`) means models of that provider, one without it
    /// those of any.
    pub fn add(&mut self, prefix: impl Into<String>, values: ModelOverride) {
        self.models.push((prefix.into(), values));
        // Stable: applied in this order, the most specific and latest comes last.
        self.models.sort_by_key(|(prefix, _)| prefix.len());
    }

    /// Adds those of another, which win over these where prefixes are equally long.
    pub fn extend(&mut self, other: Self) {
        self.aliases.extend(other.aliases);
        for (prefix, values) in other.models {
            self.add(prefix, values);
        }
    }

    /// The model that a name stands for. `None`: it is no alias.
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

    /// The names that stand for models, and the models.
    pub fn aliases(&self) -> impl Iterator<Item = (&str, &str)> {
        self.aliases.iter().map(|(alias, model)| (alias.as_str(), model.as_str()))
    }

    /// The prefixes, and what is said of the models.
    pub fn models(&self) -> impl Iterator<Item = (&str, &ModelOverride)> {
        self.models.iter().map(|(prefix, values)| (prefix.as_str(), values))
    }

    /// What is said of a model of a provider, the most specific last. `provider` may be empty.
    pub fn of<'a>(&'a self, model: &'a str, provider: &'a str) -> impl Iterator<Item = &'a ModelOverride> {
        self.models.iter().filter(move |(prefix, _)| is_meant(prefix, model, provider)).map(|(_, values)| values)
    }

    /// Writes what is said of a model of a provider over what is known.
    pub fn apply(&self, model: &str, provider: &str, info: &mut ModelInfo) {
        for values in self.of(model, provider) {
            values.apply(info);
        }
    }
}

/// Whether a prefix means a model: by its name as it is, with its provider in front, or, if the prefix names no provider,
/// without.
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

//! What is known of models: names, limits, abilities, prices.
//!
//! The tables hold public facts of the vendor's documentation as of November
//! 2026. What a user configures wins over them ([`Catalogue::with_override`]).

mod table;

pub use table::DEFAULT_MODEL;

use table::{FAMILIES, Family};
use windlass_types::near::nearest;
use windlass_types::{LongPrompt, ModelInfo, Price};

/// Betas of the Messages API that are known to make sense for an agent.
pub mod beta {
    /// A context window of one million tokens, where it is not the usual one.
    pub const CONTEXT_1M: &str = "context-1m-2025-08-07";
    /// Reasoning between tool calls, for models with thinking budgets.
    pub const INTERLEAVED_THINKING: &str = "interleaved-thinking-2025-05-14";
    /// Clearing of old tool results and thinking by the provider.
    pub const CONTEXT_MANAGEMENT: &str = "context-management-2025-06-27";
    /// Control of how much a model does for an answer.
    pub const EFFORT: &str = "effort-2025-11-24";
    /// Tools that are defined in the middle of a conversation.
    pub const INLINE_TOOLS: &str = "inline-tools-2026-09-15";
    /// Control of what happens to reasoning whose conversation has changed since, and a report of it.
    pub const THINKING_BINDING: &str = "thinking-binding-controls-2026-08-01";
    /// Tools that are searched for and loaded when they are needed.
    pub const ADVANCED_TOOL_USE: &str = "advanced-tool-use-2025-11-20";
}

const LONG_CONTEXT: &str = "[1m]";
const MILLION: u64 = 1_000_000;

/// The known models and their aliases.
#[derive(Debug, Clone, Default)]
pub struct Catalogue {
    aliases: Vec<(String, String)>,
    overrides: Vec<(String, ModelOverride)>,
}

/// A user's description of a model. What is `None` stays as the catalogue has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ModelOverride {
    /// Input and output together, in tokens.
    pub context_window: Option<u64>,
    /// The most tokens that it can write.
    pub max_output_tokens: Option<u32>,
    /// Output tokens to ask for.
    pub default_output_tokens: Option<u32>,
    /// What it costs; for long prompts too.
    pub price: Option<Price>,
}

impl ModelOverride {
    /// An override without any value.
    pub fn new() -> Self {
        Self::default()
    }

    fn apply(self, info: &mut ModelInfo) {
        info.context_window = self.context_window.unwrap_or(info.context_window);
        info.max_output_tokens = self.max_output_tokens.unwrap_or(info.max_output_tokens);
        let default = self.default_output_tokens.unwrap_or(info.default_output_tokens);
        info.default_output_tokens = default.min(info.max_output_tokens);
        if self.price.is_some() {
            info.price = self.price;
            info.long_prompt = None;
        }
    }
}

impl Catalogue {
    /// The built-in tables.
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets an alias stand for a model; wins over the built-in `opus`, `sonnet`, `haiku`, `fable` and `default`.
    #[must_use]
    pub fn with_alias(mut self, alias: impl Into<String>, model: impl Into<String>) -> Self {
        self.aliases.push((alias.into(), model.into()));
        self
    }

    /// Overrides values of all models whose id begins with a prefix. The longest
    /// prefix given wins, and of equal ones the last, for each value on its own.
    #[must_use]
    pub fn with_override(mut self, prefix: impl Into<String>, values: ModelOverride) -> Self {
        self.overrides.push((prefix.into(), values));
        // Stable: applied in this order, the most specific and latest comes last.
        self.overrides.sort_by_key(|(prefix, _)| prefix.len());
        self
    }

    /// The model that a user means: an alias becomes its model, an id stays.
    ///
    /// The suffix `[1m]` stays on models that need a beta for a window of one
    /// million tokens and is dropped from those that have it anyway.
    ///
    /// ```
    /// # mod windlass { pub use windlass_model as provider; }
    /// use windlass::provider::Catalogue;
    ///
    /// let catalogue = Catalogue::new();
    /// assert_eq!(catalogue.resolve("opus"), "claude-opus-5-5");
    /// assert_eq!(catalogue.resolve("opus[1m]"), "claude-opus-5-5");
    /// assert_eq!(catalogue.resolve("claude-sonnet-4-5[1m]"), "claude-sonnet-4-5[1m]");
    /// ```
    pub fn resolve(&self, name: &str) -> String {
        let name = name.trim();
        let (base, long) = split_suffix(name);
        let model = self.alias(base).unwrap_or(base);
        let native = family(model).is_some_and(|family| family.window >= MILLION);
        if long && !native && !model.ends_with(LONG_CONTEXT) {
            format!("{model}{LONG_CONTEXT}")
        } else {
            model.to_owned()
        }
    }

    fn alias(&self, name: &str) -> Option<&str> {
        let own = self.aliases.iter().rev().find(|(alias, _)| alias.eq_ignore_ascii_case(name));
        let built_in = table::ALIASES.iter().find(|(alias, _)| alias.eq_ignore_ascii_case(name));
        own.map(|(_, model)| model.as_str()).or(built_in.map(|(_, model)| *model))
    }

    /// The aliases that a user may have meant by a name that is neither an alias nor the id of a known family, the
    /// nearest first.
    pub fn similar(&self, name: &str) -> Vec<String> {
        let base = split_suffix(name.trim()).0;
        if self.alias(base).is_some() || family(base).is_some() {
            return Vec::new();
        }
        let own = self.aliases.iter().map(|(alias, _)| alias.as_str());
        let all = own.chain(table::ALIASES.iter().map(|(alias, _)| *alias));
        nearest(base, all).into_iter().map(str::to_owned).collect()
    }

    /// What is known of a resolved model. An unknown one gets careful limits and no price.
    pub fn info(&self, model: &str) -> ModelInfo {
        let (base, long) = split_suffix(model);
        let mut info = match family(base) {
            Some(family) => family.info(),
            None => unknown(base),
        };
        if long {
            info.context_window = info.context_window.max(MILLION);
        }
        info.appends_tools = self.binds_thinking(model);
        for (prefix, values) in &self.overrides {
            if base.starts_with(prefix.as_str()) {
                values.apply(&mut info);
            }
        }
        info
    }

    /// Whether a model binds its reasoning to all that stands before it, so that a changed beginning makes it invalid.
    pub fn binds_thinking(&self, model: &str) -> bool {
        let bare = bare_id(split_suffix(model).0);
        table::BINDING.iter().any(|id| bare.strip_prefix(id).is_some_and(is_release))
    }

    /// The betas that a resolved model needs for what its [`ModelInfo`] promises.
    pub fn betas(&self, model: &str) -> Vec<&'static str> {
        let (base, long) = split_suffix(model);
        let known = family(base);
        let mut betas = Vec::new();
        if long && known.is_none_or(|family| family.window < MILLION) {
            betas.push(beta::CONTEXT_1M);
        }
        if known.is_some_and(|family| family.budget && !family.adaptive) {
            betas.push(beta::INTERLEAVED_THINKING);
        }
        betas
    }

    /// The id that goes to the provider: the resolved model without its suffix.
    pub fn wire_id(model: &str) -> &str {
        split_suffix(model).0
    }
}

fn split_suffix(model: &str) -> (&str, bool) {
    match model.split_at_checked(model.len().saturating_sub(LONG_CONTEXT.len())) {
        Some((base, suffix)) if suffix.eq_ignore_ascii_case(LONG_CONTEXT) => (base, true),
        _ => (model, false),
    }
}

/// The family with the longest id that the model's begins with. What follows
/// may be a date or `latest`, but not another version: an unknown version must
/// not be billed as a known one.
fn family(model: &str) -> Option<&'static Family> {
    let bare = bare_id(model);
    let fits = |family: &&Family| bare.strip_prefix(family.id).is_some_and(is_release);
    FAMILIES.iter().filter(fits).max_by_key(|family| family.id.len())
}

/// The vendor's id inside those of other clouds: `us.anthropic.claude-…`, `anthropic/claude-…`.
fn bare_id(model: &str) -> &str {
    match model.rfind("claude-") {
        Some(at) => match model.split_at_checked(at) {
            Some((before, id)) if before.is_empty() || before.ends_with(['.', '/']) => id,
            _ => model,
        },
        None => model,
    }
}

fn is_release(rest: &str) -> bool {
    let Some(release) = rest.strip_prefix(['-', '@']) else { return rest.is_empty() };
    release == "latest"
        || release.get(..8).is_some_and(|date| date.bytes().all(|byte| byte.is_ascii_digit()))
        || release.strip_prefix('v').is_some_and(|version| version.starts_with(|c: char| c.is_ascii_digit()))
}

fn unknown(model: &str) -> ModelInfo {
    if bare_id(model).starts_with("claude-") {
        // All of the vendor's models of the last two years have at least this.
        let mut info = ModelInfo::new(200_000, 32_000);
        info.vision = true;
        info.documents = true;
        info.prompt_cache = true;
        info
    } else {
        ModelInfo::new(128_000, 8_192)
    }
}

impl Family {
    fn info(&self) -> ModelInfo {
        let mut info = ModelInfo::new(self.window, self.max_output);
        info.default_output_tokens = self.default_output;
        info.thinking_budget = self.budget;
        info.adaptive_thinking = self.adaptive;
        info.efforts = self.efforts.to_vec();
        info.vision = true;
        info.documents = true;
        info.prompt_cache = true;
        info.price = self.price();
        info.long_prompt =
            self.long_price.map(|(over, input, output)| LongPrompt::new(over, Price::new(input, output)));
        info
    }

    fn price(&self) -> Option<Price> {
        let (input, output) = self.rates?;
        let mut price = Price::new(input, output);
        if let Some(read) = self.cache_read {
            price.cache_read = windlass_types::NanoUsd::new(read);
        }
        Some(price)
    }
}

#[cfg(test)]
mod tests;

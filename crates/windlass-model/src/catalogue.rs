//! Catalogue of models: names, limits, abilities, prices.
//!
//! The tables contain public facts of the vendor's documentation as of November 2026. Values configured by a user take
//! precedence ([`Catalogue::with_override`]).
//! 2026. What a user configures wins over them ([`Catalogue::with_override`]).

mod table;

pub use table::DEFAULT_MODEL;

use crate::{KnownModel, ModelOverride, ModelOverrides, ModelRow};
use table::FAMILIES;
use windlass_types::near::nearest;
use windlass_types::{Api, ModelInfo};

/// Betas of the Messages API that are useful for an agent.
pub mod beta {
    /// Context window of one million tokens, if that is not the usual one.
    pub const CONTEXT_1M: &str = "context-1m-2025-08-07";
    /// Reasoning between tool calls, for models with thinking budgets.
    pub const INTERLEAVED_THINKING: &str = "interleaved-thinking-2025-05-14";
    /// Clearing of old tool results and thinking by the provider.
    pub const CONTEXT_MANAGEMENT: &str = "context-management-2025-06-27";
    /// Control of the effort for an answer.
    pub const EFFORT: &str = "effort-2025-11-24";
    /// Tools that are defined in the middle of a conversation.
    pub const INLINE_TOOLS: &str = "inline-tools-2026-09-15";
    /// Control of reasoning whose conversation has changed since, and a report of it.
    pub const THINKING_BINDING: &str = "thinking-binding-controls-2026-08-01";
    /// Tools that are searched and loaded on demand.
    pub const ADVANCED_TOOL_USE: &str = "advanced-tool-use-2025-11-20";
}

const LONG_CONTEXT: &str = "[1m]";
const MILLION: u64 = 1_000_000;
/// Maximum bytes and count of images and documents for models with a window of a million tokens. The vendor accepts 600
/// of them instead of 100, and requests of 32 MB (<https://platform.claude.com/docs/en/build-with-claude/vision>, read
/// 2026-11-28); the rest is reserved for text, and for clouds that accept 30 MB.
const LARGE_MEDIA: (usize, usize) = (24 * 1024 * 1024, 540);

/// Known models and their aliases.
#[derive(Debug, Clone, Default)]
pub struct Catalogue {
    overrides: ModelOverrides,
}

impl Catalogue {
    /// Returns the built-in tables.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an alias of a model; takes precedence over the built-in `opus`, `sonnet`, `haiku`, `fable` and `default`.
    #[must_use]
    pub fn with_alias(mut self, alias: impl Into<String>, model: impl Into<String>) -> Self {
        self.overrides.add_alias(alias, model);
        self
    }

    /// Overrides values of all models whose id begins with a prefix. For each value, the longest prefix wins, and of
    /// equal ones the last.
    #[must_use]
    pub fn with_override(mut self, prefix: impl Into<String>, values: ModelOverride) -> Self {
        self.overrides.add(prefix, values);
        self
    }

    /// Resolves the name given by a user: an alias becomes its model, an id stays.
    ///
    /// The suffix `[1m]` stays on models that need a beta for a window of one million tokens and is dropped from those
    /// that have it anyway.
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
        let native = family(model).is_some_and(has_million);
        if long && !native && !model.ends_with(LONG_CONTEXT) {
            format!("{model}{LONG_CONTEXT}")
        } else {
            model.to_owned()
        }
    }

    fn alias<'a>(&'a self, name: &str) -> Option<&'a str> {
        let built_in = FAMILIES.iter().find(|row| row.aliases.iter().any(|alias| alias.eq_ignore_ascii_case(name)));
        self.overrides.alias(name).or(built_in.map(|row| row.id))
    }

    /// Returns aliases similar to a name that is neither an alias nor the id of a known family, the nearest first.
    pub fn similar(&self, name: &str) -> Vec<String> {
        let base = split_suffix(name.trim()).0;
        if self.alias(base).is_some() || family(base).is_some() {
            return Vec::new();
        }
        let own = self.overrides.aliases().map(|(alias, _)| alias);
        let all = own.chain(FAMILIES.iter().flat_map(|row| row.aliases.iter().copied()));
        nearest(base, all).into_iter().map(str::to_owned).collect()
    }

    /// `true` if the context window of a resolved model is known: from the table, or from the user.
    pub fn has_window(&self, model: &str) -> bool {
        self.info(model).context_window != UNKNOWN_WINDOW
    }

    /// Returns the description of a resolved model. An unknown one gets conservative limits and no price.
    pub fn info(&self, model: &str) -> ModelInfo {
        let (base, long) = split_suffix(model);
        let mut info = match family(base) {
            Some(row) => row.info(),
            None => unknown(base),
        };
        if long {
            info.context_window = info.context_window.max(MILLION);
        }
        if info.context_window >= MILLION {
            info.media = info.media.with_total(LARGE_MEDIA.0, LARGE_MEDIA.1);
        }
        info.appends_tools = self.binds_thinking(model);
        self.overrides.apply(base, "", &mut info);
        info
    }

    /// Returns the user's overrides.
    pub fn overrides(&self) -> &ModelOverrides {
        &self.overrides
    }

    /// `true` if the user's overrides set the price of the model.
    pub fn is_priced(&self, model: &str) -> bool {
        self.overrides.of(split_suffix(model).0, "").any(ModelOverride::has_price)
    }

    /// Returns the models of the built-in tables, with the user's overrides. `api`: their provider, and its dialect.
    pub fn known_models(&self, api: &Api) -> Vec<KnownModel> {
        let known = FAMILIES.iter().map(|row| {
            let mut info = self.info(row.id);
            info.api = api.clone();
            let mut known = row.known(info);
            known.aliases.retain(|alias| self.resolve(alias) == row.id);
            known
        });
        known.map(|known| self.with_own(known)).collect()
    }

    /// Applies the user's overrides to a model of a table.
    pub fn with_own(&self, mut known: KnownModel) -> KnownModel {
        for values in self.overrides.of(&known.id, "") {
            values.apply(&mut known.info);
            known.context_window = values.context_window.or(known.context_window);
            known.max_output_tokens = values.max_output_tokens.or(known.max_output_tokens);
            known.overridden.extend(values.names());
        }
        known.overridden.sort_unstable();
        known.overridden.dedup();
        for (alias, model) in self.overrides.aliases() {
            if model == known.id {
                known.aliases.push(alias.to_owned());
            }
        }
        known
    }

    /// `true` if a model binds its reasoning to all preceding content, so that a changed beginning invalidates it.
    pub fn binds_thinking(&self, model: &str) -> bool {
        let bare = bare_id(split_suffix(model).0);
        table::BINDING.iter().any(|id| bare.strip_prefix(id).is_some_and(is_release))
    }

    /// Returns the betas that a resolved model needs for the abilities in its [`ModelInfo`].
    pub fn betas(&self, model: &str) -> Vec<&'static str> {
        let (base, long) = split_suffix(model);
        let known = family(base);
        let mut betas = Vec::new();
        if long && known.is_none_or(|row| !has_million(row)) {
            betas.push(beta::CONTEXT_1M);
        }
        if known.is_some_and(|row| row.abilities.thinking_budget && !row.abilities.adaptive_thinking) {
            betas.push(beta::INTERLEAVED_THINKING);
        }
        betas
    }

    /// Returns the id for the provider: the resolved model without its suffix.
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

fn has_million(row: &ModelRow) -> bool {
    row.context_window.is_some_and(|window| window >= MILLION)
}

/// Returns the family with the longest id that is a prefix of the model's. The rest may be a date or `latest`, but not
/// another version: an unknown version must not be billed as a known one.
fn family(model: &str) -> Option<&'static ModelRow> {
    let bare = bare_id(model);
    let fits = |row: &&ModelRow| bare.strip_prefix(row.id).is_some_and(is_release);
    FAMILIES.iter().filter(fits).max_by_key(|row| row.id.len())
}

/// Returns the vendor's id inside those of other clouds: `us.anthropic.claude-…`, `anthropic/claude-…`.
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

/// The window that is assumed of a model that is not known, in tokens.
const UNKNOWN_WINDOW: u64 = 128_000;

fn unknown(model: &str) -> ModelInfo {
    if bare_id(model).starts_with("claude-") {
        let (window, output) = limits_of_unlisted(bare_id(model));
        let mut info = ModelInfo::new(window, output);
        info.vision = true;
        info.documents = true;
        info.prompt_cache = true;
        info
    } else {
        ModelInfo::new(UNKNOWN_WINDOW, 8_192)
    }
}

/// Returns window and output limit of a model of the vendor that is not in the table: the vendor's models since the
/// fourth generation have at least the last ones.
fn limits_of_unlisted(id: &str) -> (u64, u32) {
    /// Limits by prefix of the id. Anthropic, "Models overview" and "Model deprecations".
    const OLD: &[(&str, (u64, u32))] = &[
        ("claude-3-7-", (200_000, 64_000)),
        ("claude-3-5-", (200_000, 8_192)),
        ("claude-3-", (200_000, 4_096)),
        ("claude-2.0", (100_000, 4_096)),
        ("claude-2", (200_000, 4_096)),
        ("claude-instant-", (100_000, 4_096)),
    ];
    OLD.iter().find(|(prefix, _)| id.starts_with(prefix)).map_or((200_000, 32_000), |(_, limits)| *limits)
}

#[cfg(test)]
mod tests;

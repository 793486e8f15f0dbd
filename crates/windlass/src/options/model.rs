//! Options of the model and of its requests.

use super::Options;
use windlass_context::HarnessProfile;
use windlass_model::ModelOverride;
use windlass_types::{CacheTtl, Effort, JsonText, Thinking};

/// The model of a session, and its thinking. A name alone can be given as a text:
/// `.model("opus")`. Values that are not set stay as they are.
///
/// ```
/// use windlass::options::ModelOptions;
///
/// let model = ModelOptions::named("opus").fallback("sonnet").max_output_tokens(8_000);
/// let query = windlass::query("Hello").model(model);
/// ```
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct ModelOptions {
    name: Option<String>,
    fallback: Option<String>,
    overrides: Vec<(String, ModelOverride)>,
    aliases: Vec<(String, String)>,
    thinking: Option<Thinking>,
    effort: Option<Effort>,
    keywords: Option<bool>,
    profile: Option<HarnessProfile>,
    max_output_tokens: Option<u32>,
    requests: RequestOptions,
}

impl ModelOptions {
    /// No value is set.
    pub fn new() -> Self {
        Self::default()
    }

    /// A model, by id or alias (`opus`, `sonnet`, `haiku`). Default: the provider's best.
    pub fn named(name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), ..Self::default() }
    }

    /// The model that takes over when the first is overloaded. Default: none.
    pub fn fallback(mut self, model: impl Into<String>) -> Self {
        self.fallback = Some(model.into());
        self
    }

    /// Overrides facts about a model: limits and prices that its provider does not know, or that differ behind a
    /// gateway. `model` is a name with or without the prefix of its provider (`openai/my-model`), or a prefix of names;
    /// the longest match applies. Default: the provider's values.
    ///
    /// ```
    /// use windlass::{options::ModelOptions, provider::ModelOverride};
    ///
    /// let mine = ModelOverride::new().context_window(64_000).input_price(0.25).output_price(1.5);
    /// let model = ModelOptions::named("openai/my-model").with_override("openai/my-model", mine);
    /// let query = windlass::query("Hello").model(model);
    /// ```
    pub fn with_override(mut self, model: impl Into<String>, values: ModelOverride) -> Self {
        self.overrides.push((model.into(), values));
        self
    }

    /// Adds an alias for a model. Agents and settings may use it as well.
    pub fn alias(mut self, alias: impl Into<String>, model: impl Into<String>) -> Self {
        self.aliases.push((alias.into(), model.into()));
        self
    }

    /// Thinking of the model. Default: decided by the model if it supports that, and off otherwise. A model that decides
    /// itself takes no thinking budget and ignores one.
    pub fn thinking(mut self, thinking: Thinking) -> Self {
        self.thinking = Some(thinking);
        self
    }

    /// Effort that the model spends on an answer. For an effort unknown to the model, the next weaker known one is
    /// requested. Default: left to the model.
    pub fn effort(mut self, effort: Effort) -> Self {
        self.effort = Some(effort);
        self
    }

    /// Lets words of a prompt request more thinking for the run of that prompt: `think`, `think hard`, `think harder`
    /// and `ultrathink`, mapped to a budget or an effort as the model supports it. Only the user's words are considered,
    /// outside of code and quotations, never those of tools, files and agents. Default: `false`.
    ///
    /// If the provider caches the thinking setting with the conversation, the first call of such a run and the first one
    /// after it miss the cache; [`CacheBroken`](crate::event::Status::CacheBroken) reports that.
    pub fn thinking_keywords(mut self, on: bool) -> Self {
        self.keywords = Some(on);
        self
    }

    /// Model-specific behaviour: editing tools, descriptions of tools, the end of the system prompt, the meaning of
    /// thinking keywords. Default: the profile of the family that the model's id names
    /// ([`HarnessProfile::of`](crate::HarnessProfile::of)).
    ///
    /// The profile is settled when the session opens, so a change of the model edits nothing that was sent. Without a
    /// profile from the program, a model of a family with other editing tools also gets those. They come at the point in
    /// the conversation where the model is first called.
    pub fn profile(mut self, profile: HarnessProfile) -> Self {
        self.profile = Some(profile);
        self
    }

    /// Maximum number of tokens in one answer. Default: the model's.
    pub fn max_output_tokens(mut self, tokens: u32) -> Self {
        self.max_output_tokens = Some(tokens);
        self
    }

    /// Options of the requests to the provider.
    pub fn requests(mut self, requests: RequestOptions) -> Self {
        self.requests = requests;
        self
    }

    pub(crate) fn apply(self, options: &mut Options) {
        let model = &mut options.model;
        model.name = self.name.or(model.name.take());
        model.fallback = self.fallback.or(model.fallback.take());
        for (name, values) in self.overrides {
            model.overrides.add(name, values);
        }
        for (alias, name) in self.aliases {
            model.overrides.add_alias(alias, name);
        }
        model.thinking = self.thinking.or(model.thinking);
        model.effort = self.effort.or(model.effort);
        model.keywords = self.keywords.unwrap_or(model.keywords);
        model.harness = self.profile.or(model.harness.take());
        let requests = &mut model.requests;
        requests.max_output_tokens = self.max_output_tokens.or(requests.max_output_tokens);
        requests.betas.extend(self.requests.betas);
        requests.cache = self.requests.cache.unwrap_or(requests.cache);
        requests.extra = self.requests.fields.or(requests.extra.take());
        requests.send_user_id = self.requests.user_id.or(requests.send_user_id);
    }
}

impl From<&str> for ModelOptions {
    fn from(name: &str) -> Self {
        Self::named(name)
    }
}

impl From<String> for ModelOptions {
    fn from(name: String) -> Self {
        Self::named(name)
    }
}

impl From<&String> for ModelOptions {
    fn from(name: &String) -> Self {
        Self::named(name)
    }
}

/// Options of all requests to the provider, see [`ModelOptions::requests`].
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct RequestOptions {
    betas: Vec<String>,
    cache: Option<Option<CacheTtl>>,
    fields: Option<JsonText>,
    user_id: Option<bool>,
}

impl RequestOptions {
    /// No value is set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a beta of the provider.
    pub fn beta(mut self, beta: impl Into<String>) -> Self {
        self.betas.push(beta.into());
        self
    }

    /// Lifetime of prompt-cache entries; `None` switches caching off. Default: five minutes.
    pub fn cache(mut self, cache: Option<CacheTtl>) -> Self {
        self.cache = Some(cache);
        self
    }

    /// JSON object of members added unchanged to the body of each request: settings of a vendor without an option in
    /// windlass. They override members of the same name; objects are merged. Default: none.
    pub fn fields(mut self, fields: JsonText) -> Self {
        self.fields = Some(fields);
        self
    }

    /// Sends the provider an opaque user id with each request, so it can tell users of one key apart: 128 random bits
    /// stored in the home of [`persist`](crate::SessionBuilder::persist), never an account, a name or a path. Default:
    /// `true`. Without a home none is sent.
    pub fn user_id(mut self, on: bool) -> Self {
        self.user_id = Some(on);
        self
    }
}

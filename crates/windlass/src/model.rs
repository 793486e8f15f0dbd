//! Model options of a session: the model, its requests and its limits.

use crate::error::Error;
use std::sync::Arc;
use std::time::Duration;
use windlass_context::{ContextShares, FileInstructions, HarnessProfile, InstructionSource, SystemPrompt, TrimRules};
use windlass_model::{ModelOverrides, ModelProvider, Overridden, Summarizer, Summarizing};
use windlass_runtime::{AutoCompact, Limits, ModelProfile, UnpricedModels};
use windlass_types::{CacheTtl, Effort, JsonText, NanoUsd, Thinking};

/// Choice of the model, its thinking and its request options.
#[derive(Clone, Default)]
pub(crate) struct ModelChoice {
    pub(crate) provider: Option<Arc<dyn ModelProvider>>,
    pub(crate) name: Option<String>,
    pub(crate) fallback: Option<String>,
    pub(crate) thinking: Option<Thinking>,
    pub(crate) effort: Option<Effort>,
    /// `true` if words of prompts request more thinking.
    pub(crate) keywords: bool,
    /// Profile from the program instead of that of the model's family.
    pub(crate) harness: Option<HarnessProfile>,
    /// Overrides from the program, and from settings, which rank lower.
    pub(crate) overrides: ModelOverrides,
    pub(crate) requests: RequestOptions,
}

/// Names of families, which variables and settings may let stand for other models.
const FAMILY_NAMES: &[&str] = &["best", "default", "fable", "haiku", "opus", "sonnet"];

impl ModelChoice {
    pub(crate) fn thinking(&self) -> Thinking {
        self.thinking.unwrap_or(Thinking::Adaptive)
    }

    /// Adds the overrides of model facts to a provider.
    pub(crate) fn described(&self, provider: Arc<dyn ModelProvider>) -> Arc<dyn ModelProvider> {
        if self.overrides.is_empty() {
            return provider;
        }
        Arc::new(Overridden::new(provider, self.overrides.clone()))
    }

    /// Profile of the model from the provider.
    pub(crate) fn profile(&self, provider: &dyn ModelProvider) -> ModelProfile {
        profile(provider, self.name.as_deref().unwrap_or("default"))
    }

    /// The names that stand for models here, each with the model that the provider is asked for.
    pub(crate) fn aliases(&self, provider: &dyn ModelProvider) -> Vec<(String, String)> {
        let known = provider.known_models().into_iter().flat_map(|known| known.aliases);
        let own = self.overrides.aliases().map(|(alias, _)| alias.to_owned());
        let names = FAMILY_NAMES.iter().map(|name| (*name).to_owned()).chain(known).chain(own);
        names.map(|name| (name.clone(), provider.resolve_model(&name))).collect()
    }

    /// Refuses models that cannot be called at all, such as one whose provider has no key.
    pub(crate) fn check_ready(&self, provider: &dyn ModelProvider) -> Result<(), Error> {
        let names = [Some(self.name.as_deref().unwrap_or("default")), self.fallback.as_deref()];
        names.into_iter().flatten().try_for_each(|name| {
            provider.ready(name).map_err(|error| crate::unlisted::not_ready(provider, name, error))
        })
    }

    /// Has the provider fetch facts about these models from its server.
    pub(crate) async fn prepare(&self, provider: &dyn ModelProvider) {
        /// Time limit for a server that does not answer.
        const LIMIT: Duration = Duration::from_secs(1);
        let ask = async {
            provider.prepare(self.name.as_deref().unwrap_or("default")).await;
            if let Some(name) = &self.fallback {
                provider.prepare(name).await;
            }
        };
        let _ = tokio::time::timeout(LIMIT, ask).await;
    }

    /// Notices of the provider for a session with these models.
    pub(crate) fn opening_notices(&self, provider: &dyn ModelProvider) -> Vec<String> {
        let names = [Some(self.name.as_deref().unwrap_or("default")), self.fallback.as_deref()];
        let mut notices: Vec<String> =
            names.into_iter().flatten().filter_map(|name| provider.opening_notice(name)).collect();
        notices.dedup();
        notices
    }

    /// Profile of the fallback model from the provider.
    pub(crate) fn fallback_profile(&self, provider: &dyn ModelProvider) -> Option<ModelProfile> {
        Some(profile(provider, self.fallback.as_deref()?))
    }
}

fn profile(provider: &dyn ModelProvider, name: &str) -> ModelProfile {
    let id = provider.resolve_model(name);
    let info = provider.model_info(&id);
    ModelProfile::new(id, info)
}

/// Options common to all requests to the provider.
#[derive(Clone)]
pub(crate) struct RequestOptions {
    pub(crate) max_output_tokens: Option<u32>,
    pub(crate) betas: Vec<String>,
    pub(crate) cache: Option<CacheTtl>,
    pub(crate) send_user_id: Option<bool>,
    /// Members added unchanged to each body.
    pub(crate) extra: Option<JsonText>,
    /// `true` if the raw frames of the answer are events.
    pub(crate) raw_frames: bool,
}

impl RequestOptions {
    /// Refuses extra members that are not an object, because they could not be merged.
    pub(crate) fn check(&self) -> Result<(), Error> {
        match &self.extra {
            Some(fields) if !fields.is_object() => Err(Error::RequestFields { given: fields.as_str().to_owned() }),
            _ => Ok(()),
        }
    }
}

impl Default for RequestOptions {
    fn default() -> Self {
        let cache = Some(CacheTtl::FiveMinutes);
        Self { max_output_tokens: None, betas: Vec::new(), cache, send_user_id: None, extra: None, raw_frames: false }
    }
}

/// Texts that the model reads before the user's first prompt.
#[derive(Clone, Default)]
pub(crate) struct Prompts {
    pub(crate) system: Option<SystemPrompt>,
    pub(crate) appended: String,
    /// `true` if mentions in prompts are attached.
    pub(crate) mentions: bool,
    /// Reminders of the todo list and of the remaining limits, if the program set them.
    pub(crate) reminders: Option<bool>,
    /// Instructions that the model reads after the first prompt.
    pub(crate) instructions: Vec<FileInstructions>,
    /// Shares of the context window for instructions and other texts.
    pub(crate) shares: ContextShares,
}

impl Prompts {
    /// Appends a text to the system prompt.
    pub(crate) fn append(&mut self, text: &str) {
        if !self.appended.is_empty() && !text.is_empty() {
            self.appended.push_str("\n\n");
        }
        self.appended.push_str(text);
    }

    /// Adds instructions of the program.
    pub(crate) fn instruct(&mut self, text: &str) {
        self.instructions.extend(FileInstructions::new(InstructionSource::Host, "the program", text));
    }

    pub(crate) fn system(&self) -> SystemPrompt {
        self.system.clone().unwrap_or_default().append(&self.appended)
    }
}

/// Limits of runs. Unset limits may come from variables of a project.
#[derive(Clone, Default)]
pub(crate) struct RunLimits {
    pub(crate) base: Limits,
    /// Maximum cost in US dollars, as the program gave it.
    pub(crate) budget_usd: Option<f64>,
    /// Treatment of models without a price under a budget, if the program set it.
    pub(crate) unpriced: Option<UnpricedModels>,
    pub(crate) max_retries: Option<u32>,
    pub(crate) structured_output_retries: Option<u32>,
    /// Time limit of hooks that set none of their own.
    pub(crate) hook_time: Option<Duration>,
    /// `true` if events report when hooks start.
    pub(crate) hook_starts: bool,
}

impl RunLimits {
    /// Refuses a budget that is not an amount, or that models without a price would spend unseen.
    pub(crate) fn check(
        &self,
        model: &ModelChoice,
        compaction: &Compaction,
        provider: &dyn ModelProvider,
    ) -> Result<(), Error> {
        let Some(budget) = self.budget_usd else { return Ok(()) };
        if !budget.is_finite() || budget < 0.0 {
            return Err(Error::BadLimit { option: "max_budget_usd", value: budget.to_string() });
        }
        let summarizer = compaction.summarizer(provider);
        let models = [Some(model.profile(provider)), model.fallback_profile(provider), summarizer];
        match models.into_iter().flatten().find(|model| model.info.price.is_none()) {
            Some(model) if self.unpriced.is_none() => Err(Error::UnpricedBudget { model: model.id }),
            _ => Ok(()),
        }
    }

    pub(crate) fn effective(&self) -> Limits {
        let mut limits = self.base.clone();
        limits.max_budget = self.budget_usd.map(NanoUsd::from_usd);
        limits.unpriced = self.unpriced.unwrap_or(UnpricedModels::Refuse);
        limits.max_retries = self.max_retries.unwrap_or(limits.max_retries);
        limits.max_structured_output_retries =
            self.structured_output_retries.unwrap_or(limits.max_structured_output_retries);
        limits
    }
}

/// Rules of automatic compaction.
#[derive(Clone)]
pub(crate) struct Compaction {
    pub(crate) auto: bool,
    /// Context window to compact for, if not the model's.
    pub(crate) window: Option<u64>,
    pub(crate) trim: TrimRules,
    /// Model that writes summaries, if not that of the session.
    pub(crate) summarizer: Option<String>,
    /// Summarizer of the program, used instead of a model.
    pub(crate) own_summarizer: Option<Summarizer>,
    /// Maximum number of tokens of files that are shown again.
    pub(crate) restored_files: Option<u64>,
}

impl Default for Compaction {
    fn default() -> Self {
        Self {
            auto: true,
            window: None,
            trim: TrimRules::default(),
            summarizer: None,
            own_summarizer: None,
            restored_files: None,
        }
    }
}

impl Compaction {
    /// Writes the options into the configuration of a machine.
    pub(crate) fn configure(&self, compact: &mut AutoCompact) {
        (compact.enabled, compact.window, compact.trim) = (self.auto, self.window, self.trim);
        compact.restored_files = self.restored_files.unwrap_or(compact.restored_files);
    }

    /// Profile of the summarizing model from the provider.
    pub(crate) fn summarizer(&self, provider: &dyn ModelProvider) -> Option<ModelProfile> {
        let own_model = self.own_summarizer.as_ref().map(|_| Summarizing::MODEL);
        Some(profile(provider, own_model.or(self.summarizer.as_deref())?))
    }

    /// Adds the program's summarizer to a provider.
    pub(crate) fn with_own(&self, provider: Arc<dyn ModelProvider>) -> Arc<dyn ModelProvider> {
        match &self.own_summarizer {
            Some(own) => Arc::new(Summarizing::new(provider, own.clone())),
            None => provider,
        }
    }
}

//! The model of a session: which one it is, what it is sent, and how long it may work.

use crate::Error;
use std::sync::Arc;
use std::time::Duration;
use windlass_context::{ContextShares, FileInstructions, HarnessProfile, InstructionSource, SystemPrompt, TrimRules};
use windlass_model::{ModelOverrides, ModelProvider, Overridden, Summarizer, Summarizing};
use windlass_runtime::{AutoCompact, Limits, ModelProfile, UnpricedModels};
use windlass_types::{CacheTtl, Effort, JsonText, NanoUsd, Thinking};

/// Which model answers, how much it thinks, and what it is asked with.
#[derive(Clone, Default)]
pub(crate) struct ModelChoice {
    pub(crate) provider: Option<Arc<dyn ModelProvider>>,
    pub(crate) name: Option<String>,
    pub(crate) fallback: Option<String>,
    pub(crate) thinking: Option<Thinking>,
    pub(crate) effort: Option<Effort>,
    /// Whether words of prompts ask for more thought.
    pub(crate) keywords: bool,
    /// What the program says instead of the profile of the model's family.
    pub(crate) harness: Option<HarnessProfile>,
    /// What the program says of models, and what settings say, which counts for less.
    pub(crate) overrides: ModelOverrides,
    pub(crate) requests: RequestOptions,
}

impl ModelChoice {
    pub(crate) fn thinking(&self) -> Thinking {
        self.thinking.unwrap_or(Thinking::Adaptive)
    }

    /// A provider with what is said of its models.
    pub(crate) fn described(&self, provider: Arc<dyn ModelProvider>) -> Arc<dyn ModelProvider> {
        if self.overrides.is_empty() {
            return provider;
        }
        Arc::new(Overridden::new(provider, self.overrides.clone()))
    }

    /// The model as the provider knows it.
    pub(crate) fn profile(&self, provider: &dyn ModelProvider) -> ModelProfile {
        profile(provider, self.name.as_deref().unwrap_or("default"))
    }

    /// Refuses models that cannot be called at all, such as one whose provider has no key.
    pub(crate) fn check_ready(&self, provider: &dyn ModelProvider) -> Result<(), Error> {
        provider.ready(self.name.as_deref().unwrap_or("default"))?;
        self.fallback.as_deref().map_or(Ok(()), |name| provider.ready(name))?;
        Ok(())
    }

    /// Has the provider ask its server for what only that knows of these models.
    pub(crate) async fn prepare(&self, provider: &dyn ModelProvider) {
        /// The longest that a session waits for a server that does not answer.
        const LIMIT: Duration = Duration::from_secs(1);
        let ask = async {
            provider.prepare(self.name.as_deref().unwrap_or("default")).await;
            if let Some(name) = &self.fallback {
                provider.prepare(name).await;
            }
        };
        let _ = tokio::time::timeout(LIMIT, ask).await;
    }

    /// The lines that the provider has for a session with these models.
    pub(crate) fn opening_notices(&self, provider: &dyn ModelProvider) -> Vec<String> {
        let names = [Some(self.name.as_deref().unwrap_or("default")), self.fallback.as_deref()];
        let mut notices: Vec<String> =
            names.into_iter().flatten().filter_map(|name| provider.opening_notice(name)).collect();
        notices.dedup();
        notices
    }

    /// The model that takes over, as the provider knows it.
    pub(crate) fn fallback_profile(&self, provider: &dyn ModelProvider) -> Option<ModelProfile> {
        Some(profile(provider, self.fallback.as_deref()?))
    }
}

fn profile(provider: &dyn ModelProvider, name: &str) -> ModelProfile {
    let id = provider.resolve_model(name);
    let info = provider.model_info(&id);
    ModelProfile::new(id, info)
}

/// What each request to the provider says, whatever the conversation is.
#[derive(Clone)]
pub(crate) struct RequestOptions {
    pub(crate) max_output_tokens: Option<u32>,
    pub(crate) betas: Vec<String>,
    pub(crate) cache: Option<CacheTtl>,
    pub(crate) send_user_id: Option<bool>,
    /// Members that are added to each body as they are.
    pub(crate) extra: Option<JsonText>,
    /// Whether the frames of the answer are events.
    pub(crate) raw_frames: bool,
}

impl RequestOptions {
    /// Refuses members of requests that are no object: they could be added to nothing.
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

/// What the model reads before the first prompt of the user.
#[derive(Clone, Default)]
pub(crate) struct Prompts {
    pub(crate) system: Option<SystemPrompt>,
    pub(crate) appended: String,
    /// The output style, if it is not the default.
    #[cfg(feature = "project")]
    pub(crate) style: Option<String>,
    /// Whether what prompts mention is attached to them.
    pub(crate) mentions: bool,
    /// Whether the model is reminded of its todo list and of what is left of the limits, if the program said.
    pub(crate) reminders: Option<bool>,
    /// What the model reads behind the first prompt.
    pub(crate) instructions: Vec<FileInstructions>,
    /// How much of the window that and the texts of files may take up.
    pub(crate) shares: ContextShares,
    /// What a new session begins with.
    #[cfg(feature = "project")]
    pub(crate) initial: Option<String>,
    /// Skills of the program.
    #[cfg(feature = "project")]
    pub(crate) skills: Vec<windlass_project::Skill>,
}

impl Prompts {
    /// Adds a text behind the system prompt.
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

/// The limits of runs. Numbers that the program did not set may come from variables of a project.
#[derive(Clone, Default)]
pub(crate) struct RunLimits {
    pub(crate) base: Limits,
    /// The most money, in dollars, as the program gave it.
    pub(crate) budget_usd: Option<f64>,
    /// What a model without a price means for the budget, if the program said so.
    pub(crate) unpriced: Option<UnpricedModels>,
    pub(crate) max_retries: Option<u32>,
    pub(crate) structured_output_retries: Option<u32>,
    /// The longest that hooks may take that set no limit of their own.
    pub(crate) hook_time: Option<Duration>,
    /// Whether events report when hooks begin to be asked.
    pub(crate) hook_starts: bool,
}

impl RunLimits {
    /// Refuses a budget that is no amount, or that models without a price would spend unseen.
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

/// When a conversation is compacted without being asked to.
#[derive(Clone)]
pub(crate) struct Compaction {
    pub(crate) auto: bool,
    /// The context window to compact for, if it is not the model's.
    pub(crate) window: Option<u64>,
    pub(crate) trim: TrimRules,
    /// The model that writes summaries, if it is not that of the session.
    pub(crate) summarizer: Option<String>,
    /// What writes them instead of a model.
    pub(crate) own_summarizer: Option<Summarizer>,
    /// Most tokens of files that are shown again.
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
    /// Writes what it says of a machine.
    pub(crate) fn configure(&self, compact: &mut AutoCompact) {
        (compact.enabled, compact.window, compact.trim) = (self.auto, self.window, self.trim);
        compact.restored_files = self.restored_files.unwrap_or(compact.restored_files);
    }

    /// The model that writes summaries, as the provider knows it.
    pub(crate) fn summarizer(&self, provider: &dyn ModelProvider) -> Option<ModelProfile> {
        let own = self.own_summarizer.as_ref().map(|_| Summarizing::MODEL);
        Some(profile(provider, own.or(self.summarizer.as_deref())?))
    }

    /// A provider that also has what writes summaries.
    pub(crate) fn with_own(&self, provider: Arc<dyn ModelProvider>) -> Arc<dyn ModelProvider> {
        match &self.own_summarizer {
            Some(own) => Arc::new(Summarizing::new(provider, own.clone())),
            None => provider,
        }
    }
}

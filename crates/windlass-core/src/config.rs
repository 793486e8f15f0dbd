//! Configuration of a machine.

use crate::AgentConfig;
use std::collections::{BTreeSet, HashSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use windlass_context::{
    ContextShares, Environment, FileInstructions, ModelFamily, ReminderSettings, ReminderStyle, ServerInstructions,
    ThinkingKeywords, ToolBudget, TrimRules,
};
use windlass_permission::Policy;
use windlass_session::TokenSecret;
use windlass_types::{
    CacheTtl, Effort, EntryId, HookEventName, JsonText, ModelInfo, NanoUsd, SessionId, SystemSection, Thinking,
    ToolMatcher, ToolSpec,
};

/// A model that a session may call.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModelProfile {
    /// Provider's id of the model, aliases resolved.
    pub id: String,
    /// Limits and price of the model.
    pub info: ModelInfo,
}

impl ModelProfile {
    /// Returns a model with its limits and price.
    pub fn new(id: impl Into<String>, info: ModelInfo) -> Self {
        Self { id: id.into(), info }
    }
}

/// Effect of a budget on models with unknown price.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum UnpricedModels {
    /// Requests to the model are not limited, and the host is warned once for each such model.
    #[default]
    Allow,
    /// The model is not called.
    Refuse,
}

/// Limits of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Maximum number of model messages in a run. `None`: no limit.
    pub max_turns: Option<u32>,
    /// Maximum spending of the whole session, all agents together, in nano US dollars. `None`: no limit.
    pub max_budget: Option<NanoUsd>,
    /// Effect of the budget on models with unknown price.
    pub unpriced: UnpricedModels,
    /// Maximum number of retries of one model request. Default: 10.
    pub max_retries: u32,
    /// Maximum total time that the retries of one model request wait because the provider asks for it. Default: 15
    /// minutes.
    pub max_server_wait: Duration,
    /// Maximum number of times that an answer is continued after the output limit. Default: 3.
    pub max_output_continuations: u32,
    /// Maximum number of times that Stop hooks continue a run. Then the run ends as a success, with a notice. Default:
    /// 8.
    pub max_stop_continuations: u32,
    /// Maximum number of times that a missing or invalid structured output is requested again. Default: 5.
    pub max_structured_output_retries: u32,
    /// Number of consecutive turns in which every call failed that stops the run. Default: 10.
    pub max_failing_turns: u32,
    /// Number of consecutive turns that only repeat calls of the run, with the same inputs and results, that stops the
    /// run. The model is reminded after a tenth of them. Calls of a second or longer are taken for waiting and not
    /// counted. 0: never. Default: 150.
    pub max_repeated_turns: u32,
    /// Maximum number of calls that run at the same time. Default: 10.
    pub max_parallel_tools: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_turns: None,
            max_budget: None,
            unpriced: UnpricedModels::default(),
            max_retries: 10,
            max_server_wait: Duration::from_secs(15 * 60),
            max_output_continuations: 3,
            max_stop_continuations: 8,
            max_structured_output_retries: 5,
            max_failing_turns: 10,
            max_repeated_turns: 150,
            max_parallel_tools: 10,
        }
    }
}

/// Identity of the session, and the source of new ids.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SessionIds {
    /// Id of the session.
    pub session_id: SessionId,
    /// 128 random bits, fresh at each opening of the session; ids are generated from them.
    pub seed: u128,
    /// Ids of log entries outside the conversation: no new entry may repeat one.
    pub taken: HashSet<EntryId>,
}

/// Settings common to all model requests, beside the conversation and the tools.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RequestSettings {
    /// System prompt.
    pub system: Vec<SystemSection>,
    /// Reasoning mode of the model. Default: off.
    pub thinking: Thinking,
    /// Effort of the model for an answer. `None` leaves it to the model. For a model without this level, the request
    /// names the next weaker one that it supports.
    pub effort: Option<Effort>,
    /// Style of the runtime's texts in the conversation. Default: between tags.
    pub reminders: ReminderStyle,
    /// Words of a prompt, such as `think hard`, that set the effort of its run. `None`, the default: none.
    pub thinking_keywords: Option<ThinkingKeywords>,
    /// Maximum number of tokens in one answer. `None`: the model's default.
    pub max_output_tokens: Option<u32>,
    /// Names of the provider's beta features to request.
    pub betas: Vec<String>,
    /// Opaque id of the user for the provider.
    pub user_id: Option<String>,
    /// Lifetime of prompt-cache entries. `None`: requests use no cache. Default: five minutes.
    pub cache: Option<CacheTtl>,
    /// `true` if events carry the provider's own frames.
    pub raw_frames: bool,
    /// JSON object whose members are added to request bodies unchanged: vendor settings that windlass does not model.
    pub extra: Option<JsonText>,
}

impl Default for RequestSettings {
    fn default() -> Self {
        Self {
            system: Vec::new(),
            thinking: Thinking::Off,
            effort: None,
            reminders: ReminderStyle::Tags,
            thinking_keywords: None,
            max_output_tokens: None,
            betas: Vec::new(),
            user_id: None,
            cache: Some(CacheTtl::FiveMinutes),
            raw_frames: false,
            extra: None,
        }
    }
}

/// Context of the model beside prompts and results. Default: none.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct SessionContext {
    /// Environment of the model: sent at the beginning, after a compaction, and when it changes. `None`: no such text.
    pub environment: Option<Environment>,
    /// Instruction files in reading order: sent after the first prompt, and after a compaction.
    pub instructions: Arc<[FileInstructions]>,
    /// Reminders sent before a turn. Default: none.
    pub reminders: ReminderSettings,
    /// Maximum shares of the model's context window for these texts.
    pub shares: ContextShares,
    /// `true` if the driver attaches related content to prompts of the main agent ([`Input::Attached`](crate::Input)):
    /// it then gets the effect for UserPromptSubmit hooks even if there are none. Default: `false`.
    pub attachments: bool,
}

/// Tools offered to the model. Default: none.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct OfferedTools {
    /// Definitions of the tools, in the order in which requests list them.
    pub specs: Arc<[Arc<ToolSpec>]>,
    /// Usage instructions of the tool servers.
    pub instructions: Arc<[ServerInstructions]>,
    /// Name of the tool whose input is the structured output that the run must end with, if required. It must be one of
    /// the tools.
    pub structured_output: Option<String>,
    /// Total size of tool definitions beyond which some are withheld until the model has searched for them.
    pub budget: ToolBudget,
    /// Equivalent tools for models that were trained on different ones. A conversation lists the tools of the model
    /// that it began with; those of another model are added when that is called.
    pub alternatives: Vec<Alternative>,
}

/// Tools for the models of some families, where equivalents exist that those models were not trained on.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Alternative {
    /// Model families.
    pub families: Vec<ModelFamily>,
    /// Names of the tools.
    pub tools: Vec<String>,
}

impl Alternative {
    /// Returns tools for the models of these families.
    pub fn new(families: Vec<ModelFamily>, tools: Vec<String>) -> Self {
        Self { families, tools }
    }
}

/// Participants in decisions beside the policy. Default: none.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Listeners {
    /// Subscriptions of hooks: the event, and the tool (`None` for all).
    pub hooks: BTreeSet<(HookEventName, Option<ToolMatcher>)>,
    /// `true` if the host answers permission requests. Without it and hooks for them, a call that would ask is denied.
    pub can_ask: bool,
    /// `true` if there is a classifier. Without it, auto mode asks about the calls that the classifier would decide.
    pub classifies: bool,
    /// Secret from which the tokens of permission requests are generated, in runs that wait for answers: an unanswered
    /// request stays open, and the run ends as [`Outcome::Pending`](windlass_types::Outcome::Pending). `None`, the
    /// default: such a call is denied. An agent below the main one waits where [its parent lets
    /// it](AgentConfig::waits).
    pub waits: Option<TokenSecret>,
}

/// Conditions of an automatic compaction.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AutoCompact {
    /// `true` if the conversation is compacted before it fills the model's context window. Default: `true`.
    pub enabled: bool,
    /// Context window to assume, in tokens, if it is smaller than the model's.
    pub window: Option<u64>,
    /// Rules for replacing old results by notes instead.
    pub trim: TrimRules,
    /// Model that writes summaries, including those requested by the user. `None`: the model of the session, whose
    /// provider has the conversation in its cache.
    pub summarizer: Option<ModelProfile>,
    /// Maximum tokens of the files that are shown again after a summary, the latest first; at most a sixteenth of the
    /// window. Default: 10,000. 0: none.
    pub restored_files: u64,
}

impl AutoCompact {
    /// Returns the number of tokens at which a conversation is compacted, for a model's window.
    pub(crate) fn limit(&self, window: u64) -> u64 {
        /// Tokens of a large window reserved for the turn that fills it.
        const RESERVE_TOKENS: u64 = 33_000;
        let window = self.window.map_or(window, |own| own.min(window));
        window.saturating_sub(RESERVE_TOKENS.min(window / 4))
    }
}

impl AutoCompact {
    /// Returns the maximum characters of the ledger in a summary, for a conversation limit in tokens.
    pub(crate) fn room_for_ledger(&self, limit: u64) -> usize {
        const MAX_LEDGER_CHARS: usize = 12_000;
        if limit == 0 { MAX_LEDGER_CHARS } else { share_of(limit).min(MAX_LEDGER_CHARS) }
    }

    pub(crate) fn room_for_files(&self, limit: u64) -> usize {
        let requested_chars =
            usize::try_from(self.restored_files).unwrap_or(usize::MAX).saturating_mul(CHARACTERS_PER_TOKEN);
        if limit == 0 { requested_chars } else { share_of(limit).min(requested_chars) }
    }
}

/// Characters per token of text, a low estimate.
const CHARACTERS_PER_TOKEN: usize = 3;

/// Returns the characters of a sixteenth of a token limit.
fn share_of(limit: u64) -> usize {
    usize::try_from(limit / 16).unwrap_or(usize::MAX).saturating_mul(CHARACTERS_PER_TOKEN)
}

impl Default for AutoCompact {
    fn default() -> Self {
        Self { enabled: true, window: None, trim: TrimRules::default(), summarizer: None, restored_files: 10_000 }
    }
}

/// Configuration of a machine. Fixed for the life of the machine, except for values that inputs change: model, mode,
/// thinking, effort, tools, instructions, hooks.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct MachineConfig {
    /// Identity of the session, and the source of new ids.
    pub ids: SessionIds,
    /// Model to call.
    pub model: ModelProfile,
    /// Model that takes over when the first is overloaded.
    pub fallback: Option<ModelProfile>,
    /// Settings common to all model requests.
    pub request: RequestSettings,
    /// Context of the model beside prompts and results.
    pub context: SessionContext,
    /// Tools offered to the model.
    pub tools: OfferedTools,
    /// Rules and mode that decide which calls may run.
    pub policy: Policy,
    /// Participants in decisions beside the policy.
    pub listeners: Listeners,
    /// Absolute start directory of the session.
    pub cwd: PathBuf,
    /// Conditions of an automatic compaction.
    pub auto_compact: AutoCompact,
    /// Limits of the session. The budget covers all agents together.
    pub limits: Limits,
    /// Identity and rights of the agent, if it is not the main one.
    pub agent: Option<AgentConfig>,
}

impl MachineConfig {
    /// Returns the configuration of a session with a model and a policy, no tools, no system prompt and default limits.
    pub fn new(session_id: SessionId, seed: u128, model: ModelProfile, policy: Policy, cwd: PathBuf) -> Self {
        Self {
            ids: SessionIds { session_id, seed, taken: HashSet::new() },
            model,
            fallback: None,
            request: RequestSettings::default(),
            context: SessionContext::default(),
            tools: OfferedTools::default(),
            policy,
            listeners: Listeners::default(),
            cwd,
            auto_compact: AutoCompact::default(),
            limits: Limits::default(),
            agent: None,
        }
    }

    /// Returns the source of permission tokens, if runs wait for answers.
    pub(crate) fn waits(&self) -> Option<&TokenSecret> {
        self.listeners.waits.as_ref().filter(|_| self.agent.as_ref().is_none_or(|agent| agent.waits))
    }

    /// `true` if this agent does not wait, although the runs of the main agent wait for answers.
    pub(crate) fn cannot_wait(&self) -> bool {
        self.listeners.waits.is_some() && self.waits().is_none()
    }

    /// `true` if any hook listens to the event (about the tool).
    pub(crate) fn listens(&self, event: HookEventName, tool: Option<&str>) -> bool {
        let includes_tool = |only: &ToolMatcher| tool.is_some_and(|tool| only.matches(tool));
        self.listeners.hooks.iter().any(|(on, only)| *on == event && only.as_ref().is_none_or(includes_tool))
    }
}

//! What a machine is made from.

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
    /// The provider's id, aliases resolved.
    pub id: String,
    /// Its limits and price.
    pub info: ModelInfo,
}

impl ModelProfile {
    /// A model with its limits and price.
    pub fn new(id: impl Into<String>, info: ModelInfo) -> Self {
        Self { id: id.into(), info }
    }
}

/// What happens to a budget when a model has no known price.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum UnpricedModels {
    /// Calls of the model are not limited, and the host is warned once for each such model.
    #[default]
    Allow,
    /// It is not called.
    Refuse,
}

/// The limits of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Most model messages in a run. `None`: no limit.
    pub max_turns: Option<u32>,
    /// Most money for the whole session, all agents together. `None`: no limit.
    pub max_budget: Option<NanoUsd>,
    /// What happens to the budget when a model has no known price.
    pub unpriced: UnpricedModels,
    /// Most repeats of one failed model call. Default 10.
    pub max_retries: u32,
    /// The longest that the repeats of one model call wait because the provider asks for it, all
    /// waits together. Default: 15 minutes.
    pub max_server_wait: Duration,
    /// Most times that an answer is continued after the output limit. Default 3.
    pub max_output_continuations: u32,
    /// Most times that Stop hooks keep a run going. Then it ends as a success, and a notice says so. Default 8.
    pub max_stop_continuations: u32,
    /// Most times that a missing or unfit structured output is asked for again. Default 5.
    pub max_structured_output_retries: u32,
    /// Turns in a row in which every call failed, before the run stops. Default 10.
    pub max_failing_turns: u32,
    /// Most calls that run at the same time. Default 10.
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
            max_parallel_tools: 10,
        }
    }
}

/// Whose machine it is, and where its new ids come from.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SessionIds {
    /// The id of the session.
    pub session_id: SessionId,
    /// 128 random bits, fresh at each opening of the session; ids are made from them.
    pub seed: u128,
    /// Ids that the log holds beside its conversation: no entry may repeat one.
    pub taken: HashSet<EntryId>,
}

/// What every request to a model has, beside the conversation and the tools.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RequestSettings {
    /// The system prompt.
    pub system: Vec<SystemSection>,
    /// How the model may reason. Default: not at all.
    pub thinking: Thinking,
    /// How much the model spends on an answer. `None` leaves it to the model. A model that
    /// does not know it is asked for the next weaker one that it knows.
    pub effort: Option<Effort>,
    /// How texts of the runtime stand in the conversation. Default: between tags.
    pub reminders: ReminderStyle,
    /// What words of a prompt, such as `think hard`, mean for its run. `None`, the default: nothing.
    pub thinking_keywords: Option<ThinkingKeywords>,
    /// Most tokens in one answer. `None`: the model's default.
    pub max_output_tokens: Option<u32>,
    /// Names of beta features that requests ask the provider for.
    pub betas: Vec<String>,
    /// An opaque id of the user for the provider.
    pub user_id: Option<String>,
    /// Lifetime of prompt-cache entries. `None`: requests ask for no cache. Default: five minutes.
    pub cache: Option<CacheTtl>,
    /// Whether events carry the provider's own frames.
    pub raw_frames: bool,
    /// Members that are added to the bodies of requests as they are, a JSON object: settings of the vendor that windlass
    /// does not have.
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

/// What the model reads beside prompts and results. Default: nothing.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct SessionContext {
    /// Its environment: read at the beginning, after a compaction, and when it changes. `None`: it reads no such text.
    pub environment: Option<Environment>,
    /// The instructions of files, in the order in which they are read: behind the first prompt, and after a compaction.
    pub instructions: Arc<[FileInstructions]>,
    /// Of what it is reminded, in texts before a turn. Default: of nothing.
    pub reminders: ReminderSettings,
    /// How much of the model's context window they may take up.
    pub shares: ContextShares,
    /// Whether the driver attaches to a prompt of the main agent what belongs to it ([`Input::Attached`](crate::Input)): it
    /// gets the effect for UserPromptSubmit hooks then, also if there are none. Default: no.
    pub attachments: bool,
}

/// The tools that the model is offered. Default: none.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct OfferedTools {
    /// Their definitions, in the order in which requests list them.
    pub specs: Arc<[Arc<ToolSpec>]>,
    /// How the servers of tools want them to be used.
    pub instructions: Arc<[ServerInstructions]>,
    /// The tool that a run must end with, if it must: its input is the
    /// structured output. It must be one of the tools.
    pub structured_output: Option<String>,
    /// From which size on definitions of tools are withheld until the model has searched for them.
    pub budget: ToolBudget,
    /// Tools that do the same in other ways, for models that were trained otherwise. Of each conversation the tools of
    /// the model with which it began are listed; those of another model are added when that is called.
    pub alternatives: Vec<Alternative>,
}

/// Tools that are for the models of some families, where there are others for the same that those were not trained on.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Alternative {
    /// The families.
    pub families: Vec<ModelFamily>,
    /// The names of the tools.
    pub tools: Vec<String>,
}

impl Alternative {
    /// Tools for the models of these families.
    pub fn new(families: Vec<ModelFamily>, tools: Vec<String>) -> Self {
        Self { families, tools }
    }
}

/// Who takes part in decisions beside the policy. Default: no one.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Listeners {
    /// What hooks listen to: the event, and the tool (`None` for all).
    pub hooks: BTreeSet<(HookEventName, Option<ToolMatcher>)>,
    /// Whether the host answers permission requests. Without it and hooks for them, what would ask is denied.
    pub can_ask: bool,
    /// Whether there is a classifier. Without it the mode auto asks about what it would be asked.
    pub classifies: bool,
    /// Marks runs to wait for answers: what would ask and is not answered stays open, and the run ends as
    /// [`Outcome::Pending`](windlass_types::Outcome::Pending). Tokens of its questions are made from this. `None`, the
    /// default: such a call is denied. An agent below the main one waits where [its parent lets it](AgentConfig::waits).
    pub waits: Option<TokenSecret>,
}

/// When the conversation is compacted without an order of the user.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AutoCompact {
    /// Whether it is compacted before it fills the model's context window. Default: yes.
    pub enabled: bool,
    /// The size of the window to go by, in tokens, if it is smaller than the model's.
    pub window: Option<u64>,
    /// When old results are replaced by notes instead.
    pub trim: TrimRules,
    /// The model that writes summaries, also those that the user asks for. `None`: the model of the session, whose provider
    /// has the conversation in its cache.
    pub summarizer: Option<ModelProfile>,
    /// Most tokens of the files that are shown again behind a summary, the latest first; a sixteenth of the window at most.
    /// Default: 10,000. 0: none.
    pub restored_files: u64,
}

impl AutoCompact {
    /// How many tokens a conversation may have before it is compacted, in the window of a model.
    pub(crate) fn limit(&self, window: u64) -> u64 {
        /// What is kept free of a large window for the turn that fills it.
        const RESERVE_TOKENS: u64 = 33_000;
        let window = self.window.map_or(window, |own| own.min(window));
        window.saturating_sub(RESERVE_TOKENS.min(window / 4))
    }
}

impl AutoCompact {
    /// Most characters of the ledger in a summary, and of the files behind it, where a conversation may have so many tokens.
    pub(crate) fn room_for_ledger(&self, limit: u64) -> usize {
        const LONGEST_LEDGER: usize = 12_000;
        if limit == 0 { LONGEST_LEDGER } else { share_of(limit).min(LONGEST_LEDGER) }
    }

    pub(crate) fn room_for_files(&self, limit: u64) -> usize {
        let wanted = usize::try_from(self.restored_files).unwrap_or(usize::MAX).saturating_mul(CHARACTERS_PER_TOKEN);
        if limit == 0 { wanted } else { share_of(limit).min(wanted) }
    }
}

/// Characters of a text in a token, on the low side.
const CHARACTERS_PER_TOKEN: usize = 3;

/// The characters of a sixteenth of so many tokens.
fn share_of(limit: u64) -> usize {
    usize::try_from(limit / 16).unwrap_or(usize::MAX).saturating_mul(CHARACTERS_PER_TOKEN)
}

impl Default for AutoCompact {
    fn default() -> Self {
        Self { enabled: true, window: None, trim: TrimRules::default(), summarizer: None, restored_files: 10_000 }
    }
}

/// What a machine is made from. Fixed for the life of the machine, except what inputs change: model, mode, thinking,
/// effort, tools, instructions, hooks.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct MachineConfig {
    /// Whose machine it is, and where its new ids come from.
    pub ids: SessionIds,
    /// The model to call.
    pub model: ModelProfile,
    /// The model that takes over when the first is overloaded.
    pub fallback: Option<ModelProfile>,
    /// What every request to a model has.
    pub request: RequestSettings,
    /// What the model reads beside prompts and results.
    pub context: SessionContext,
    /// The tools that the model is offered.
    pub tools: OfferedTools,
    /// The rules and the mode that decide what may run.
    pub policy: Policy,
    /// Who takes part in decisions beside the policy.
    pub listeners: Listeners,
    /// The directory that the session starts in; absolute.
    pub cwd: PathBuf,
    /// When the conversation is compacted without an order of the user.
    pub auto_compact: AutoCompact,
    /// The limits. The money is that of all agents together.
    pub limits: Limits,
    /// The agent, if it is not the main one.
    pub agent: Option<AgentConfig>,
}

impl MachineConfig {
    /// A session with a model and a policy, no tools, no system prompt and default limits.
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

    /// What tokens of questions are made from, if runs wait for answers.
    pub(crate) fn waits(&self) -> Option<&TokenSecret> {
        self.listeners.waits.as_ref().filter(|_| self.agent.as_ref().is_none_or(|agent| agent.waits))
    }

    /// Whether this is an agent below one whose runs wait for answers, and does not wait itself.
    pub(crate) fn cannot_wait(&self) -> bool {
        self.listeners.waits.is_some() && self.waits().is_none()
    }

    /// Whether any hook listens to an event (about a tool).
    pub(crate) fn listens(&self, event: HookEventName, tool: Option<&str>) -> bool {
        let means = |only: &ToolMatcher| tool.is_some_and(|tool| only.matches(tool));
        self.listeners.hooks.iter().any(|(on, only)| *on == event && only.as_ref().is_none_or(means))
    }
}

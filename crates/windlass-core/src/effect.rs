//! Inputs and outputs of a machine.

use crate::{CallCost, ModelProfile, Reservation};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use windlass_context::{FileInstructions, ServerInstructions};
use windlass_permission::{CallFacts, Classified, Policy, SettingsRules};
use windlass_types::{
    AgentId, AgentIdentity, AuditedDecision, ContentBlock, DecisionReason, EditPreview, Effort, Entry, EntryId, Event,
    EventKind, HookCall, HookEventName, HookOutcome, JsonText, ModelErrorKind, ModelItem, ModelRequest, ModelUsage,
    NanoUsd, PendingQuestion, PermissionAnswer, PermissionMode, PermissionRequest, PermissionUpdate, Prompt, RateLimit,
    TaskEnded, TaskId, TaskInfo, TaskUsage, Thinking, ToolMatcher, ToolOutcome, ToolSpec, ToolUse, ToolUseId, Usage,
};

/// Id of one effect; results refer to it. Increases with time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EffectId(pub(crate) u64);

impl EffectId {
    /// Id outside every machine, for a spender with a single request.
    pub const BESIDE: Self = Self(u64::MAX);

    /// Returns the position of the effect among all effects of its machine.
    pub fn get(self) -> u64 {
        self.0
    }
}

/// Output of a machine.
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "drivers must handle every output")]
pub enum Output {
    /// An event for the host.
    Event(Box<Event>),
    /// An effect for the driver.
    Effect(EffectId, Effect),
    /// The session is closed: nothing follows, and everything is durable.
    Closed,
    /// The store refused an entry: nothing follows.
    Broken(StoreFailure),
}

/// Operation that a driver performs. An interrupted session is recovered by folding its log, never by replaying inputs.
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "drivers must handle every effect")]
pub enum Effect {
    /// Reserve the maximum cost of a model request from the session's ledger. Answered by [`Input::Reserved`], possibly
    /// only when requests of other agents have ended. A cancel withdraws the reservation, even after the grant. Without
    /// a budget there is no answer: the request is sent at once.
    Reserve(CallCost),
    /// Book the cost of an ended model request, and free its reservation. Not answered.
    Settle {
        /// [`Effect::Reserve`] of the request, if there was one.
        reservation: Option<EffectId>,
        /// Model that answered.
        model: String,
        /// Tokens and cost of the request.
        call: Box<ModelUsage>,
    },
    /// Call the model. Answered by [`Input::Model`] items, then either the item with `MessageStop` or one
    /// [`Input::ModelFailed`].
    CallModel(Arc<ModelRequest>),
    /// Prepare a call: schema, typed input, access, paths. Answered by [`Input::Prepared`].
    Prepare {
        /// Call with its current input.
        call: ToolUse,
        /// Directory that the call starts in.
        cwd: PathBuf,
    },
    /// Run the hooks. Answered by [`Input::Hooked`]. For a prompt, [`Input::Attached`] may come before it.
    RunHooks {
        /// Hook event with its data.
        call: HookCall,
        /// Current directory.
        cwd: PathBuf,
        /// Attachments of the prompt, if the event is about one that may enter the conversation.
        attach: Attach,
    },
    /// Ask the classifier of auto mode about a call that rules leave undecided. Answered by [`Input::Classified`].
    Classify {
        /// Facts of the call.
        facts: Box<CallFacts>,
        /// Reason why the call is undecided, in a sentence.
        why: String,
    },
    /// Ask the PermissionRequest hooks and the host, at the same time. Answered by [`Input::Answered`]: a deny of
    /// either at once, an allow when all hooks have answered. [`Input::AskedHooks`] may come before it.
    ///
    /// In a run that waits for answers, an answer left by another process also counts. Without any answer the effect is
    /// answered by [`Input::Unanswered`].
    Ask {
        /// Permission request.
        request: Box<PermissionRequest>,
        /// Current directory.
        cwd: PathBuf,
        /// Request as recorded in the log, if the run waits for answers.
        kept: Option<Box<PendingQuestion>>,
        /// `true` if a hook defers the call: neither hooks nor host are asked then, and only an answer left by another
        /// process counts.
        deferred: bool,
    },
    /// Take snapshots of the files that a call is about to change. Answered by [`Input::Snapshotted`].
    Snapshot {
        /// Id of the call.
        tool_use_id: ToolUseId,
        /// Entry of the prompt that the run answers.
        prompt: EntryId,
        /// Resolved paths of the files.
        paths: Vec<PathBuf>,
    },
    /// Run an allowed call. Answered by [`Input::Ran`], also after an [`Effect::Cancel`].
    Run(Box<RunCall>),
    /// End the conversation in the log before a prompt, or at the mark of an earlier rewind. Answered by
    /// [`Input::Rewound`].
    Rewind(EntryId),
    /// Append entries to the log, in order. Answered by [`Input::Appended`]: once durable if so requested, else once
    /// passed to the writer.
    Append {
        /// Entries to append.
        entries: Vec<Entry>,
        /// `true` if the answer waits until the entries are durable.
        durable: bool,
    },
    /// Wait for this time. Answered by [`Input::Woke`].
    Sleep(Duration),
    /// Return the result of a call made by [`Input::Made`] to its maker: the end of the call, or the reason of its
    /// refusal. Not answered.
    Return {
        /// [`Effect::Run`] of the maker.
        to: EffectId,
        /// Number of the call, assigned by its maker.
        number: u64,
        /// Outcome of the call.
        outcome: Box<ToolOutcome>,
    },
    /// Stop a background task. Answered by [`Input::TaskEnded`], soon, if the task is running.
    StopTask(TaskId),
    /// Stop an effect. Only an [`Effect::Run`] still answers; an answer to any other effect is ignored.
    Cancel(EffectId),
}

/// Attachments of a prompt, sent in one [`Input::Attached`]. Default: none.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Attach {
    /// User's own words in the prompt, whose mentions are resolved: neither those of a command nor quoted ones.
    pub mentions: Option<String>,
    /// `true` to report files that have changed since the model read them. No tool call is running.
    pub changes: bool,
}

/// A call that may run now.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RunCall {
    /// Call with the input that was decided on.
    pub call: ToolUse,
    /// Facts that were decided on. Other files are out of reach.
    pub facts: CallFacts,
    /// [`Effect::Prepare`] of the call.
    pub prepared: EffectId,
    /// `true` if the call may stay open while an agent that it runs waits for answers: then its outcome may be that [it
    /// waits](ToolOutcome::waits).
    pub may_wait: bool,
    /// Waiting agent of an earlier run of the call, which the call continues.
    pub continues: Option<AgentId>,
}

/// Input of a machine. In one process, the same inputs at the same times produce the same outputs.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_enums, reason = "the set of inputs is the machine's contract with drivers")]
pub enum Input {
    /// A prompt: starts a run, or waits for the end of the current one.
    Prompt(Prompt),
    /// A message for the open run. UserPromptSubmit hooks are asked about it at once, and it joins the conversation at
    /// the next safe point. If the run ends first, it becomes a prompt, before those that wait. Without an open run it
    /// becomes a prompt at once, and so does any kind other than
    /// [`PromptKind::Query`](windlass_types::PromptKind::Query). The event [`Steered`](windlass_types::Steered) reports
    /// its fate.
    Steer(Prompt),
    /// Same as [`Input::Steer`], but never a prompt: a message that cannot be delivered is returned to its sender.
    Offer(Prompt),
    /// Returns a message that waits for a safe point to its sender, by the id that it was sent with.
    Withdraw(EntryId),
    /// Stop the run.
    Interrupt,
    /// Stop one call; the run continues.
    StopTool(ToolUseId),
    /// Call this model from the next request on.
    SetModel(Box<ModelProfile>),
    /// Decide by this mode from now on.
    SetPermissionMode(PermissionMode),
    /// Use this reasoning mode from the next request on.
    SetThinking(Thinking),
    /// Use this effort from the next request on.
    SetEffort(Option<Effort>),
    /// Change permissions, as answers of the host can. An invalid change is reported in a notice.
    UpdatePermissions(Vec<PermissionUpdate>),
    /// Replace the permission rules of the settings files: the first set by the second. Agents get it from the main
    /// one.
    RenewSettings(Box<(SettingsRules, SettingsRules)>),
    /// An agent below this one was billed for a request to this model.
    AgentUsed(Box<ModelProfile>, Usage),
    /// A request to this model was billed that is not part of the conversation, such as one of the classifier.
    Used(Box<ModelProfile>, Usage),
    /// Spending of all agents of the session until now. A machine adds the cost of its own requests; the keeper of the
    /// ledger sends the sum before another input when requests of other agents have changed it.
    SessionSpent(NanoUsd),
    /// Policy of the parent from now on; this agent is permitted no more. Ignored by the main agent.
    Inherit(Box<Policy>),
    /// Progress of a task: its usage until now, and the last tool that it used.
    TaskProgress(TaskId, TaskUsage, Option<String>),
    /// Subscriptions of hooks from now on: the event, and the tool (`None` for all).
    SetHooks(BTreeSet<(HookEventName, Option<ToolMatcher>)>),
    /// Offer these tools from the next request on.
    SetTools(Arc<[Arc<ToolSpec>]>),
    /// Instructions of tool servers from now on. The model reads new ones with the next prompt or results, if a tool of
    /// the server is offered.
    SetInstructions(Arc<[ServerInstructions]>),
    /// Further instruction files. The model reads those that are new to the conversation with the next prompt or
    /// results.
    AddInstructions(Vec<FileInstructions>),
    /// Report this notice to the host: in the current run, or else in the next one.
    Notice(String),
    /// Record a decision about an action that passed the gate without being a call of the conversation.
    Judged(Box<AuditedDecision>),
    /// Texts that the model reads with its next turn.
    AddContext(Vec<String>),
    /// Report to the host that hooks are asked, or have answered, about an event seen by the driver. The model reads
    /// their texts with its next turn.
    Report(Box<EventKind>),
    /// Rewind the conversation to this prompt, or to the mark of an earlier rewind. Happens only in an idle session;
    /// prompts wait meanwhile. File contents, spending, mode and current directory stay.
    Rewind(EntryId),
    /// End the session: stop the run, then close.
    Close,
    /// Close the session without an end of its run: it leaves at its next safe point, and another opening continues it.
    /// Messages that wait stay in the log.
    HandOver,
    /// Leave the run of a session that is being handed over at once. Running calls are stopped, and their outcome is
    /// unknown.
    HandOverNow,
    /// Answer of the ledger, or the log's failure to store the reservation: then nothing more is spent.
    Reserved(EffectId, Result<Reservation, StoreFailure>),
    /// An item of a model's stream.
    Model(EffectId, ModelItem),
    /// A model other than the requested one answers, and its price is known: the request is booked for it.
    AnsweredBy(EffectId, Box<ModelProfile>),
    /// A model request failed, or its stream ended early.
    ModelFailed(EffectId, ModelFailure),
    /// Result of the preparation of a call.
    Prepared(EffectId, Result<Box<Prepared>, Unprepared>),
    /// Attachments of the prompt that [`Effect::RunHooks`] is about, such as the files that it mentions: the model
    /// reads them after the prompt. Comes before [`Input::Hooked`], if at all. Only for
    /// [`HookEventName::UserPromptSubmit`].
    Attached(EffectId, Vec<ContentBlock>),
    /// Outcome of hooks.
    Hooked(EffectId, Box<HookOutcome>),
    /// Verdict of the classifier, or its failure to give one.
    Classified(EffectId, Classified),
    /// Outcome of PermissionRequest hooks for a request that is not answered yet.
    AskedHooks(EffectId, Box<HookOutcome>),
    /// Answer to a permission request.
    Answered(EffectId, PermissionAnswer),
    /// No answer is available now to a permission request of a run that waits for answers.
    Unanswered(EffectId, Unanswered),
    /// Result of the snapshots of files.
    Snapshotted(EffectId, Result<(), String>),
    /// Progress of a call, in words.
    Progress(EffectId, String),
    /// An agent of a running call is about to send a permission request that is kept. From now on the log records that
    /// the call waits for the agent, so that the request survives the end of the process. Only for a call that [may
    /// wait](RunCall::may_wait).
    AgentAsks(EffectId, Box<AgentIdentity>),
    /// A running call makes a call of another tool: its maker's number for it, the tool and its input. Answered by one
    /// [`Effect::Return`].
    Made(EffectId, u64, String, JsonText),
    /// A running call started work that continues in the background.
    TaskStarted(EffectId, Box<TaskInfo>),
    /// Background work ended.
    TaskEnded(Box<TaskEnded>),
    /// A call ended.
    Ran(EffectId, Box<ToolOutcome>),
    /// Result of an append.
    Appended(EffectId, Result<(), StoreFailure>),
    /// Entries of the conversation after the rewind. `None`: the rewind failed, and the conversation is unchanged.
    Rewound(EffectId, Option<Vec<Entry>>),
    /// Time for which the log has not answered any append. Repeated while that lasts.
    LogSilent(Duration),
    /// The lease of the log is lost, or about to expire: the session ends, and all effects with it.
    LogLost(StoreFailure),
    /// Time for which the host has waited for the log of a closed session, before it gave up.
    GiveUpLog(Duration),
    /// A wait is over.
    Woke(EffectId),
}

/// Reason why a permission request has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a driver must be able to say each of them")]
pub enum Unanswered {
    /// No answer has arrived: the request stays open.
    Yet,
    /// An invalid answer, with the reason in words. The request is sent again, with another id and token.
    Unusable(String),
}

/// A prepared call.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Prepared {
    /// Facts for the policy. Their input is the one that runs: if it differs from the given one, the log records that
    /// the tool's schema changed it.
    pub facts: CallFacts,
    /// One line that names the action of the call.
    pub title: String,
    /// `true` if the tool claims to be read-only. Then the call runs beside other readers; no permission follows from
    /// it.
    pub hinted_read_only: bool,
    /// Preview of the changes to files, for people.
    pub edits: Option<EditPreview>,
}

impl Prepared {
    /// Returns a prepared call, not hinted read-only, without edits.
    pub fn new(facts: CallFacts, title: impl Into<String>) -> Self {
        Self { facts, title: title.into(), hinted_read_only: false, edits: None }
    }
}

/// A call that cannot be prepared.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unprepared {
    /// Reason: an unknown tool or an invalid input.
    pub reason: DecisionReason,
    /// Text for the model.
    pub text: String,
}

impl Unprepared {
    /// Returns a call that cannot be prepared.
    pub fn new(reason: DecisionReason, text: impl Into<String>) -> Self {
        Self { reason, text: text.into() }
    }
}

/// A failed model request, as data.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModelFailure {
    /// Kind of the failure, which decides about a retry.
    pub kind: ModelErrorKind,
    /// Description of the failure, in a sentence for the user.
    pub message: String,
    /// HTTP status, if there was one.
    pub status: Option<u16>,
    /// Wait requested by the provider before a retry.
    pub retry_after: Option<Duration>,
    /// Retry decision of the provider, if its answer contains one. Takes precedence over the kind.
    pub should_retry: Option<bool>,
    /// `true` if the provider certainly bills nothing: no model had the request.
    pub unbilled: bool,
    /// Rate limit of the subscription, if the provider reported one.
    pub rate_limit: Option<Box<RateLimit>>,
    /// Context window of the model in tokens, if a refusal as too long names it.
    pub context_window: Option<u64>,
    /// `true` if the model accepts no images: the same request without them may be answered.
    pub refuses_images: bool,
    /// 32 random bits, for the jitter of a wait.
    pub jitter: u32,
}

impl ModelFailure {
    /// Returns a failure without status and wait hint.
    pub fn new(kind: ModelErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            status: None,
            retry_after: None,
            should_retry: None,
            unbilled: false,
            rate_limit: None,
            context_window: None,
            refuses_images: false,
            jitter: 0,
        }
    }
}

/// Kind of a store failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StoreFailureKind {
    /// The store refused an entry.
    Refused,
    /// The store does not answer.
    Unanswered,
}

/// A refusal of the store, or its failure to answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct StoreFailure {
    /// Kind of the failure.
    pub kind: StoreFailureKind,
    /// Reason, and a remedy.
    pub message: String,
}

impl StoreFailure {
    /// Returns a refusal. `message`: reason and remedy.
    pub fn new(message: impl Into<String>) -> Self {
        Self { kind: StoreFailureKind::Refused, message: message.into() }
    }

    /// Returns the failure of a store that has not answered for this long. `unsaved`: description of the unacknowledged
    /// entries.
    pub fn unanswered(silence: Duration, unsaved: &str) -> Self {
        let unsaved = if unsaved.is_empty() { "what came after that" } else { unsaved };
        let message = format!(
            "the session log did not answer for {} seconds; this may not be stored: {unsaved}. Look at the disk, then \
             resume the session",
            silence.as_secs()
        );
        Self { kind: StoreFailureKind::Unanswered, message }
    }
}

//! What goes into a machine and what comes out.

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

/// The name of one effect; results refer to it. Increases with time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EffectId(pub(crate) u64);

impl EffectId {
    /// No effect of a machine: what a holder of money asks for that has one call only.
    pub const BESIDE: Self = Self(u64::MAX);

    /// The position of the effect among all of its machine.
    pub fn get(self) -> u64 {
        self.0
    }
}

/// What comes out of a machine.
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "drivers must handle every output")]
pub enum Output {
    /// For the host.
    Event(Box<Event>),
    /// For the driver to carry out.
    Effect(EffectId, Effect),
    /// The session is closed: nothing follows, and everything is durable.
    Closed,
    /// The store refused an entry: nothing follows.
    Broken(StoreFailure),
}

/// What a driver carries out. All are data: a durable driver can journal them.
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "drivers must handle every effect")]
pub enum Effect {
    /// Ask the ledger of the session for what a model call may cost. Answered by [`Input::Reserved`], perhaps only when
    /// calls of other agents have ended. Cancelled, it is taken back, also after it was granted. Without a budget it is not
    /// answered: the call is made at once.
    Reserve(CallCost),
    /// A model call has ended: book what it cost, and free what was held for it. Not answered.
    Settle {
        /// The [`Effect::Reserve`] of the call, if it needed one.
        reservation: Option<EffectId>,
        /// The model that answered.
        model: String,
        /// Tokens and cost of the call.
        call: Box<ModelUsage>,
    },
    /// Call the model. Answered by [`Input::Model`] items, then either the item
    /// with `MessageStop` or one [`Input::ModelFailed`].
    CallModel(Arc<ModelRequest>),
    /// Read a call: schema, typed input, access, paths. Answered by [`Input::Prepared`].
    Prepare {
        /// The call with its current input.
        call: ToolUse,
        /// The directory that it starts in.
        cwd: PathBuf,
    },
    /// Ask the hooks. Answered by [`Input::Hooked`]. For a prompt, [`Input::Attached`] may come before it.
    RunHooks {
        /// The occasion.
        call: HookCall,
        /// The current directory.
        cwd: PathBuf,
        /// What is to be attached to the prompt, if this is about one that may enter the conversation.
        attach: Attach,
    },
    /// Ask the classifier of the mode auto about a call that rules leave undecided. Answered by [`Input::Classified`].
    Classify {
        /// The call.
        facts: Box<CallFacts>,
        /// Why it is undecided, in a sentence.
        why: String,
    },
    /// Ask the PermissionRequest hooks and the host, at the same time. Answered
    /// by [`Input::Answered`]: a deny of either at once, an allow when all hooks
    /// have answered. [`Input::AskedHooks`] may come before it.
    ///
    /// In a run that waits for answers also an answer counts that another process has left, and without any answer it is
    /// [`Input::Unanswered`].
    Ask {
        /// The question.
        request: Box<PermissionRequest>,
        /// The current directory.
        cwd: PathBuf,
        /// The question as the log has it, if the run waits for answers.
        kept: Option<Box<PendingQuestion>>,
        /// Whether a hook wants the call to be kept for later: neither hooks nor host are asked then, and only an answer
        /// counts that another process has left.
        deferred: bool,
    },
    /// Keep the files that a call is about to change. Answered by [`Input::Snapshotted`].
    Snapshot {
        /// The call.
        tool_use_id: ToolUseId,
        /// The entry of the prompt that its run answers.
        prompt: EntryId,
        /// The files, resolved.
        paths: Vec<PathBuf>,
    },
    /// Run a call that was allowed. Answered by [`Input::Ran`], also after a
    /// [`Effect::Cancel`].
    Run(Box<RunCall>),
    /// End the conversation in the log before a prompt, or where an earlier rewind has left it. Answered by
    /// [`Input::Rewound`].
    Rewind(EntryId),
    /// Append entries to the log, in order. Answered by [`Input::Appended`],
    /// when durable if so asked, else when handed to the writer.
    Append {
        /// The entries.
        entries: Vec<Entry>,
        /// Whether the answer waits until they are durable.
        durable: bool,
    },
    /// Wait. Answered by [`Input::Woke`].
    Sleep(Duration),
    /// Hand a call back to the one that made it, by [`Input::Made`]: its end, or why it was not made. Not answered.
    Return {
        /// The [`Effect::Run`] of the call that made it.
        to: EffectId,
        /// The number that its maker gave it.
        number: u64,
        /// How it ended.
        outcome: Box<ToolOutcome>,
    },
    /// Ask background work to stop. Answered by [`Input::TaskEnded`], soon, if it
    /// is running.
    StopTask(TaskId),
    /// Stop an effect. Only a [`Effect::Run`] still answers; of all others an answer is ignored.
    Cancel(EffectId),
}

/// What the driver attaches to a prompt, in one [`Input::Attached`]. Default: nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Attach {
    /// The user's own words in the prompt, whose mentions are looked up: neither those of a command nor quoted ones.
    pub mentions: Option<String>,
    /// Which files have changed since the model read them. No call of a tool is running.
    pub changes: bool,
}

/// A call that may run now.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RunCall {
    /// The call with the input that was judged.
    pub call: ToolUse,
    /// What was judged. Files other than these are out of reach.
    pub facts: CallFacts,
    /// The [`Effect::Prepare`] that read it.
    pub prepared: EffectId,
    /// Whether it may stay open while an agent that it runs waits for answers: then its outcome may be that
    /// [it waits](ToolOutcome::waits).
    pub may_wait: bool,
    /// The agent that it has run before, which waited: the call continues that one.
    pub continues: Option<AgentId>,
}

/// What goes into a machine. All are data: recorded and given again, they lead to the same outputs.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_enums, reason = "the set of inputs is the machine's contract with drivers")]
pub enum Input {
    /// A prompt: starts a run, or waits for the one before to end.
    Prompt(Prompt),
    /// A message for the open run. UserPromptSubmit hooks are asked about it at once, and it joins the conversation at
    /// the next safe point. If the run ends first, it becomes a prompt, before those that wait. Without an open run it
    /// becomes a prompt at once, and so does any kind other than
    /// [`PromptKind::Query`](windlass_types::PromptKind::Query). The event [`Steered`](windlass_types::Steered)
    /// reports what became of it.
    Steer(Prompt),
    /// As [`Input::Steer`], but never a prompt: a message that cannot be delivered is returned to its sender.
    Offer(Prompt),
    /// Returns a message that waits for a safe point to its sender, by the id that it was sent with.
    Withdraw(EntryId),
    /// Stop the run.
    Interrupt,
    /// Stop one call; the run continues.
    StopTool(ToolUseId),
    /// Call this model from the next request on.
    SetModel(Box<ModelProfile>),
    /// Judge by this mode from now on.
    SetPermissionMode(PermissionMode),
    /// Reason like this from the next request on.
    SetThinking(Thinking),
    /// Use this effort from the next request on.
    SetEffort(Option<Effort>),
    /// Change what is permitted, as answers of the host can. A change that cannot be used is reported in a notice.
    UpdatePermissions(Vec<PermissionUpdate>),
    /// Settings files said the first of permissions and say the second now. Agents get it from the main one.
    RenewSettings(Box<(SettingsRules, SettingsRules)>),
    /// An agent below this one was billed for a call of this model.
    AgentUsed(Box<ModelProfile>, Usage),
    /// A call of this model was billed that is no part of the conversation, such as one of the classifier.
    Used(Box<ModelProfile>, Usage),
    /// All agents of the session have spent this until now. A machine adds what its own calls cost; the
    /// keeper of the ledger gives it the sum before another input when calls of other agents have changed it.
    SessionSpent(NanoUsd),
    /// The policy of the parent from now on; this agent is permitted no more. Ignored by the main agent.
    Inherit(Box<Policy>),
    /// A task reports progress: its usage until now, and the last tool that it used.
    TaskProgress(TaskId, TaskUsage, Option<String>),
    /// Ask the hooks on these occasions from now on: the event, and the tool (`None` for all).
    SetHooks(BTreeSet<(HookEventName, Option<ToolMatcher>)>),
    /// Offer these tools from the next request on.
    SetTools(Arc<[Arc<ToolSpec>]>),
    /// The instructions of tool servers from now on. The model reads new ones with the next prompt or results, if a
    /// tool of the server is offered.
    SetInstructions(Arc<[ServerInstructions]>),
    /// More instructions of files. The model reads those that are new to the conversation with the next prompt or results.
    AddInstructions(Vec<FileInstructions>),
    /// Report this to the host: in the current run, or else in the next one.
    Notice(String),
    /// A verdict on what passed the gate without being a call of the conversation: it is recorded.
    Judged(Box<AuditedDecision>),
    /// The model reads these texts with its next turn.
    AddContext(Vec<String>),
    /// Hooks are asked, or have answered, about something that the driver has seen: report that to the host. What they
    /// say to the model, it reads with its next turn.
    Report(Box<EventKind>),
    /// Rewind the conversation to this prompt, or to the mark of an earlier rewind. Only a session that is idle does it;
    /// prompts wait meanwhile. What files hold, what was spent, the mode and the current directory stay.
    Rewind(EntryId),
    /// End the session: stop the run, then close.
    Close,
    /// The ledger has answered, or the log refused to hold what was reserved: then nothing more is spent.
    Reserved(EffectId, Result<Reservation, StoreFailure>),
    /// An item of a model's stream.
    Model(EffectId, ModelItem),
    /// Another model answers a model call than the one that was asked, and its price is known: the call is booked for it.
    AnsweredBy(EffectId, Box<ModelProfile>),
    /// A model call failed, or its stream ended early.
    ModelFailed(EffectId, ModelFailure),
    /// A call was read, or cannot be.
    Prepared(EffectId, Result<Box<Prepared>, Unprepared>),
    /// What belongs to the prompt that [`Effect::RunHooks`] is asked about, such as the files that it mentions: the model
    /// reads it behind the prompt. Comes before [`Input::Hooked`], if at all. Only for
    /// [`HookEventName::UserPromptSubmit`].
    Attached(EffectId, Vec<ContentBlock>),
    /// Hooks answered.
    Hooked(EffectId, Box<HookOutcome>),
    /// The classifier answered, or gave no verdict.
    Classified(EffectId, Classified),
    /// PermissionRequest hooks ran for a question that is not answered yet.
    AskedHooks(EffectId, Box<HookOutcome>),
    /// A question is answered.
    Answered(EffectId, PermissionAnswer),
    /// No one answers a question of a run that waits for answers now.
    Unanswered(EffectId, Unanswered),
    /// Files were kept, or could not be.
    Snapshotted(EffectId, Result<(), String>),
    /// A call reports progress, in words.
    Progress(EffectId, String),
    /// An agent that a running call runs is about to ask a question that is kept: from now on the log says that the call waits for
    /// it, so that the question survives the end of the process. Only for a call that [may wait](RunCall::may_wait).
    AgentAsks(EffectId, Box<AgentIdentity>),
    /// A running call makes a call of another tool: its maker's number for it, the tool and its input. Answered by one
    /// [`Effect::Return`].
    Made(EffectId, u64, String, JsonText),
    /// A running call left work behind that continues in the background.
    TaskStarted(EffectId, Box<TaskInfo>),
    /// Background work ended.
    TaskEnded(Box<TaskEnded>),
    /// A call ended.
    Ran(EffectId, Box<ToolOutcome>),
    /// Entries were appended, or refused.
    Appended(EffectId, Result<(), StoreFailure>),
    /// The conversation was rewound: the entries that it consists of now. `None`: it was not, and stays as it is.
    Rewound(EffectId, Option<Vec<Entry>>),
    /// The log has answered no append for this long. Given again while that lasts.
    LogSilent(Duration),
    /// The host waits no longer for the log of a session that it has closed: it has waited for this long.
    GiveUpLog(Duration),
    /// A wait is over.
    Woke(EffectId),
}

/// Why a question has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a driver must be able to say each of them")]
pub enum Unanswered {
    /// None has come: the question stays open.
    Yet,
    /// There is an answer that does not count, in words why. The question is put anew, under another id and token.
    Unusable(String),
}

/// A call that was read.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Prepared {
    /// The facts that the policy judges. Their input is the one that runs: where it is not the one that was to be read,
    /// the log says that the tool's schema changed it.
    pub facts: CallFacts,
    /// One line that names what it does.
    pub title: String,
    /// Whether its tool claims that it only reads. Then it runs beside other readers; it gets no right from this.
    pub hinted_read_only: bool,
    /// What it would change in files, for people to look at.
    pub edits: Option<EditPreview>,
}

impl Prepared {
    /// A call that was read.
    pub fn new(facts: CallFacts, title: impl Into<String>) -> Self {
        Self { facts, title: title.into(), hinted_read_only: false, edits: None }
    }
}

/// A call that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unprepared {
    /// Whether the tool is unknown or its input unfit.
    pub reason: DecisionReason,
    /// What the model reads.
    pub text: String,
}

impl Unprepared {
    /// A call that cannot be read.
    pub fn new(reason: DecisionReason, text: impl Into<String>) -> Self {
        Self { reason, text: text.into() }
    }
}

/// A failed model call, as data.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModelFailure {
    /// The kind, which decides about a repeat.
    pub kind: ModelErrorKind,
    /// What happened, in a sentence for the user.
    pub message: String,
    /// The HTTP status, if there was one.
    pub status: Option<u16>,
    /// How long the provider asks to wait.
    pub retry_after: Option<Duration>,
    /// Whether the provider wants the request repeated, if its answer has that. It counts before the kind.
    pub should_retry: Option<bool>,
    /// Whether it is certain that the provider bills nothing: no model had the request.
    pub unbilled: bool,
    /// The subscription's allowance, if the provider reported one.
    pub rate_limit: Option<Box<RateLimit>>,
    /// The context window of the model in tokens, if a refusal as too long names it.
    pub context_window: Option<u64>,
    /// `true` if the model takes no images: the same request without them may be answered.
    pub refuses_images: bool,
    /// 32 random bits, for the jitter of a wait.
    pub jitter: u32,
}

impl ModelFailure {
    /// A failure without wait hint.
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

/// How a store failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StoreFailureKind {
    /// It refused an entry.
    Refused,
    /// It does not answer.
    Unanswered,
}

/// The store refused an entry, or did not answer for it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct StoreFailure {
    /// Whether it refused or did not answer.
    pub kind: StoreFailureKind,
    /// Why, and what to do.
    pub message: String,
}

impl StoreFailure {
    /// The store refused. `message`: why, and what to do.
    pub fn new(message: impl Into<String>) -> Self {
        Self { kind: StoreFailureKind::Refused, message: message.into() }
    }

    /// The store has not answered for this long. `unsaved`: the entries that it has not answered for, in words.
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

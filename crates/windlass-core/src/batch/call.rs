//! One tool call and its stages up to the result.

use crate::feedback::Feedback;
use crate::repetition::CallTrace;
use crate::session::Session;
use crate::{EffectId, Unprepared};
use std::sync::Arc;
use windlass_permission::{CallFacts, Classified};
use windlass_types::{
    Access, AgentId, AuditedAnswer, CallDigest, ContextChange, Decision, EditPreview, Entry, EntryId, HookVerdict,
    InputChange, JsonText, MadeCall, PendingQuestion, PermissionAnswer, PermissionRequest, PromptCommand, QuestionId,
    QuestionToken, TaskId, Timestamp, ToolOutcome, ToolResultContent, ToolSpec, ToolUse, ToolUseId, WaitingAgent,
};

/// One tool call.
#[derive(Debug)]
pub(super) struct Call {
    /// Tool use as the model wrote it.
    pub(super) original: ToolUse,
    /// Input that would run: the model's, or its replacement by a hook or the host.
    pub(super) input: JsonText,
    /// Changes that hooks and the host made to the model's input, in order.
    pub(super) input_changes: Vec<InputChange>,
    /// Assistant entry that contains the tool use, once the message is stored.
    pub(super) line: Option<EntryId>,
    pub(super) consent: Consent,
    /// `true` if the result is part of a prompt: no message contains the call.
    pub(super) of_prompt: bool,
    /// Command or skill that the call's program belongs to.
    pub(super) command: Option<Box<PromptCommand>>,
    /// Call that made this one, if no message contains it.
    pub(super) made: Option<Maker>,
    /// `true` if the user stopped the call, before or while it ran.
    pub(super) stopping: bool,
    /// `true` if an earlier run left the call open: its result follows later messages.
    pub(super) is_continued: bool,
    /// Agent run by the call, which waits for answers.
    pub(super) waiting: Option<Box<WaitingAgent>>,
    /// Id of the waiting agent, as recorded in the log.
    pub(super) recorded_waiting: Option<AgentId>,
    pub(super) stage: Stage,
}

/// Answers of hooks and the host about a call.
#[derive(Debug, Default)]
pub(super) struct Consent {
    /// `true` if the PreToolUse hooks have seen the call with its current input.
    pub(super) hooks_asked: bool,
    /// State of the PreSkillShellCommand hooks.
    pub(super) skill_hooks: SkillHooks,
    pub(super) hook_verdict: Option<HookVerdict>,
    /// Digest of the exact call that the host approved.
    pub(super) approved: Option<CallDigest>,
    /// Last permission request about the call that was sent to the host.
    pub(super) asked: Option<QuestionId>,
    /// Answer of the PermissionRequest hooks to that request.
    pub(super) hook_answer: Option<PermissionAnswer>,
    /// Last answered permission request, and who answered.
    pub(super) answer: Option<AuditedAnswer>,
    /// Verdict of the classifier, with the digest of the exact call.
    pub(super) classified: Option<(CallDigest, Classified)>,
    /// Permission request that waits for an answer, if the run waits for answers.
    pub(super) question: Option<Box<Kept>>,
    /// Search for an answer given before this opening of the session.
    pub(super) earlier_answer: EarlierAnswer,
}

/// State of the hooks that a program of a command or skill must pass before the decision on its call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum SkillHooks {
    /// Not asked about the current input.
    #[default]
    Unasked,
    /// Being asked.
    Asked,
    /// Passed.
    Passed,
}

/// Search for an answer that another process gave before this opening repeats the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum EarlierAnswer {
    /// Not begun.
    #[default]
    Unknown,
    /// In progress: nobody is asked meanwhile.
    Sought,
    /// No answer exists.
    Absent,
}

/// Stage of a call.
#[derive(Debug, Default)]
pub(super) enum Stage {
    /// Not prepared.
    #[default]
    New,
    /// Unable to run. Answered when its message is complete.
    Unusable(Unprepared),
    /// Being prepared.
    Preparing(EffectId, Preparing),
    /// Prepared; the decision waits for the message.
    Held(Box<Read>),
    /// Waiting for hooks.
    Hooking(EffectId, Box<Read>),
    /// Waiting for the classifier.
    Classifying(EffectId, Box<Read>),
    /// Waiting until the permission request is durable, because the run waits for answers.
    Keeping(EffectId, Box<Read>),
    /// Waiting for the host.
    Asking(EffectId, Box<Read>),
    /// Left open, because its permission request or its agent waits; the run ends without its result.
    Pending(Option<Box<Read>>),
    /// Allowed, about to run.
    Allowed(Step, Allowed),
    /// Running.
    Running(EffectId, Running),
    /// Finished before its message was complete.
    Early(Box<ToolOutcome>, Running),
    /// Finished; waiting for hooks.
    Reviewing(EffectId, Box<ToolOutcome>, Running),
    /// Answered.
    Settled(Settled),
}

/// State of a call that is being prepared.
#[derive(Debug)]
pub(super) struct Preparing {
    /// Tool offered under the name, if there is one.
    pub(super) tool: Option<Arc<ToolSpec>>,
    /// `true` if the host approved the input that is being prepared.
    pub(super) approves: bool,
}

/// Facts of a prepared call.
#[derive(Debug)]
pub(super) struct Read {
    pub(super) facts: CallFacts,
    /// Access of the call, by resolved paths.
    pub(super) footprint: Access,
    pub(super) title: String,
    pub(super) read_only: bool,
    /// `true` if the tool claims to be read-only: the call may run beside readers. No permission follows from it.
    pub(super) hinted_read_only: bool,
    /// Preview of the changes to files.
    pub(super) edits: Option<EditPreview>,
    /// Effect that prepared the call.
    pub(super) prepared: EffectId,
    /// Tool that the call was prepared for, if it was offered.
    pub(super) tool: Option<Arc<ToolSpec>>,
}

/// A call that may run.
#[derive(Debug)]
pub(super) struct Allowed {
    pub(super) read: Box<Read>,
    pub(super) decision: Decision,
    /// Epoch of the policy at the decision.
    pub(super) epoch: u64,
}

/// Progress of an allowed call towards its run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Waiting for other calls.
    Ready,
    /// Waiting until its intent is durable.
    Intending(EffectId),
    /// Waiting for the snapshots of its files.
    Snapshotting(EffectId),
}

/// A running or finished call.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) allowed: Allowed,
    pub(super) started: Timestamp,
    /// `true` if the host has received the event of its start.
    pub(super) announced: bool,
}

/// Way in which a call is answered.
#[derive(Debug)]
pub(super) enum Settling {
    /// Ran, or could not begin. A verdict that was not stored before is stored with the result.
    Ended(Option<Entry>),
    /// Denied. A verdict that was not stored before is stored with the result.
    Denied(Decision, Option<Entry>),
    /// Stopped before it ran.
    Unrun,
}

/// An answered call.
#[derive(Debug, Default)]
pub(super) struct Settled {
    pub(super) failed: bool,
    /// Changes to the session, until they are applied.
    pub(super) changes: Vec<ContextChange>,
    /// Result for the prompt of the call, or for hooks that are asked about all calls.
    pub(super) given: Option<ToolResultContent>,
}

/// Context of a step of a call.
pub(super) struct Cx<'a> {
    pub(super) session: &'a mut Session,
    pub(super) notes: &'a mut Notes,
    /// `true` when the message is complete and stored.
    pub(super) committed: bool,
    /// `true` when the user has stopped the run.
    pub(super) interrupted: bool,
}

/// Results of a message's calls for the run.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    pub(crate) feedback: Feedback,
    /// `true` if a call returned a valid structured output. `None`: no call returned any.
    pub(crate) output: Option<bool>,
    /// `true` if the host wants to stop the run.
    pub(super) interrupts: bool,
    /// Background tasks that calls want to stop.
    pub(crate) tasks_to_stop: Vec<TaskId>,
    /// Calls of the model with their results, to notice repetitions.
    pub(crate) traces: Vec<CallTrace>,
}

/// The call that made another call.
#[derive(Debug, Clone)]
pub(super) struct Maker {
    /// Effect that runs the maker.
    pub(super) effect: EffectId,
    /// Number of the made call, assigned by the maker.
    pub(super) number: u64,
    pub(super) id: ToolUseId,
    /// Index of the maker among the calls.
    pub(super) at: usize,
}

impl Maker {
    /// Returns the log record of the made call, which no message contains.
    pub(super) fn record(&self, call: &ToolUse) -> MadeCall {
        MadeCall::new(self.id.clone(), call.name.clone(), call.input.clone())
    }
}

/// A permission request recorded in the log.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) question: PendingQuestion,
    /// Token of the request. `None`: an earlier opening of the session asked.
    pub(super) token: Option<QuestionToken>,
    /// Request as last sent.
    pub(super) request: Option<PermissionRequest>,
}

impl Call {
    pub(super) fn new(original: ToolUse, malformed: Option<Unprepared>) -> Self {
        Self {
            input: original.input.clone(),
            input_changes: Vec::new(),
            original,
            line: None,
            consent: Consent::default(),
            of_prompt: false,
            command: None,
            made: None,
            stopping: false,
            is_continued: false,
            waiting: None,
            recorded_waiting: None,
            stage: malformed.map_or(Stage::New, Stage::Unusable),
        }
    }

    /// Returns the call with the input that would run.
    pub(super) fn current(&self) -> ToolUse {
        ToolUse::new(self.original.id.clone(), self.original.name.clone(), self.input.clone())
    }

    /// Returns the facts of the call, if it was prepared with its current input.
    pub(super) fn read(&self) -> Option<&Read> {
        match &self.stage {
            Stage::Held(read)
            | Stage::Hooking(_, read)
            | Stage::Classifying(_, read)
            | Stage::Keeping(_, read)
            | Stage::Asking(_, read) => Some(read),
            Stage::Pending(read) => read.as_deref(),
            Stage::Allowed(_, allowed) => Some(&allowed.read),
            Stage::Running(_, running) | Stage::Early(_, running) | Stage::Reviewing(_, _, running) => {
                Some(&running.allowed.read)
            }
            Stage::New | Stage::Unusable(_) | Stage::Preparing(..) | Stage::Settled(_) => None,
        }
    }

    /// Returns the tool that the call was or is being prepared for.
    pub(super) fn tool(&self) -> Option<&Arc<ToolSpec>> {
        match &self.stage {
            Stage::Preparing(_, preparing) => preparing.tool.as_ref(),
            _ => self.read()?.tool.as_ref(),
        }
    }

    pub(super) fn is_settled(&self) -> bool {
        matches!(self.stage, Stage::Settled(_))
    }

    /// `true` if the call is still in progress: neither answered nor done early.
    pub(super) fn is_open(&self) -> bool {
        !matches!(self.stage, Stage::Settled(_) | Stage::Early(..))
    }

    /// `true` if the call is about to run or runs: it occupies a slot, and its paths are taken.
    pub(super) fn has_begun(&self) -> bool {
        match &self.stage {
            Stage::Allowed(step, _) => *step != Step::Ready,
            stage => matches!(stage, Stage::Running(..)),
        }
    }

    /// Returns the effect that the call waits for, if any.
    pub(super) fn waits_for(&self) -> Option<EffectId> {
        match &self.stage {
            Stage::Preparing(effect, _)
            | Stage::Hooking(effect, _)
            | Stage::Classifying(effect, _)
            | Stage::Keeping(effect, _)
            | Stage::Asking(effect, _)
            | Stage::Allowed(Step::Intending(effect) | Step::Snapshotting(effect), _)
            | Stage::Running(effect, _)
            | Stage::Reviewing(effect, ..) => Some(*effect),
            Stage::New
            | Stage::Unusable(_)
            | Stage::Held(_)
            | Stage::Pending(_)
            | Stage::Allowed(Step::Ready, _)
            | Stage::Early(..)
            | Stage::Settled(_) => None,
        }
    }

    /// Returns the effect that the call waits for, if it can be cancelled: an append cannot.
    pub(super) fn cancellable(&self) -> Option<EffectId> {
        let is_append = matches!(self.stage, Stage::Allowed(Step::Intending(_), _) | Stage::Keeping(..));
        self.waits_for().filter(|_| !is_append)
    }

    /// `true` if two calls must not run at the same time. An unprepared call conflicts with all.
    pub(super) fn conflicts_with(&self, other: &Self) -> bool {
        let (Some(ours), Some(theirs)) = (self.read(), other.read()) else { return true };
        let reads = |read: &Read| read.read_only || read.hinted_read_only;
        if reads(ours) && reads(theirs) {
            return false;
        }
        ours.footprint.conflicts_with(&theirs.footprint)
    }
}

/// Returns the access of a call by resolved paths, so that two names of one file conflict.
pub(super) fn footprint(facts: &CallFacts) -> Access {
    let resolved = || facts.paths.iter().map(|path| path.resolved.clone()).collect();
    match &facts.access {
        Access::Reads(paths) if !paths.is_empty() => Access::Reads(resolved()),
        Access::Writes(_) => Access::Writes(resolved()),
        other => other.clone(),
    }
}

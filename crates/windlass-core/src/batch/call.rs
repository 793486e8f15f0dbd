//! One tool call, and where it is on its way to a result.

use crate::feedback::Feedback;
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
    /// As the model wrote it.
    pub(super) original: ToolUse,
    /// The input that would run: the model's, or what a hook or the host made of it.
    pub(super) input: JsonText,
    /// What hooks and the host made of the model's input, in order.
    pub(super) input_changes: Vec<InputChange>,
    /// The assistant line that holds the tool use, once the message is stored.
    pub(super) line: Option<EntryId>,
    pub(super) consent: Consent,
    /// Whether its result is a part of the prompt: no message holds it.
    pub(super) of_prompt: bool,
    /// The command or skill whose program it runs.
    pub(super) command: Option<Box<PromptCommand>>,
    /// The call that made it, if no message holds it.
    pub(super) made: Option<Maker>,
    /// Whether the user stopped it, before or while it ran.
    pub(super) stopping: bool,
    /// Whether it was left open by an earlier run: its result follows on what came since.
    pub(super) is_continued: bool,
    /// The agent that it has run, which waits for answers.
    pub(super) waiting: Option<Box<WaitingAgent>>,
    /// The agent that it waits for as the log has it.
    pub(super) recorded_waiting: Option<AgentId>,
    pub(super) stage: Stage,
}

/// What hooks and the host have answered about a call.
#[derive(Debug, Default)]
pub(super) struct Consent {
    /// Whether the PreToolUse hooks were asked about the call as it is.
    pub(super) hooks_asked: bool,
    /// The PreSkillShellCommand hooks.
    pub(super) skill_hooks: SkillHooks,
    pub(super) hook_verdict: Option<HookVerdict>,
    /// The exact call that the host approved.
    pub(super) approved: Option<CallDigest>,
    /// The last question about it that was put to the host.
    pub(super) asked: Option<QuestionId>,
    /// What the PermissionRequest hooks answered to that question.
    pub(super) hook_answer: Option<PermissionAnswer>,
    /// The last question that was answered, and by whom.
    pub(super) answer: Option<AuditedAnswer>,
    /// What the classifier said of which exact call.
    pub(super) classified: Option<(CallDigest, Classified)>,
    /// The question that waits for an answer, if the run waits for answers.
    pub(super) question: Option<Box<Kept>>,
    /// The search for an answer that was given to it before this opening.
    pub(super) earlier_answer: EarlierAnswer,
}

/// The hooks that a program of a command or skill has to pass before it is judged as a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum SkillHooks {
    /// Not asked about the call as it is.
    #[default]
    Unasked,
    /// Being asked.
    Asked,
    /// Passed.
    Passed,
}

/// The search for an answer that another process gave before this opening puts the question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum EarlierAnswer {
    /// Not begun.
    #[default]
    Unknown,
    /// In progress: nobody is asked meanwhile.
    Sought,
    /// There is none.
    Absent,
}

/// Where a call is.
#[derive(Debug, Default)]
pub(super) enum Stage {
    /// It has not been read.
    #[default]
    New,
    /// It cannot run. It is answered when its message is complete.
    Unusable(Unprepared),
    /// It is being read.
    Preparing(EffectId, Preparing),
    /// It was read; its judgement waits for the message.
    Held(Box<Read>),
    /// Hooks are asked.
    Hooking(EffectId, Box<Read>),
    /// The classifier is asked.
    Classifying(EffectId, Box<Read>),
    /// The question is being made durable, because the run waits for answers.
    Keeping(EffectId, Box<Read>),
    /// The host is asked.
    Asking(EffectId, Box<Read>),
    /// Its question stays open, or its agent waits, and the run ends without its result.
    Pending(Option<Box<Read>>),
    /// It is on its way to run.
    Allowed(Step, Allowed),
    /// It runs.
    Running(EffectId, Running),
    /// It ran before its message was complete.
    Early(Box<ToolOutcome>, Running),
    /// It ran; hooks are asked.
    Reviewing(EffectId, Box<ToolOutcome>, Running),
    /// It is answered.
    Settled(Settled),
}

/// A call that is being read.
#[derive(Debug)]
pub(super) struct Preparing {
    /// The tool that it is read for, if that is offered.
    pub(super) tool: Option<Arc<ToolSpec>>,
    /// Whether the host approved the input that is being read.
    pub(super) approves: bool,
}

/// What was read of a call.
#[derive(Debug)]
pub(super) struct Read {
    pub(super) facts: CallFacts,
    /// What it touches, by resolved paths.
    pub(super) footprint: Access,
    pub(super) title: String,
    pub(super) read_only: bool,
    /// Whether its tool claims that it only reads: it may run beside readers. No right follows from it.
    pub(super) hinted_read_only: bool,
    /// What it would change in files.
    pub(super) edits: Option<EditPreview>,
    /// The effect that read it.
    pub(super) prepared: EffectId,
    /// The tool that it was read for, if that was offered.
    pub(super) tool: Option<Arc<ToolSpec>>,
}

/// A call that may run.
#[derive(Debug)]
pub(super) struct Allowed {
    pub(super) read: Box<Read>,
    pub(super) decision: Decision,
    /// The policy's epoch at the decision.
    pub(super) epoch: u64,
}

/// How far a call that may run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// It waits for other calls.
    Ready,
    /// Its intent is being made durable.
    Intending(EffectId),
    /// Its files are being kept.
    Snapshotting(EffectId),
}

/// A call that runs, or ran.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) allowed: Allowed,
    pub(super) started: Timestamp,
    /// Whether the host has read that it runs.
    pub(super) announced: bool,
}

/// How a call comes to its answer.
#[derive(Debug)]
pub(super) enum Settling {
    /// It ran, or could not begin. If its verdict was not stored before, it is stored with the result.
    Ended(Option<Entry>),
    /// It was denied. If the verdict was not stored before, it is stored with the result.
    Denied(Decision, Option<Entry>),
    /// It was stopped before it ran.
    Unrun,
}

/// A call that is answered.
#[derive(Debug, Default)]
pub(super) struct Settled {
    pub(super) failed: bool,
    /// What it changes in the session, until it is applied.
    pub(super) changes: Vec<ContextChange>,
    /// What it gives to the prompt that it belongs to, or to hooks that are asked about all calls.
    pub(super) given: Option<ToolResultContent>,
}

/// What a call works with.
pub(super) struct Cx<'a> {
    pub(super) session: &'a mut Session,
    pub(super) notes: &'a mut Notes,
    /// Whether the message is complete and stored.
    pub(super) committed: bool,
    /// Whether the user has stopped the run.
    pub(super) interrupted: bool,
}

/// What the calls of a message leave for the run.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    pub(crate) feedback: Feedback,
    /// Whether a call gave a structured output that fits. `None`: no call gave any.
    pub(crate) output: Option<bool>,
    /// Whether the host wants the run to be stopped.
    pub(super) interrupts: bool,
    /// Background work that calls want to end.
    pub(crate) tasks_to_stop: Vec<TaskId>,
}

/// The call that made a call.
#[derive(Debug, Clone)]
pub(super) struct Maker {
    /// The effect that runs it.
    pub(super) effect: EffectId,
    /// Its number for the call.
    pub(super) number: u64,
    pub(super) id: ToolUseId,
    /// Where it stands among the calls.
    pub(super) at: usize,
}

impl Maker {
    /// The call for the log, which no message has.
    pub(super) fn record(&self, call: &ToolUse) -> MadeCall {
        MadeCall::new(self.id.clone(), call.name.clone(), call.input.clone())
    }
}

/// A question that the log has.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) question: PendingQuestion,
    /// `None`: it was asked by an earlier opening of the session.
    pub(super) token: Option<QuestionToken>,
    /// As it was put last.
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

    /// The call with the input that would run.
    pub(super) fn current(&self) -> ToolUse {
        ToolUse::new(self.original.id.clone(), self.original.name.clone(), self.input.clone())
    }

    /// What was read of it, if it was read as it is now.
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

    /// The tool that it was read for, or is being read for.
    pub(super) fn tool(&self) -> Option<&Arc<ToolSpec>> {
        match &self.stage {
            Stage::Preparing(_, preparing) => preparing.tool.as_ref(),
            _ => self.read()?.tool.as_ref(),
        }
    }

    pub(super) fn is_settled(&self) -> bool {
        matches!(self.stage, Stage::Settled(_))
    }

    /// Whether it still has a way to go: neither answered nor done early.
    pub(super) fn is_open(&self) -> bool {
        !matches!(self.stage, Stage::Settled(_) | Stage::Early(..))
    }

    /// Whether it is on its way to run: it takes a place among those that run
    /// at the same time, and what it touches is taken.
    pub(super) fn has_begun(&self) -> bool {
        match &self.stage {
            Stage::Allowed(step, _) => *step != Step::Ready,
            stage => matches!(stage, Stage::Running(..)),
        }
    }

    /// The effect that it waits for, if it waits for one.
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

    /// The effect that it waits for, if that can be cancelled: an append cannot.
    pub(super) fn cancellable(&self) -> Option<EffectId> {
        let is_append = matches!(self.stage, Stage::Allowed(Step::Intending(_), _) | Stage::Keeping(..));
        self.waits_for().filter(|_| !is_append)
    }

    /// Whether two calls must not run at the same time. A call that was not
    /// read yet conflicts with all.
    pub(super) fn conflicts_with(&self, other: &Self) -> bool {
        let (Some(ours), Some(theirs)) = (self.read(), other.read()) else { return true };
        let reads = |read: &Read| read.read_only || read.hinted_read_only;
        if reads(ours) && reads(theirs) {
            return false;
        }
        ours.footprint.conflicts_with(&theirs.footprint)
    }
}

/// What a call touches, by resolved paths: two names of one file conflict.
pub(super) fn footprint(facts: &CallFacts) -> Access {
    let resolved = || facts.paths.iter().map(|path| path.resolved.clone()).collect();
    match &facts.access {
        Access::Reads(paths) if !paths.is_empty() => Access::Reads(resolved()),
        Access::Writes(_) => Access::Writes(resolved()),
        other => other.clone(),
    }
}

//! What hooks may answer: an event has one of these types, so what it does not allow cannot be said.

use super::{AnswerKind, HookAction, HookOutcome, HookVerdict};
use crate::{Behavior, JsonText, PermissionAnswer, ToolResultContent};

fn context(text: String) -> HookOutcome {
    HookOutcome { additional_context: vec![text], ..HookOutcome::default() }
}

fn block(hook: &str, reason: String) -> HookOutcome {
    HookOutcome { block: Some(HookVerdict::new(Behavior::Deny, hook, reason)), ..HookOutcome::default() }
}

/// What a hook answers before a tool runs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum PreToolUseAction {
    /// No opinion.
    #[default]
    Continue,
    /// It may run without a question, unless a rule, the safety floor or the mode says otherwise.
    Allow,
    /// Somebody must decide.
    Ask {
        /// Why.
        reason: String,
    },
    /// It does not run.
    Deny {
        /// What the model reads.
        reason: String,
    },
    /// It runs with this input instead, if that is allowed.
    Rewrite {
        /// The whole new input, a JSON object.
        input: JsonText,
    },
}

impl PreToolUseAction {
    /// It does not run; the model reads the reason.
    pub fn deny(reason: impl Into<String>) -> Self {
        Self::Deny { reason: reason.into() }
    }

    /// Somebody must decide.
    pub fn ask(reason: impl Into<String>) -> Self {
        Self::Ask { reason: reason.into() }
    }
}

impl HookAction for PreToolUseAction {
    const KIND: AnswerKind = AnswerKind::Verdict;

    fn into_outcome(self, hook: &str) -> HookOutcome {
        let outcome = HookOutcome::default();
        let (behavior, reason) = match self {
            Self::Continue => return outcome,
            Self::Rewrite { input } => return HookOutcome { updated_input: Some(input), ..outcome },
            Self::Allow => (Behavior::Allow, String::new()),
            Self::Ask { reason } => (Behavior::Ask, reason),
            Self::Deny { reason } => (Behavior::Deny, reason),
        };
        HookOutcome { verdict: Some(HookVerdict::new(behavior, hook, reason)), ..outcome }
    }
}

/// What a hook answers when somebody must decide whether a call may run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum PermissionRequestAction {
    /// No opinion: the host decides.
    #[default]
    Continue,
    /// Answers in the place of the host. A deny counts at once; an allow counts
    /// when no other hook denies.
    Answer(PermissionAnswer),
}

impl HookAction for PermissionRequestAction {
    const KIND: AnswerKind = AnswerKind::Permission;

    fn into_outcome(self, _: &str) -> HookOutcome {
        match self {
            Self::Continue => HookOutcome::default(),
            Self::Answer(answer) => HookOutcome { answer: Some(answer), ..HookOutcome::default() },
        }
    }
}

/// What a hook answers after a tool ran or failed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum PostToolUseAction {
    /// No opinion.
    #[default]
    Continue,
    /// The model reads this beside the result.
    AddContext(String),
    /// The model reads this instead of the result.
    Replace(ToolResultContent),
    /// The model reads that something is wrong with what it did.
    Feedback(String),
    /// The run ends after this batch of tools.
    StopRun(String),
}

impl HookAction for PostToolUseAction {
    const KIND: AnswerKind = AnswerKind::Output;

    fn into_outcome(self, hook: &str) -> HookOutcome {
        let outcome = HookOutcome::default();
        match self {
            Self::Continue => outcome,
            Self::AddContext(text) => context(text),
            Self::Replace(content) => HookOutcome { updated_output: Some(content), ..outcome },
            Self::Feedback(reason) => block(hook, reason),
            Self::StopRun(reason) => HookOutcome { stop: Some(reason), ..outcome },
        }
    }
}

/// What a hook answers before a prompt enters the conversation.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum PromptAction {
    /// It may enter.
    #[default]
    Continue,
    /// It may enter, with this for the model beside it.
    AddContext(String),
    /// It does not enter. A run that it began ends; a run in progress continues.
    Block {
        /// What the user reads.
        reason: String,
    },
}

impl HookAction for PromptAction {
    const KIND: AnswerKind = AnswerKind::Context;

    fn into_outcome(self, hook: &str) -> HookOutcome {
        match self {
            Self::Continue => HookOutcome::default(),
            Self::AddContext(text) => context(text),
            Self::Block { reason } => block(hook, reason),
        }
    }
}

/// What a hook answers when the model is done.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum StopAction {
    /// The run may end.
    #[default]
    Continue,
    /// The model continues, with this feedback.
    KeepGoing {
        /// What it should do.
        feedback: String,
    },
}

impl HookAction for StopAction {
    const KIND: AnswerKind = AnswerKind::Feedback;

    fn into_outcome(self, hook: &str) -> HookOutcome {
        match self {
            Self::Continue => HookOutcome::default(),
            Self::KeepGoing { feedback } => block(hook, feedback),
        }
    }
}

/// What a hook answers before a conversation is replaced by a summary.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum PreCompactAction {
    /// It may be replaced.
    #[default]
    Continue,
    /// It stays as it is.
    Block {
        /// Why.
        reason: String,
    },
}

impl HookAction for PreCompactAction {
    const KIND: AnswerKind = AnswerKind::Context;

    fn into_outcome(self, hook: &str) -> HookOutcome {
        match self {
            Self::Continue => HookOutcome::default(),
            Self::Block { reason } => block(hook, reason),
        }
    }
}

/// What a hook answers when a session is opened.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum SessionStartAction {
    /// No opinion.
    #[default]
    Continue,
    /// The model reads this before the first prompt.
    AddContext(String),
}

impl HookAction for SessionStartAction {
    const KIND: AnswerKind = AnswerKind::Context;

    fn into_outcome(self, _: &str) -> HookOutcome {
        match self {
            Self::Continue => HookOutcome::default(),
            Self::AddContext(text) => context(text),
        }
    }
}

/// There is no answer: the event only informs hooks.
pub type NoAction = ();

impl HookAction for NoAction {
    const KIND: AnswerKind = AnswerKind::None;

    fn into_outcome(self, _: &str) -> HookOutcome {
        HookOutcome::default()
    }
}

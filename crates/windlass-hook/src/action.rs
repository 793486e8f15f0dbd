//! What hooks may answer, one type for each event.

use windlass_types::{JsonText, PermissionAnswer, ToolResultContent};

/// What a hook answers before a tool runs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum PreToolUseAction {
    /// No opinion.
    #[default]
    Continue,
    /// It may run without a question, unless a rule, the safety floor or the mode says otherwise.
    Allow,
    /// Somebody must say.
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

    /// Somebody must say.
    pub fn ask(reason: impl Into<String>) -> Self {
        Self::Ask { reason: reason.into() }
    }
}

/// What a hook answers when somebody must say whether a call may run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum PermissionRequestAction {
    /// No opinion: the host says.
    #[default]
    Continue,
    /// Answers in the place of the host. A deny counts at once; an allow counts
    /// when no other hook denies.
    Answer(PermissionAnswer),
}

/// What a hook answers after a tool ran or failed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum PostToolUseAction {
    /// Nothing.
    #[default]
    Continue,
    /// The model reads this beside the result.
    AddContext(String),
    /// The model reads this instead of the result.
    Replace(ToolResultContent),
    /// The model is told that something is wrong with what it did.
    Feedback(String),
    /// The run ends after this batch of tools.
    StopRun(String),
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
    /// It does not enter; a run that it began ends, one that went on goes on.
    Block {
        /// What the user is told.
        reason: String,
    },
}

/// What a hook answers when the model is done.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum StopAction {
    /// The run may end.
    #[default]
    Continue,
    /// The model goes on, with this feedback.
    KeepGoing {
        /// What it should do.
        feedback: String,
    },
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

/// What a hook answers when a session is opened.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum SessionStartAction {
    /// Nothing.
    #[default]
    Continue,
    /// The model reads this before the first prompt.
    AddContext(String),
}

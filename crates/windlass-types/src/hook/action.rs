//! Answers of hooks: each event has one of these types, so a hook cannot give an answer that the event does not allow.

use super::elicitation::ElicitationReply;
use super::{AnswerKind, HookAction, HookOutcome, HookVerdict};
use crate::{Behavior, JsonError, JsonText, PermissionAnswer, ToolResultContent};
use serde::Serialize;

fn context(text: String) -> HookOutcome {
    HookOutcome { additional_context: vec![text], ..HookOutcome::default() }
}

fn block(hook: &str, reason: String) -> HookOutcome {
    HookOutcome { block: Some(HookVerdict::new(Behavior::Deny, hook, reason)), ..HookOutcome::default() }
}

fn verdict(hook: &str, behavior: Behavior, reason: String) -> HookOutcome {
    HookOutcome { verdict: Some(HookVerdict::new(behavior, hook, reason)), ..HookOutcome::default() }
}

/// Defines the types of answers: after the variants of each stand its kind, and the outcome of each variant beyond
/// `Continue`, which all types have and which changes nothing.
macro_rules! actions {
    ($(
        $(#[$about:meta])*
        $name:ident {
            $(#[$none:meta])*
            Continue,
            $($variants:tt)*
        }
        $kind:ident($hook:ident) { $($outcomes:tt)* }
    )+) => {$(
        $(#[$about])*
        #[derive(Debug, Clone, PartialEq, Eq, Default)]
        #[non_exhaustive]
        pub enum $name {
            $(#[$none])*
            #[default]
            Continue,
            $($variants)*
        }

        impl HookAction for $name {
            const KIND: AnswerKind = AnswerKind::$kind;

            fn into_outcome(self, $hook: &str) -> HookOutcome {
                match self {
                    Self::Continue => HookOutcome::default(),
                    $($outcomes)*
                }
            }
        }
    )+};
}

actions! {
    /// Answer of a hook before a tool runs.
    PreToolUseAction {
        /// No opinion.
        Continue,
        /// The call may run without a question, unless a rule, the safety floor or the mode says otherwise.
        Allow,
        /// The host, or a PermissionRequest hook, must decide.
        Ask {
            /// Reason for asking.
            reason: String,
        },
        /// The call is kept for later, without asking anyone now: the run ends with an open question, if it waits for
        /// answers. Otherwise the call is denied.
        Defer {
            /// Reason for deferring.
            reason: String,
        },
        /// The call does not run.
        Deny {
            /// Reason, as the model reads it.
            reason: String,
        },
        /// The call runs with this input instead, if that is allowed.
        Rewrite {
            /// The whole new input, a JSON object.
            input: JsonText,
        },
    }
    Verdict(hook) {
        Self::Allow => verdict(hook, Behavior::Allow, String::new()),
        Self::Ask { reason } => verdict(hook, Behavior::Ask, reason),
        Self::Defer { reason } => {
            HookOutcome { verdict: Some(HookVerdict::defer(hook, reason)), ..HookOutcome::default() }
        }
        Self::Deny { reason } => verdict(hook, Behavior::Deny, reason),
        Self::Rewrite { input } => HookOutcome { updated_input: Some(input), ..HookOutcome::default() },
    }

    /// Answer of a hook to a permission request.
    PermissionRequestAction {
        /// No opinion: the host decides.
        Continue,
        /// Answers in place of the host. A deny applies at once, an allow only when no other hook denies.
        Answer(PermissionAnswer),
    }
    Permission(_hook) {
        Self::Answer(answer) => HookOutcome { answer: Some(answer), ..HookOutcome::default() },
    }

    /// Answer of a hook after a tool ran or failed.
    PostToolUseAction {
        /// No opinion.
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
    Output(hook) {
        Self::AddContext(text) => context(text),
        Self::Replace(content) => HookOutcome { updated_output: Some(content), ..HookOutcome::default() },
        Self::Feedback(reason) => block(hook, reason),
        Self::StopRun(reason) => HookOutcome { stop: Some(reason), ..HookOutcome::default() },
    }

    /// Answer of a hook before a prompt enters the conversation.
    PromptAction {
        /// The prompt may enter.
        Continue,
        /// The prompt may enter, with this text for the model beside it.
        AddContext(String),
        /// The prompt does not enter. A run that it began ends; a run in progress continues.
        Block {
            /// Reason, as the user reads it.
            reason: String,
        },
    }
    Context(hook) {
        Self::AddContext(text) => context(text),
        Self::Block { reason } => block(hook, reason),
    }

    /// Answer of a hook when the model is done.
    StopAction {
        /// The run may end.
        Continue,
        /// The model continues, with this feedback, a limited number of times in a run (eight, if the host sets no other
        /// number). After that the run ends as for [`StopAction::Continue`], with a notice.
        KeepGoing {
            /// Feedback for the model.
            feedback: String,
        },
    }
    Feedback(hook) {
        Self::KeepGoing { feedback } => block(hook, feedback),
    }

    /// Answer of a hook before a conversation is replaced by a summary.
    PreCompactAction {
        /// The conversation may be replaced.
        Continue,
        /// The conversation stays as it is.
        Block {
            /// Reason for blocking.
            reason: String,
        },
    }
    Context(hook) {
        Self::Block { reason } => block(hook, reason),
    }

    /// Answer of a hook when all calls of a message are answered.
    BatchAction {
        /// The model reads the results.
        Continue,
        /// The model reads this beside the results.
        AddContext(String),
        /// The run ends before the model reads the results.
        StopRun {
            /// Reason for ending the run.
            reason: String,
        },
    }
    Context(hook) {
        Self::AddContext(text) => context(text),
        Self::StopRun { reason } => block(hook, reason),
    }

    /// Answer of a hook to a question of an MCP server, or to the user's answer before the server gets it.
    ElicitationAction {
        /// No opinion: the user is asked, or the answer stays.
        Continue,
        /// The server gets this answer. The strictest of several hooks' answers wins.
        Reply(ElicitationReply),
    }
    Elicitation(_hook) {
        Self::Reply(reply) => HookOutcome { elicitation: Some(reply), ..HookOutcome::default() },
    }

    /// Answer of a hook before changed settings are applied.
    ConfigAction {
        /// The change is applied.
        Continue,
        /// The settings stay as they are. A change of managed settings is applied in any case.
        Block {
            /// Reason for blocking.
            reason: String,
        },
    }
    Context(hook) {
        Self::Block { reason } => block(hook, reason),
    }

    /// Answer of a hook to an event that has already happened.
    FeedbackAction {
        /// No opinion.
        Continue,
        /// The model reads this with its next turn.
        AddContext(String),
        /// The model reads with its next turn that something is wrong.
        Feedback(String),
    }
    Context(hook) {
        Self::AddContext(text) => context(text),
        Self::Feedback(reason) => block(hook, reason),
    }

    /// Answer of a hook when a session is opened.
    SessionStartAction {
        /// No opinion.
        Continue,
        /// The model reads this before the first prompt.
        AddContext(String),
    }
    Context(_hook) {
        Self::AddContext(text) => context(text),
    }
}

impl PreToolUseAction {
    /// The call does not run; the model reads the reason.
    pub fn deny(reason: impl Into<String>) -> Self {
        Self::Deny { reason: reason.into() }
    }

    /// The call runs with this input instead, if that is allowed: the whole input, which is a JSON object.
    ///
    /// ```
    /// # use windlass_types::hook::action as windlass;
    /// use windlass::PreToolUseAction;
    ///
    /// let quiet = PreToolUseAction::rewrite(serde_json::json!({ "command": "cargo test --quiet" }))?;
    /// # assert!(PreToolUseAction::rewrite("cargo test").is_err());
    /// # Ok::<(), windlass_types::JsonError>(())
    /// ```
    ///
    /// # Errors
    /// The value cannot be written as JSON, or is not an object.
    pub fn rewrite(input: impl Serialize) -> Result<Self, JsonError> {
        let input = JsonText::of(&input)?;
        match input.is_object() {
            true => Ok(Self::Rewrite { input }),
            false => Err(JsonError::new("the input of a tool must be a JSON object")),
        }
    }

    /// The call is kept for later; the person who answers then reads the reason.
    pub fn defer(reason: impl Into<String>) -> Self {
        Self::Defer { reason: reason.into() }
    }

    /// The host, or a PermissionRequest hook, must decide, and reads the reason.
    pub fn ask(reason: impl Into<String>) -> Self {
        Self::Ask { reason: reason.into() }
    }
}

/// No answer: the event only informs hooks.
pub type NoAction = ();

impl HookAction for NoAction {
    const KIND: AnswerKind = AnswerKind::None;

    fn into_outcome(self, _: &str) -> HookOutcome {
        HookOutcome::default()
    }
}

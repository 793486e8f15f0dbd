//! Common properties of all hook answers.

use super::HookOutcome;

/// Kind of answer that an event takes. The kind also selects the format in which another process answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "code that reads answers must know each kind")]
pub enum AnswerKind {
    /// A verdict on a call, another input for it, and context.
    Verdict,
    /// The answer to a question about a call.
    Permission,
    /// Another output, feedback, and context.
    Output,
    /// A block, and context.
    Context,
    /// Feedback with which the model continues.
    Feedback,
    /// The answer to a question of a server.
    Elicitation,
    /// No answer.
    None,
}

/// Answer of a hook to an event. The default has no opinion.
///
/// ```
/// use windlass_types::hook::action::PromptAction;
/// use windlass_types::hook::{AnswerKind, HookAction};
///
/// assert_eq!(PromptAction::KIND, AnswerKind::Context);
/// let outcome = PromptAction::Block { reason: "It holds a secret.".to_owned() }.into_outcome("no-secrets");
/// assert!(outcome.block.is_some());
/// ```
pub trait HookAction: Default + Send {
    /// Kind of the answer.
    const KIND: AnswerKind;

    /// Returns the outcome of an occasion on which the hook named `hook` alone gave this answer.
    fn into_outcome(self, hook: &str) -> HookOutcome;
}

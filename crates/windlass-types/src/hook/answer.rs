//! What every type of answer declares.

use super::HookOutcome;

/// What kind of answer an event takes, which is also how one is read from another process.
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
    /// There is none.
    None,
}

/// What a hook may answer to an event. Its default has no opinion.
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
    /// Its kind.
    const KIND: AnswerKind;

    /// The outcome of an occasion on which this is the answer of the only hook, whose name is given.
    fn into_outcome(self, hook: &str) -> HookOutcome;
}

//! What the hooks of one occasion answer together, and the one place where answers are merged.

use super::{AnswerKind, HookEventName};
use crate::{Behavior, JsonText, PermissionAnswer, ToolResultContent};
use serde::{Deserialize, Serialize};

/// A hook's opinion on a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct HookVerdict {
    /// Whether the call may run, in the hook's opinion.
    pub behavior: Behavior,
    /// The name of the hook.
    pub hook: String,
    /// Why.
    pub reason: String,
}

impl HookVerdict {
    /// A hook's opinion.
    pub fn new(behavior: Behavior, hook: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { behavior, hook: hook.into(), reason: reason.into() }
    }
}

/// What all hooks of one occasion answer together, merged in their declared order.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct HookOutcome {
    /// The names of the hooks that ran, in declared order.
    pub ran: Vec<String>,
    /// PreToolUse: the lowest opinion, deny before ask before allow.
    pub verdict: Option<HookVerdict>,
    /// PermissionRequest: the answer, a deny before an allow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<PermissionAnswer>,
    /// UserPromptSubmit, Stop, PostToolUse, PreCompact: blocks, with the reason as feedback.
    pub block: Option<HookVerdict>,
    /// PreToolUse: the input to use instead.
    pub updated_input: Option<JsonText>,
    /// PostToolUse: what the model reads instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_output: Option<ToolResultContent>,
    /// Context for the model.
    pub additional_context: Vec<String>,
    /// Messages for the user.
    pub system_messages: Vec<String>,
    /// Ends the run after this, with a reason.
    pub stop: Option<String>,
    /// Hooks that failed, with what happened.
    pub failures: Vec<(String, String)>,
}

impl HookOutcome {
    /// A hook refuses: the call is denied, or the prompt, the end or the compaction is blocked, depending on the event.
    pub fn refused(event: HookEventName, hook: impl Into<String>, reason: impl Into<String>) -> Self {
        let mut outcome = Self::default();
        match event.answer() {
            AnswerKind::Verdict => outcome.verdict = Some(HookVerdict::new(Behavior::Deny, hook, reason)),
            AnswerKind::Permission => outcome.answer = Some(PermissionAnswer::deny(reason)),
            AnswerKind::Output | AnswerKind::Context | AnswerKind::Feedback | AnswerKind::None => {
                outcome.block = Some(HookVerdict::new(Behavior::Deny, hook, reason));
            }
        }
        outcome
    }

    /// A hook failed. On a gate this counts as a refusal.
    ///
    /// The reason is the text of some library and may hold secrets: it stands in [`failures`](Self::failures), which the
    /// host sees. The model reads of a call that is refused that the hook failed, and no more.
    pub fn failed(event: HookEventName, hook: &str, reason: String) -> Self {
        let for_model = matches!(event.answer(), AnswerKind::Verdict | AnswerKind::Permission);
        let mut outcome = match event.is_gating() {
            true if for_model => Self::refused(event, hook, format!("the hook {hook:?} failed")),
            true => Self::refused(event, hook, reason.clone()),
            false => Self::default(),
        };
        outcome.failures.push((hook.to_owned(), reason));
        outcome
    }

    /// Adds the answer of a hook that is declared later.
    ///
    /// The strictest verdict and the strictest answer count, whatever the order; of equals, and of all else of which
    /// there can be one only, the first. Texts and failures are kept in order.
    pub fn merge(&mut self, later: Self) {
        let Self {
            ran,
            verdict,
            answer,
            block,
            updated_input,
            updated_output,
            additional_context,
            system_messages,
            stop,
            failures,
        } = later;
        self.verdict = strictest(self.verdict.take(), verdict, |verdict| verdict.behavior);
        self.answer = strictest(self.answer.take(), answer, |answer| !matches!(answer, PermissionAnswer::Deny { .. }));
        self.block = self.block.take().or(block);
        self.updated_input = self.updated_input.take().or(updated_input);
        self.updated_output = self.updated_output.take().or(updated_output);
        self.stop = self.stop.take().or(stop);
        self.ran.extend(ran);
        self.additional_context.extend(additional_context);
        self.system_messages.extend(system_messages);
        self.failures.extend(failures);
    }
}

/// The one with the lower rank, the first of equals.
fn strictest<T, R: Ord>(first: Option<T>, later: Option<T>, rank: impl Fn(&T) -> R) -> Option<T> {
    match (first, later) {
        (Some(first), Some(later)) if rank(&later) < rank(&first) => Some(later),
        (first, later) => first.or(later),
    }
}

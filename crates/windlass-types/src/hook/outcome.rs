//! What the hooks of one occasion answer together, and the one place where answers are merged.

use super::{AnswerKind, ElicitationChoice, ElicitationReply, HookEventName};
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
    /// Whether the call is to be kept for later: it asks, and no one is asked now. Default: no.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub defers: bool,
}

impl HookVerdict {
    /// A hook's opinion.
    pub fn new(behavior: Behavior, hook: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { behavior, hook: hook.into(), reason: reason.into(), defers: false }
    }

    /// The call is to be kept for later.
    pub fn defer(hook: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { defers: true, ..Self::new(Behavior::Ask, hook, reason) }
    }
}

/// What the program of a hook has written, for people.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct HookOutput {
    /// The name of the hook.
    pub hook: String,
    /// What it wrote to its output.
    pub stdout: String,
    /// What it wrote to its error output.
    pub stderr: String,
    /// The code that it ended with. `None`: it is no program, or was ended by a signal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
}

impl HookOutput {
    /// The output of a hook that has written nothing yet.
    pub fn new(hook: impl Into<String>) -> Self {
        Self { hook: hook.into(), ..Self::default() }
    }
}

/// What all hooks of one occasion answer together, merged in their declared order.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct HookOutcome {
    /// The names of the hooks that ran, in declared order.
    pub ran: Vec<String>,
    /// PreToolUse: the lowest opinion, deny before defer before ask before allow.
    pub verdict: Option<HookVerdict>,
    /// PermissionRequest: the answer, a deny before an allow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<PermissionAnswer>,
    /// Elicitation, ElicitationResult: the answer for the server, the strictest if there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elicitation: Option<ElicitationReply>,
    /// Of events that can be blocked, or take feedback: the reason.
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
    /// What programs of hooks have written. A hook that runs in this process writes none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<HookOutput>,
}

impl HookOutcome {
    /// A hook refuses: the call is denied, or the prompt, the end or the compaction is blocked, depending on the event.
    pub fn refused(event: HookEventName, hook: impl Into<String>, reason: impl Into<String>) -> Self {
        let mut outcome = Self::default();
        match event.answer() {
            AnswerKind::Verdict => outcome.verdict = Some(HookVerdict::new(Behavior::Deny, hook, reason)),
            AnswerKind::Permission => outcome.answer = Some(PermissionAnswer::deny(reason)),
            AnswerKind::Elicitation => {
                outcome.elicitation = Some(ElicitationReply::new(ElicitationChoice::Decline));
                outcome.block = Some(HookVerdict::new(Behavior::Deny, hook, reason));
            }
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
            elicitation,
            block,
            updated_input,
            updated_output,
            additional_context,
            system_messages,
            stop,
            failures,
            outputs,
        } = later;
        self.verdict = strictest(self.verdict.take(), verdict, |verdict| (verdict.behavior, !verdict.defers));
        self.answer = strictest(self.answer.take(), answer, |answer| !matches!(answer, PermissionAnswer::Deny { .. }));
        self.elicitation = strictest(self.elicitation.take(), elicitation, |reply| reply.action);
        self.block = self.block.take().or(block);
        self.updated_input = self.updated_input.take().or(updated_input);
        self.updated_output = self.updated_output.take().or(updated_output);
        self.stop = self.stop.take().or(stop);
        self.ran.extend(ran);
        self.additional_context.extend(additional_context);
        self.system_messages.extend(system_messages);
        self.failures.extend(failures);
        self.outputs.extend(outputs);
    }
}

/// The one with the lower rank, the first of equals.
fn strictest<T, R: Ord>(first: Option<T>, later: Option<T>, rank: impl Fn(&T) -> R) -> Option<T> {
    match (first, later) {
        (Some(first), Some(later)) if rank(&later) < rank(&first) => Some(later),
        (first, later) => first.or(later),
    }
}

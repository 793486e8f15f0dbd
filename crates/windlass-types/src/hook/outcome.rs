//! Outcome of all hooks of one occasion, and the merging of their answers.

use super::{AnswerKind, ElicitationChoice, ElicitationReply, HookEventName};
use crate::{Behavior, JsonText, PermissionAnswer, ToolResultContent};
use serde::{Deserialize, Serialize};

/// A hook's opinion on a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct HookVerdict {
    /// The hook's opinion: allow, ask or deny.
    pub behavior: Behavior,
    /// The name of the hook.
    pub hook: String,
    /// Reason for the opinion.
    pub reason: String,
    /// `true` if the call is to be kept for later: its behavior is ask, but no one is asked now. Default: `false`.
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

/// Output of a hook's program, for people.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct HookOutput {
    /// The name of the hook.
    pub hook: String,
    /// Standard output.
    pub stdout: String,
    /// Standard error output.
    pub stderr: String,
    /// Exit code. `None`: the hook is no program, or a signal ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
}

impl HookOutput {
    /// The output of a hook that has written nothing yet.
    pub fn new(hook: impl Into<String>) -> Self {
        Self { hook: hook.into(), ..Self::default() }
    }
}

/// Merged answers of all hooks of one occasion, in their declared order.
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
    /// PostToolUse: the output that the model reads instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_output: Option<ToolResultContent>,
    /// Context for the model.
    pub additional_context: Vec<String>,
    /// Messages for the user.
    pub system_messages: Vec<String>,
    /// Ends the run after this, with a reason.
    pub stop: Option<String>,
    /// Names of hooks that failed, each with its reason.
    pub failures: Vec<(String, String)>,
    /// Output of the hooks' programs. A hook that runs in this process writes none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<HookOutput>,
    /// Time from the first question to the last answer, in milliseconds; set by the session.
    #[serde(default)]
    pub duration_ms: u64,
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

    /// A hook failed. On a gating event this is a refusal.
    ///
    /// The reason is a library's text and may hold secrets: it stands in [`failures`](Self::failures), which the host
    /// sees. The model reads only that the hook failed.
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
    /// The strictest verdict and the strictest answer win, in any order of the hooks. Among equals, and for all other
    /// single values, the first wins. Texts and failures are kept in order.
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
            duration_ms,
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
        self.duration_ms = self.duration_ms.max(duration_ms);
    }
}

/// Returns the value with the lower rank, the first of equals.
fn strictest<T, R: Ord>(first: Option<T>, later: Option<T>, rank: impl Fn(&T) -> R) -> Option<T> {
    match (first, later) {
        (Some(first), Some(later)) if rank(&later) < rank(&first) => Some(later),
        (first, later) => first.or(later),
    }
}

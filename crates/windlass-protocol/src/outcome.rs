//! Report of a run's end.

use windlass_types::{Interrupted, Outcome, RunFailure, RunFailureKind, RunResult};

/// End of a run in the terms of the wire.
#[derive(Debug)]
pub(crate) struct WireEnding {
    pub(crate) subtype: &'static str,
    pub(crate) is_error: bool,
    /// Error text, for the subtypes that are errors.
    pub(crate) error: Option<String>,
    /// A failure that is reported in a message of the assistant: its class and text.
    pub(crate) api_error: Option<(&'static str, String)>,
    /// A text in the user's place.
    pub(crate) user_text: Option<&'static str>,
    /// Notice beside the conversation.
    pub(crate) notice: Option<String>,
    pub(crate) terminal_reason: Option<&'static str>,
    pub(crate) num_turns: u32,
    pub(crate) api_error_status: Option<u16>,
    /// Command that was carried out without the model.
    pub(crate) local_command: Option<String>,
    /// `true` for the end of the current turn, `false` for a turn that could not begin.
    pub(crate) is_answer: bool,
}

impl Default for WireEnding {
    fn default() -> Self {
        Self {
            subtype: "success",
            is_error: false,
            error: None,
            api_error: None,
            user_text: None,
            notice: None,
            terminal_reason: None,
            num_turns: 0,
            api_error_status: None,
            local_command: None,
            is_answer: true,
        }
    }
}

impl WireEnding {
    fn success(turns: u32, terminal_reason: &'static str) -> Self {
        Self { subtype: "success", terminal_reason: Some(terminal_reason), num_turns: turns, ..Self::default() }
    }

    fn error(turns: u32, subtype: &'static str, error: String, terminal_reason: Option<&'static str>) -> Self {
        Self { subtype, is_error: true, error: Some(error), terminal_reason, num_turns: turns, ..Self::default() }
    }

    pub(crate) fn of(result: &RunResult) -> Self {
        let turns = result.turns;
        match &result.outcome {
            Outcome::Success | Outcome::Refused => Self::success(turns, "completed"),
            Outcome::StoppedByHook { reason } => {
                Self { notice: Some(reason.clone()), ..Self::success(turns, "hook_stopped") }
            }
            Outcome::PromptBlocked { reason } => {
                Self { notice: Some(reason.clone()), ..Self::success(turns, "hook_stopped") }
            }
            // The reference also counts the turn that did not take place.
            Outcome::MaxTurns { limit } => {
                let error = format!("Reached maximum number of turns ({limit})");
                Self::error(turns.saturating_add(1), "error_max_turns", error, Some("max_turns"))
            }
            Outcome::MaxBudget { limit } => {
                let error = format!("Reached maximum budget (${})", limit.usd());
                Self::error(turns, "error_max_budget_usd", error, Some("budget_exhausted"))
            }
            Outcome::NoStructuredOutput { attempts } => {
                let error =
                    format!("Failed to provide a structured output that fits the schema after {attempts} attempts");
                let reason = Some("structured_output_retry_exhausted");
                Self::error(turns, "error_max_structured_output_retries", error, reason)
            }
            Outcome::Interrupted { during } => {
                let (reason, text) = match during {
                    Interrupted::Tools => ("aborted_tools", Some("[Request interrupted by user for tool use]")),
                    Interrupted::Starting => ("aborted_streaming", None),
                    _ => ("aborted_streaming", Some("[Request interrupted by user]")),
                };
                let error = "The run was interrupted by the user".to_owned();
                Self { user_text: text, ..Self::error(turns, "error_during_execution", error, Some(reason)) }
            }
            // The answer is final, so it is shown, and the stopped work is named besides.
            outcome @ Outcome::BackgroundStopped { .. } => {
                Self { is_error: true, notice: Some(outcome.to_string()), ..Self::success(turns, "completed") }
            }
            Outcome::Pending { .. } => Self::success(turns, "tool_deferred"),
            outcome @ Outcome::HandedOver => {
                Self::error(turns, "error_during_execution", outcome.to_string(), Some("handed_over"))
            }
            Outcome::Failed(failure) => Self::failed(turns, failure),
            _ => Self::error(turns, "error_during_execution", "The run ended in an unknown way".to_owned(), None),
        }
    }

    fn failed(turns: u32, failure: &RunFailure) -> Self {
        let api_failure = |class: &'static str, reason: &'static str| Self {
            is_error: true,
            api_error: Some((class, format!("API Error: {}", failure.message))),
            api_error_status: failure.status,
            ..Self::success(turns, reason)
        };
        match &failure.kind {
            RunFailureKind::Model(kind) => api_failure(kind.word(), "api_error"),
            RunFailureKind::PromptTooLong => api_failure("invalid_request", "prompt_too_long"),
            RunFailureKind::OutputLimit => api_failure("max_output_tokens", "model_error"),
            RunFailureKind::RepeatedToolFailure => {
                let reason = Some("malformed_tool_use_exhausted");
                Self::error(turns, "error_during_execution", failure.message.clone(), reason)
            }
            _ => Self::error(turns, "error_during_execution", failure.message.clone(), None),
        }
    }
}

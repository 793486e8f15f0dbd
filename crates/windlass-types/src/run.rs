//! Continuations and results of runs.

use crate::{
    JsonText, ModelErrorKind, ModelInfo, NanoUsd, PermissionDenial, PermissionRequest, QuestionId, SessionId,
    StopReason, TaskInfo, Usage,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Deref;

/// Reason for a model call of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Continuation {
    /// The first call of a run.
    Prompt,
    /// Tool results are in.
    ToolResults,
    /// A Stop hook asked for more.
    StopHook,
    /// A failed call is repeated.
    Retry,
    /// The fallback model takes over.
    Fallback,
    /// The answer was cut by the output limit.
    MaxOutput,
    /// The provider paused the turn.
    PauseTurn,
    /// A message of the user arrived during the run.
    Steered,
    /// The conversation was compacted.
    Compacted,
    /// The structured output is missing and was requested.
    StructuredOutput,
    /// The run was cut by the end of its process, or handed over, and continues.
    Resumed,
}

/// Origin of a run: the input that it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RunOrigin {
    /// A prompt.
    #[default]
    User,
    /// Background work that ended while no run was in progress.
    TaskNotification,
}

/// Phase in which the user interrupted a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Interrupted {
    /// The model was being called or was streaming.
    Streaming,
    /// Tools were being judged or were running.
    Tools,
    /// Nothing of the run had begun.
    Starting,
}

/// Kind of failure that ended a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RunFailureKind {
    /// A model call failed for good.
    Model(ModelErrorKind),
    /// The prompt does not fit the model's context window.
    PromptTooLong,
    /// A call that gives a part of the prompt was denied or failed, so the prompt was not sent.
    PromptCall,
    /// Tool calls kept failing.
    RepeatedToolFailure,
    /// The model kept repeating calls whose results it had already, or the run was resumed several times without a message
    /// of the model or a result.
    NoProgress,
    /// The answer kept running into the output limit.
    OutputLimit,
    /// The conversation could not be compacted, as the user asked.
    Compaction,
    /// The session store refused an entry.
    Store,
    /// The runtime broke its own rules.
    Internal,
}

/// A failure that ended a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct RunFailure {
    /// Kind of the failure.
    pub kind: RunFailureKind,
    /// Description and remedy, in a sentence.
    pub message: String,
    /// The HTTP status, when the provider answered with one.
    pub status: Option<u16>,
}

impl RunFailure {
    /// A failure.
    pub fn new(kind: RunFailureKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), status: None }
    }

    /// Adds the HTTP status.
    #[must_use]
    pub fn with_status(mut self, status: Option<u16>) -> Self {
        self.status = status;
        self
    }
}

/// Outcome of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Outcome {
    /// The model finished its answer.
    Success,
    /// The model refused.
    Refused,
    /// The limit of turns is reached.
    MaxTurns {
        /// The limit.
        limit: u32,
    },
    /// The budget does not buy another call.
    MaxBudget {
        /// The budget.
        limit: NanoUsd,
    },
    /// The model did not give an output that fits the schema.
    NoStructuredOutput {
        /// Number of attempts.
        attempts: u32,
    },
    /// The user stopped it.
    Interrupted {
        /// The interrupted phase.
        during: Interrupted,
    },
    /// A hook stopped it.
    StoppedByHook {
        /// The hook's reason.
        reason: String,
    },
    /// A hook did not let the prompt in.
    PromptBlocked {
        /// The hook's reason.
        reason: String,
    },
    /// The model finished its answer, but its background work took too long, or the session was closed before the work
    /// ended. The work was stopped.
    BackgroundStopped {
        /// The stopped tasks.
        tasks: Vec<TaskInfo>,
    },
    /// Questions wait for an answer that may come later, also from another process. Their calls have not run; the run
    /// continues with [`Prompt::continue_run`](crate::Prompt::continue_run).
    Pending {
        /// The questions, in the order of their calls. [`RunResult::pending_questions`] has them in full.
        questions: Vec<QuestionId>,
    },
    /// The session was handed over: the run is open in the log, and continues where the session is opened next, with
    /// [`Prompt::continue_run`](crate::Prompt::continue_run).
    HandedOver,
    /// The run failed.
    Failed(RunFailure),
}

impl Outcome {
    /// Returns `true` if the model finished its answer, and no background work of the run was stopped.
    pub fn is_success(&self) -> bool {
        matches!(self, Self::Success)
    }

    /// The exit code for a program whose work was this run, one for each kind of outcome: 0 for a success, 1 for a
    /// failure, 3 when the turns were used up, 4 when the money was, 5 when the model refused, 6 when it gave no
    /// structured output, 7 when a hook stopped the run, 8 when a hook blocked the prompt, 9 when background work was
    /// stopped, 10 when questions wait for an answer, 14 when the run was handed over, and 130 for an interrupt, as shells expect. The command
    /// `windlass` uses the same codes, with 2 for wrong usage, and 11 to 13 for an answer that does not fit its
    /// question. 20 to 125 are left to programs.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Failed(_) => 1,
            Self::MaxTurns { .. } => 3,
            Self::MaxBudget { .. } => 4,
            Self::Refused => 5,
            Self::NoStructuredOutput { .. } => 6,
            Self::StoppedByHook { .. } => 7,
            Self::PromptBlocked { .. } => 8,
            Self::BackgroundStopped { .. } => 9,
            Self::Pending { .. } => 10,
            Self::HandedOver => 14,
            Self::Interrupted { .. } => 130,
        }
    }
}

/// Usage and cost of one model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ModelUsage {
    /// Tokens.
    pub usage: Usage,
    /// Cost in billionths of a dollar, zero when the price is unknown.
    pub cost: NanoUsd,
    /// Part of the cost that the provider reported itself; the rest is computed from prices. Left out of the JSON when
    /// it is zero.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reported_cost: NanoUsd,
    /// `true` if the cost of the last call is known: by a price, or because the provider reported it.
    pub priced: bool,
    /// The model's context window, in tokens; zero when unknown.
    pub context_window: u64,
    /// Maximum number of output tokens; zero when unknown.
    pub max_output_tokens: u32,
}

fn is_zero(amount: &NanoUsd) -> bool {
    *amount == NanoUsd::ZERO
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Success => f.write_str("the model finished its answer"),
            Self::Refused => f.write_str("the model refused"),
            Self::MaxTurns { limit } => write!(f, "the limit of {limit} turns was reached"),
            Self::MaxBudget { limit } => write!(f, "the budget of {limit} does not buy the next call of the model"),
            Self::NoStructuredOutput { attempts } => {
                write!(f, "no output that fits the schema came in {attempts} attempts")
            }
            Self::Interrupted { .. } => f.write_str("the run was interrupted"),
            Self::StoppedByHook { reason } => write!(f, "a hook stopped the run: {reason}"),
            Self::PromptBlocked { reason } => write!(f, "a hook blocked the prompt: {reason}"),
            Self::BackgroundStopped { tasks } => {
                f.write_str("background work was stopped before it ended: ")?;
                for (at, task) in tasks.iter().enumerate() {
                    let separator = if at == 0 { "" } else { ", " };
                    write!(f, "{separator}{:?} ({})", task.description, task.id)?;
                }
                Ok(())
            }
            Self::Pending { questions } => {
                f.write_str("the run waits for answers to questions: ")?;
                for (at, question) in questions.iter().enumerate() {
                    let separator = if at == 0 { "" } else { ", " };
                    write!(f, "{separator}{question}")?;
                }
                Ok(())
            }
            Self::HandedOver => f.write_str("the session was handed over before the run ended: it continues elsewhere"),
            Self::Failed(failure) => f.write_str(&failure.message),
        }
    }
}

/// The result of a run in which the model finished its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuccessfulRun(RunResult);

impl SuccessfulRun {
    /// The result itself.
    pub fn into_result(self) -> RunResult {
        self.0
    }
}

impl Deref for SuccessfulRun {
    type Target = RunResult;

    fn deref(&self) -> &RunResult {
        &self.0
    }
}

impl From<SuccessfulRun> for RunResult {
    fn from(successful: SuccessfulRun) -> Self {
        successful.0
    }
}

/// A run that did not succeed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsuccessful(Box<RunResult>);

impl Unsuccessful {
    /// The whole result: what was done and spent until then.
    pub fn result(&self) -> &RunResult {
        &self.0
    }

    /// The whole result.
    pub fn into_result(self) -> RunResult {
        *self.0
    }
}

impl fmt::Display for Unsuccessful {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.outcome.fmt(f)
    }
}

impl std::error::Error for Unsuccessful {}

/// The result of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[must_use = "a run may have failed: look at its outcome, or call `success()`"]
#[non_exhaustive]
pub struct RunResult {
    /// Outcome of the run.
    pub outcome: Outcome,
    /// Origin of the run.
    pub origin: RunOrigin,
    /// The text of the last assistant message, empty if there is none.
    pub text: String,
    /// The session.
    pub session_id: SessionId,
    /// Number of model messages of this run.
    pub turns: u32,
    /// Wall time, in milliseconds.
    pub duration_ms: u64,
    /// Wall time of model calls, in milliseconds.
    pub duration_api_ms: u64,
    /// Reason why the model stopped last.
    pub stop_reason: Option<StopReason>,
    /// Tokens of this run.
    pub usage: Usage,
    /// Tokens and cost by model, over the whole session so far.
    pub model_usage: BTreeMap<String, ModelUsage>,
    /// Cost of the session so far, in billionths of a dollar.
    pub cost: NanoUsd,
    /// Calls that were denied in this run.
    pub permission_denials: Vec<PermissionDenial>,
    /// The questions that wait for an answer, in the order of their calls. Left out of the JSON when there is none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pending_questions: Vec<PermissionRequest>,
    /// The structured output, if one was requested and given: exactly the model's text, checked against the schema.
    pub structured_output: Option<JsonText>,
}

impl RunResult {
    /// A result with an outcome and nothing spent yet.
    pub fn new(outcome: Outcome, session_id: SessionId) -> Self {
        Self {
            outcome,
            origin: RunOrigin::User,
            text: String::new(),
            session_id,
            turns: 0,
            duration_ms: 0,
            duration_api_ms: 0,
            stop_reason: None,
            usage: Usage::default(),
            model_usage: BTreeMap::new(),
            cost: NanoUsd::ZERO,
            permission_denials: Vec::new(),
            pending_questions: Vec::new(),
            structured_output: None,
        }
    }

    /// Returns this result if the model finished its answer. Turns every other outcome into an error, so that `?`
    /// suffices:
    ///
    /// ```
    /// # mod windlass { pub use windlass_types::RunResult; pub mod event { pub use windlass_types::Unsuccessful; } }
    /// use windlass::{RunResult, event::Unsuccessful};
    ///
    /// fn check(result: RunResult) -> Result<(), Unsuccessful> {
    ///     result.success()?;
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// The run ended in any other way.
    pub fn success(self) -> Result<SuccessfulRun, Unsuccessful> {
        if self.outcome.is_success() { Ok(SuccessfulRun(self)) } else { Err(Unsuccessful(Box::new(self))) }
    }

    /// Returns the part of the [cost](Self::cost) that providers reported themselves. The rest is computed from known
    /// prices.
    pub fn reported_cost(&self) -> NanoUsd {
        self.model_usage.values().fold(NanoUsd::ZERO, |sum, model| sum.saturating_add(model.reported_cost))
    }

    /// Reads the structured output into a type; `None` if there is none.
    ///
    /// # Errors
    /// The output fits its schema, but not the type.
    pub fn output<T: serde::de::DeserializeOwned>(&self) -> Result<Option<T>, crate::JsonError> {
        self.structured_output.as_ref().map(JsonText::to).transpose()
    }
}

impl ModelUsage {
    /// Adds the tokens and cost of one call.
    pub fn add(&mut self, usage: Usage, cost: Option<NanoUsd>) {
        self.reported_cost = self.reported_cost.saturating_add(usage.reported_cost.unwrap_or_default());
        self.usage += usage;
        self.cost = self.cost.saturating_add(cost.unwrap_or_default());
        self.priced = cost.is_some();
    }

    /// Tokens and cost of one call of a model with these limits.
    #[must_use]
    pub fn of_call(usage: Usage, cost: Option<NanoUsd>, limits: &ModelInfo) -> Self {
        let mut call = Self::default();
        call.add(usage, cost);
        call.context_window = limits.context_window;
        call.max_output_tokens = limits.max_output_tokens;
        call
    }

    /// Adds another sum of calls of the same model. `later` determines `priced`.
    pub fn merge(&mut self, later: &Self) {
        self.usage += later.usage;
        self.cost = self.cost.saturating_add(later.cost);
        self.reported_cost = self.reported_cost.saturating_add(later.reported_cost);
        self.priced = later.priced;
        self.context_window = later.context_window;
        self.max_output_tokens = later.max_output_tokens;
    }
}

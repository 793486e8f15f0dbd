//! Messages of a model that something else than the conversation wants, such as a server of tools.
//!
//! Each passes the gate of tool calls: hooks, rules and mode, then a question. It is paid from the budget of the session, and
//! ends with the run in which it was wanted.

mod gate;

use crate::budget::Account;
use crate::handle::SessionHandle;
use crate::order::Order;
use crate::tasks::AbortOnDrop;
use crate::written::{Unwritten, paid};
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};
use windlass_core::{CallCost, EffectId, Input, ModelProfile};
use windlass_model::ModelProvider;
use windlass_types::{JsonText, Message, ModelRequest, StopReason, ToolChoice, ToolSpec, ToolUse, Usage};

pub(crate) use gate::{Asked as GateParts, Gate};

/// A message of a model that something else than the conversation wants.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SideCall {
    /// The name by which rules, hooks and hosts know what is wanted, like that of a tool.
    pub tool: String,
    /// What hooks and hosts are shown of it, like the input of a call.
    pub input: JsonText,
    /// The same in one line, for people.
    pub title: String,
    /// Models that may write it beside that of the session, by names that the provider knows. Default: none.
    pub models: Vec<String>,
    /// Which of these models is wanted: names or parts of names, the best first. Where none fits it is that of the session.
    pub hints: Vec<String>,
    /// The system prompt. Default: none.
    pub system: Option<String>,
    /// The messages to continue.
    pub messages: Vec<Message>,
    /// Tools that the model has for this message alone. Nothing carries its calls out: [`SideAnswer::calls`]. Default: none.
    pub tools: Vec<ToolSpec>,
    /// Whether it must call one of them. Default: it may.
    pub tool_choice: ToolChoice,
    /// The most tokens that it may have.
    pub max_output_tokens: u32,
    /// Most messages under this name in one run. Default: 10.
    pub most_in_run: u32,
}

impl SideCall {
    /// A message that continues these.
    pub fn new(tool: impl Into<String>, input: JsonText, messages: Vec<Message>, max_output_tokens: u32) -> Self {
        let tool = tool.into();
        Self {
            title: tool.clone(),
            tool,
            input,
            models: Vec::new(),
            hints: Vec::new(),
            system: None,
            messages,
            tools: Vec::new(),
            tool_choice: ToolChoice::Auto,
            max_output_tokens,
            most_in_run: 10,
        }
    }
}

/// A message that a model wrote.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SideAnswer {
    /// The model.
    pub model: String,
    /// The text, without reasoning.
    pub text: String,
    /// Calls of the tools of the message. A message that was cut off has none.
    pub calls: Vec<ToolUse>,
    /// Why it ended there.
    pub stop_reason: StopReason,
    /// What it used.
    pub usage: Usage,
}

/// Why there is no message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SideCallError {
    /// The session is closed.
    #[error("the session is closed")]
    Closed,
    /// No run is in progress, or it has ended.
    #[error("messages of a model are written while a run is in progress, and none is")]
    NoRun,
    /// The run has had as many as it may.
    #[error("a run may have {most} of these messages, and has had them")]
    TooMany {
        /// How many it may have.
        most: u32,
    },
    /// It is not permitted.
    #[error("it is not permitted: {0}")]
    Denied(String),
    /// The budget does not buy it.
    #[error("the budget of the session does not buy it")]
    Budget,
    /// The model did not write it.
    #[error("the model did not write it: {0}")]
    Failed(String),
}

type Answer = Result<SideAnswer, SideCallError>;

impl SessionHandle {
    /// Has a model write a message that is no part of the conversation, if that is permitted: it passes the hooks, rules and
    /// the mode of the session like a call of the tool [`SideCall::tool`], and asks where such a call would. It counts in the
    /// budget of the session and in the figures of the run.
    ///
    /// Cancel safety: dropping the future withdraws the question and ends the call of the model; what was used until then is
    /// booked.
    ///
    /// # Errors
    /// It is not permitted, too much, or failed, or no run is in progress.
    pub async fn side_call(&self, call: SideCall) -> Answer {
        let (sender, answer) = oneshot::channel();
        self.order(Order::SideCall(Box::new(call), sender)).map_err(|_| SideCallError::Closed)?;
        // It is dropped with its run.
        answer.await.unwrap_or(Err(SideCallError::NoRun))
    }
}

/// The messages that are being written in a run.
#[derive(Debug, Default)]
pub(crate) struct SideCalls {
    /// How many there were in this run, by name.
    counts: BTreeMap<String, u32>,
    open: Vec<AbortOnDrop<()>>,
}

impl SideCalls {
    /// Counts one more.
    pub(crate) fn count(&mut self, tool: &str, most: u32) -> Result<(), SideCallError> {
        let count = self.counts.entry(tool.to_owned()).or_default();
        if *count >= most {
            return Err(SideCallError::TooMany { most });
        }
        *count += 1;
        Ok(())
    }

    /// Begins one. It ends when its answer is not awaited any more.
    pub(crate) fn start<T: Send + 'static>(
        &mut self,
        work: impl Future<Output = T> + Send + 'static,
        mut waiting: oneshot::Sender<T>,
    ) {
        self.open.retain(|task| !task.0.is_finished());
        self.open.push(AbortOnDrop(tokio::spawn(async move {
            let answer = tokio::select! {
                biased;
                () = waiting.closed() => return,
                answer = work => answer,
            };
            // The requester may have dropped its receiver.
            let _ = waiting.send(answer);
        })));
    }

    /// The run has ended, and with it what it had written.
    pub(crate) fn end(&mut self) {
        *self = Self::default();
    }
}

/// One message, before it may be written.
pub(crate) struct Side {
    pub(crate) gate: Gate,
    pub(crate) provider: Arc<dyn ModelProvider>,
    pub(crate) model: ModelProfile,
    pub(crate) request: Arc<ModelRequest>,
    /// What it is paid from, which has no other call.
    pub(crate) account: Account,
    pub(crate) cost: Option<CallCost>,
    pub(crate) results: mpsc::UnboundedSender<Input>,
}

impl Side {
    pub(crate) async fn answer(self) -> Answer {
        self.gate.pass().await.map_err(SideCallError::Denied)?;
        let claim = self.account.claim(EffectId::BESIDE, self.cost);
        let written = paid(&*self.provider, (&self.model, &self.request), claim, &self.results).await;
        let (written, usage) = written.map_err(|why| match why {
            Unwritten::Budget => SideCallError::Budget,
            Unwritten::Failed(why) => SideCallError::Failed(why),
        })?;
        let stop_reason = written.stop_reason.unwrap_or(StopReason::EndTurn);
        let is_ended = matches!(stop_reason, StopReason::EndTurn | StopReason::ToolUse | StopReason::MalformedToolCall);
        let calls = match written.calls.read() {
            _ if self.request.tools.is_empty() || !is_ended => Vec::new(),
            Some(calls) if stop_reason != StopReason::MalformedToolCall => calls,
            _ => return Err(SideCallError::Failed("it wrote a call that cannot be read".to_owned())),
        };
        Ok(SideAnswer { model: self.model.id.to_string(), text: written.text, calls, stop_reason, usage })
    }
}

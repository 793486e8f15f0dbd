//! Model requests outside the conversation, such as MCP sampling.
//!
//! Each request passes the permission gate of tool calls: hooks, rules and mode, then a question. It is paid from the
//! budget of the session, and ends with the run in which it was made.

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

/// A model request outside the conversation.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SideCall {
    /// Name of the request for rules, hooks and hosts, like that of a tool.
    pub tool: String,
    /// Description of the request for hooks and hosts, like the input of a call.
    pub input: JsonText,
    /// Description in one line, for people.
    pub title: String,
    /// Models that may write the message beside that of the session, by names that the provider knows. Default: none.
    pub models: Vec<String>,
    /// Preferred ones of these models: names or parts of names, the best first. If none fits, the session's model is
    /// used.
    pub hints: Vec<String>,
    /// The system prompt. Default: none.
    pub system: Option<String>,
    /// The messages to continue.
    pub messages: Vec<Message>,
    /// Tools that the model has for this message alone. Their calls are not carried out, but returned in
    /// [`SideAnswer::calls`]. Default: none.
    pub tools: Vec<ToolSpec>,
    /// Requirement to call one of them. Default: optional.
    pub tool_choice: ToolChoice,
    /// Maximum number of output tokens.
    pub max_output_tokens: u32,
    /// Maximum number of messages under this name in one run. Default: 10.
    pub most_in_run: u32,
}

impl SideCall {
    /// A request that continues these messages.
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
    /// Reason why the message ended.
    pub stop_reason: StopReason,
    /// Tokens used.
    pub usage: Usage,
}

/// Reason why there is no message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SideCallError {
    /// The session is closed.
    #[error("the session is closed")]
    Closed,
    /// No run is in progress, or the run has ended.
    #[error("messages of a model are written while a run is in progress, and none is")]
    NoRun,
    /// The limit of such messages in one run is reached.
    #[error("a run may have {most} of these messages, and has had them")]
    TooMany {
        /// Maximum number in one run.
        most: u32,
    },
    /// The request is not permitted.
    #[error("it is not permitted: {0}")]
    Denied(String),
    /// The budget does not suffice.
    #[error("the budget of the session does not buy it")]
    Budget,
    /// The model did not write the message.
    #[error("the model did not write it: {0}")]
    Failed(String),
}

type Answer = Result<SideAnswer, SideCallError>;

impl SessionHandle {
    /// Makes a model write a message outside the conversation, if that is permitted: the request passes the hooks,
    /// rules and the mode of the session like a call of the tool [`SideCall::tool`], and asks where such a call would.
    /// It is part of the budget of the session and the figures of the run.
    ///
    /// Cancel safety: dropping the future withdraws the question and ends the call of the model; usage until then is
    /// booked.
    ///
    /// # Errors
    /// The request is not permitted, exceeds a limit, or failed, or no run is in progress.
    pub async fn side_call(&self, call: SideCall) -> Answer {
        let (sender, answer) = oneshot::channel();
        self.order(Order::SideCall(Box::new(call), sender)).map_err(|_| SideCallError::Closed)?;
        // The sender is dropped with its run.
        answer.await.unwrap_or(Err(SideCallError::NoRun))
    }
}

/// The messages that are being written in a run.
#[derive(Debug, Default)]
pub(crate) struct SideCalls {
    /// Number of messages in this run, by name.
    counts: BTreeMap<String, u32>,
    open: Vec<AbortOnDrop<()>>,
}

impl SideCalls {
    /// Counts one more message.
    pub(crate) fn count(&mut self, tool: &str, most: u32) -> Result<(), SideCallError> {
        let count = self.counts.entry(tool.to_owned()).or_default();
        if *count >= most {
            return Err(SideCallError::TooMany { most });
        }
        *count += 1;
        Ok(())
    }

    /// Begins a message. It ends when its answer is not awaited any more.
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

    /// Ends the messages of a run that has ended.
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
    /// Account of the payment, which has no other call.
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

//! Model requests outside the conversation, such as MCP sampling.
//!
//! Each request passes the permission gate of tool calls: hooks, rules and mode, then a question. It is paid from the
//! budget of the session, and ends with the run in which it was made.

use crate::budget::Account;
use crate::commands::side_call::{SideAnswer, SideCallError, SideCallResult};
use crate::model::billing::{TextFailure, paid};
use crate::questions::gate::Gate;
use crate::tasks::AbortOnDrop;
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};
use windlass_core::{CallCost, EffectId, Input, ModelProfile};
use windlass_model::ModelProvider;
use windlass_types::{ModelRequest, StopReason};

/// The messages that are being written in a run.
#[derive(Debug, Default)]
pub(crate) struct SideRequests {
    /// Number of messages in this run, by name.
    counts: BTreeMap<String, u32>,
    open: Vec<AbortOnDrop<()>>,
}

impl SideRequests {
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
pub(crate) struct SideRequest {
    pub(crate) gate: Gate,
    pub(crate) provider: Arc<dyn ModelProvider>,
    pub(crate) model: ModelProfile,
    pub(crate) request: Arc<ModelRequest>,
    /// Account of the payment, which has no other call.
    pub(crate) account: Account,
    pub(crate) cost: Option<CallCost>,
    pub(crate) results: mpsc::UnboundedSender<Input>,
}

impl SideRequest {
    pub(crate) async fn answer(self) -> SideCallResult {
        self.gate.pass().await.map_err(SideCallError::Denied)?;
        let claim = self.account.claim(EffectId::BESIDE, self.cost);
        let message = paid(&*self.provider, (&self.model, &self.request), claim, &self.results).await;
        let (message, usage) = message.map_err(|why| match why {
            TextFailure::Budget => SideCallError::Budget,
            TextFailure::Failed(why) => SideCallError::Failed(why),
        })?;
        let stop_reason = message.stop_reason.unwrap_or(StopReason::EndTurn);
        let is_ended = matches!(stop_reason, StopReason::EndTurn | StopReason::ToolUse | StopReason::MalformedToolCall);
        let calls = match message.calls.read() {
            _ if self.request.tools.is_empty() || !is_ended => Vec::new(),
            Some(calls) if stop_reason != StopReason::MalformedToolCall => calls,
            _ => return Err(SideCallError::Failed("it wrote a call that cannot be read".to_owned())),
        };
        Ok(SideAnswer { model: self.model.id.to_string(), text: message.text, calls, stop_reason, usage })
    }
}

//! One turn, from its request until its message is complete.

use crate::assemble::{AssembledMessage, Step};
use crate::batch::Batch;
use crate::call::{AttemptTiming, CallStep, ModelCall};
use crate::request::Purpose;
use crate::session::Session;
use crate::{EffectId, Input, ModelFailure, ModelProfile, UnfitInput};
use std::borrow::Cow;
use std::sync::Arc;
use windlass_context::is_same_model;
use windlass_types::{
    AssistantEntry, ContentBlock, Continuation, EntryId, EntryKind, EventKind, JsonText, MessageId, ModelEvent,
    ModelItem, Origin, Outcome, Status, StopReason, ToolUse, Usage, WithdrawReason,
};

/// One turn until its message is complete.
#[derive(Debug)]
pub(crate) struct Turn {
    pub(crate) call: ModelCall,
    continuation: Continuation,
    shown: ShownParts,
    /// Calls of the message. Read-only calls may run already.
    pub(crate) batch: Batch,
}

/// Parts of the message that the host has received.
#[derive(Debug, Default)]
struct ShownParts {
    message_id: Option<MessageId>,
    model: String,
    usage: Usage,
    /// Ids of the complete blocks.
    block_ids: Vec<EntryId>,
    has_any: bool,
}

/// Next step of a turn.
#[derive(Debug)]
pub(crate) enum TurnStep {
    /// Waiting for an effect, or for the log.
    Waits,
    /// Complete: the message is stored, and its calls are in the batch.
    Complete(StopReason),
    /// Too long for the model.
    TooLong(ModelFailure),
    /// Failed: the model gave no message.
    Failed(ModelFailure),
    /// The run ends.
    Ends(Outcome),
}

impl Turn {
    pub(crate) fn new(continuation: Continuation) -> Self {
        let call = ModelCall::new(Purpose::Turn);
        Self { call, continuation, shown: ShownParts::default(), batch: Batch::default() }
    }

    /// Sends the request of the turn, when log and budget allow it.
    pub(crate) fn send(&mut self, session: &mut Session) -> TurnStep {
        let step = self.call.send(session);
        self.follow(session, step)
    }

    /// Applies an answer to the effect that the model request waits for.
    pub(crate) fn handle(
        &mut self,
        session: &mut Session,
        effect: EffectId,
        input: Input,
    ) -> Result<TurnStep, UnfitInput> {
        if let Input::Model(_, item) = input {
            return Ok(self.item(session, item));
        }
        let step = self.call.handle(session, effect, input)?;
        Ok(self.follow(session, step))
    }

    fn follow(&mut self, session: &mut Session, step: CallStep) -> TurnStep {
        match step {
            CallStep::Waits => TurnStep::Waits,
            CallStep::Sent(request, attempt_id) => {
                session.note_prefix(&request);
                let (continuation, model) = (self.call.repeat.unwrap_or(self.continuation), request.model.clone());
                session.status(Status::Requesting { continuation, model: model.clone(), attempt_id });
                self.shown = ShownParts { model, ..ShownParts::default() };
                TurnStep::Waits
            }
            CallStep::Failed(failure) => {
                self.withdraw(session, WithdrawReason::StreamFailed);
                let step = self.call.after_failure(session, failure);
                self.follow(session, step)
            }
            CallStep::TooLong(failure) => TurnStep::TooLong(failure),
            CallStep::GivenUp(failure) => TurnStep::Failed(failure),
            CallStep::Ends(outcome) => {
                // The turn was counted when it began. It is not counted if its first request was not sent.
                session.run.turns = session.run.turns.saturating_sub(u32::from(self.call.repeat.is_none()));
                TurnStep::Ends(outcome)
            }
        }
    }

    /// Applies an item of the model's stream.
    fn item(&mut self, session: &mut Session, item: ModelItem) -> TurnStep {
        let renamed = match self.call.with_own_ids(session, &item) {
            Cow::Owned(renamed) => Some(renamed),
            Cow::Borrowed(_) => None,
        };
        let mut item = renamed.unwrap_or(item);
        if let Some(frame) = item.raw.as_ref().filter(|_| !matches!(item.event, ModelEvent::RateLimit(_))) {
            self.shown.has_any = true;
            session.event(EventKind::ModelFrame { frame: frame.clone() }, None);
        }
        match self.call.item(session, &mut item) {
            Ok(Step::Complete(mut message)) => {
                if self.call.is_formatted() {
                    self.call_with_text(session, &mut message);
                }
                let timing = self.call.timing(session);
                let asked = self.call.complete(session);
                TurnStep::Complete(self.store(session, *message, asked, timing))
            }
            Ok(step) => {
                if let Step::BlockFinished { block: ContentBlock::ToolUse(call), malformed, .. } = &step {
                    self.batch.push(call.clone(), malformed.map(str::to_owned));
                }
                self.shown.show(session, step);
                TurnStep::Waits
            }
            Err(error) => {
                let step = self.call.broken(session, &error);
                self.follow(session, step)
            }
        }
    }

    /// Turns an answer in the form of the structured output into a call of its tool, which checks and reports it as any
    /// other call. Text of another form stays text.
    fn call_with_text(&mut self, session: &mut Session, message: &mut AssembledMessage) {
        let Some(name) = session.config.tools.structured_output.clone().filter(|_| self.batch.is_empty()) else {
            return;
        };
        let text: String = message.content.iter().filter_map(ContentBlock::as_text).collect();
        let input = JsonText::parse(text.trim().to_owned()).ok();
        let Some(input) = input.filter(|input| input.is_object() && input.check_strict().is_ok()) else { return };
        let id = format!("output_{}", session.ids.entry());
        let call = ToolUse::new(id.as_str(), name, input);
        self.batch.push(call.clone(), None);
        let block = ContentBlock::ToolUse(call);
        let index = message.content.len();
        self.shown.show(session, Step::BlockFinished { index, block: &block, malformed: None });
        message.content.push(block);
        message.stop_reason = StopReason::ToolUse;
    }

    /// Stores the complete message.
    fn store(
        &mut self,
        session: &mut Session,
        message: AssembledMessage,
        asked: ModelProfile,
        timing: Option<AttemptTiming>,
    ) -> StopReason {
        let AssembledMessage { id, model, content, stop_reason, usage } = message;
        let text: Vec<&str> = content.iter().filter_map(ContentBlock::as_text).collect();
        session.run.last.text = text.join("\n");
        session.run.last.stop_reason = Some(stop_reason.clone());
        if content.is_empty() {
            return stop_reason;
        }
        let mut shown_ids = std::mem::take(&mut self.shown.block_ids).into_iter();
        let block_ids: Vec<_> =
            content.iter().map(|_| shown_ids.next().unwrap_or_else(|| session.ids.entry())).collect();
        self.batch.belongs_to(session, &content, &block_ids, &stop_reason);
        // Gateways rename models. The stored name decides later which model can read the reasoning.
        let written_by = if is_same_model(&model, &asked.id) { model.clone() } else { asked.id.clone() };
        let origin = Origin::new(asked.info.api, asked.id, model.clone());
        let mut entry =
            AssistantEntry::new(id.clone(), written_by, content, block_ids, Some(stop_reason.clone()), usage);
        entry.origin = Some(Arc::new(origin));
        let parent = session.state.leaf().cloned();
        let entry = session.record(parent, EntryKind::Assistant(entry));
        let append = session.append(vec![entry]);
        if let Some(AttemptTiming { id: attempt_id, latency_ms, first_token_ms }) = timing {
            let stop_reason = Some(stop_reason.clone());
            let message_id = id;
            let kind = EventKind::MessageFinished {
                message_id,
                model,
                stop_reason,
                usage,
                attempt_id,
                latency_ms,
                first_token_ms,
            };
            session.event(kind, Some(append));
        }
        stop_reason
    }

    /// Abandons the turn: the user stopped the run.
    pub(crate) fn interrupt(&mut self, session: &mut Session) {
        self.call.abandon(session);
        self.withdraw(session, WithdrawReason::Interrupted);
    }

    /// Withdraws the shown parts of an unfinished message. Its calls are discarded.
    fn withdraw(&mut self, session: &mut Session, reason: WithdrawReason) {
        std::mem::take(&mut self.batch).forget(session);
        let shown = std::mem::take(&mut self.shown);
        if shown.has_any {
            session.event(EventKind::MessageWithdrawn { message_id: shown.message_id, reason }, None);
        }
    }
}

impl ShownParts {
    /// Reports a part of the message.
    fn show(&mut self, session: &mut Session, step: Step<'_>) {
        match step {
            Step::Started { id, model, usage } => {
                self.message_id = Some(id.clone());
                model.clone_into(&mut self.model);
                self.usage = usage;
            }
            Step::Grew { index, delta } => {
                self.has_any = true;
                session.event(EventKind::BlockDelta { index, delta }, None);
            }
            Step::BlockFinished { index, block, .. } => {
                let line = session.ids.entry();
                self.has_any = true;
                self.block_ids.push(line.clone());
                let message_id = self.message_id.clone().unwrap_or_else(|| MessageId::from(""));
                let (model, usage) = (self.model.clone(), self.usage);
                let block = block.clone();
                session.event(EventKind::BlockFinished { message_id, model, index, line, block, usage }, None);
            }
            Step::Nothing | Step::Complete(_) => {}
        }
    }
}

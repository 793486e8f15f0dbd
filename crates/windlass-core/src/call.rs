//! One call of the model, for a turn or for a summary: its waits, its stream, its repeats.

use crate::assemble::{AssembleError, AssembledMessage, MessageAssembler, Step};
use crate::billing::Bill;
use crate::budget::{Price, Reservation, price};
use crate::naming::with_own_id;
use crate::request::{Purpose, build, limit_output};
use crate::retry::{Next, Retry, out_of_patience};
use crate::session::Session;
use crate::{Effect, EffectId, ModelFailure, ModelProfile};
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;
use windlass_context::estimate_request;
use windlass_session::CallIds;
use windlass_types::text::clause;
use windlass_types::{ModelErrorKind, ModelEvent, ModelItem, ModelRequest, Outcome, RetryStatus, Status};

/// One call of the model until its message is complete, or it is given up.
#[derive(Debug)]
pub(crate) struct ModelCall {
    pub(crate) purpose: Purpose,
    retry: Retry,
    stage: Stage,
}

#[derive(Debug)]
enum Stage {
    /// It has not been sent: the log has not answered for what came before the last request.
    Behind,
    /// The ledger is asked for what it may cost.
    Reserving(EffectId, Box<(ModelProfile, ModelRequest)>),
    /// The model answers.
    Streaming(Box<Stream>),
    /// It failed, and waits for its repeat.
    BackingOff(EffectId),
    /// It has ended, or failed.
    Ended,
}

#[derive(Debug)]
struct Stream {
    effect: EffectId,
    bill: Bill,
    assembler: MessageAssembler,
    ids: CallIds,
}

/// What became of a request.
#[derive(Debug)]
pub(crate) enum Sent {
    /// It waits: for the log, the ledger, or its repeat.
    NotYet,
    /// The model has it.
    Now(Arc<ModelRequest>),
    /// The budget does not buy it.
    Never(Outcome),
}

/// What an item of a stream is to whoever asked for the message.
#[derive(Debug)]
pub(crate) enum Received<'a> {
    /// Something that is no part of the message.
    Aside,
    /// A part of the message.
    Part(Step<'a>),
    /// The message is complete. The name is that of the model that was asked.
    Complete(Box<AssembledMessage>, String),
    /// The stream cannot be followed.
    Broken(ModelFailure),
}

/// What follows from a failure.
#[derive(Debug)]
pub(crate) enum AfterFailure {
    /// It waits for its repeat.
    Waits,
    /// It is to be sent again at once, to the fallback model.
    FallsBack,
    /// The prompt must become shorter.
    TooLong,
    /// It is given up, with this failure.
    GivenUp(ModelFailure),
}

impl ModelCall {
    pub(crate) fn new(purpose: Purpose) -> Self {
        Self { purpose, retry: Retry::default(), stage: Stage::Behind }
    }

    /// Whether it waits for this effect.
    pub(crate) fn waits_for(&self, effect: EffectId) -> bool {
        match &self.stage {
            Stage::Reserving(waiting, _) | Stage::BackingOff(waiting) => *waiting == effect,
            Stage::Streaming(stream) => stream.effect == effect,
            Stage::Behind | Stage::Ended => false,
        }
    }

    /// Whether it waits for the log.
    pub(crate) fn is_behind(&self) -> bool {
        matches!(self.stage, Stage::Behind)
    }

    /// Sends the request, for the first time or again, when log and budget allow it.
    pub(crate) fn send(&mut self, session: &mut Session) -> Sent {
        if session.out.is_behind() {
            self.stage = Stage::Behind;
            return Sent::NotYet;
        }
        let model = session.current_model().clone();
        let request = build(session, &model, &self.purpose);
        let limits = &session.config.limits;
        let exhausted = Outcome::MaxBudget { limit: limits.max_budget.unwrap_or_default() };
        match price(limits, &model, || estimate_request(&request), request.max_output_tokens) {
            Price::Unlimited => self.stream(session, model, request, None),
            Price::Unknown => {
                session.warn_unpriced(&model.id);
                self.stream(session, model, request, None)
            }
            Price::Refused => Sent::Never(exhausted),
            Price::Costs(cost) => {
                let effect = session.effect(Effect::Reserve(cost));
                self.stage = Stage::Reserving(effect, Box::new((model, request)));
                Sent::NotYet
            }
        }
    }

    fn stream(
        &mut self,
        session: &mut Session,
        model: ModelProfile,
        request: ModelRequest,
        reservation: Option<EffectId>,
    ) -> Sent {
        let request = Arc::new(request);
        let effect = session.effect(Effect::CallModel(Arc::clone(&request)));
        let bill = Bill::new(model, Arc::clone(&request), session.now, reservation);
        let (assembler, ids) = (MessageAssembler::new(), CallIds::default());
        self.stage = Stage::Streaming(Box::new(Stream { effect, bill, assembler, ids }));
        Sent::Now(request)
    }

    /// The ledger has answered.
    pub(crate) fn reserved(&mut self, session: &mut Session, answer: Reservation) -> Sent {
        let (effect, sending) = match std::mem::replace(&mut self.stage, Stage::Ended) {
            Stage::Reserving(effect, sending) => (effect, *sending),
            stage => {
                self.stage = stage;
                return Sent::NotYet;
            }
        };
        let (model, mut request) = sending;
        match answer {
            Reservation::Granted { max_output_tokens } => {
                limit_output(&mut request, max_output_tokens);
                self.stream(session, model, request, Some(effect))
            }
            Reservation::Exhausted => {
                let limit = session.config.limits.max_budget.unwrap_or_default();
                Sent::Never(Outcome::MaxBudget { limit })
            }
        }
    }

    /// An item of the stream in which each call has an id of its own: one that an earlier call has is replaced.
    pub(crate) fn with_own_ids<'a>(&mut self, session: &Session, item: &'a ModelItem) -> Cow<'a, ModelItem> {
        match &mut self.stage {
            Stage::Streaming(stream) => with_own_id(&mut stream.ids, session.state.transcript().call_ids(), item),
            _ => Cow::Borrowed(item),
        }
    }

    /// An item of the stream.
    pub(crate) fn item<'a>(&'a mut self, session: &mut Session, item: &'a ModelItem) -> Received<'a> {
        if let ModelEvent::RateLimit(limit) = &item.event {
            session.note_rate_limit(limit);
            return Received::Aside;
        }
        if item.event == ModelEvent::MessageStop {
            return self.last_item(session, &item.event);
        }
        let Stage::Streaming(stream) = &mut self.stage else { return Received::Aside };
        stream.bill.note(&item.event);
        match stream.assembler.handle(&item.event) {
            Ok(step) => Received::Part(step),
            Err(error) => broken(session, stream.effect, &error),
        }
    }

    fn last_item(&mut self, session: &mut Session, event: &ModelEvent) -> Received<'static> {
        let Stage::Streaming(stream) = &mut self.stage else { return Received::Aside };
        stream.bill.note(event);
        let asked = stream.bill.model.id.clone();
        match stream.assembler.handle(event) {
            Ok(Step::Complete(message)) => {
                self.end(session, Bill::complete);
                Received::Complete(message, asked)
            }
            Ok(_) => Received::Aside,
            Err(error) => broken(session, stream.effect, &error),
        }
    }

    /// The call failed, or its stream ended early: books it.
    pub(crate) fn fail(&mut self, session: &mut Session, failure: &ModelFailure) {
        self.end(session, |bill| bill.failed(failure));
    }

    /// The user has no more use for it: cancels it, and books what it has used.
    pub(crate) fn abandon(&mut self, session: &mut Session) {
        match &self.stage {
            Stage::Reserving(effect, _) | Stage::BackingOff(effect) => session.cancel(*effect),
            Stage::Streaming(stream) => session.cancel(stream.effect),
            Stage::Behind | Stage::Ended => {}
        }
        self.end(session, Bill::abandoned);
    }

    fn end(&mut self, session: &mut Session, used: impl FnOnce(&Bill) -> windlass_types::Usage) {
        if let Stage::Streaming(stream) = std::mem::replace(&mut self.stage, Stage::Ended) {
            let usage = used(&stream.bill);
            session.book(stream.bill, usage);
        }
    }

    /// What follows from a failure. To be asked after [`ModelCall::fail`].
    pub(crate) fn after_failure(&mut self, session: &mut Session, failure: ModelFailure) -> AfterFailure {
        if let Some(limit) = &failure.rate_limit {
            session.note_rate_limit(limit);
        }
        match self.retry.after(&failure, &session.config.limits, session.has_fallback()) {
            Next::Wait(wait) => {
                self.back_off(session, wait, &failure);
                AfterFailure::Waits
            }
            Next::Fallback => {
                let from = session.current_model().id.clone();
                session.fall_back(from);
                AfterFailure::FallsBack
            }
            Next::TooLong => AfterFailure::TooLong,
            Next::GiveUp => AfterFailure::GivenUp(failure),
            Next::OutOfPatience(asked) => {
                let message = out_of_patience(&failure, asked);
                AfterFailure::GivenUp(ModelFailure { message, ..failure })
            }
        }
    }

    /// Waits before the call is repeated.
    fn back_off(&mut self, session: &mut Session, wait: Duration, failure: &ModelFailure) {
        let delay_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        let max_retries = session.config.limits.max_retries;
        let mut status = RetryStatus::new(self.retry.attempts, max_retries, delay_ms, failure.kind);
        status.http_status = failure.status;
        status.message.clone_from(&failure.message);
        session.status(Status::Retrying(status));
        self.stage = Stage::BackingOff(session.effect(Effect::Sleep(wait)));
    }
}

/// A stream that cannot be followed is read no further.
fn broken(session: &mut Session, effect: EffectId, error: &AssembleError) -> Received<'static> {
    let text = format!("The provider's stream cannot be followed: {}.", clause(&error.to_string()));
    session.cancel(effect);
    Received::Broken(ModelFailure::new(ModelErrorKind::Protocol, text))
}

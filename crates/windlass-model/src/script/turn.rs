//! One answer of a scripted model.

use super::stream::Play;
use super::{Gate, estimate};
use crate::ModelError;
use serde::Serialize;
use std::collections::VecDeque;
use std::time::Duration;
use windlass_types::{
    BlockStart, ContentBlock, JsonText, MessageId, ModelErrorKind, ModelEvent, ModelRequest, RateLimit, StopReason,
    StreamDelta, ToolUseId, Usage,
};

/// One answer of a [`ScriptedModel`](crate::ScriptedModel): blocks, and the end of the stream.
///
/// Events of a turn are counted from zero: the start of the message, then for
/// each block its start, its deltas and its stop, then the stop reason and the
/// stop of the message.
#[derive(Debug, Clone, Default)]
pub struct ScriptedTurn {
    blocks: Vec<Scripted>,
    id: Option<MessageId>,
    model: Option<String>,
    usage: Option<Usage>,
    stop_reason: Option<StopReason>,
    delta_chars: Option<usize>,
    gates: Vec<(Option<usize>, Gate)>,
    failure: Option<TurnFailure>,
    cut_after: Option<usize>,
    rate_limit: Option<RateLimit>,
    unusable: Option<String>,
}

#[derive(Debug, Clone)]
enum Scripted {
    Text(String),
    Thinking { thinking: String, signature: String },
    Call { id: Option<ToolUseId>, name: String, input: String },
    Whole(ContentBlock),
}

#[derive(Debug, Clone)]
struct TurnFailure {
    kind: ModelErrorKind,
    message: Option<String>,
    /// `None`: the request is refused; else the number of events after which the stream breaks.
    after: Option<usize>,
    status: Option<u16>,
    retry_after: Option<Duration>,
    should_retry: Option<bool>,
    unbilled: bool,
}

impl ScriptedTurn {
    /// Returns an answer without blocks, which ends the turn.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a text block.
    #[must_use]
    pub fn text(mut self, text: impl Into<String>) -> Self {
        self.blocks.push(Scripted::Text(text.into()));
        self
    }

    /// Adds a thinking block.
    #[must_use]
    pub fn thinking(mut self, thinking: impl Into<String>, signature: impl Into<String>) -> Self {
        self.blocks.push(Scripted::Thinking { thinking: thinking.into(), signature: signature.into() });
        self
    }

    /// Adds a tool use with a generated id (`toolu_script_0_1` is call 1 of turn 0). An input that cannot be JSON makes
    /// the request fail.
    #[must_use]
    pub fn tool_use(self, name: impl Into<String>, input: impl Serialize) -> Self {
        self.call(None, name.into(), &input)
    }

    /// Adds a tool use with this id.
    #[must_use]
    pub fn tool_use_with_id(self, id: impl Into<ToolUseId>, name: impl Into<String>, input: impl Serialize) -> Self {
        self.call(Some(id.into()), name.into(), &input)
    }

    /// Adds a tool use whose input is this text, JSON or not.
    #[must_use]
    pub fn tool_use_text(mut self, name: impl Into<String>, input: impl Into<String>) -> Self {
        self.blocks.push(Scripted::Call { id: None, name: name.into(), input: input.into() });
        self
    }

    fn call(mut self, id: Option<ToolUseId>, name: String, input: &impl Serialize) -> Self {
        match JsonText::of(input) {
            Ok(input) => self.blocks.push(Scripted::Call { id, name, input: input.as_str().to_owned() }),
            Err(error) => self.unusable = Some(format!("the scripted input of {name} cannot be JSON: {error}")),
        }
        self
    }

    /// Adds a block. Text, thinking and tool uses are streamed; others come whole.
    #[must_use]
    pub fn block(mut self, block: ContentBlock) -> Self {
        self.blocks.push(match block {
            ContentBlock::Text { text, .. } => Scripted::Text(text),
            ContentBlock::Thinking { thinking, signature } => Scripted::Thinking { thinking, signature },
            ContentBlock::ToolUse(call) => {
                Scripted::Call { id: Some(call.id), name: call.name, input: call.input.as_str().to_owned() }
            }
            whole => Scripted::Whole(whole),
        });
        self
    }

    /// Sets the message's id. Default: `msg_script_` and the turn's number.
    #[must_use]
    pub fn id(mut self, id: impl Into<MessageId>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Sets the model named in the answer. Default: the requested one.
    #[must_use]
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Sets the usage. Default: an estimate, a token for four bytes.
    #[must_use]
    pub fn usage(mut self, usage: Usage) -> Self {
        self.usage = Some(usage);
        self
    }

    /// Sets the stop reason. Default: `tool_use` when there is a tool use, else `end_turn`.
    #[must_use]
    pub fn stop_reason(mut self, reason: StopReason) -> Self {
        self.stop_reason = Some(reason);
        self
    }

    /// Streams at most this many characters at a time; zero sends each block in one piece.
    #[must_use]
    pub fn delta_chars(mut self, chars: usize) -> Self {
        self.delta_chars = Some(chars);
        self
    }

    /// Waits at a gate before the answer begins.
    #[must_use]
    pub fn gate(mut self, gate: &Gate) -> Self {
        self.gates.push((None, gate.clone()));
        self
    }

    /// Waits at a gate before this event.
    #[must_use]
    pub fn gate_at(mut self, event: usize, gate: &Gate) -> Self {
        self.gates.push((Some(event), gate.clone()));
        self
    }

    /// Refuses the request.
    #[must_use]
    pub fn fail(self, kind: ModelErrorKind) -> Self {
        self.failing(None, kind)
    }

    /// Breaks the stream with an error after this many events.
    #[must_use]
    pub fn fail_after(self, events: usize, kind: ModelErrorKind) -> Self {
        self.failing(Some(events), kind)
    }

    fn failing(mut self, after: Option<usize>, kind: ModelErrorKind) -> Self {
        self.failure = Some(TurnFailure {
            kind,
            message: None,
            after,
            status: None,
            retry_after: None,
            should_retry: None,
            unbilled: false,
        });
        self
    }

    /// Sets the message of the failure, after [`fail`](Self::fail) or [`fail_after`](Self::fail_after).
    #[must_use]
    pub fn message(mut self, message: impl Into<String>) -> Self {
        if let Some(failure) = &mut self.failure {
            failure.message = Some(message.into());
        }
        self
    }

    /// Adds an HTTP status to the failure set before.
    #[must_use]
    pub fn status(mut self, status: u16) -> Self {
        if let Some(failure) = &mut self.failure {
            failure.status = Some(status);
        }
        self
    }

    /// Adds the wait requested by the provider to the failure set before.
    #[must_use]
    pub fn retry_after(mut self, wait: Duration) -> Self {
        if let Some(failure) = &mut self.failure {
            failure.retry_after = Some(wait);
        }
        self
    }

    /// Adds the retry decision of the provider to the failure set before.
    #[must_use]
    pub fn should_retry(mut self, should_retry: bool) -> Self {
        if let Some(failure) = &mut self.failure {
            failure.should_retry = Some(should_retry);
        }
        self
    }

    /// Marks the failure set before as one that certainly reached no model, so that nothing is billed.
    #[must_use]
    pub fn unbilled(mut self) -> Self {
        if let Some(failure) = &mut self.failure {
            failure.unbilled = true;
        }
        self
    }

    /// Ends the stream after this many events, without an error and without the message's end.
    #[must_use]
    pub fn cut_after(mut self, events: usize) -> Self {
        self.cut_after = Some(events);
        self
    }

    /// Reports the used share of the subscription's rate limit: before the message, without counting as an event, or
    /// with the refusal of [`fail`](Self::fail).
    #[must_use]
    pub fn rate_limit(mut self, limit: RateLimit) -> Self {
        self.rate_limit = Some(limit);
        self
    }

    pub(super) fn gates_at_start(&self) -> impl Iterator<Item = &Gate> {
        self.gates.iter().filter(|(at, _)| at.is_none()).map(|(_, gate)| gate)
    }

    /// Returns the steps of the answer.
    pub(super) fn answer(
        self,
        number: usize,
        request: &ModelRequest,
        delta_chars: usize,
    ) -> Result<VecDeque<Play>, ModelError> {
        if let Some(text) = &self.unusable {
            return Err(ModelError::new(ModelErrorKind::Configuration, text.clone()));
        }
        if let Some(failure) = self.failure.as_ref().filter(|failure| failure.after.is_none()) {
            return Err(failure.error().with_rate_limit(self.rate_limit));
        }
        let mut events = self.events(number, request, self.delta_chars.unwrap_or(delta_chars));
        let broken = self.failure.as_ref().and_then(|failure| failure.after.map(|after| (after, failure)));
        let end = broken.map(|(after, _)| after).into_iter().chain(self.cut_after).min();
        events.truncate(end.unwrap_or(usize::MAX));
        let len = events.len();
        let mut steps = VecDeque::with_capacity(len + 2);
        steps.extend(self.rate_limit.map(|limit| Play::Event(ModelEvent::RateLimit(Box::new(limit)))));
        let gates_before = |at: usize, steps: &mut VecDeque<Play>| {
            let here = self.gates.iter().filter(|(gate_at, _)| *gate_at == Some(at));
            steps.extend(here.map(|(_, gate)| Play::Wait(gate.clone())));
        };
        for (at, event) in events.into_iter().enumerate() {
            gates_before(at, &mut steps);
            steps.push_back(Play::Event(event));
        }
        gates_before(len, &mut steps);
        if let Some((_, failure)) = broken.filter(|(after, _)| Some(*after) == end) {
            steps.push_back(Play::Fail(failure.error()));
        }
        Ok(steps)
    }

    fn events(&self, number: usize, request: &ModelRequest, chars: usize) -> Vec<ModelEvent> {
        let usage = self.usage.unwrap_or_else(|| Usage::new(estimate(request), self.output_estimate()));
        let mut first = usage;
        first.output_tokens = first.output_tokens.min(1);
        let mut events = vec![ModelEvent::MessageStart {
            id: self.id.clone().unwrap_or_else(|| MessageId::from(format!("msg_script_{number}"))),
            model: self.model.clone().unwrap_or_else(|| request.model.clone()),
            usage: first,
        }];
        for (index, block) in self.blocks.iter().enumerate() {
            let (start, deltas) = block.parts(number, index, chars);
            events.push(ModelEvent::BlockStart { index, block: start });
            events.extend(deltas.into_iter().map(|delta| ModelEvent::BlockDelta { index, delta }));
            events.push(ModelEvent::BlockStop { index });
        }
        let calls = self.blocks.iter().any(|block| matches!(block, Scripted::Call { .. }));
        let usual = if calls { StopReason::ToolUse } else { StopReason::EndTurn };
        let stop_reason = Some(self.stop_reason.clone().unwrap_or(usual));
        events.push(ModelEvent::MessageDelta { stop_reason, usage });
        events.push(ModelEvent::MessageStop);
        events
    }

    fn output_estimate(&self) -> u64 {
        let bytes = self.blocks.iter().map(|block| match block {
            Scripted::Text(text) => text.len(),
            Scripted::Thinking { thinking, .. } => thinking.len(),
            Scripted::Call { name, input, .. } => name.len() + input.len(),
            Scripted::Whole(_) => 0,
        });
        u64::try_from(bytes.fold(0, usize::saturating_add) / 4).unwrap_or(u64::MAX).max(1)
    }
}

impl Scripted {
    fn parts(&self, number: usize, index: usize, chars: usize) -> (BlockStart, Vec<StreamDelta>) {
        match self {
            Self::Text(text) => (BlockStart::Text(String::new()), pieces(text, chars).map(StreamDelta::Text).collect()),
            Self::Thinking { thinking, signature } => {
                let start = BlockStart::Thinking { thinking: String::new(), signature: String::new() };
                let signed = (!signature.is_empty()).then(|| StreamDelta::Signature(signature.clone()));
                (start, pieces(thinking, chars).map(StreamDelta::Thinking).chain(signed).collect())
            }
            Self::Call { id, name, input } => {
                let id = id.clone().unwrap_or_else(|| ToolUseId::from(format!("toolu_script_{number}_{index}")));
                let start = BlockStart::ToolUse { id, name: name.clone() };
                (start, pieces(input, chars).map(StreamDelta::ToolInput).collect())
            }
            Self::Whole(block) => (BlockStart::Whole(block.clone()), Vec::new()),
        }
    }
}

impl TurnFailure {
    fn error(&self) -> ModelError {
        let text = self.message.clone().unwrap_or_else(|| format!("the script fails here: {:?}", self.kind));
        let mut error =
            ModelError::new(self.kind, text).with_retry_after(self.retry_after).with_should_retry(self.should_retry);
        (error.status, error.unbilled) = (self.status, self.unbilled);
        error
    }
}

/// Splits the text into pieces of `chars` characters; none for an empty text.
fn pieces(text: &str, chars: usize) -> impl Iterator<Item = String> + '_ {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = match chars {
            0 => rest.len(),
            _ => rest.char_indices().nth(chars).map_or(rest.len(), |(at, _)| at),
        };
        let (piece, later) = rest.split_at_checked(end)?;
        rest = later;
        Some(piece.to_owned())
    })
}

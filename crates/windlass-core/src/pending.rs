//! The effects that are not answered yet.

use crate::{Effect, EffectId, Input, UnfitInput};
use std::collections::BTreeMap;

/// The effects that are not answered yet, and the number of the last one that was handed out.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    last: u64,
    open: BTreeMap<EffectId, Kind>,
}

/// What an effect is, as far as its answers differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Model,
    Reservation,
    Preparation,
    Hooks,
    Question,
    Snapshot,
    Call,
    Append,
    Sleep,
}

impl Kind {
    fn of(effect: &Effect) -> Option<Self> {
        Some(match effect {
            Effect::CallModel(_) => Self::Model,
            Effect::Reserve(_) => Self::Reservation,
            Effect::Prepare { .. } => Self::Preparation,
            Effect::RunHooks { .. } => Self::Hooks,
            Effect::Ask { .. } => Self::Question,
            Effect::Snapshot { .. } => Self::Snapshot,
            Effect::Run(_) => Self::Call,
            Effect::Append { .. } => Self::Append,
            Effect::Sleep(_) => Self::Sleep,
            Effect::Settle { .. } | Effect::StopTask(_) | Effect::Cancel(_) => return None,
        })
    }

    fn name(self) -> &'static str {
        match self {
            Self::Model => "a model call",
            Self::Reservation => "a reservation",
            Self::Preparation => "the preparation of a call",
            Self::Hooks => "a run of hooks",
            Self::Question => "a question",
            Self::Snapshot => "a snapshot",
            Self::Call => "a tool call",
            Self::Append => "an append",
            Self::Sleep => "a wait",
        }
    }
}

/// The effect that an input answers.
struct Answer {
    effect: EffectId,
    kind: Kind,
    name: &'static str,
    /// Whether this is the last answer to the effect.
    is_last: bool,
}

impl Answer {
    fn of(input: &Input) -> Option<Self> {
        let (effect, kind, name, is_last) = match input {
            Input::Model(effect, item) => {
                let is_last = matches!(item.event, windlass_types::ModelEvent::MessageStop);
                (effect, Kind::Model, "an item of a model's stream", is_last)
            }
            Input::ModelFailed(effect, _) => (effect, Kind::Model, "a failure of a model call", true),
            Input::Reserved(effect, _) => (effect, Kind::Reservation, "the answer to a reservation", true),
            Input::Prepared(effect, _) => (effect, Kind::Preparation, "a call that was read", true),
            Input::Hooked(effect, _) => (effect, Kind::Hooks, "an answer of hooks", true),
            Input::AskedHooks(effect, _) => (effect, Kind::Question, "an answer of hooks to a question", false),
            Input::Answered(effect, _) => (effect, Kind::Question, "an answer to a question", true),
            Input::Snapshotted(effect, _) => (effect, Kind::Snapshot, "the end of a snapshot", true),
            Input::Progress(effect, _) => (effect, Kind::Call, "the progress of a call", false),
            Input::TaskStarted(effect, _) => (effect, Kind::Call, "the start of background work", false),
            Input::Ran(effect, _) => (effect, Kind::Call, "the end of a call", true),
            Input::Appended(effect, _) => (effect, Kind::Append, "the end of an append", true),
            Input::Woke(effect) => (effect, Kind::Sleep, "the end of a wait", true),
            _ => return None,
        };
        Some(Self { effect: *effect, kind, name, is_last })
    }
}

impl Pending {
    /// Numbers an effect.
    pub(crate) fn add(&mut self, effect: &Effect) -> EffectId {
        self.last += 1;
        let id = EffectId(self.last);
        if let Some(kind) = Kind::of(effect) {
            self.open.insert(id, kind);
        }
        id
    }

    /// No answer of this effect counts any more.
    pub(crate) fn forget(&mut self, effect: EffectId) {
        self.open.remove(&effect);
    }

    /// Whether an input counts. It does not if it answers an effect that was cancelled, or answered before.
    pub(crate) fn admit(&mut self, input: &Input) -> Result<bool, UnfitInput> {
        let Some(Answer { effect, kind, name: answer, is_last }) = Answer::of(input) else { return Ok(true) };
        match self.open.get(&effect) {
            Some(expected) if *expected != kind => {
                Err(UnfitInput::WrongKind { effect, answer, expected: expected.name() })
            }
            Some(_) => {
                if is_last {
                    self.open.remove(&effect);
                }
                Ok(true)
            }
            None if effect.0 > self.last || effect.0 == 0 => Err(UnfitInput::UnknownEffect { effect, answer }),
            None => Ok(false),
        }
    }
}

/// The effect that an input answers, if it answers one.
pub(crate) fn answered_effect(input: &Input) -> Option<EffectId> {
    Answer::of(input).map(|answer| answer.effect)
}

/// The error for an answer to an open effect that no part of the machine waits for.
pub(crate) fn not_awaited(effect: EffectId, input: &Input) -> UnfitInput {
    UnfitInput::NotAwaited { effect, answer: Answer::of(input).map_or("an order", |answer| answer.name) }
}

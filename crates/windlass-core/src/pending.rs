//! Unanswered effects.

use crate::{Effect, EffectId, Input, UnfitInput};
use std::collections::BTreeMap;

/// Unanswered effects, and the number of the last effect that was handed out.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    last: u64,
    open: BTreeMap<EffectId, Kind>,
}

/// Kind of an effect as far as its answers differ, by the name used in errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Kind(&'static str);

impl Kind {
    const MODEL: Self = Self("a model call");
    const RESERVATION: Self = Self("a reservation");
    const PREPARATION: Self = Self("the preparation of a call");
    const HOOKS: Self = Self("a run of hooks");
    const CLASSIFICATION: Self = Self("a classification");
    const QUESTION: Self = Self("a question");
    const SNAPSHOT: Self = Self("a snapshot");
    const CALL: Self = Self("a tool call");
    const REWIND: Self = Self("a rewind");
    const APPEND: Self = Self("an append");
    const SLEEP: Self = Self("a wait");

    fn of(effect: &Effect) -> Option<Self> {
        Some(match effect {
            Effect::CallModel(_) => Self::MODEL,
            Effect::Reserve(cost) if cost.budget.is_some() => Self::RESERVATION,
            Effect::Prepare { .. } => Self::PREPARATION,
            Effect::RunHooks { .. } => Self::HOOKS,
            Effect::Classify { .. } => Self::CLASSIFICATION,
            Effect::Ask { .. } => Self::QUESTION,
            Effect::Snapshot { .. } => Self::SNAPSHOT,
            Effect::Run(_) => Self::CALL,
            Effect::Rewind(_) => Self::REWIND,
            Effect::Append { .. } => Self::APPEND,
            Effect::Sleep(_) => Self::SLEEP,
            Effect::Reserve(_)
            | Effect::Settle { .. }
            | Effect::Return { .. }
            | Effect::StopTask(_)
            | Effect::Cancel(_) => return None,
        })
    }
}

/// An answer to an effect.
struct EffectAnswer {
    effect: EffectId,
    kind: Kind,
    name: &'static str,
    /// `true` if this is the last answer to the effect.
    is_last: bool,
}

impl EffectAnswer {
    fn of(input: &Input) -> Option<Self> {
        let (effect, kind, name, is_last) = match input {
            Input::Model(effect, item) => {
                let is_last = matches!(item.event, windlass_types::ModelEvent::MessageStop);
                (effect, Kind::MODEL, "an item of a model's stream", is_last)
            }
            Input::AnsweredBy(effect, _) => (effect, Kind::MODEL, "the model that answers", false),
            Input::ModelFailed(effect, _) => (effect, Kind::MODEL, "a failure of a model call", true),
            Input::Reserved(effect, _) => (effect, Kind::RESERVATION, "the answer to a reservation", true),
            Input::Prepared(effect, _) => (effect, Kind::PREPARATION, "a call that was read", true),
            Input::Attached(effect, _) => (effect, Kind::HOOKS, "what is attached to a prompt", false),
            Input::Hooked(effect, _) => (effect, Kind::HOOKS, "an answer of hooks", true),
            Input::Classified(effect, _) => (effect, Kind::CLASSIFICATION, "the verdict of a classifier", true),
            Input::AskedHooks(effect, _) => (effect, Kind::QUESTION, "an answer of hooks to a question", false),
            Input::Answered(effect, _) => (effect, Kind::QUESTION, "an answer to a question", true),
            Input::Unanswered(effect, _) => (effect, Kind::QUESTION, "the end of a question", true),
            Input::Snapshotted(effect, _) => (effect, Kind::SNAPSHOT, "the end of a snapshot", true),
            Input::Progress(effect, _) => (effect, Kind::CALL, "the progress of a call", false),
            Input::AgentAsks(effect, _) => (effect, Kind::CALL, "a question of an agent", false),
            Input::Made(effect, ..) => (effect, Kind::CALL, "a call that a call makes", false),
            Input::TaskStarted(effect, _) => (effect, Kind::CALL, "the start of background work", false),
            Input::Ran(effect, _) => (effect, Kind::CALL, "the end of a call", true),
            Input::Rewound(effect, _) => (effect, Kind::REWIND, "the end of a rewind", true),
            Input::Appended(effect, _) => (effect, Kind::APPEND, "the end of an append", true),
            Input::Woke(effect) => (effect, Kind::SLEEP, "the end of a wait", true),
            _ => return None,
        };
        Some(Self { effect: *effect, kind, name, is_last })
    }
}

impl Pending {
    /// Assigns an id to an effect.
    pub(crate) fn add(&mut self, effect: &Effect) -> EffectId {
        self.last += 1;
        let id = EffectId(self.last);
        if let Some(kind) = Kind::of(effect) {
            self.open.insert(id, kind);
        }
        id
    }

    /// Ignores all further answers to this effect.
    pub(crate) fn forget(&mut self, effect: EffectId) {
        self.open.remove(&effect);
    }

    /// Returns `true` if an input is to be processed. An answer to a cancelled or already answered effect is not.
    pub(crate) fn admit(&mut self, input: &Input) -> Result<bool, UnfitInput> {
        let Some(EffectAnswer { effect, kind, name: answer, is_last }) = EffectAnswer::of(input) else {
            return Ok(true);
        };
        match self.open.get(&effect) {
            Some(expected) if *expected != kind => Err(UnfitInput::WrongKind { effect, answer, expected: expected.0 }),
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

/// Returns the effect that an input answers, if any.
pub(crate) fn answered_effect(input: &Input) -> Option<EffectId> {
    EffectAnswer::of(input).map(|answer| answer.effect)
}

/// Returns the error for an answer to an open effect that no part of the machine waits for.
pub(crate) fn not_awaited(effect: EffectId, input: &Input) -> UnfitInput {
    UnfitInput::NotAwaited { effect, answer: EffectAnswer::of(input).map_or("an order", |answer| answer.name) }
}

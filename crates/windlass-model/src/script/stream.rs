//! Stream of one scripted turn.

use super::Gate;
use crate::{ModelError, wire};
use futures_core::Stream;
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use windlass_types::{ModelEvent, ModelItem};

pub(super) type Sleep = Pin<Box<dyn Future<Output = ()> + Send>>;

#[derive(Clone)]
pub(super) struct Pacing {
    pub(super) pause: Duration,
    pub(super) sleep: Arc<dyn Fn(Duration) -> Sleep + Send + Sync>,
}

/// A step of one turn.
#[derive(Debug)]
pub(super) enum Play {
    Event(ModelEvent),
    Wait(Gate),
    Fail(ModelError),
}

pub(super) struct ScriptedStream {
    steps: VecDeque<Play>,
    raw: bool,
    pacing: Option<Pacing>,
    pause: Option<Sleep>,
    arrived: bool,
}

impl ScriptedStream {
    pub(super) fn new(steps: VecDeque<Play>, raw: bool, pacing: Option<Pacing>) -> Self {
        Self { steps, raw, pacing, pause: None, arrived: false }
    }

    fn item(&mut self, event: ModelEvent) -> ModelItem {
        if let (Some(pacing), ModelEvent::BlockDelta { .. }) = (&self.pacing, &event) {
            self.pause = Some((pacing.sleep)(pacing.pause));
        }
        wire::framed(event, self.raw)
    }
}

impl Stream for ScriptedStream {
    type Item = Result<ModelItem, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        loop {
            if let Some(pause) = &mut this.pause {
                ready!(pause.as_mut().poll(cx));
                this.pause = None;
            }
            if let Some(Play::Wait(gate)) = this.steps.front() {
                ready!(gate.poll_pass(cx, &mut this.arrived));
            }
            return Poll::Ready(match this.steps.pop_front() {
                None => None,
                Some(Play::Event(event)) => Some(Ok(this.item(event))),
                Some(Play::Wait(_)) => {
                    this.arrived = false;
                    continue;
                }
                Some(Play::Fail(error)) => {
                    this.steps.clear();
                    Some(Err(error))
                }
            });
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, Some(self.steps.len()))
    }
}

//! Effects deferred under back-pressure: the host's event queue is full, or the log has unacknowledged appends.

use crate::events::queue::{ENOUGH, EventQueue};
use std::collections::VecDeque;
use std::sync::Arc;
use windlass_core::{Effect, EffectId};

/// Effects that begin when there is room for their events.
///
/// The room is checked once a round. Deferral and waiting both use that one check: if each checked for itself, the host
/// could read in between, and no task would wait for the deferred effects.
#[derive(Debug)]
pub(crate) struct DeferredEffects {
    queue: Arc<EventQueue>,
    effects: VecDeque<(EffectId, Effect)>,
    host_is_behind: bool,
    log_is_behind: bool,
}

impl DeferredEffects {
    pub(crate) fn new(queue: Arc<EventQueue>) -> Self {
        Self { queue, effects: VecDeque::new(), host_is_behind: false, log_is_behind: false }
    }

    /// Checks whether there is room. `backlog` is the number of events that wait for the log. Returns the effects that
    /// may begin now.
    pub(crate) fn take_ready(&mut self, backlog: usize) -> VecDeque<(EffectId, Effect)> {
        self.host_is_behind = self.queue.is_full();
        self.log_is_behind = backlog >= ENOUGH;
        if self.is_crowded() { VecDeque::new() } else { std::mem::take(&mut self.effects) }
    }

    /// Returns `true` if there was no room in this round.
    pub(crate) fn is_crowded(&self) -> bool {
        self.host_is_behind || self.log_is_behind
    }

    pub(crate) fn defer(&mut self, id: EffectId, effect: Effect) {
        self.effects.push_back((id, effect));
    }

    /// Removes an effect that is not to begin any more.
    pub(crate) fn remove(&mut self, id: EffectId) -> Option<Effect> {
        let index = self.effects.iter().position(|(deferred, _)| *deferred == id)?;
        self.effects.remove(index).map(|(_, effect)| effect)
    }

    /// Waits until the host has read, if it was behind in this round; otherwise for ever. An input reports an answer of
    /// the log.
    pub(crate) async fn room(&self) {
        if self.host_is_behind {
            self.queue.room().await;
        } else {
            std::future::pending().await
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::queue::tests::{drain, text};
    use std::future::Future;
    use std::pin::pin;
    use std::task::{Context, Waker};

    fn full() -> (Arc<EventQueue>, DeferredEffects) {
        let queue = Arc::new(EventQueue::default());
        // Each event is about another block, so that none is joined with another.
        for index in 0..ENOUGH {
            queue.push(text(index, "x"));
        }
        let deferred = DeferredEffects::new(Arc::clone(&queue));
        (queue, deferred)
    }

    fn has_room(deferred: &DeferredEffects) -> bool {
        pin!(deferred.room()).poll(&mut Context::from_waker(Waker::noop())).is_ready()
    }

    fn sleep() -> (EffectId, Effect) {
        let policy = windlass_permission::Policy::new(windlass_permission::PolicyConfig::new("/w"));
        let info = windlass_types::ModelInfo::new(1_000, 1_000);
        let model = windlass_core::ModelProfile::new("m", info);
        let mut machine = windlass_core::Machine::new(
            windlass_core::MachineConfig::new("s".into(), 1, model, policy, "/w".into()),
            &[],
        );
        machine.handle(windlass_types::Timestamp::default(), windlass_core::Input::Prompt("hello".into())).unwrap();
        loop {
            if let windlass_core::Output::Effect(id, effect) = machine.poll().unwrap() {
                return (id, effect);
            }
        }
    }

    /// The host reads everything between the check and the wait: the wait is over at once, and the next check lets the
    /// deferred effects begin.
    #[test]
    fn a_host_that_reads_between_the_look_and_the_wait_is_not_waited_for() {
        let (queue, mut deferred) = full();
        let (id, effect) = sleep();
        deferred.defer(id, effect);
        assert!(deferred.take_ready(0).is_empty() && deferred.is_crowded());
        assert!(!has_room(&deferred));
        drain(&queue);
        assert!(deferred.is_crowded(), "one look a round");
        assert!(has_room(&deferred));
        assert_eq!(deferred.take_ready(0).len(), 1);
        assert!(!deferred.is_crowded() && !has_room(&deferred), "there is nothing to wait for");
    }

    #[test]
    fn a_log_that_is_behind_holds_back_and_does_not_spin() {
        let mut deferred = DeferredEffects::new(Arc::new(EventQueue::default()));
        let (id, effect) = sleep();
        deferred.defer(id, effect);
        assert!(deferred.take_ready(ENOUGH).is_empty());
        assert!(deferred.is_crowded() && !has_room(&deferred));
        assert_eq!(deferred.take_ready(ENOUGH - 1).len(), 1);
    }

    /// There is room below the one bound, and those that wait for it are woken there.
    #[test]
    fn the_first_event_that_is_read_wakes_those_that_wait_for_room() {
        #[derive(Debug, Default)]
        struct Woken(std::sync::atomic::AtomicBool);
        impl std::task::Wake for Woken {
            fn wake(self: Arc<Self>) {
                self.0.store(true, std::sync::atomic::Ordering::SeqCst);
            }
        }
        let (queue, mut deferred) = full();
        deferred.take_ready(0);
        let woken = Arc::new(Woken::default());
        let waker = Waker::from(Arc::clone(&woken));
        let mut room = pin!(deferred.room());
        assert!(room.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        let _ = queue.poll(&Context::from_waker(Waker::noop()));
        assert!(woken.0.load(std::sync::atomic::Ordering::SeqCst), "it still waits, with room");
        assert!(room.as_mut().poll(&mut Context::from_waker(&waker)).is_ready());
    }
}

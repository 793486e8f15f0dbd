//! What is held back while the host does not read, or the log does not answer.

use crate::events::{ENOUGH, EventQueue};
use std::collections::VecDeque;
use std::sync::Arc;
use windlass_core::{Effect, EffectId};

/// Effects that begin when there is room for what comes of them.
///
/// Whether there is room is looked at once a round. What is held back and what is waited for go by that one look:
/// were they to look for themselves, the host could read in between, and no task would wait for what is held back.
#[derive(Debug)]
pub(crate) struct Held {
    queue: Arc<EventQueue>,
    effects: VecDeque<(EffectId, Effect)>,
    host_is_behind: bool,
    log_is_behind: bool,
}

impl Held {
    pub(crate) fn new(queue: Arc<EventQueue>) -> Self {
        Self { queue, effects: VecDeque::new(), host_is_behind: false, log_is_behind: false }
    }

    /// Looks whether there is room. `backlog` is how many events wait for the log. Returns what may begin now.
    pub(crate) fn look(&mut self, backlog: usize) -> VecDeque<(EffectId, Effect)> {
        self.host_is_behind = self.queue.is_full();
        self.log_is_behind = backlog >= ENOUGH;
        if self.is_crowded() { VecDeque::new() } else { std::mem::take(&mut self.effects) }
    }

    /// Whether there was no room in this round.
    pub(crate) fn is_crowded(&self) -> bool {
        self.host_is_behind || self.log_is_behind
    }

    pub(crate) fn hold(&mut self, id: EffectId, effect: Effect) {
        self.effects.push_back((id, effect));
    }

    /// Takes an effect out that is not to begin any more.
    pub(crate) fn remove(&mut self, id: EffectId) -> Option<Effect> {
        let at = self.effects.iter().position(|(held, _)| *held == id)?;
        self.effects.remove(at).map(|(_, effect)| effect)
    }

    /// Waits until the host has read, if it was behind in this round; else for ever. When the log answers, an input
    /// reports it.
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
    use crate::events::tests::{drain, text};
    use std::future::Future;
    use std::pin::pin;
    use std::task::{Context, Waker};

    fn full() -> (Arc<EventQueue>, Held) {
        let queue = Arc::new(EventQueue::default());
        // Each is about another block, so that none joins another.
        for index in 0..ENOUGH {
            queue.push(text(index, "x"));
        }
        let held = Held::new(Arc::clone(&queue));
        (queue, held)
    }

    fn has_room(held: &Held) -> bool {
        pin!(held.room()).poll(&mut Context::from_waker(Waker::noop())).is_ready()
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

    /// The host reads everything between the look and the wait: the wait is over at once, and the next look
    /// lets begin what was held back.
    #[test]
    fn a_host_that_reads_between_the_look_and_the_wait_is_not_waited_for() {
        let (queue, mut held) = full();
        let (id, effect) = sleep();
        held.hold(id, effect);
        assert!(held.look(0).is_empty() && held.is_crowded());
        assert!(!has_room(&held));
        drain(&queue);
        assert!(held.is_crowded(), "one look a round");
        assert!(has_room(&held));
        assert_eq!(held.look(0).len(), 1);
        assert!(!held.is_crowded() && !has_room(&held), "there is nothing to wait for");
    }

    #[test]
    fn a_log_that_is_behind_holds_back_and_does_not_spin() {
        let mut held = Held::new(Arc::new(EventQueue::default()));
        let (id, effect) = sleep();
        held.hold(id, effect);
        assert!(held.look(ENOUGH).is_empty());
        assert!(held.is_crowded() && !has_room(&held));
        assert_eq!(held.look(ENOUGH - 1).len(), 1);
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
        let (queue, mut held) = full();
        held.look(0);
        let woken = Arc::new(Woken::default());
        let waker = Waker::from(Arc::clone(&woken));
        let mut room = pin!(held.room());
        assert!(room.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        let _ = queue.poll(&Context::from_waker(Waker::noop()));
        assert!(woken.0.load(std::sync::atomic::Ordering::SeqCst), "it still waits, with room");
        assert!(room.as_mut().poll(&mut Context::from_waker(&waker)).is_ready());
    }
}

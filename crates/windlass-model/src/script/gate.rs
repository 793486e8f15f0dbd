//! A point where a stream waits.

use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// A point of a script at which its model waits until a test opens it.
///
/// Shut at first; once opened it stays open. Clones share the gate. It needs no runtime.
#[derive(Debug, Clone, Default)]
pub struct Gate(Arc<Mutex<GateState>>);

#[derive(Debug, Default)]
struct GateState {
    open: bool,
    arrived: usize,
    wakers: Vec<Waker>,
}

impl GateState {
    fn wake(&mut self) {
        self.wakers.drain(..).for_each(Waker::wake);
    }

    fn wait(&mut self, cx: &Context<'_>) {
        if !self.wakers.iter().any(|waker| waker.will_wake(cx.waker())) {
            self.wakers.push(cx.waker().clone());
        }
    }
}

impl Gate {
    /// Returns a shut gate.
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets all models through that wait here now or come later.
    pub fn open(&self) {
        let mut state = self.state();
        state.open = true;
        state.wake();
    }

    /// Returns the number of times that a model has reached the gate, waiting or not.
    pub fn arrived(&self) -> usize {
        self.state().arrived
    }

    /// Waits until models have reached the gate this often. Cancel safe.
    pub async fn wait_arrived(&self, count: usize) {
        poll_fn(|cx| {
            let mut state = self.state();
            if state.arrived >= count {
                return Poll::Ready(());
            }
            state.wait(cx);
            Poll::Pending
        })
        .await;
    }

    pub(super) async fn pass(&self) {
        let mut arrived = false;
        poll_fn(|cx| self.poll_pass(cx, &mut arrived)).await;
    }

    /// Waits for the gate; `arrived` is the caller's own state and `false` at first.
    pub(super) fn poll_pass(&self, cx: &Context<'_>, arrived: &mut bool) -> Poll<()> {
        let mut state = self.state();
        if !std::mem::replace(arrived, true) {
            state.arrived = state.arrived.saturating_add(1);
            state.wake();
        }
        if state.open {
            return Poll::Ready(());
        }
        state.wait(cx);
        Poll::Pending
    }

    fn state(&self) -> MutexGuard<'_, GateState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

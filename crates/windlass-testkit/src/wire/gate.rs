use std::sync::Arc;

use tokio::sync::watch;

/// A point at which a reply waits until the test lets it go on.
///
/// Clones share the gate, so one gate can hold thousands of replies. It is shut
/// at first; once opened it stays open.
#[derive(Clone, Debug)]
pub struct Gate {
    state: Arc<watch::Sender<State>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct State {
    open: bool,
    arrived: usize,
}

impl Default for Gate {
    fn default() -> Self {
        Self::new()
    }
}

impl Gate {
    /// A shut gate.
    #[must_use]
    pub fn new() -> Self {
        Self { state: Arc::new(watch::Sender::new(State::default())) }
    }

    /// Lets every reply through that waits here now or comes later.
    pub fn open(&self) {
        self.state.send_modify(|state| state.open = true);
    }

    /// How many replies have come to the gate so far. What precedes the gate in
    /// the reply has then been handed to the socket.
    #[must_use]
    pub fn arrived(&self) -> usize {
        self.state.borrow().arrived
    }

    /// Waits until `count` replies have come to the gate. Cancel safe.
    pub async fn wait_arrived(&self, count: usize) {
        let mut watcher = self.state.subscribe();
        // The sender lives in self: it cannot be gone.
        let _ = watcher.wait_for(|state| state.arrived >= count).await;
    }

    pub(super) async fn pass(&self) {
        self.state.send_modify(|state| state.arrived += 1);
        let mut watcher = self.state.subscribe();
        let _ = watcher.wait_for(|state| state.open).await;
    }
}

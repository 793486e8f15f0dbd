//! Points at which a reply or an operation waits until a test lets it continue.

use std::sync::Arc;

use tokio::sync::watch;

/// A point at which a reply of the wire server, or an operation of a fake, waits until the test lets it continue. It
/// replaces a sleep: the test knows the state instead of hoping for it.
///
/// Clones share the gate, so one gate can hold thousands of replies. It is shut at first; once opened it stays open.
///
/// ```
/// # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
/// # runtime.block_on(async {
/// use windlass_testkit::Gate;
///
/// let gate = Gate::new();
/// let waiting = gate.clone();
/// let work = async move {
///     waiting.pass().await;
///     "done"
/// };
/// let test = async {
///     gate.wait_arrived(1).await;
///     gate.open();
/// };
/// assert_eq!(tokio::join!(work, test).0, "done");
/// # });
/// ```
#[derive(Clone, Debug)]
pub struct Gate {
    state: Arc<watch::Sender<GateState>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct GateState {
    open: bool,
    arrived: usize,
}

impl Default for Gate {
    fn default() -> Self {
        Self::new()
    }
}

impl Gate {
    /// Returns a shut gate.
    #[must_use]
    pub fn new() -> Self {
        Self { state: Arc::new(watch::Sender::new(GateState::default())) }
    }

    /// Lets all through that wait here now or come later.
    pub fn open(&self) {
        self.state.send_modify(|state| state.open = true);
    }

    /// Returns the number of arrivals at the gate so far. The part of a wire server's reply before the gate has then
    /// been handed to the socket.
    #[must_use]
    pub fn arrived(&self) -> usize {
        self.state.borrow().arrived
    }

    /// Waits until there are `count` arrivals at the gate. Cancel safe.
    pub async fn wait_arrived(&self, count: usize) {
        let mut watcher = self.state.subscribe();
        // The sender lives in self, so it still exists.
        let _ = watcher.wait_for(|state| state.arrived >= count).await;
    }

    /// Arrives at the gate and waits until it is open. Cancel safe: a dropped future still counts as arrived.
    pub async fn pass(&self) {
        self.state.send_modify(|state| state.arrived += 1);
        let mut watcher = self.state.subscribe();
        let _ = watcher.wait_for(|state| state.open).await;
    }
}

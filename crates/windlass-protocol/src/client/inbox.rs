//! Queue of messages that wait for the host to read them.

use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};
use windlass_types::JsonText;

/// Sending end of a queue of lines, bounded in bytes.
///
/// When the queue is full, its writer waits, and in the end so does the other side. There is one exception: while a
/// control request waits for its answer, the queue may grow to twice its bound, because the answer comes after the
/// messages.
#[derive(Debug)]
pub(super) struct LineInbox {
    lines: mpsc::UnboundedSender<QueuedLine>,
    free_bytes: Arc<Semaphore>,
    reserved_bytes: Arc<Semaphore>,
    bound: u32,
    orders: watch::Receiver<usize>,
    discard: watch::Receiver<bool>,
}

/// A line, with the space that it takes.
#[derive(Debug)]
struct QueuedLine {
    line: JsonText,
    _room: OwnedSemaphorePermit,
}

/// Receiving end of the queue.
#[derive(Debug)]
pub(super) struct Outlet(mpsc::UnboundedReceiver<QueuedLine>);

/// Switches that change the behaviour of an inbox.
#[derive(Debug, Clone)]
pub(super) struct Switches {
    /// Number of control requests that wait for their answers.
    pub(super) orders: watch::Sender<usize>,
    /// `true` if messages are no longer read.
    pub(super) discard: watch::Sender<bool>,
}

impl Default for Switches {
    fn default() -> Self {
        Self { orders: watch::Sender::new(0), discard: watch::Sender::new(false) }
    }
}

impl Switches {
    /// Counts a control request for as long as the result lives.
    pub(super) fn order(&self) -> InboxCommand<'_> {
        self.orders.send_modify(|orders| *orders += 1);
        InboxCommand(&self.orders)
    }
}

pub(super) struct InboxCommand<'a>(&'a watch::Sender<usize>);

impl Drop for InboxCommand<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|orders| *orders = orders.saturating_sub(1));
    }
}

impl LineInbox {
    pub(super) fn new(bound: usize, switches: &Switches) -> (Self, Outlet) {
        let (lines, receiver) = mpsc::unbounded_channel();
        // Limits the bound to the number of permits that a semaphore can hold.
        let bound = u32::try_from(bound).unwrap_or(u32::MAX).clamp(1, u32::MAX >> 3);
        let inbox = Self {
            lines,
            free_bytes: Arc::new(Semaphore::new(bound as usize)),
            reserved_bytes: Arc::new(Semaphore::new(bound as usize)),
            bound,
            orders: switches.orders.subscribe(),
            discard: switches.discard.subscribe(),
        };
        (inbox, Outlet(receiver))
    }

    /// Puts a line into the queue when there is space for it. When messages are no longer read, it is dropped.
    pub(super) async fn put(&mut self, line: JsonText) {
        // A line that is longer than the queue takes all of it.
        let len = u32::try_from(line.as_str().len()).unwrap_or(u32::MAX).min(self.bound);
        let (free_bytes, reserved_bytes) = (Arc::clone(&self.free_bytes), Arc::clone(&self.reserved_bytes));
        let while_request_pending = async {
            // Fails only when no request can be sent any more.
            if self.orders.wait_for(|orders| *orders > 0).await.is_err() {
                std::future::pending::<()>().await;
            }
            reserved_bytes.acquire_many_owned(len).await
        };
        let permit = tokio::select! {
            biased;
            _ = self.discard.wait_for(|discard| *discard) => return,
            permit = free_bytes.acquire_many_owned(len) => permit,
            permit = while_request_pending => permit,
        };
        if let Ok(permit) = permit {
            // Fails only when messages are no longer read.
            let _ = self.lines.send(QueuedLine { line, _room: permit });
        }
    }
}

impl Outlet {
    /// Next line, or `None` when there will be none. Cancel safe.
    pub(super) async fn next(&mut self) -> Option<JsonText> {
        self.0.recv().await.map(|queued_line| queued_line.line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    fn line(bytes: usize) -> JsonText {
        JsonText::of(&"x".repeat(bytes - 2)).unwrap()
    }

    #[tokio::test]
    async fn it_is_bounded_and_orders_widen_it_once() {
        let switches = Switches::default();
        let (mut inbox, mut outlet) = LineInbox::new(100, &switches);
        assert!(inbox.put(line(60)).now_or_never().is_some());
        assert!(inbox.put(line(60)).now_or_never().is_none());
        {
            let _order = switches.order();
            assert!(inbox.put(line(60)).now_or_never().is_some());
            assert!(inbox.put(line(60)).now_or_never().is_none());
        }
        assert_eq!(outlet.next().await.unwrap().as_str().len(), 60);
        assert!(inbox.put(line(99)).now_or_never().is_some());
        assert!(inbox.put(line(1_000)).now_or_never().is_none());
        switches.discard.send_replace(true);
        assert!(inbox.put(line(1_000)).now_or_never().is_some());
    }
}

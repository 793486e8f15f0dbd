//! Requests that may have reached a server.

use rmcp::model::RequestId;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// Number of the latest request of which a part was handed over. Requests are numbered in the order in which they are
/// made and sent: one with a higher number has certainly not reached the server.
#[derive(Debug, Clone)]
pub(crate) struct Sent(Arc<AtomicI64>);

impl Default for Sent {
    fn default() -> Self {
        Self(Arc::new(AtomicI64::new(i64::MIN)))
    }
}

impl Sent {
    /// Records that a request is about to be handed over. Returns the previous latest number.
    pub(crate) fn begin(&self, id: &RequestId) -> i64 {
        self.0.fetch_max(number(id), Ordering::SeqCst)
    }

    /// Records that no part of the request was handed over after all.
    pub(crate) fn take_back(&self, before: i64) {
        self.0.store(before, Ordering::SeqCst);
    }

    /// `true` if a request may have reached the server.
    pub(crate) fn may_have(&self, id: &RequestId) -> bool {
        number(id) <= self.0.load(Ordering::SeqCst)
    }
}

/// Returns the number of an id. An id that is no number may be any request.
fn number(id: &RequestId) -> i64 {
    match id {
        RequestId::Number(number) => *number,
        RequestId::String(_) => i64::MIN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_begun_has_not_reached_the_server() {
        let sent = Sent::default();
        let id = RequestId::Number;
        assert!(!sent.may_have(&id(0)) && sent.may_have(&RequestId::String("0".into())));
        let before = sent.begin(&id(0));
        assert!(sent.may_have(&id(0)) && !sent.may_have(&id(1)));
        sent.take_back(before);
        assert!(!sent.may_have(&id(0)));
        sent.begin(&id(4));
        sent.begin(&id(3));
        assert!(sent.may_have(&id(2)) && sent.may_have(&id(4)) && !sent.may_have(&id(5)));
    }
}

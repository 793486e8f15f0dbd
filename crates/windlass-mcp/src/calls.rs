//! Outcomes of the calls of a connection.

use crate::transport::Sent;
use rmcp::model::RequestId;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Record of the calls of one connection. When the connection is lost, the record decides when the server may be
/// started again.
///
/// Each call records its outcome before it closes. The order in which the call and the task that waits for the end of
/// the connection notice the end is therefore irrelevant.
#[derive(Debug, Default)]
pub(crate) struct ConnectionCalls(Mutex<CallRecord>);

#[derive(Debug, Default)]
struct CallRecord {
    answered: bool,
    lost: bool,
    open: Vec<OpenCalls>,
    /// Number of the next call; identifies it among the open calls.
    next: u64,
}

#[derive(Debug)]
struct OpenCalls {
    number: u64,
    /// Id of the call's request, once it has one.
    id: Option<RequestId>,
}

impl ConnectionCalls {
    fn lock(&self) -> MutexGuard<'_, CallRecord> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens a call. It stays open until the guard is dropped.
    pub(crate) fn begin(&self) -> OneCall<'_> {
        let mut known = self.lock();
        let number = known.next;
        known.next = number.wrapping_add(1);
        known.open.push(OpenCalls { number, id: None });
        OneCall { calls: self, number }
    }

    /// `true` if a loss of the server now would be a loss in its first call: no call was ever answered, and a call that
    /// may have reached the server was lost or is open. An abandoned call is neither.
    ///
    /// A call that is being sent has no id yet, and may have reached the server too.
    pub(crate) fn ended_in_the_first(&self, sent: &Sent) -> bool {
        let known = self.lock();
        let reached = |open: &OpenCalls| open.id.as_ref().is_none_or(|id| sent.may_have(id));
        !known.answered && (known.lost || known.open.iter().any(reached))
    }
}

/// One call of a connection.
#[derive(Debug)]
pub(crate) struct OneCall<'a> {
    calls: &'a ConnectionCalls,
    number: u64,
}

impl OneCall<'_> {
    /// Records the id of the call's request.
    pub(crate) fn has_id(&self, id: &RequestId) {
        let mut known = self.calls.lock();
        if let Some(open) = known.open.iter_mut().find(|open| open.number == self.number) {
            open.id = Some(id.clone());
        }
    }

    /// Records that the call was answered, with a result or an error.
    pub(crate) fn was_answered(&self) {
        self.calls.lock().answered = true;
    }

    /// Records that the server was lost before it answered a call that may have reached it.
    pub(crate) fn was_lost(&self) {
        self.calls.lock().lost = true;
    }
}

impl Drop for OneCall<'_> {
    fn drop(&mut self) {
        self.calls.lock().open.retain(|open| open.number != self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_does_not_matter_whether_the_call_or_the_end_is_noticed_first() {
        let (calls, sent) = (ConnectionCalls::default(), Sent::default());
        assert!(!calls.ended_in_the_first(&sent), "none was made");
        let call = calls.begin();
        call.has_id(&RequestId::Number(3));
        sent.begin(&RequestId::Number(3));
        assert!(calls.ended_in_the_first(&sent), "the call does not know it yet");
        call.was_lost();
        drop(call);
        assert!(calls.ended_in_the_first(&sent), "the call is over");
    }

    #[test]
    fn calls_that_reached_no_server_or_were_given_up_do_not_count() {
        let (calls, sent) = (ConnectionCalls::default(), Sent::default());
        let given_up = calls.begin();
        given_up.has_id(&RequestId::Number(0));
        sent.begin(&RequestId::Number(0));
        let unsent = calls.begin();
        assert!(calls.ended_in_the_first(&sent));
        unsent.has_id(&RequestId::Number(1));
        drop(given_up);
        assert!(!calls.ended_in_the_first(&sent), "the open one has not reached it");
    }

    #[test]
    fn a_server_that_answered_a_call_is_of_use_whatever_follows() {
        let (calls, sent) = (ConnectionCalls::default(), Sent::default());
        calls.begin().was_answered();
        let lost = calls.begin();
        lost.has_id(&RequestId::Number(1));
        sent.begin(&RequestId::Number(1));
        lost.was_lost();
        assert!(!calls.ended_in_the_first(&sent));
    }
}

//! Requests of the owner of the sessions that wait for the client.

use crate::client_request::ClientRequest;
use serde_json::Value;
use std::collections::BTreeMap;
use tokio::sync::oneshot;

/// Maximum number of requests of one session that wait for the client.
const MOST_OPEN: usize = 64;

/// Requests to the client of a session that wait for an answer, by their number on the wire.
#[derive(Default)]
pub(crate) struct ClientRequests {
    open: BTreeMap<u64, SentRequest>,
}

struct SentRequest {
    /// Number by which the requester withdraws it.
    number: u64,
    answer: oneshot::Sender<Result<Value, String>>,
}

impl ClientRequests {
    /// Takes a request, sent with this number. Returns its method and parameters, or `None` if too many are open.
    pub(crate) fn take(&mut self, wire: u64, request: ClientRequest) -> Option<(&'static str, Value)> {
        let ClientRequest { number, method, params, answer } = request;
        if self.open.len() >= MOST_OPEN {
            // A message fails when the requester does not wait any more.
            let _ = answer.send(Err("too many requests wait for the client".to_owned()));
            return None;
        }
        self.open.insert(wire, SentRequest { number, answer });
        Some((method, params))
    }

    /// Passes an answer on. Returns `false` if no such request is open.
    pub(crate) fn answered(&mut self, wire: u64, answer: &Result<Value, String>) -> bool {
        let Some(open) = self.open.remove(&wire) else { return false };
        let _ = open.answer.send(answer.clone());
        true
    }

    /// Forgets a request whose requester does not wait any more. Returns its number on the wire.
    pub(crate) fn withdraw(&mut self, number: u64) -> Option<u64> {
        let wire = self.open.iter().find(|(_, open)| open.number == number).map(|(wire, _)| *wire)?;
        self.open.remove(&wire);
        Some(wire)
    }

    /// Forgets all requests, which fail. Returns their numbers on the wire.
    pub(crate) fn withdraw_all(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.open).into_keys().collect()
    }
}

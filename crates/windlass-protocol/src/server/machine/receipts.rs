//! Answers to the host that wait until the fate of messages is known.

use serde_json::{Value, json};
use windlass_types::EntryId;

/// Most answers that wait for the session.
const MAX_RECEIPTS: usize = 256;

/// The answers that wait.
#[derive(Debug, Default)]
pub(crate) struct Receipts(Vec<Receipt>);

/// An answer to the host that waits until the fate of messages is known.
#[derive(Debug)]
struct Receipt {
    request: String,
    /// The messages, by the ids that the session knows.
    open: Vec<EntryId>,
    /// Those that the host took back.
    cancelled: Vec<String>,
    order: TakeBack,
}

/// What the host wants back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TakeBack {
    /// One message.
    One { done: bool },
    /// The run is stopped; with all messages taken back, or not.
    Interrupt { cancels: bool },
}

impl Receipt {
    fn answer(&self, still_queued: &[String]) -> Value {
        match self.order {
            TakeBack::One { done } => json!({ "cancelled": done }),
            TakeBack::Interrupt { cancels: false } => json!({ "still_queued": still_queued }),
            TakeBack::Interrupt { cancels: true } => {
                json!({ "still_queued": still_queued, "cancelled": self.cancelled })
            }
        }
    }
}

impl Receipts {
    /// An answer that waits for these messages. Where too many wait, it waits for none and holds what is known.
    pub(crate) fn add(&mut self, request: &str, open: Vec<EntryId>, cancelled: Vec<String>, order: TakeBack) {
        let open = if self.0.len() >= MAX_RECEIPTS { Vec::new() } else { open };
        self.0.push(Receipt { request: request.to_owned(), open, cancelled, order });
    }

    /// The fate of a message is known: `taken_back` holds the host's id of it if the host has it back.
    pub(crate) fn settle(&mut self, id: &EntryId, taken_back: Option<Option<&str>>) {
        for receipt in &mut self.0 {
            let Some(at) = receipt.open.iter().position(|open| open == id) else { continue };
            receipt.open.remove(at);
            match (&mut receipt.order, taken_back) {
                (TakeBack::One { done }, Some(_)) => *done = true,
                (TakeBack::Interrupt { cancels: true }, Some(Some(uuid))) => receipt.cancelled.push(uuid.to_owned()),
                _ => {}
            }
        }
    }

    /// Hands out the answers that are complete. `queued` are the ids of the messages that wait.
    pub(crate) fn complete(&mut self, queued: impl FnOnce() -> Vec<String>) -> Vec<(String, Value)> {
        let done: Vec<_> = self.0.extract_if(.., |receipt| receipt.open.is_empty()).collect();
        if done.is_empty() {
            return Vec::new();
        }
        let queued = queued();
        done.into_iter()
            .map(|receipt| {
                let answer = receipt.answer(&queued);
                (receipt.request, answer)
            })
            .collect()
    }
}

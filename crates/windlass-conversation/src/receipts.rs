//! Answers that wait until the fate of messages is known.

use crate::output::Answer;
use windlass_types::EntryId;

/// Maximum number of answers that wait for the session.
const MAX_RECEIPTS: usize = 256;

/// The answers that wait.
#[derive(Debug, Default)]
pub(crate) struct Receipts(Vec<Receipt>);

/// An answer that waits until the fate of messages is known.
#[derive(Debug)]
struct Receipt {
    request: String,
    /// The messages, by the ids that the session knows.
    open: Vec<EntryId>,
    /// Messages that were taken back, by the ids that their sender gave them.
    cancelled: Vec<String>,
    take_back: TakeBack,
}

/// Extent of a request to take messages back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TakeBack {
    /// One message.
    One { done: bool },
    /// The run is stopped; with all messages taken back, or not.
    Interrupt { cancels: bool },
}

impl Receipt {
    fn answer(self, still_queued: &[String]) -> (String, Answer) {
        let answer = match self.take_back {
            TakeBack::One { done } => Answer::TakenBack(done),
            TakeBack::Interrupt { cancels } => Answer::Interrupted {
                still_queued: still_queued.to_vec(),
                cancelled: cancels.then_some(self.cancelled),
            },
        };
        (self.request, answer)
    }
}

impl Receipts {
    /// An answer that waits for these messages. Where too many wait, it waits for none and holds what is known.
    pub(crate) fn add(&mut self, request: &str, open: Vec<EntryId>, cancelled: Vec<String>, take_back: TakeBack) {
        let open = if self.0.len() >= MAX_RECEIPTS { Vec::new() } else { open };
        self.0.push(Receipt { request: request.to_owned(), open, cancelled, take_back });
    }

    /// The fate of a message is known: `taken_back` holds the id that its sender gave it, if the sender has it back.
    pub(crate) fn settle(&mut self, message: &EntryId, taken_back: Option<Option<&str>>) {
        for receipt in &mut self.0 {
            let Some(at) = receipt.open.iter().position(|open| open == message) else { continue };
            receipt.open.remove(at);
            match (&mut receipt.take_back, taken_back) {
                (TakeBack::One { done }, Some(_)) => *done = true,
                (TakeBack::Interrupt { cancels: true }, Some(Some(id))) => receipt.cancelled.push(id.to_owned()),
                _ => {}
            }
        }
    }

    /// Hands out the answers that are complete. `queued` are the ids of the messages that wait.
    pub(crate) fn complete(&mut self, queued: impl FnOnce() -> Vec<String>) -> Vec<(String, Answer)> {
        let done: Vec<_> = self.0.extract_if(.., |receipt| receipt.open.is_empty()).collect();
        if done.is_empty() {
            return Vec::new();
        }
        let queued = queued();
        done.into_iter().map(|receipt| receipt.answer(&queued)).collect()
    }
}

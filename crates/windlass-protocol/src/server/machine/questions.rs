//! The questions that are put to the host, in the stream of all frames.

pub(crate) use super::shown::{About, Asker};

use super::shown::Shown;
use crate::channel::frames::Cancel;
use crate::line;
use std::collections::BTreeSet;

/// A question for the host.
#[derive(Debug, Clone)]
pub(crate) struct Question {
    /// The id of the request.
    pub(crate) id: String,
    /// The line of the request.
    pub(crate) line: Vec<u8>,
    pub(crate) asker: Asker,
    /// The call whose frame comes before the question, if it is about one.
    pub(crate) about: Option<About>,
    /// Whether a person is asked to permit something.
    pub(crate) is_permission: bool,
}

/// The questions that wait for an answer, in the order in which they came. Late, double and unknown answers are ignored.
#[derive(Debug, Default)]
pub(crate) struct Questions {
    /// The calls that the host knows.
    pub(crate) shown: Shown,
    /// The calls whose questions stay open between two runs.
    pub(crate) pending: Vec<About>,
    waiting: Vec<Waiting>,
    /// The open questions to a person, withdrawn ones included.
    permissions: BTreeSet<String>,
    closed: bool,
}

#[derive(Debug)]
struct Waiting {
    id: String,
    asker: Asker,
    is_permission: bool,
    /// The line, and the call whose frame it waits for.
    held: Option<(Vec<u8>, About)>,
}

impl Questions {
    /// A run takes up the calls whose questions stayed open: the host has read of them before.
    pub(crate) fn taken_up(&mut self) {
        for About { agent, call } in std::mem::take(&mut self.pending) {
            self.shown.take_up(agent, call);
        }
    }

    /// Whether the host answers no more.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed
    }

    /// Whether questions wait for the frames of their calls.
    pub(crate) fn holds(&self) -> bool {
        self.waiting.iter().any(|waiting| waiting.held.is_some())
    }

    /// How many questions to a person are open.
    pub(crate) fn open_permissions(&self) -> usize {
        self.permissions.len()
    }

    /// Takes a question in. Hands its line out, unless it waits for the frame of its call, which it does if `may_wait`.
    pub(crate) fn ask(&mut self, question: Question, may_wait: bool) -> Option<Vec<u8>> {
        let Question { id, line, asker, about, is_permission } = question;
        let (line, held) = match about {
            Some(about) if may_wait && !self.shown.knows(&about) => (None, Some((line, about))),
            _ => (Some(line), None),
        };
        if line.is_some() && is_permission {
            self.permissions.insert(id.clone());
        }
        self.waiting.push(Waiting { id, asker, is_permission, held });
        line
    }

    /// Hands out the lines of the questions whose calls the host has been shown, or of all that wait for that.
    pub(crate) fn release(&mut self, all: bool) -> Vec<u8> {
        let (mut lines, shown) = (Vec::new(), &self.shown);
        for waiting in &mut self.waiting {
            if waiting.held.as_ref().is_some_and(|(_, about)| all || shown.knows(about))
                && let Some((line, _)) = waiting.held.take()
            {
                lines.extend(line);
                if waiting.is_permission {
                    self.permissions.insert(waiting.id.clone());
                }
            }
        }
        lines
    }

    /// The host has answered. Returns whether the answer is waited for.
    pub(crate) fn answered(&mut self, id: &str) -> bool {
        // What the host has not been shown it cannot answer.
        let Some(at) = self.waiting.iter().position(|waiting| waiting.id == id && waiting.held.is_none()) else {
            return false;
        };
        self.waiting.remove(at);
        self.permissions.remove(id);
        true
    }

    /// A question is withdrawn. Hands out the line that takes the question back, if the host has it.
    pub(crate) fn dropped(&mut self, id: &str) -> Vec<u8> {
        self.permissions.remove(id);
        let Some(at) = self.waiting.iter().position(|waiting| waiting.id == id) else { return Vec::new() };
        let waiting = self.waiting.remove(at);
        if waiting.held.is_some() { Vec::new() } else { cancel(id) }
    }

    /// Takes back the questions of tasks that are stopped with the run: their ids, and the lines that withdraw them.
    pub(crate) fn withdraw(&mut self) -> (Vec<String>, Vec<u8>) {
        let (mut ids, mut lines, shown) = (Vec::new(), Vec::new(), &self.shown);
        for waiting in self.waiting.extract_if(.., |waiting| shown.stops_with_the_run(&waiting.asker)) {
            if waiting.held.is_none() {
                lines.extend(cancel(&waiting.id));
            }
            ids.push(waiting.id);
        }
        (ids, lines)
    }

    /// The host answers no more: hands out the ids of open questions.
    pub(crate) fn close(&mut self) -> Vec<String> {
        self.closed = true;
        self.permissions.clear();
        std::mem::take(&mut self.waiting).into_iter().map(|waiting| waiting.id).collect()
    }
}

fn cancel(id: &str) -> Vec<u8> {
    let mut line = Vec::new();
    line::push(&mut line, &Cancel { kind: "control_cancel_request", request_id: id });
    line
}

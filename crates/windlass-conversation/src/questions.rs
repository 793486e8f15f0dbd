//! Questions for a person, in one order with everything else that is shown.

pub(crate) use crate::calls::{Asker, CallReference};

use crate::calls::ShownCalls;
use std::collections::BTreeSet;

/// A question for a person. The content is known to the presenter, by the id.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Question {
    /// Id of the question.
    pub id: String,
    /// Asker, which decides whether the question is withdrawn with the run.
    pub asker: Asker,
    /// Call that the question is about: it is shown before the question.
    pub about: Option<CallReference>,
    /// `true` if a person is asked to permit something: the session then requires action.
    pub is_permission: bool,
}

impl Question {
    /// A question with this id.
    pub fn new(id: impl Into<String>, asker: Asker, about: Option<CallReference>, is_permission: bool) -> Self {
        Self { id: id.into(), asker, about, is_permission }
    }
}

/// The questions that wait for an answer, in the order in which they came. Late, double and unknown answers are ignored.
#[derive(Debug, Default)]
pub(crate) struct Questions {
    /// The calls that were shown.
    pub(crate) shown: ShownCalls,
    /// The calls whose questions stay open between two runs.
    pub(crate) pending: Vec<CallReference>,
    waiting: Vec<OpenQuestion>,
    /// The open questions to a person, withdrawn ones included.
    permissions: BTreeSet<String>,
    closed: bool,
}

#[derive(Debug)]
struct OpenQuestion {
    id: String,
    asker: Asker,
    is_permission: bool,
    /// Call that has to be shown first.
    held: Option<CallReference>,
}

impl Questions {
    /// A run takes up the calls whose questions stayed open: they were shown before.
    pub(crate) fn taken_up(&mut self) {
        for CallReference { agent, call } in std::mem::take(&mut self.pending) {
            self.shown.take_up(agent, call);
        }
    }

    /// `true` if nobody is left to answer.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed
    }

    /// `true` if questions wait for their calls.
    pub(crate) fn holds(&self) -> bool {
        self.waiting.iter().any(|waiting| waiting.held.is_some())
    }

    /// Number of open questions to a person.
    pub(crate) fn open_permissions(&self) -> usize {
        self.permissions.len()
    }

    /// Takes a question in. Returns its id if it is to be shown now: not while it waits for its call, which it does if
    /// `may_wait`.
    pub(crate) fn ask(&mut self, question: Question, may_wait: bool) -> Option<String> {
        let Question { id, asker, about, is_permission } = question;
        let held = about.filter(|about| may_wait && !self.shown.knows(about));
        let shown_id = held.is_none().then(|| id.clone());
        if shown_id.is_some() && is_permission {
            self.permissions.insert(id.clone());
        }
        self.waiting.push(OpenQuestion { id, asker, is_permission, held });
        shown_id
    }

    /// The questions to show now: those whose calls were shown, or all that wait for that.
    pub(crate) fn release(&mut self, all: bool) -> Vec<String> {
        let (mut ids, shown) = (Vec::new(), &self.shown);
        for waiting in &mut self.waiting {
            if waiting.held.take_if(|about| all || shown.knows(about)).is_some() {
                ids.push(waiting.id.clone());
                if waiting.is_permission {
                    self.permissions.insert(waiting.id.clone());
                }
            }
        }
        ids
    }

    /// `true` if an answer to the question is awaited: it is open and was shown.
    pub(crate) fn awaits(&self, id: &str) -> bool {
        self.waiting.iter().any(|waiting| waiting.id == id && waiting.held.is_none())
    }

    /// Removes a question that was answered.
    pub(crate) fn answered(&mut self, id: &str) {
        self.waiting.retain(|waiting| waiting.id != id || waiting.held.is_some());
        self.permissions.remove(id);
    }

    /// Removes a question that its asker withdraws. Returns `true` if it was shown.
    pub(crate) fn withdrawn(&mut self, id: &str) -> bool {
        self.permissions.remove(id);
        let Some(at) = self.waiting.iter().position(|waiting| waiting.id == id) else { return false };
        self.waiting.remove(at).held.is_none()
    }

    /// Removes the questions of tasks that are stopped with the run. Returns each id, with `true` if it was shown.
    pub(crate) fn withdraw(&mut self) -> Vec<(String, bool)> {
        let shown = &self.shown;
        let stopped = self.waiting.extract_if(.., |waiting| shown.stops_with_the_run(&waiting.asker));
        stopped.map(|waiting| (waiting.id, waiting.held.is_none())).collect()
    }

    /// Nobody is left to answer: hands out the ids of the open questions.
    pub(crate) fn close(&mut self) -> Vec<String> {
        self.closed = true;
        self.permissions.clear();
        std::mem::take(&mut self.waiting).into_iter().map(|waiting| waiting.id).collect()
    }
}

//! The budget of a session: one ledger for the main agent and all agents below it, and the count of these agents.
//!
//! Machines send requests as effects and get answers as inputs, so that their decisions follow from their inputs alone.
//!
//! The log of the main agent records each change. A call that a budget pays for is granted once the operating system
//! has the log entry of its reservation: a kill of the process does not lose it. That takes no sync.

pub(crate) mod price_check;

use crate::log::writer::{AppendReceiver, AppendRequest, LogCommand};
use crate::ports::SystemPorts;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{mpsc, oneshot};
use windlass_core::{
    CallCost, EffectId, Input, Ledger, LedgerAnswers, LedgerKey, ModelProfile, Reservation, Spent, StoreFailure,
};
use windlass_tool::{Clock, Ids};
use windlass_types::{Entry, EntryId, EntryKind, ModelUsage, NanoUsd, Timestamp, Usage};

/// Maximum number of agents at work for one parent at a time.
const MAX_AGENTS_PER_PARENT: usize = 16;
/// Maximum number of agents at work in a session at a time, beside the main one.
const MAX_AGENTS_PER_SESSION: usize = 64;

/// The budget of a session. Made by the driver of the main agent, and given to those below it.
#[derive(Debug, Clone)]
pub(crate) struct Budget(Arc<Mutex<Book>>);

#[derive(Debug)]
struct Book {
    ledger: Ledger,
    /// The log of the session, if it is kept.
    journal: Option<Journal>,
    /// The latest time that an agent has seen. Entries of a log are in the order of their times, even if a clock goes
    /// back.
    latest: Timestamp,
    /// The parent of each agent that is at work.
    parents: Vec<LedgerKey>,
    /// Inputs of each agent, for the answers.
    agents: BTreeMap<LedgerKey, mpsc::UnboundedSender<Input>>,
    last: LedgerKey,
}

/// One agent's access to the budget. Dropping it releases its reservations.
#[derive(Debug)]
pub(crate) struct Account {
    budget: Budget,
    key: LedgerKey,
}

/// Place of one agent at work. Dropping it frees the place.
#[derive(Debug)]
pub(crate) struct Place {
    budget: Budget,
    parent: LedgerKey,
}

/// The limit of agents at work is reached.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{most} agents are at work already: wait until one ends, or stop one.")]
pub(crate) struct NoPlace {
    most: usize,
}

/// Counts the agents below one agent.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    budget: Budget,
    parent: LedgerKey,
}

impl Budget {
    /// The budget of a session with earlier spending.
    pub(crate) fn new(spent: Spent, journal: Option<Journal>) -> Self {
        Self(Arc::new(Mutex::new(Book {
            ledger: Ledger::new(spent),
            journal,
            latest: Timestamp::default(),
            parents: Vec::new(),
            agents: BTreeMap::new(),
            last: 0,
        })))
    }

    /// Opens the account of one more agent.
    pub(crate) fn open(&self, answers: mpsc::UnboundedSender<Input>) -> Account {
        let mut book = self.book();
        book.last += 1;
        let key = book.last;
        book.agents.insert(key, answers);
        Account { budget: self.clone(), key }
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        // A ledger changes in one step: it is consistent even after a panic.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Book {
    /// Returns the number of agents at work for this parent.
    fn agents_of(&self, parent: LedgerKey) -> usize {
        self.parents.iter().filter(|other| **other == parent).count()
    }

    /// Writes the changes, and sends the answers once the log has them.
    fn send(&mut self, answers: LedgerAnswers) {
        let to = |(agent, effect, answer)| Some((self.agents.get(&agent)?.clone(), effect, answer));
        self.note(AppendReceiver::Reserved(answers.into_iter().filter_map(to).collect()));
    }

    /// Writes the changes, if there are any and the session is kept.
    fn note(&mut self, waiting: AppendReceiver) {
        match (&self.journal, self.ledger.record()) {
            (Some(journal), Some(record)) => {
                self.latest = self.latest.max(journal.clock.now());
                journal.write(self.latest, EntryKind::Spent(record), waiting);
            }
            _ => waiting.report(&Ok(())),
        }
    }
}

/// The log of a session, as its ledger writes to it.
#[derive(Debug)]
pub(crate) struct Journal {
    commands: mpsc::WeakUnboundedSender<LogCommand>,
    ids: Arc<dyn Ids>,
    clock: Arc<dyn Clock>,
}

impl Journal {
    pub(crate) fn new(commands: mpsc::WeakUnboundedSender<LogCommand>, system: &SystemPorts) -> Self {
        Self { commands, ids: Arc::clone(&system.ids), clock: Arc::clone(&system.clock) }
    }

    fn write(&self, at: Timestamp, kind: EntryKind, waiting: AppendReceiver) {
        let entry = Entry::new(EntryId::from_bits(self.ids.bits()), None, at, kind);
        let appending = AppendRequest { waiting, entries: vec![entry], durable: false };
        let refused = match self.commands.upgrade() {
            Some(commands) => commands.send(LogCommand::Append(appending)).err().map(|refused| refused.0),
            None => Some(LogCommand::Append(appending)),
        };
        if let Some(LogCommand::Append(appending)) = refused {
            let failure = StoreFailure::new("the log writer has ended after an earlier failure");
            appending.waiting.report(&Err(failure));
        }
    }
}

impl Places {
    /// Takes a place for one more agent. Concurrent calls that begin agents each take one before any agent is open.
    pub(crate) fn take(&self) -> Result<Place, NoPlace> {
        let mut book = self.budget.book();
        for (count, most) in
            [(book.agents_of(self.parent), MAX_AGENTS_PER_PARENT), (book.parents.len(), MAX_AGENTS_PER_SESSION)]
        {
            if count >= most {
                return Err(NoPlace { most });
            }
        }
        book.parents.push(self.parent);
        Ok(Place { budget: self.budget.clone(), parent: self.parent })
    }

    /// Returns `true` if any agent is at work or about to begin.
    pub(crate) fn any_taken(&self) -> bool {
        self.budget.book().agents_of(self.parent) > 0
    }

    /// Budget that the agents below spend from.
    pub(crate) fn budget(&self) -> &Budget {
        &self.budget
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut book = self.budget.book();
        if let Some(at) = book.parents.iter().position(|parent| *parent == self.parent) {
            book.parents.swap_remove(at);
        }
    }
}

impl Account {
    /// Returns the counter of the agents below this one.
    pub(crate) fn places(&self) -> Places {
        Places { budget: self.budget.clone(), parent: self.key }
    }

    /// Returns the later one of this time and of all times that agents of the session have seen.
    pub(crate) fn latest(&self, now: Timestamp) -> Timestamp {
        let mut book = self.budget.book();
        book.latest = book.latest.max(now);
        book.latest
    }

    /// Returns the spending of all agents.
    pub(crate) fn spent(&self) -> NanoUsd {
        self.budget.book().ledger.spent()
    }

    pub(crate) fn reserve(&self, effect: EffectId, cost: CallCost) {
        let mut book = self.budget.book();
        let is_limited = cost.budget.is_some();
        let answer = book.ledger.reserve(self.key, effect, cost);
        match answer {
            Some(answer) if is_limited => book.send(vec![(self.key, effect, answer)]),
            _ => book.note(AppendReceiver::Nobody),
        }
    }

    pub(crate) fn settle(&self, reservation: Option<EffectId>, model: &str, call: &ModelUsage) {
        let mut book = self.budget.book();
        let answers = book.ledger.settle(self.key, reservation, model, call);
        book.send(answers);
    }

    /// Withdraws the reservation or request of an effect, if it has one.
    pub(crate) fn release(&self, effect: EffectId) {
        let mut book = self.budget.book();
        let answers = book.ledger.release(self.key, effect);
        book.send(answers);
    }
}

/// Payment for a model call outside the conversation. Settled when it is dropped, also by a cancelled call.
#[derive(Debug)]
pub(crate) struct Claim {
    budget: Budget,
    key: LedgerKey,
    effect: EffectId,
    /// The model and its usage so far.
    pub(crate) used: Option<(ModelProfile, Usage)>,
    /// Answer of the log, which must come before a call that a budget pays for.
    noted: Option<oneshot::Receiver<Result<(), StoreFailure>>>,
}

impl Claim {
    /// Waits until the log has the reservation.
    ///
    /// # Errors
    /// The log refused it: the call must not be made.
    pub(crate) async fn noted(&mut self) -> Result<(), StoreFailure> {
        let Some(noted) = self.noted.take() else { return Ok(()) };
        noted.await.unwrap_or_else(|_| Err(StoreFailure::new("the log writer has ended")))
    }
}

impl Account {
    /// Reserves the cost of such a call; `None` if the budget does not suffice now.
    pub(crate) fn claim(&self, effect: EffectId, cost: Option<CallCost>) -> Option<Claim> {
        let (budget, key) = (self.budget.clone(), self.key);
        let claim = |noted| Claim { budget, key, effect, used: None, noted };
        let Some(cost) = cost else { return Some(claim(None)) };
        let (requested_tokens, is_limited) = (cost.max_output_tokens, cost.budget.is_some());
        let mut book = self.budget.book();
        let answer = book.ledger.reserve(self.key, effect, cost);
        if answer != Some(Reservation::Granted { max_output_tokens: requested_tokens }) {
            // The request does not wait for calls of others: a person can be asked instead.
            let answers = book.ledger.release(self.key, effect);
            book.send(answers);
            return None;
        }
        let (sender, noted) = oneshot::channel();
        book.note(if is_limited { AppendReceiver::Claim(sender) } else { AppendReceiver::Nobody });
        Some(claim(is_limited.then_some(noted)))
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let (model, call) = match &self.used {
            Some((model, usage)) => (&*model.id, ModelUsage::of_call(*usage, model.info.cost(usage), &model.info)),
            None => ("", ModelUsage::default()),
        };
        let mut book = self.budget.book();
        let answers = book.ledger.settle(self.key, Some(self.effect), model, &call);
        book.send(answers);
    }
}

impl Drop for Account {
    fn drop(&mut self) {
        let mut book = self.budget.book();
        book.agents.remove(&self.key);
        let answers = book.ledger.leave(self.key);
        book.send(answers);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_are_counted_for_their_parent_and_for_the_session() {
        let budget = Budget::new(Spent::default(), None);
        let places = |parent| Places { budget: budget.clone(), parent };
        let take = |parent| places(parent).take();
        let mut taken: Vec<_> = (0..MAX_AGENTS_PER_PARENT).map(|_| take(1).unwrap()).collect();
        assert_eq!(take(1).unwrap_err(), NoPlace { most: MAX_AGENTS_PER_PARENT });
        for parent in 2..5 {
            taken.extend((0..MAX_AGENTS_PER_PARENT).map(|_| take(parent).unwrap()));
        }
        assert_eq!(take(5).unwrap_err(), NoPlace { most: MAX_AGENTS_PER_SESSION });
        drop(taken.swap_remove(0));
        let _other = take(5).unwrap();
        let of = |parent| budget.book().agents_of(parent);
        assert_eq!((of(1), of(5)), (MAX_AGENTS_PER_PARENT - 1, 1));
        assert!(take(9).is_err());
        assert!(places(5).any_taken() && !places(9).any_taken());
    }
}

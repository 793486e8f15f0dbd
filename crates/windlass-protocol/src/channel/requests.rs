//! Questions to the other side that wait for an answer.

use super::frames::{Cancel, Request};
use super::outbox::Outbox;
use crate::line::{self, MAX_LINE};
use serde::Serialize;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::oneshot;
use windlass_tool::Ids;
use windlass_types::{AgentId, EntryId, JsonText, ToolUseId};

/// What the host may take to notice that a question was withdrawn by a run that
/// was stopped. The question's task is dropped long before.
const WITHDRAWN: Duration = Duration::from_secs(2);

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum AskError {
    /// The host is gone, or can no longer answer.
    Gone,
    /// The host answered with an error.
    Refused(Refusal),
    /// The host did not answer in time.
    TimedOut(Duration),
    /// The run was stopped.
    Withdrawn,
    /// The question is longer than a line may be.
    TooLong,
}

impl fmt::Display for AskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gone => f.write_str("the host is gone"),
            Self::Refused(refusal) => refusal.fmt(f),
            Self::TimedOut(limit) => write!(f, "the host did not answer within {} s", limit.as_secs_f64()),
            Self::Withdrawn => f.write_str("the run was stopped"),
            Self::TooLong => f.write_str("it is too long to be shown to the host"),
        }
    }
}

/// An error as an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) error: String,
    pub(crate) code: Option<String>,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.error)
    }
}

impl From<String> for Refusal {
    fn from(error: String) -> Self {
        Self { error, code: None }
    }
}

/// What the host answers: its response, if it holds one, or its error.
pub(crate) type Answer = Result<Option<JsonText>, Refusal>;

/// The questions that wait, by id. Late, double and unknown answers are ignored.
#[derive(Debug)]
pub(crate) struct Requests {
    table: Mutex<Table>,
    outbox: Outbox,
    ids: Arc<dyn Ids>,
    max_line: usize,
}

#[derive(Debug, Default)]
struct Table {
    waiting: HashMap<String, Waiting>,
    closed: bool,
}

#[derive(Debug)]
struct Waiting {
    answer: oneshot::Sender<Result<Answer, AskError>>,
    /// Whether the question is on its way, so that it must be taken back.
    sent: bool,
    #[cfg_attr(not(feature = "server"), expect(dead_code, reason = "only servers take questions back"))]
    asker: Asker,
}

/// Whom a question is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(not(feature = "server"), expect(dead_code, reason = "clients ask for their run alone"))]
pub(crate) enum Asker {
    /// The run of the main agent.
    Run,
    /// An agent below it.
    Agent(AgentId),
    /// The agent that made this call.
    Call(ToolUseId),
    /// No run: it stays when one is stopped.
    Nobody,
}

impl Requests {
    pub(crate) fn new(outbox: Outbox, ids: Arc<dyn Ids>) -> Self {
        Self { table: Mutex::default(), outbox, ids, max_line: MAX_LINE }
    }

    #[cfg(feature = "client")]
    /// Sets the most bytes of a question's line, for another side than a host.
    pub(crate) fn with_max_line(mut self, bytes: usize) -> Self {
        self.max_line = bytes;
        self
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks the host and waits for its answer, for ever without a limit.
    ///
    /// Cancel safe: a question that nobody waits for any more is withdrawn.
    pub(crate) async fn ask(
        &self,
        body: &impl Serialize,
        limit: Option<Duration>,
    ) -> Result<Option<JsonText>, AskError> {
        self.ask_for(Asker::Run, body, limit).await
    }

    /// Like [`Requests::ask`], for whoever asks.
    pub(crate) async fn ask_for(
        &self,
        asker: Asker,
        body: &impl Serialize,
        limit: Option<Duration>,
    ) -> Result<Option<JsonText>, AskError> {
        let id = EntryId::from_bits(self.ids.bits()).to_string();
        let mut bytes = Vec::new();
        let request = Request { kind: "control_request", request_id: &id, request: body };
        if !line::push_within(&mut bytes, &request, self.max_line) {
            return Err(AskError::TooLong);
        }
        let (answer, mut answered) = oneshot::channel();
        {
            let mut table = self.lock();
            if table.closed {
                return Err(AskError::Gone);
            }
            table.waiting.insert(id.clone(), Waiting { answer, sent: false, asker });
        }
        let question = Question { requests: self, id: &id };
        let wait = async {
            question.send(bytes).await?;
            (&mut answered).await.unwrap_or(Err(AskError::Withdrawn))
        };
        let said = match limit {
            Some(limit) => tokio::time::timeout(limit, wait).await.unwrap_or(Err(AskError::TimedOut(limit))),
            None => wait.await,
        };
        if said == Err(AskError::Withdrawn) {
            // The session stops what waits here; an answer before that would be a made-up one.
            tokio::time::sleep(WITHDRAWN).await;
        }
        said?.map_err(AskError::Refused)
    }

    /// Takes an answer.
    pub(crate) fn answer(&self, id: &str, answer: Answer) {
        let waiting = self.lock().waiting.remove(id);
        match waiting {
            // It fails only when nobody waits any more.
            Some(waiting) => drop(waiting.answer.send(Ok(answer))),
            None => tracing::debug!(id, "an answer came for which nobody waits"),
        }
    }

    /// Takes back the questions of those who are being stopped.
    #[cfg(feature = "server")]
    pub(crate) fn withdraw(&self, stops: impl Fn(&Asker) -> bool) {
        let withdrawn: Vec<_> = self.lock().waiting.extract_if(|_, waiting| stops(&waiting.asker)).collect();
        for (id, waiting) in withdrawn {
            if waiting.sent {
                self.take_back(&id);
            }
        }
    }

    /// Nobody will answer any more: what waits fails, and what is asked from now on.
    pub(crate) fn close(&self) {
        let waiting = {
            let mut table = self.lock();
            table.closed = true;
            std::mem::take(&mut table.waiting)
        };
        for waiting in waiting.into_values() {
            drop(waiting.answer.send(Err(AskError::Gone)));
        }
    }

    fn take_back(&self, id: &str) {
        let mut bytes = Vec::new();
        if line::push(&mut bytes, &Cancel { kind: "control_cancel_request", request_id: id }) {
            self.outbox.send_now(bytes);
        }
    }
}

/// A question that is taken back when it is dropped without an answer.
struct Question<'a> {
    requests: &'a Requests,
    id: &'a str,
}

impl Question<'_> {
    async fn send(&self, bytes: Vec<u8>) -> Result<(), AskError> {
        let slot = self.requests.outbox.reserve(bytes.len()).await.map_err(|_| AskError::Gone)?;
        if let Some(waiting) = self.requests.lock().waiting.get_mut(self.id) {
            waiting.sent = true;
            slot.send(bytes);
        }
        Ok(())
    }
}

impl Drop for Question<'_> {
    fn drop(&mut self) {
        let waiting = self.requests.lock().waiting.remove(self.id);
        if waiting.is_some_and(|waiting| waiting.sent) {
            self.requests.take_back(self.id);
        }
    }
}

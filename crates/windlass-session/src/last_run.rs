//! The last run of a log: whether it has ended, and what is left of it.

#[cfg(test)]
mod tests;

use windlass_types::{Entry, EntryId, EntryKind, QueuedPrompt, RunId, StopReason, ToolResultEntry};

/// Outcome in the log of a run that waits for answers.
const WAITING_OUTCOME: &str = "tool_deferred";

/// The last run of a conversation, as a fold over the entries of its log.
///
/// A run is open when its prompt, or results without an answer, or calls, or an answer without the record of the end of
/// the run stand at the end: its process ended before it, or handed it over. A run that waits for answers has ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LastRun {
    run: Option<RunId>,
    state: State,
    tail: Tail,
    turns: u32,
    resumes: u32,
    queued: Vec<QueuedPrompt>,
}

/// End of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum State {
    #[default]
    Open,
    /// Ended while questions waited for answers: further work of its calls opens it again.
    Waits,
    Ended,
}

/// Last entry of the conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
enum Tail {
    #[default]
    Nothing,
    /// Texts of the user, or results.
    Input,
    Calls,
    /// A message without calls. `is_own`: this program has stored it.
    Answer {
        stop_reason: Option<StopReason>,
        is_own: bool,
    },
}

/// A run that has not ended.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OpenRun {
    /// Run as the log names it last.
    pub run: RunId,
    /// Number of model messages of the run.
    pub turns: u32,
    /// Number of times that the run was resumed since its last message or result.
    pub resumes: u32,
    /// Reason why the last message ended, if the run ends with one that has no calls. `None`: the model has to be called.
    pub answered: Option<StopReason>,
}

impl LastRun {
    /// Returns the last run of these entries.
    pub fn of<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Self {
        let mut last = Self::default();
        entries.into_iter().for_each(|entry| last.apply(entry));
        last
    }

    /// Applies an entry.
    pub fn apply(&mut self, entry: &Entry) {
        match &entry.kind {
            // The run of a summary is named beside it.
            EntryKind::User(user) if user.is_summary => self.tail = Tail::Input,
            EntryKind::User(user) => {
                self.queued.retain(|queued| queued.id != entry.id);
                if let Some(run) = user.run.as_ref().filter(|run| self.run.as_ref() != Some(run)) {
                    self.begin(run.clone());
                }
                self.tail = Tail::Input;
            }
            EntryKind::Assistant(message) => {
                self.turns = self.turns.saturating_add(1);
                self.go_on();
                self.tail = match message.content.iter().any(|block| block.as_tool_use().is_some()) {
                    true => Tail::Calls,
                    false => {
                        let stop_reason = message.stop_reason.clone();
                        Tail::Answer { stop_reason, is_own: message.origin.is_some() }
                    }
                };
            }
            EntryKind::ToolResult(ToolResultEntry { synthetic, .. }) => {
                // A result that was created for a call without an end is no progress.
                if !*synthetic {
                    self.go_on();
                }
                self.tail = Tail::Input;
            }
            EntryKind::Intent { .. } => self.go_on(),
            EntryKind::RunResumed { run, of, turns } => {
                (self.run, self.state) = (Some(run.clone()), State::Open);
                self.turns = self.turns.max(*turns);
                if run != of {
                    self.resumes = self.resumes.saturating_add(1);
                }
            }
            EntryKind::RunFinished(record) if self.run.as_ref() == Some(&record.run) => {
                self.state = if record.outcome == WAITING_OUTCOME { State::Waits } else { State::Ended };
                self.resumes = 0;
            }
            EntryKind::PromptQueued(prompt) => self.queued.push(prompt.clone()),
            EntryKind::PromptUnqueued(id) => self.queued.retain(|queued| queued.id != *id),
            _ => {}
        }
    }

    fn begin(&mut self, run: RunId) {
        (self.run, self.state, self.turns, self.resumes) = (Some(run), State::Open, 0, 0);
    }

    /// Progress of the run: a message, a result, or a call that begins.
    fn go_on(&mut self) {
        self.resumes = 0;
        if self.state == State::Waits {
            self.state = State::Open;
        }
    }

    /// Returns the run if it has not ended.
    pub fn open(&self) -> Option<OpenRun> {
        let run = self.run.clone().filter(|_| self.state == State::Open)?;
        let answered = match &self.tail {
            Tail::Nothing => return None,
            // Other programs record no ends of runs.
            Tail::Answer { is_own: false, .. } => return None,
            Tail::Answer { stop_reason, is_own: true } => Some(stop_reason.clone().unwrap_or(StopReason::EndTurn)),
            Tail::Input | Tail::Calls => None,
        };
        Some(OpenRun { run, turns: self.turns, resumes: self.resumes, answered })
    }

    /// Returns the id of the run, ended or not; `None` if there was none.
    pub fn id(&self) -> Option<&RunId> {
        self.run.as_ref()
    }

    /// Returns the messages of the user that were accepted and have not entered the conversation, in their order.
    pub fn queued(&self) -> &[QueuedPrompt] {
        &self.queued
    }

    /// `true` if this message was accepted and has not entered the conversation.
    pub fn has_queued(&self, id: &EntryId) -> bool {
        self.queued.iter().any(|queued| queued.id == *id)
    }
}

//! Background work that was stopped because a query ended.

use windlass_types::{Event, EventKind, Outcome, RunOrigin, TaskInfo, TaskStatus};

/// The last result of a query, and the work that was stopped after it.
#[derive(Debug, Default)]
pub(crate) struct Stopped {
    last: Option<Event>,
    tasks: Vec<TaskInfo>,
    next_seq: u64,
}

impl Stopped {
    /// Takes an event into account.
    pub(crate) fn take(&mut self, event: &Event) {
        self.next_seq = event.seq.saturating_add(1);
        if !event.agent.is_main() {
            return;
        }
        match &event.kind {
            EventKind::RunFinished(_) => {
                self.last = Some(event.clone());
                self.tasks.clear();
            }
            EventKind::TaskEnded(ended) if ended.status == TaskStatus::Stopped => self.tasks.push(ended.info.clone()),
            _ => {}
        }
    }

    /// Marks the begin of stopping work because the query ends. Work stopped before was stopped by the host.
    pub(crate) fn begin(&mut self) {
        self.tasks.clear();
    }

    /// The last result once more, as no success, if it was one and work was stopped.
    pub(crate) fn last_word(self) -> Option<Box<Event>> {
        let Self { last, tasks, next_seq } = self;
        let mut event = last.filter(|_| !tasks.is_empty())?;
        event.seq = next_seq;
        let EventKind::RunFinished(result) = &mut event.kind else { return None };
        if !result.outcome.is_success() {
            return None;
        }
        result.outcome = Outcome::BackgroundStopped { tasks };
        result.origin = RunOrigin::TaskNotification;
        Some(Box::new(event))
    }
}

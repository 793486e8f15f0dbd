//! The run that continues, and its calls.

use std::collections::VecDeque;
use std::time::Duration;
use windlass_types::{ToolProgress, ToolStarted, ToolUseId};

/// Most calls that have not begun whose titles are remembered.
const MOST_REQUESTED: usize = 256;
/// Most bytes of a line of progress.
const MOST_PROGRESS: usize = 400;

/// The run that continues.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Activity {
    /// Beginning of the run.
    pub since: Duration,
    /// Work of the moment in a few words, such as "Thinking".
    pub label: String,
    /// Tokens that the model wrote in this run; of the message that streams an estimate.
    pub output_tokens: u64,
}

/// A call that runs.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RunningCall {
    /// Id of the call.
    pub id: ToolUseId,
    /// Name of the tool.
    pub tool: String,
    /// One line that names what the call does.
    pub title: String,
    /// Last report of its progress; empty without one.
    pub progress: String,
    /// Beginning of the call.
    pub since: Duration,
}

/// The run, its calls, and the tokens of it.
#[derive(Debug, Default)]
pub(super) struct Activities {
    activity: Option<Activity>,
    calls: Vec<RunningCall>,
    /// Titles of calls that the model made and that have not begun.
    requested: VecDeque<(ToolUseId, String)>,
    /// Tokens of the model calls that were billed.
    billed: u64,
    /// Bytes of the message that streams.
    streamed: u64,
}

impl Activities {
    pub(super) fn activity(&self) -> Option<&Activity> {
        self.activity.as_ref()
    }

    pub(super) fn calls(&self) -> &[RunningCall] {
        &self.calls
    }

    /// Begins, unless something runs already.
    pub(super) fn begin(&mut self, now: Duration) {
        if self.activity.is_some() {
            return;
        }
        *self = Self::default();
        self.activity = Some(Activity { since: now, label: "Working".to_owned(), output_tokens: 0 });
    }

    pub(super) fn end(&mut self) {
        *self = Self::default();
    }

    pub(super) fn label(&mut self, label: impl Into<String>) {
        if let Some(activity) = &mut self.activity {
            activity.label = label.into();
        }
    }

    /// Counts streamed text as a token for each four bytes, until the message is billed.
    pub(super) fn streamed(&mut self, bytes: usize) {
        self.streamed += bytes as u64;
        self.count();
    }

    pub(super) fn billed(&mut self, output_tokens: u64) {
        self.billed += output_tokens;
        self.streamed = 0;
        self.count();
    }

    fn count(&mut self) {
        if let Some(activity) = &mut self.activity {
            activity.output_tokens = self.billed + self.streamed / 4;
        }
    }

    /// Remembers the title of a call that may never begin.
    pub(super) fn requested(&mut self, id: &ToolUseId, title: String) {
        if self.requested.len() >= MOST_REQUESTED {
            self.requested.pop_front();
        }
        self.requested.push_back((id.clone(), title));
    }

    fn take_requested(&mut self, id: &ToolUseId) -> Option<String> {
        let at = self.requested.iter().position(|(known, _)| known == id)?;
        self.requested.remove(at).map(|(_, title)| title)
    }

    pub(super) fn call_started(&mut self, started: &ToolStarted, title: String, now: Duration) {
        self.take_requested(&started.tool_use_id);
        self.calls.retain(|call| call.id != started.tool_use_id);
        self.calls.push(RunningCall {
            id: started.tool_use_id.clone(),
            tool: started.tool.clone(),
            title,
            progress: String::new(),
            since: now,
        });
    }

    pub(super) fn progress(&mut self, progress: &ToolProgress, text: &str) {
        if let Some(call) = self.calls.iter_mut().find(|call| call.id == progress.tool_use_id) {
            let last = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
            call.progress = last.chars().take(MOST_PROGRESS).collect();
        }
    }

    /// Title of a call that has ended, if the model made it or it had begun.
    pub(super) fn call_finished(&mut self, id: &ToolUseId) -> Option<String> {
        let requested = self.take_requested(id);
        let at = self.calls.iter().position(|call| call.id == *id);
        at.map(|at| self.calls.remove(at).title).or(requested)
    }
}

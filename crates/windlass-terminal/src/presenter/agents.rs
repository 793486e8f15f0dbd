//! Agents below the main one, and background work.

use crate::cell::AgentWork;
use std::time::Duration;
use windlass_types::{AgentPath, Event, EventKind, TaskInfo, TaskProgress, ToolUseId};

/// Most agents and most tasks that have rows. Further ones work without.
const MOST_ROWS: usize = 64;
/// Most entries of the log of an agent.
const MOST_LOG: usize = 200;
/// Most bytes of a text in the log of an agent.
pub(super) const MOST_LOGGED: usize = 4_000;

/// An agent below the main one that works.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct AgentRow {
    /// Path of the agent.
    pub path: AgentPath,
    /// Type of the agent, such as `general-purpose`.
    pub agent_type: String,
    /// Task of the agent in a line.
    pub description: String,
    /// Calls and tokens so far.
    pub work: AgentWork,
    /// Title of the last call.
    pub last: String,
    /// Calls and texts of the agent, the last ones.
    pub log: Vec<String>,
    /// Beginning of the work.
    pub since: Duration,
    /// `true` once its run is over.
    pub is_done: bool,
}

impl AgentRow {
    /// Adds a line to the log. Those beyond the limit go.
    fn note(&mut self, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        self.log.push(text.to_owned());
        if self.log.len() > MOST_LOG {
            self.log.remove(0);
        }
    }
}

/// Background work that continues.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TaskRow {
    /// The work.
    pub info: TaskInfo,
    /// Calls and tokens so far, of an agent.
    pub work: AgentWork,
    /// Beginning of the work.
    pub since: Duration,
}

#[derive(Debug, Default)]
pub(super) struct Agents {
    rows: Vec<AgentRow>,
    tasks: Vec<TaskRow>,
}

impl Agents {
    pub(super) fn rows(&self) -> &[AgentRow] {
        &self.rows
    }

    pub(super) fn tasks(&self) -> &[TaskRow] {
        &self.tasks
    }

    /// Takes an event of an agent below the main one. `title` is that of the call that runs it, or of its own call.
    pub(super) fn event(&mut self, event: &Event, title: &str, now: Duration) {
        if let EventKind::RunStarted(started) = &event.kind {
            self.begin(event, started.identity.as_ref().map(|agent| agent.agent_type.as_str()), title, now);
            return;
        }
        let Some(row) = self.rows.iter_mut().find(|row| row.path == event.agent) else { return };
        match &event.kind {
            EventKind::ToolStarted(_) => {
                title.clone_into(&mut row.last);
                row.note(title);
            }
            EventKind::BlockFinished { .. } => row.note(title),
            EventKind::ToolFinished(_) => row.work.calls += 1,
            EventKind::UsageUpdated { usage, .. } => {
                row.work.tokens += usage.total_input().saturating_add(usage.output_tokens);
            }
            EventKind::RunFinished(_) => row.is_done = true,
            _ => {}
        }
    }

    fn begin(&mut self, event: &Event, agent_type: Option<&str>, title: &str, now: Duration) {
        if let Some(row) = self.rows.iter_mut().find(|row| row.path == event.agent) {
            row.is_done = false;
            return;
        }
        if self.rows.len() >= MOST_ROWS {
            self.rows.retain(|row| !row.is_done);
        }
        if self.rows.len() < MOST_ROWS {
            self.rows.push(AgentRow {
                path: event.agent.clone(),
                agent_type: agent_type.unwrap_or("agent").to_owned(),
                description: title.to_owned(),
                work: AgentWork::default(),
                last: String::new(),
                log: Vec::new(),
                since: now,
                is_done: false,
            });
        }
    }

    /// Work of the agents that a call ran, which has ended: their rows go.
    pub(super) fn take(&mut self, call: &ToolUseId) -> Option<AgentWork> {
        let is_below = |row: &AgentRow| row.path.tool_uses().contains(call);
        let mut work: Option<AgentWork> = None;
        for row in self.rows.iter().filter(|row| is_below(row)) {
            let sum = work.get_or_insert_with(AgentWork::default);
            sum.calls += row.work.calls;
            sum.tokens += row.work.tokens;
        }
        // Agents in the background continue behind the result of their call.
        self.rows.retain(|row| !is_below(row) || !row.is_done);
        work
    }

    /// Drops the rows of agents whose work is over.
    pub(super) fn end_run(&mut self) {
        self.rows.retain(|row| !row.is_done);
    }

    pub(super) fn task_started(&mut self, info: &TaskInfo, now: Duration) {
        if self.tasks.len() < MOST_ROWS {
            self.tasks.push(TaskRow { info: info.clone(), work: AgentWork::default(), since: now });
        }
    }

    pub(super) fn task_progress(&mut self, progress: &TaskProgress) {
        if let Some(row) = self.tasks.iter_mut().find(|row| row.info.id == progress.info.id) {
            row.work = AgentWork {
                calls: usize::try_from(progress.usage.tool_uses).unwrap_or(usize::MAX),
                tokens: progress.usage.total_tokens,
            };
        }
    }

    pub(super) fn task_ended(&mut self, info: &TaskInfo) {
        self.tasks.retain(|row| row.info.id != info.id);
    }
}

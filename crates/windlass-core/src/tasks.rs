//! Background tasks.
//!
//! The driver reports when a task starts and ends, and the host gets both events at once. The model reads of the end at
//! the next safe point of the open run; without one, a run of its own begins with it.

use crate::news::News;
use crate::session::Session;
use crate::{Effect, EffectId};
use std::collections::{BTreeMap, VecDeque};
use windlass_types::{
    Entry, EntryKind, EventKind, RunId, TaskEnded, TaskId, TaskInfo, TaskProgress, TaskRecord, TaskStatus, TaskUsage,
};

/// Maximum number of consecutive runs that begin by themselves. Then notifications wait for the next prompt, so that
/// tasks which start tasks come to an end.
const MAX_WAKES: u32 = 50;
/// Maximum number of ended tasks that are remembered.
const MAX_ENDED: usize = 256;

/// Running tasks of a session. They do not outlive it.
#[derive(Debug, Default)]
pub(crate) struct Tasks {
    running: BTreeMap<TaskId, Task>,
    /// Tasks that ended last, for a conversation that is rewound to before their ends.
    ended: VecDeque<TaskEnded>,
    /// Number of runs that began by themselves since the last prompt.
    wakes: u32,
}

#[derive(Debug)]
struct Task {
    info: TaskInfo,
    /// Run and turn that began the task.
    run: RunId,
    turn: u32,
    /// `true` if the end of the task was requested.
    stopping: bool,
    /// `true` if the model knows that the task ends.
    known: bool,
}

impl Tasks {
    /// Returns the running tasks.
    pub(crate) fn running(&self) -> impl Iterator<Item = &TaskInfo> {
        self.running.values().map(|task| &task.info)
    }

    /// Resets the count of runs that began by themselves: a prompt begins.
    pub(crate) fn prompted(&mut self) {
        self.wakes = 0;
    }

    /// `true` if a run may begin by itself. An agent below the main one has a single run: its parent has the report
    /// when that ends.
    pub(crate) fn may_wake(&self, session: &Session) -> bool {
        // Notifications also wait while calls wait for answers.
        let waits = session.state.transcript().has_open_calls();
        session.config.agent.is_none() && session.unread.news.wakes() && self.wakes < MAX_WAKES && !waits
    }

    /// Counts a run that begins by itself.
    pub(crate) fn wake(&mut self) {
        self.wakes += 1;
    }

    /// Adds a task started by a call. `belongs_to_message`: the call belongs to a stored message.
    pub(crate) fn started(&mut self, session: &mut Session, belongs_to_message: bool, info: TaskInfo) {
        let run = session.run.id.clone().filter(|_| belongs_to_message && !self.running.contains_key(&info.id));
        let Some(run) = run else {
            // A discarded call must not leave a running task.
            session.effect(Effect::StopTask(info.id));
            return;
        };
        let append = record(session, TaskRecord::Started(info.clone()));
        session.event(EventKind::TaskStarted(info.clone()), Some(append));
        let task = Task { run, turn: session.run.turns, stopping: false, known: false, info };
        self.running.insert(task.info.id.clone(), task);
    }

    /// Reports the progress of a task.
    pub(crate) fn progress(&self, session: &mut Session, id: &TaskId, usage: TaskUsage, last_tool: Option<String>) {
        let Some(task) = self.running.get(id) else { return };
        let mut progress = TaskProgress::new(task.info.clone(), usage);
        progress.last_tool = last_tool;
        session.out.event(task.run.clone(), task.turn, EventKind::TaskProgress(progress), None);
    }

    /// Handles the end of a task. The end of an unknown task is not reported.
    pub(crate) fn ended(&mut self, session: &mut Session, ended: TaskEnded) {
        let Some(task) = self.running.remove(&ended.info.id) else { return };
        if !task.known {
            // The host or the model that stopped it needs no run about its end.
            session.unread.news.add(&ended, ended.status != TaskStatus::Stopped);
        }
        let append = record(session, TaskRecord::Ended(ended.clone()));
        if self.ended.len() >= MAX_ENDED {
            self.ended.pop_front();
        }
        self.ended.push_back(ended.clone());
        session.out.event(task.run, task.turn, EventKind::TaskEnded(ended), Some(append));
    }

    /// Adjusts the tasks to a rewound conversation: the model reads again of ends that the rest of the conversation
    /// lacks, and of none whose beginning was removed.
    pub(crate) fn rewound(&mut self, session: &mut Session, log: &[Entry]) {
        let is_logged = |wanted: &TaskId, stopping: bool| {
            log.iter().any(|entry| match &entry.kind {
                EntryKind::Task(TaskRecord::Started(info)) => !stopping && info.id == *wanted,
                EntryKind::Task(TaskRecord::Stopping(id)) => stopping && id == wanted,
                _ => false,
            })
        };
        for (id, task) in &mut self.running {
            task.known = !is_logged(id, false) || is_logged(id, true);
        }
        let ended = |info: &TaskInfo| self.ended.iter().rfind(|ended| ended.info.id == info.id).cloned();
        session.unread.news = News::of(log, ended);
    }

    /// Stops a task for the model, which gets no notification of the end.
    pub(crate) fn stop(&mut self, session: &mut Session, id: &TaskId) {
        let Some(task) = self.running.get_mut(id) else { return };
        if !std::mem::replace(&mut task.known, true) {
            record(session, TaskRecord::Stopping(id.clone()));
        }
        if !std::mem::replace(&mut task.stopping, true) {
            session.effect(Effect::StopTask(id.clone()));
        }
    }

    /// Stops all tasks before the session closes. Returns `true` if any is still running.
    pub(crate) fn stop_all(&mut self, session: &mut Session) -> bool {
        for task in self.running.values_mut().filter(|task| !task.stopping) {
            task.stopping = true;
            session.effect(Effect::StopTask(task.info.id.clone()));
        }
        !self.running.is_empty()
    }
}

fn record(session: &mut Session, record: TaskRecord) -> EffectId {
    let entry = session.record(None, EntryKind::Task(record));
    session.append(vec![entry])
}

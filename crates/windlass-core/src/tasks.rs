//! Work that runs in the background.
//!
//! The driver reports when a task starts and ends, and the host reads of both at once.
//! The model reads of the end at the next safe point of the open run; without one,
//! a run of its own begins with it.

use crate::news::News;
use crate::session::Session;
use crate::{Effect, EffectId};
use std::collections::{BTreeMap, VecDeque};
use windlass_types::{
    Entry, EntryKind, EventKind, RunId, TaskEnded, TaskId, TaskInfo, TaskProgress, TaskRecord, TaskStatus, TaskUsage,
};

/// How many runs in a row may begin by themselves. Then news waits for the next
/// prompt, so that work which starts work comes to an end.
const MAX_WAKES: u32 = 50;
/// How many tasks that have ended are remembered.
const MAX_ENDED: usize = 256;

/// The tasks of a session that are running. They do not outlive it.
#[derive(Debug, Default)]
pub(crate) struct Tasks {
    running: BTreeMap<TaskId, Task>,
    /// Those that ended last, for a conversation that is rewound to before it had their ends.
    ended: VecDeque<TaskEnded>,
    /// Runs that began by themselves since the last prompt.
    wakes: u32,
}

#[derive(Debug)]
struct Task {
    info: TaskInfo,
    /// The run and turn that began it.
    run: RunId,
    turn: u32,
    /// Whether its end was ordered.
    stopping: bool,
    /// Whether the model knows that it ends.
    known: bool,
}

impl Tasks {
    /// The tasks that are running.
    pub(crate) fn running(&self) -> impl Iterator<Item = &TaskInfo> {
        self.running.values().map(|task| &task.info)
    }

    /// A prompt begins: runs may begin by themselves again.
    pub(crate) fn prompted(&mut self) {
        self.wakes = 0;
    }

    /// Whether a run may begin by itself. An agent below the main one has a single run: its parent
    /// has the report when that ends.
    pub(crate) fn may_wake(&self, session: &Session) -> bool {
        // What it would tell the model waits, too, while calls wait for answers.
        let waits = session.state.transcript().has_open_calls();
        session.config.agent.is_none() && session.unread.news.wakes() && self.wakes < MAX_WAKES && !waits
    }

    /// A run begins by itself.
    pub(crate) fn wake(&mut self) {
        self.wakes += 1;
    }

    /// A call left work behind. `counts`: the call belongs to a message that counts.
    pub(crate) fn started(&mut self, session: &mut Session, counts: bool, info: TaskInfo) {
        let run = session.run.id.clone().filter(|_| counts && !self.running.contains_key(&info.id));
        let Some(run) = run else {
            // Of a call that does not count, no work may continue.
            session.effect(Effect::StopTask(info.id));
            return;
        };
        let append = record(session, TaskRecord::Started(info.clone()));
        session.event(EventKind::TaskStarted(info.clone()), Some(append));
        let task = Task { run, turn: session.run.turns, stopping: false, known: false, info };
        self.running.insert(task.info.id.clone(), task);
    }

    /// A task reports how far it is.
    pub(crate) fn progress(&self, session: &mut Session, id: &TaskId, usage: TaskUsage, last_tool: Option<String>) {
        let Some(task) = self.running.get(id) else { return };
        let mut progress = TaskProgress::new(task.info.clone(), usage);
        progress.last_tool = last_tool;
        session.out.event(task.run.clone(), task.turn, EventKind::TaskProgress(progress), None);
    }

    /// A task ended. The end of an unknown task is not reported.
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

    /// The conversation was rewound: the model reads again of ends that it has not read of in what is left, and of none whose
    /// beginning is not there any more.
    pub(crate) fn rewound(&mut self, session: &mut Session, log: &[Entry]) {
        let has = |wanted: &TaskId, stopping: bool| {
            log.iter().any(|entry| match &entry.kind {
                EntryKind::Task(TaskRecord::Started(info)) => !stopping && info.id == *wanted,
                EntryKind::Task(TaskRecord::Stopping(id)) => stopping && id == wanted,
                _ => false,
            })
        };
        for (id, task) in &mut self.running {
            task.known = !has(id, false) || has(id, true);
        }
        let ended = |info: &TaskInfo| self.ended.iter().rfind(|ended| ended.info.id == info.id).cloned();
        session.unread.news = News::of(log, ended);
    }

    /// The model stops a task. It does not read of the end.
    pub(crate) fn stop(&mut self, session: &mut Session, id: &TaskId) {
        let Some(task) = self.running.get_mut(id) else { return };
        if !std::mem::replace(&mut task.known, true) {
            record(session, TaskRecord::Stopping(id.clone()));
        }
        if !std::mem::replace(&mut task.stopping, true) {
            session.effect(Effect::StopTask(id.clone()));
        }
    }

    /// Stops all tasks before the session closes. Returns whether any is still running.
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

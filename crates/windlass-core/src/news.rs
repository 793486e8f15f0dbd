//! Ends of background work that the model has not read of.

use std::collections::{BTreeMap, HashSet};
use windlass_context::task_notification;
use windlass_types::{Entry, EntryKind, TaskEnded, TaskId, TaskInfo, TaskRecord, TaskStatus};

/// Ends of background work that the model has not read of.
#[derive(Debug, Default)]
pub(crate) struct News(Vec<Item>);

#[derive(Debug)]
struct Item {
    task: TaskId,
    text: String,
    /// Whether it is worth a run of its own.
    wakes: bool,
}

impl News {
    /// What the model should read with the next prompt: the ends that it has not read of, and the work whose end is
    /// not in the log. Such work is gone with the process that ran it.
    pub(crate) fn left_by(log: &[Entry]) -> Self {
        Self::of(log, |info| {
            let why = "It was stopped: the process that kept it going has ended.";
            Some(TaskEnded::new(info.clone(), TaskStatus::Stopped, why))
        })
    }

    /// The same, where `end` says how work ended whose end is not in the log; `None` if it is running.
    pub(crate) fn of(log: &[Entry], end: impl Fn(&TaskInfo) -> Option<TaskEnded>) -> Self {
        let mut started: Vec<&TaskInfo> = Vec::new();
        let mut ended: BTreeMap<&TaskId, &TaskEnded> = BTreeMap::new();
        let mut known: HashSet<&TaskId> = HashSet::new();
        let mut calls = HashSet::new();
        for entry in log {
            match &entry.kind {
                EntryKind::Assistant(message) => {
                    calls.extend(message.content.iter().filter_map(|block| block.as_tool_use()).map(|call| &call.id));
                }
                EntryKind::User(user) => known.extend(&user.tasks),
                EntryKind::Task(TaskRecord::Started(info)) => started.push(info),
                EntryKind::Task(TaskRecord::Stopping(id)) => drop(known.insert(id)),
                EntryKind::Task(TaskRecord::Ended(end)) => drop(ended.insert(&end.info.id, end)),
                _ => {}
            }
        }
        let mut news = Self::default();
        // Work of a part of the conversation that was taken back is left out.
        for info in started.into_iter().filter(|info| !known.contains(&info.id) && calls.contains(&info.tool_use_id)) {
            let ended = ended.get(&info.id).map(|ended| (*ended).clone()).or_else(|| end(info));
            ended.iter().for_each(|ended| news.add(ended, false));
        }
        news
    }

    pub(crate) fn add(&mut self, ended: &TaskEnded, wakes: bool) {
        self.0.push(Item { task: ended.info.id.clone(), text: task_notification(ended), wakes });
    }

    /// Whether an end is worth a run of its own.
    pub(crate) fn wakes(&self) -> bool {
        self.0.iter().any(|item| item.wakes)
    }

    /// The user stopped the run: what waits, waits for the next prompt.
    pub(crate) fn hold(&mut self) {
        for item in &mut self.0 {
            item.wakes = false;
        }
    }

    /// Takes all texts, each with its task.
    pub(crate) fn take(&mut self) -> impl Iterator<Item = (TaskId, String)> + use<> {
        std::mem::take(&mut self.0).into_iter().map(|item| (item.task, item.text))
    }
}

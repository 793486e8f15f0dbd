//! Ends of background tasks that the model has not read.

use std::collections::{BTreeMap, HashSet};
use windlass_context::task_notification;
use windlass_types::{Entry, EntryKind, TaskEnded, TaskId, TaskInfo, TaskRecord, TaskStatus};

/// Ends of background tasks that the model has not read.
#[derive(Debug, Default)]
pub(crate) struct News(Vec<Item>);

#[derive(Debug)]
struct Item {
    task: TaskId,
    text: String,
    /// `true` if the end justifies a run of its own.
    wakes: bool,
}

impl News {
    /// Returns the notifications for the next prompt: unread ends, and tasks without an end in the log. Such tasks
    /// ended with the process that ran them.
    pub(crate) fn left_by(log: &[Entry]) -> Self {
        Self::of(log, |info| {
            let why = "It was stopped: the process that kept it going has ended.";
            Some(TaskEnded::new(info.clone(), TaskStatus::Stopped, why))
        })
    }

    /// Returns the notifications with a given end for tasks without one in the log. `end` returns `None` for a running
    /// task.
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
        // Tasks of a rewound part of the conversation are left out.
        for info in started.into_iter().filter(|info| !known.contains(&info.id) && calls.contains(&info.tool_use_id)) {
            let ended = ended.get(&info.id).map(|ended| (*ended).clone()).or_else(|| end(info));
            ended.iter().for_each(|ended| news.add(ended, false));
        }
        news
    }

    pub(crate) fn add(&mut self, ended: &TaskEnded, wakes: bool) {
        self.0.push(Item { task: ended.info.id.clone(), text: task_notification(ended), wakes });
    }

    /// `true` if an end justifies a run of its own.
    pub(crate) fn wakes(&self) -> bool {
        self.0.iter().any(|item| item.wakes)
    }

    /// Holds the notifications for the next prompt: the user stopped the run.
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

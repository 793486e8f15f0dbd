//! Background work of which a log does not say that the model has read of its end.

use crate::news::News;
use std::collections::{BTreeMap, HashSet};
use windlass_types::{Entry, EntryKind, TaskEnded, TaskId, TaskInfo, TaskRecord, TaskStatus};

/// What the model should read with the next prompt: the ends that it has not read of, and the work whose end is not in
/// the log. That is gone, since the process that kept it is.
pub(crate) fn left_by(log: &[Entry]) -> News {
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
    let mut news = News::default();
    // Work of a part of the conversation that was taken back is none of this one.
    for info in started.into_iter().filter(|info| !known.contains(&info.id) && calls.contains(&info.tool_use_id)) {
        match ended.get(&info.id) {
            Some(ended) => news.add(ended, false),
            None => {
                let why = "It was stopped: the process that kept it going has ended.";
                news.add(&TaskEnded::new(info.clone(), TaskStatus::Stopped, why), false);
            }
        }
    }
    news
}

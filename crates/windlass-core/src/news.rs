//! Ends of background work that the model has not read of.

use windlass_context::task_notification;
use windlass_types::{TaskEnded, TaskId};

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
    pub(crate) fn add(&mut self, ended: &TaskEnded, wakes: bool) {
        self.0.push(Item { task: ended.info.id.clone(), text: task_notification(ended), wakes });
    }

    /// Whether the model should read of something now.
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

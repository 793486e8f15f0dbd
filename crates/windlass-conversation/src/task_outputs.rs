//! The outputs of background work.

use std::collections::VecDeque;
use std::path::PathBuf;
use windlass_types::TaskId;

/// Maximum number of tasks whose output can be asked for.
const MAX_REMEMBERED_TASKS: usize = 1_000;

/// The outputs of background work, the newest last, also of work that has ended.
#[derive(Debug, Default)]
pub(crate) struct TaskOutputs(VecDeque<(TaskId, Option<PathBuf>)>);

impl TaskOutputs {
    /// Remembers the file of some work, if it has one.
    pub(crate) fn add(&mut self, id: TaskId, file: Option<PathBuf>) {
        if self.0.len() >= MAX_REMEMBERED_TASKS {
            self.0.pop_front();
        }
        self.0.push_back((id, file));
    }

    /// The file of some work, if the work is known.
    pub(crate) fn find(&self, id: &str) -> Option<Option<PathBuf>> {
        self.0.iter().rev().find(|(known, _)| known.as_str() == id).map(|(_, file)| file.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_outputs_are_remembered() {
        let mut outputs = TaskOutputs::default();
        for n in 0..=MAX_REMEMBERED_TASKS {
            outputs.add(format!("b{n}").into(), Some(n.to_string().into()));
        }
        assert_eq!(outputs.find("b0"), None);
        assert_eq!(outputs.find("b1"), Some(Some("1".into())));
        assert_eq!(outputs.0.len(), MAX_REMEMBERED_TASKS);
    }
}

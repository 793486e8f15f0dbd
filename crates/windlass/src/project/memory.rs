//! The memory of a project in its sessions.

use super::LoadedProject;
use crate::memory::{Memory, MemoryDirectory};
use crate::session::Options;
use windlass_project::MEMORY_TOOL;
use windlass_session::ProjectKey;

/// The folder of memories in that of a project's sessions.
const FOLDER: &str = "memory";
/// Switches the memory off.
const OFF: &str = "CLAUDE_CODE_DISABLE_AUTO_MEMORY";

impl LoadedProject {
    /// Where the notes of this project's sessions are: the directory that settings name, else one of the home for the
    /// repository, or without one for the directory that sessions start in. `None` without a home, or where settings or a
    /// variable switch the memory off.
    pub fn memory(&self) -> Option<MemoryDirectory> {
        let said = &self.resolved().memory;
        let is_set = self.variable(OFF).is_some_and(|value| !matches!(value.trim(), "" | "0" | "false"));
        if is_set || said.enabled.as_ref().is_some_and(|enabled| !enabled.value) {
            return None;
        }
        if let Some(directory) = &said.directory {
            return Some(MemoryDirectory::at(&directory.value));
        }
        let root = self.places().project.first()?;
        let home = self.read.request.home_of()?;
        let project = home.root().join("projects").join(ProjectKey::of(root).as_str());
        Some(MemoryDirectory::at(project.join(FOLDER)))
    }

    /// Gives a session the memory of the project, if the program wants it and has given none of its own.
    pub(super) fn apply_memory(&self, options: &mut Options) {
        let has_tool = options.tools.toolkit.tools().iter().any(|tool| tool.spec().name == MEMORY_TOOL);
        if !self.choice.with_memory || has_tool {
            return;
        }
        if let Some(directory) = self.memory() {
            options.remember(Memory::of(directory));
        }
    }
}

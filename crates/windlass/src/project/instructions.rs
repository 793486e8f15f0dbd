//! The instruction files of a project in its sessions.

use super::{LoadedProject, ProjectNoticeKind};
use async_trait::async_trait;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::Mutex;
use windlass_context::FileInstructions;
use windlass_permission::Policy;
use windlass_project::{Instruction, InstructionFiles};
use windlass_runtime::NestedInstructions;
use windlass_tool::Workspace;

/// Reads instruction files as they are needed.
#[derive(Debug)]
struct Nested {
    files: Mutex<InstructionFiles>,
    project: LoadedProject,
}

impl LoadedProject {
    /// The instructions that a session begins with, and what finds those for files that it uses later. `None` if the
    /// project is to have no instructions. Files that the policy denies to read are left out.
    pub(crate) async fn instructions(
        &self,
        workspace: &Arc<dyn Workspace>,
        policy: &Policy,
    ) -> Option<(Vec<FileInstructions>, Arc<dyn NestedInstructions>)> {
        let mut files = self.instruction_files(workspace)?;
        let policy = policy.clone();
        files = files.may_read(move |path, resolved| policy.may_read(path, resolved));
        let found = self.read_by_model(&files.load().await, &mut files);
        let nested = Nested { files: Mutex::new(files), project: self.clone() };
        Some((found, Arc::new(nested)))
    }

    fn instruction_files(&self, workspace: &Arc<dyn Workspace>) -> Option<InstructionFiles> {
        if self.choice.without_instructions {
            return None;
        }
        let (places, sources) = (self.places().clone(), self.read.settings.sources);
        Some(InstructionFiles::new(places, sources, Arc::clone(workspace)))
    }

    /// The instruction files that a session which is opened now would begin with, in the order in which the model reads
    /// them. What is left out is a notice. Empty if the project is to have none.
    pub async fn instruction_list(&self) -> Vec<Instruction> {
        let workspace: Arc<dyn Workspace> = Arc::new(windlass_tools::LocalWorkspace::default());
        let Some(mut files) = self.instruction_files(&workspace) else { return Vec::new() };
        let found = files.load().await;
        self.note_left_out(&mut files);
        found
    }

    fn read_by_model(&self, found: &[Instruction], files: &mut InstructionFiles) -> Vec<FileInstructions> {
        self.note_left_out(files);
        found.iter().filter_map(Instruction::for_model).collect()
    }

    fn note_left_out(&self, files: &mut InstructionFiles) {
        for note in files.take_notes() {
            self.note(ProjectNoticeKind::Instructions, note.to_string());
        }
    }
}

#[async_trait]
impl NestedInstructions for Nested {
    async fn of_paths(&self, paths: &[PathBuf]) -> Vec<FileInstructions> {
        let mut files = self.files.lock().await;
        let found = files.of_paths(paths).await;
        self.project.read_by_model(&found, &mut files)
    }
}

//! The instruction files of a project in its sessions.

use super::{LoadedProject, ProjectNoticeKind};
use async_trait::async_trait;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::Mutex;
use windlass_context::FileInstructions;
use windlass_permission::Policy;
use windlass_project::{Instruction, InstructionExcludes, InstructionFiles};
use windlass_runtime::NestedInstructions;
use windlass_tool::Workspace;
use windlass_types::SessionId;

/// The variable that has instructions read from directories that were added to the workspace.
const ADDED_DIRECTORIES: &str = "CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD";

/// Reads instruction files as they are needed.
#[derive(Debug)]
struct Nested {
    files: Mutex<InstructionFiles>,
    project: LoadedProject,
    session: SessionId,
}

impl LoadedProject {
    /// The instructions that a session begins with, and what finds those for files that it uses later. `None` if the
    /// project is to have no instructions. Files that the policy denies to read are left out.
    pub(crate) async fn instructions(
        &self,
        workspace: &Arc<dyn Workspace>,
        policy: &Policy,
        session: &SessionId,
    ) -> Option<(Vec<FileInstructions>, Arc<dyn NestedInstructions>)> {
        if self.choice.without_instructions {
            return None;
        }
        let (places, sources, policy) = (self.places().clone(), self.read.settings.sources, policy.clone());
        let (excludes, unusable) = InstructionExcludes::new(&self.read.resolved, places.user_home.as_deref());
        unusable.into_iter().for_each(|text| self.note(ProjectNoticeKind::Instructions, text));
        let added = policy.directories().iter().skip(1).filter(|_| self.reads_added_directories());
        let files = InstructionFiles::new(places, sources, Arc::clone(workspace))
            .excluding(excludes)
            .with_directories(added.cloned().collect());
        let mut files = files.may_read(move |path, resolved| policy.may_read(path, resolved));
        let found = self.read_by_model(&files.load().await, &mut files);
        let nested = Nested { files: Mutex::new(files), project: self.clone(), session: session.clone() };
        Some((found, Arc::new(nested)))
    }

    /// Whether instructions are read from directories that were added to the workspace.
    fn reads_added_directories(&self) -> bool {
        self.variable(ADDED_DIRECTORIES).is_some_and(|value| matches!(value.trim(), "1" | "true" | "yes" | "on"))
    }

    /// What the model reads of what was found. What was left out is a notice.
    fn read_by_model(&self, found: &[Instruction], files: &mut InstructionFiles) -> Vec<FileInstructions> {
        for note in files.take_notes() {
            self.note(ProjectNoticeKind::Instructions, note.to_string());
        }
        found.iter().filter_map(Instruction::for_model).collect()
    }
}

#[async_trait]
impl NestedInstructions for Nested {
    async fn of_paths(&self, paths: &[PathBuf]) -> Vec<FileInstructions> {
        let mut files = self.files.lock().await;
        let found = files.of_paths(paths).await;
        let mut found = self.project.read_by_model(&found, &mut files);
        drop(files);
        if let Some(session) = self.project.open_session(&self.session) {
            let project = self.project.clone();
            // Hooks may take longer than this is waited for. It fails when the session has ended, and then no call is judged
            // any more.
            let refreshing = tokio::spawn(async move { project.refresh_settings(&session).await });
            let _ = refreshing.await;
        }
        found.extend(self.project.skill_news(&self.session, paths));
        found
    }
}

//! The instruction files of a project in its sessions.

use super::remote_start::Elsewhere;
use super::{LoadedProject, ProjectNoticeKind};
use crate::lock::Lock;
use async_trait::async_trait;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::{Mutex, MutexGuard, Notify};
use windlass_context::{FileInstructions, estimate_text};
use windlass_permission::Policy;
use windlass_project::{Instruction, InstructionExcludes, InstructionFiles, WaitingInstruction};
use windlass_runtime::{NestedInstructions, UsedPath};
use windlass_tool::Workspace;
use windlass_types::{ContextKind, ContextSection, SessionId};

/// Variable that enables instructions from directories that were added to the workspace.
const ADDED_DIRECTORIES: &str = "CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD";

/// Reads instruction files on demand.
#[derive(Debug)]
struct Nested {
    files: Mutex<InstructionFiles>,
    used: Lock<UsedPaths>,
    /// Wakes the waiting calls when the used paths have been looked up.
    looked_up: Notify,
    project: LoadedProject,
    session: SessionId,
}

/// Paths that calls have used and that have not been looked up yet.
#[derive(Debug, Default)]
struct UsedPaths {
    paths: Vec<UsedPath>,
    /// Number of times that paths were added, and how many of these are answered.
    asked: u64,
    answered: u64,
}

impl UsedPaths {
    /// Adds paths. Returns the number that identifies their answer.
    fn add(&mut self, paths: &[UsedPath]) -> u64 {
        self.paths.extend_from_slice(paths);
        self.asked += 1;
        self.asked
    }

    /// `true` if the request with this number is answered.
    fn is_answered(&self, number: u64) -> bool {
        self.answered >= number
    }

    /// All waiting paths, and the number of the last request. `None` if the request with this number is answered.
    fn waiting(&self, number: u64) -> Option<(Vec<UsedPath>, u64)> {
        (!self.is_answered(number)).then(|| (self.paths.clone(), self.asked))
    }

    /// Marks this many paths as answered, with all requests up to this number.
    fn answer(&mut self, paths: usize, number: u64) {
        self.paths.drain(..paths.min(self.paths.len()));
        self.answered = number;
    }
}

impl LoadedProject {
    /// Returns the instructions that a session begins with, and the finder of those for files that it uses later.
    /// `None` if instructions are disabled. Files that the policy denies to read are left out.
    pub(crate) async fn instructions(
        &self,
        workspace: &Arc<dyn Workspace>,
        policy: &Policy,
        session: &SessionId,
    ) -> Option<(Vec<FileInstructions>, Arc<dyn NestedInstructions>)> {
        if self.choice.without.instructions {
            return None;
        }
        let (mut files, unusable) = self.instruction_files(workspace, policy);
        unusable.into_iter().for_each(|text| self.note(ProjectNoticeKind::Instructions, text));
        let found = self.read_by_model(&files.load().await, &mut files);
        let (used, looked_up) = (Lock::new(UsedPaths::default()), Notify::new());
        let (files, project, session) = (Mutex::new(files), self.clone(), session.clone());
        let nested = Nested { files, used, looked_up, project, session };
        Some((found, Arc::new(nested)))
    }

    /// Finder of the readable instruction files, none of which is read yet, and the invalid patterns of settings.
    fn instruction_files(&self, workspace: &Arc<dyn Workspace>, policy: &Policy) -> (InstructionFiles, Vec<String>) {
        let (places, sources, policy) = (self.places().clone(), self.read.settings.sources, policy.clone());
        let (excludes, unusable) = InstructionExcludes::new(&self.read.resolved, places.user_home.as_deref());
        let added = policy.directories().iter().skip(1).filter(|_| self.reads_added_directories());
        let sources = self.place_elsewhere().map_or(sources, Elsewhere::sources);
        let mut files = InstructionFiles::new(places, sources, Arc::clone(workspace))
            .excluding(excludes)
            .with_directories(added.cloned().collect());
        if let Some(there) = self.place_elsewhere() {
            files = files.elsewhere(there.directories().to_vec());
        }
        (files.may_read(move |path, resolved| policy.may_read(path, resolved)), unusable)
    }

    /// Instructions that sessions with these rights read later, when a matching file is used: rules with `paths`, and
    /// those of directories below the start. Their tokens are [withheld](ContextSection::withheld), and each names its
    /// condition. Intended for display: the full search takes longer than opening a session. Empty if the files are not
    /// on this machine.
    pub async fn waiting_instructions(&self, policy: &Policy) -> Vec<ContextSection> {
        if self.choice.without.instructions || self.place_elsewhere().is_some() {
            return Vec::new();
        }
        let workspace: Arc<dyn Workspace> = Arc::new(windlass_local::LocalWorkspace::new());
        let (mut files, _) = self.instruction_files(&workspace, policy);
        files.load().await;
        files.into_waiting().await.iter().filter_map(waiting).collect()
    }

    /// `true` if instructions are read from directories that were added to the workspace.
    fn reads_added_directories(&self) -> bool {
        self.variable(ADDED_DIRECTORIES).is_some_and(|value| matches!(value.trim(), "1" | "true" | "yes" | "on"))
    }

    /// Instructions for the model. Omissions are notices.
    fn read_by_model(&self, found: &[Instruction], files: &mut InstructionFiles) -> Vec<FileInstructions> {
        for note in files.take_notes() {
            self.note(ProjectNoticeKind::Instructions, note.to_string());
        }
        found.iter().filter_map(Instruction::for_model).collect()
    }
}

/// Context section of instructions that are not in the context window yet.
fn waiting(one: &WaitingInstruction) -> Option<ContextSection> {
    let text = one.instruction.for_model()?;
    let mut section = ContextSection::new(ContextKind::Instructions, &text.path, text.source.as_str(), 0);
    section.withheld = estimate_text(&text.text);
    let folder = one.folder.display();
    section.reason = Some(match one.patterns.as_slice() {
        [] => format!("until a file in {folder} is used"),
        patterns => format!("until a file is used that fits {} in {folder}", patterns.join(", ")),
    });
    Some(section)
}

#[async_trait]
impl NestedInstructions for Nested {
    async fn of_paths(&self, paths: &[UsedPath]) -> Vec<FileInstructions> {
        let number = self.used.lock().add(paths);
        let Some(mut files) = self.turn(number).await else { return Vec::new() };
        // Calls of one message often end together. The first of them looks up the paths of all; if it is cancelled, its
        // paths are left to the next one.
        tokio::task::yield_now().await;
        let Some((used, last)) = self.used.lock().waiting(number) else { return Vec::new() };
        let folders: Vec<&Path> = used.iter().filter_map(UsedPath::folder).collect();
        let paths: Vec<PathBuf> = used.iter().map(|used| used.path.clone()).collect();
        let found = files.of_paths(&folders, &paths).await;
        let mut found = self.project.read_by_model(&found, &mut files);
        if let Some(session) = self.project.open_session(&self.session) {
            let project = self.project.clone();
            // Hooks may take longer than the wait here. The task fails when the session has ended, and then no call is
            // judged any more.
            let refreshing = tokio::spawn(async move { project.refresh_unasked(&session).await });
            let _ = refreshing.await;
        }
        found.extend(self.project.skill_news(&self.session, &paths));
        self.used.lock().answer(used.len(), last);
        self.looked_up.notify_waiters();
        found
    }
}

impl Nested {
    /// Waits for exclusive access to the files. `None` if another call has looked up the paths of this one meanwhile.
    ///
    /// Wakes all answered calls at once, so that their results are logged together. Cancel safe.
    async fn turn(&self, number: u64) -> Option<MutexGuard<'_, InstructionFiles>> {
        loop {
            let looked_up = self.looked_up.notified();
            if self.used.lock().is_answered(number) {
                return None;
            }
            tokio::select! {
                biased;
                () = looked_up => {}
                files = self.files.lock() => return Some(files),
            }
        }
    }
}

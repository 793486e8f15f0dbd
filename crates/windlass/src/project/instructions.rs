//! The instruction files of a project in its sessions.

use super::elsewhere::Elsewhere;
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

/// The variable that has instructions read from directories that were added to the workspace.
const ADDED_DIRECTORIES: &str = "CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD";

/// Reads instruction files as they are needed.
#[derive(Debug)]
struct Nested {
    files: Mutex<InstructionFiles>,
    used: Lock<UsedPaths>,
    /// Wakes those that wait for the files when what was used has been looked up.
    looked_up: Notify,
    project: LoadedProject,
    session: SessionId,
}

/// What calls have used and was not looked up yet.
#[derive(Debug, Default)]
struct UsedPaths {
    paths: Vec<UsedPath>,
    /// How often paths were added, and how many of these times are answered.
    asked: u64,
    answered: u64,
}

impl UsedPaths {
    /// Adds paths; the number by which their answer is known.
    fn add(&mut self, paths: &[UsedPath]) -> u64 {
        self.paths.extend_from_slice(paths);
        self.asked += 1;
        self.asked
    }

    /// Whether the one with this number is answered.
    fn is_answered(&self, number: u64) -> bool {
        self.answered >= number
    }

    /// All that waits, and the number of the last that was added. `None` if the one with this number is answered.
    fn waiting(&self, number: u64) -> Option<(Vec<UsedPath>, u64)> {
        (!self.is_answered(number)).then(|| (self.paths.clone(), self.asked))
    }

    /// Has these many paths answered, with all that were added until this number.
    fn answer(&mut self, paths: usize, number: u64) {
        self.paths.drain(..paths.min(self.paths.len()));
        self.answered = number;
    }
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

    /// The instruction files that may be read, none of which is yet, and patterns of settings that cannot be used.
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

    /// The instructions that sessions with these rights read later, when a file is used that they are for: rules with `paths`, and
    /// those of directories below the start. Their tokens are [withheld](ContextSection::withheld), and each says what it
    /// waits for. For people: all that may wait is looked for, which takes longer than opening a session. None where the files
    /// are not on this machine.
    pub async fn waiting_instructions(&self, policy: &Policy) -> Vec<ContextSection> {
        if self.choice.without.instructions || self.place_elsewhere().is_some() {
            return Vec::new();
        }
        let workspace: Arc<dyn Workspace> = Arc::new(windlass_tools::LocalWorkspace::new());
        let (mut files, _) = self.instruction_files(&workspace, policy);
        files.load().await;
        files.into_waiting().await.iter().filter_map(waiting).collect()
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

/// What waits, as a part of a context window that it is not in yet.
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
        // Calls of one message often end together. Those that have ended are looked up at once, by the first of them; a look
        // that is given up leaves its paths to the next one.
        tokio::task::yield_now().await;
        let Some((used, last)) = self.used.lock().waiting(number) else { return Vec::new() };
        let folders: Vec<&Path> = used.iter().filter_map(UsedPath::folder).collect();
        let paths: Vec<PathBuf> = used.iter().map(|used| used.path.clone()).collect();
        let found = files.of_paths(&folders, &paths).await;
        let mut found = self.project.read_by_model(&found, &mut files);
        if let Some(session) = self.project.open_session(&self.session) {
            let project = self.project.clone();
            // Hooks may take longer than this is waited for. It fails when the session has ended, and then no call is judged
            // any more.
            let refreshing = tokio::spawn(async move { project.refresh_settings(&session).await });
            let _ = refreshing.await;
        }
        found.extend(self.project.skill_news(&self.session, &paths));
        self.used.lock().answer(used.len(), last);
        self.looked_up.notify_waiters();
        found
    }
}

impl Nested {
    /// The files, once no other call looks at them. `None` if another one has looked up meanwhile what this one asked for.
    ///
    /// All whose answer is known are woken at once, so that their results are logged together. Cancel safe.
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

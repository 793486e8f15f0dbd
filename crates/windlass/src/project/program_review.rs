//! Trusted contents of the files that the configuration of a project runs.

use super::program_files::ProgramFile;
use super::program_reviewer::{ProgramReviewer, diff};
use super::{LoadedProject, ProjectNoticeKind};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use windlass_project::ProgramContent;
use windlass_runtime::SessionHandle;

impl LoadedProject {
    pub(crate) fn program_reviewer(&self) -> ProgramReviewer {
        ProgramReviewer { read: Arc::clone(&self.read), review: Arc::clone(&self.shared.programs) }
    }

    /// Stores the trusted contents of the files that a session's configuration runs: from records of trust, else the
    /// present ones. Unrecorded contents are recorded, if the project is trusted.
    pub(crate) fn begin_program_review(&self, files: &[ProgramFile]) {
        if files.is_empty() {
            return;
        }
        let recorded = self.updates().recorded_programs();
        let (mut fresh, mut changed) = (BTreeMap::new(), Vec::new());
        let mut trusted = self.shared.programs.trusted.lock();
        for ProgramFile { path, source } in files {
            if trusted.contains_key(path) {
                continue;
            }
            let now = ProgramContent::read(path);
            // A person may edit files of the home without windlass.
            let recorded = recorded.as_ref().filter(|_| self.read.holds(path));
            let content = match recorded.map(|recorded| recorded.get(path)) {
                Some(Some(digest)) if *digest != now.digest => {
                    changed.push((path, source));
                    ProgramContent::recorded(digest, self.updates().kept_program(digest))
                }
                Some(None) => {
                    fresh.insert(path.clone(), now.clone());
                    now
                }
                _ => now,
            };
            trusted.insert(path.clone(), content);
        }
        drop(trusted);
        for (path, source) in changed {
            let path = path.display();
            let text = format!(
                "{path} has changed since it was trusted, and {source} runs it: that needs an answer first. \
                 `windlass trust` shows and confirms the change"
            );
            self.note(ProjectNoticeKind::Trust, text);
        }
        if let Err(error) = self.updates().record_programs(&fresh) {
            self.note(ProjectNoticeKind::Trust, format!("what trusted configuration runs cannot be recorded: {error}"));
        }
    }

    /// Sends questions about programs of servers through this session.
    pub(super) fn ask_about_programs(&self, session: &SessionHandle) {
        *self.shared.programs.session.lock() = Some(session.weak());
    }

    /// Files that the active configuration runs, with the recorded content of each: `None` without a record.
    pub fn reviewed_programs(&self) -> Vec<ReviewedProgram> {
        let recorded = self.updates().recorded_programs().unwrap_or_default();
        let of_project =
            self.program_files(&self.known_agents()).into_iter().filter(|file| self.read.holds(&file.path));
        let reviewed = of_project.map(|ProgramFile { path, source }| {
            let digest = recorded.get(&path);
            let trusted = digest.map(|digest| ProgramContent::recorded(digest, self.updates().kept_program(digest)));
            ReviewedProgram { now: ProgramContent::read(&path), path, source, trusted }
        });
        reviewed.collect()
    }
}

/// A file of a project that configuration in effect runs.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReviewedProgram {
    /// The file.
    pub path: PathBuf,
    /// The configuration that runs it, for people.
    pub source: String,
    /// The content now.
    pub now: ProgramContent,
    /// Recorded content, if there is a record.
    pub trusted: Option<ProgramContent>,
}

impl ReviewedProgram {
    /// `true` if the record has another content.
    pub fn has_changed(&self) -> bool {
        self.trusted.as_ref().is_some_and(|trusted| trusted.digest != self.now.digest)
    }

    /// The change since the recorded content as a unified diff.
    pub fn diff(&self) -> String {
        diff(&self.path, self.trusted.as_ref(), &self.now)
    }
}

//! Comparison of the files that configuration runs with their trusted contents, before they run.

use super::program_files::ProgramFile;
use super::read::Read;
use super::{LoadedProject, ProjectNoticeKind};
use crate::lock::Lock;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use windlass_builtin_tools::Patch;
use windlass_project::{ConfiguredLine, ProgramContent};
use windlass_runtime::{Approval, SessionHandle};
use windlass_tool::{Clock as _, SystemClock};
use windlass_types::{EditPreview, JsonText, Timestamp};

/// Name by which hosts know the question about a program that has changed.
const TOOL: &str = "ConfiguredProgram";

/// Contents that the sessions of a project trust.
pub(super) struct ProgramReview {
    trusted: Lock<BTreeMap<PathBuf, ProgramContent>>,
    /// Held while a question is open, so that hooks that run at once ask once.
    question: tokio::sync::Mutex<()>,
    /// The session that was opened last, which asks for servers.
    session: Lock<Option<SessionHandle>>,
    /// Start of the first session. A file that no configuration named then is trusted if it has not changed since.
    since: Timestamp,
}

impl Default for ProgramReview {
    fn default() -> Self {
        let since = SystemClock::default().now();
        Self { trusted: Lock::default(), question: tokio::sync::Mutex::default(), session: Lock::default(), since }
    }
}

/// Compares the files of configured lines with their trusted contents. Keeps no project alive.
#[derive(Clone)]
pub(crate) struct ProgramReviewer {
    read: Arc<Read>,
    review: Arc<ProgramReview>,
}

/// A file that differs from its trusted content.
struct ChangedProgram {
    path: PathBuf,
    /// The trusted content. `None`: the file came while the session was open.
    before: Option<ProgramContent>,
    now: ProgramContent,
}

impl LoadedProject {
    pub(crate) fn program_reviewer(&self) -> ProgramReviewer {
        ProgramReviewer { read: Arc::clone(&self.read), review: Arc::clone(&self.shared.programs) }
    }

    /// Stores the trusted contents of the files that a session's configuration runs: from records of trust, else the
    /// present ones. Unrecorded contents are recorded, if the project is trusted.
    pub(super) fn begin_program_review(&self, files: &[ProgramFile]) {
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
        let of_project = self.program_files().into_iter().filter(|file| self.read.holds(&file.path));
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

impl Read {
    /// `true` if a file lies in the project.
    fn holds(&self, path: &Path) -> bool {
        self.places.project.first().is_some_and(|root| path.starts_with(root))
    }
}

impl ProgramReviewer {
    /// Lets a line run in `cwd` if its files match their trusted contents, or if the host agrees.
    ///
    /// # Errors
    /// A file differs from its trusted content, and the host has not agreed. The text names it.
    pub(crate) async fn review(
        &self,
        line: &ConfiguredLine,
        cwd: &Path,
        session: Option<&SessionHandle>,
    ) -> Result<(), String> {
        if self.changes(line, cwd).is_empty() {
            return Ok(());
        }
        let _turn = self.review.question.lock().await;
        // An earlier question may have been about the same files.
        let changes = self.changes(line, cwd);
        if changes.is_empty() {
            return Ok(());
        }
        let text = described(line, &changes);
        let session = session.cloned().or_else(|| self.review.session.lock().clone());
        let session = session.ok_or_else(|| unconfirmed(&text, "nobody can be asked yet"))?;
        let answer = session.approve(approval(line, &changes, &text)).await;
        answer.map_err(|error| unconfirmed(&text, &error.to_string()))?;
        self.trust(changes).ok_or_else(|| unconfirmed(&text, "it changed again meanwhile"))
    }

    /// Like [`review`](Self::review), if nobody can be asked.
    ///
    /// # Errors
    /// A file differs from its trusted content. The text names it.
    pub(crate) fn check(&self, line: &ConfiguredLine, cwd: &Path) -> Result<(), String> {
        let changes = self.changes(line, cwd);
        if changes.is_empty() { Ok(()) } else { Err(unconfirmed(&described(line, &changes), "it was not confirmed")) }
    }

    /// Files of a line that differ from their trusted contents.
    fn changes(&self, line: &ConfiguredLine, cwd: &Path) -> Vec<ChangedProgram> {
        let mut changes: Vec<ChangedProgram> = Vec::new();
        for path in line.files(cwd, &self.read.places) {
            let now = ProgramContent::read(&path);
            let mut trusted = self.review.trusted.lock();
            match trusted.get(&path) {
                Some(known) if known.digest == now.digest => {}
                None if now.is_missing() => {}
                None if is_older(&path, self.review.since) => drop(trusted.insert(path, now)),
                before => changes.push(ChangedProgram { before: before.cloned(), path, now }),
            }
        }
        if !changes.is_empty() {
            self.confirmed_elsewhere(&mut changes);
        }
        changes
    }

    /// Removes the changes that `windlass trust` has confirmed meanwhile.
    fn confirmed_elsewhere(&self, changes: &mut Vec<ChangedProgram>) {
        let recorded = self.read.updates.recorded_programs().unwrap_or_default();
        let mut trusted = self.review.trusted.lock();
        for change in changes.extract_if(.., |change| recorded.get(&change.path) == Some(&change.now.digest)) {
            trusted.insert(change.path, change.now);
        }
    }

    /// Trusts the new contents. `None` if one has changed again.
    fn trust(&self, changes: Vec<ChangedProgram>) -> Option<()> {
        let is_same = |change: &ChangedProgram| ProgramContent::read(&change.path).digest == change.now.digest;
        let all = changes.iter().all(is_same);
        let changes: BTreeMap<PathBuf, ProgramContent> =
            changes.into_iter().filter(|_| all).map(|change| (change.path, change.now)).collect();
        let mut of_project = changes.clone();
        of_project.retain(|path, _| self.read.holds(path));
        if let Err(error) = self.read.updates.record_programs(&of_project) {
            tracing::warn!(%error, "what was confirmed is asked about again in the next session");
        }
        self.review.trusted.lock().extend(changes);
        all.then_some(())
    }
}

/// `true` if a file has not changed since a time, by a timestamp that programs cannot set.
fn is_older(path: &Path, since: Timestamp) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let changed = path
            .metadata()
            .map(|found| found.ctime().saturating_mul(1_000).saturating_add(found.ctime_nsec() / 1_000_000));
        changed.is_ok_and(|changed| u64::try_from(changed).is_ok_and(|changed| changed < since.millis()))
    }
    #[cfg(not(unix))]
    {
        let _ = (path, since);
        false
    }
}

fn described(line: &ConfiguredLine, changes: &[ChangedProgram]) -> String {
    let names: Vec<String> = changes.iter().map(|change| change.path.display().to_string()).collect();
    let has = if names.len() == 1 { "has" } else { "have" };
    format!("{} {has} changed since it was trusted, and {} runs it", names.join(", "), line.source)
}

fn unconfirmed(text: &str, why: &str) -> String {
    format!("{text}: {why}. `windlass trust` shows and confirms the change")
}

fn approval(line: &ConfiguredLine, changes: &[ChangedProgram], text: &str) -> Approval {
    let files: Vec<String> = changes.iter().map(|change| change.path.display().to_string()).collect();
    let input = JsonText::of(&BTreeMap::from([("command", vec![line.line.clone()]), ("files", files)]));
    let mut approval = Approval::new(TOOL, input.unwrap_or_else(|_| JsonText::empty_object()), text, text);
    let diffs: String = changes.iter().map(|change| diff(&change.path, change.before.as_ref(), &change.now)).collect();
    let paths = changes.iter().map(|change| change.path.clone()).collect();
    approval.edits = Some(EditPreview::new(paths, diffs));
    approval
}

/// Change of a file as a unified diff. Without a stored trusted text, the whole text is new.
fn diff(path: &Path, before: Option<&ProgramContent>, now: &ProgramContent) -> String {
    let text = |content: Option<&ProgramContent>| content.and_then(|content| content.text.clone()).unwrap_or_default();
    let (before, now) = (text(before), text(Some(now)));
    let name = path.display();
    Patch::between(&before, &now).unified(&format!("{name} (trusted)"), &format!("{name} (now)"))
}

impl fmt::Debug for ProgramReviewer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProgramReviewer").field("project", &self.read.places.start()).finish_non_exhaustive()
    }
}

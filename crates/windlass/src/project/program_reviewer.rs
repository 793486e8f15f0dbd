//! Comparison of the files that configuration runs with their trusted contents, before they run.

use super::read::Read;
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
    pub(super) trusted: Lock<BTreeMap<PathBuf, ProgramContent>>,
    /// Held while a question is open, so that hooks that run at once ask once.
    question: tokio::sync::Mutex<()>,
    /// The session that was opened last, which asks for servers.
    pub(super) session: Lock<Option<SessionHandle>>,
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
    pub(super) read: Arc<Read>,
    pub(super) review: Arc<ProgramReview>,
}

/// A file that differs from its trusted content.
struct ChangedProgram {
    path: PathBuf,
    /// The trusted content. `None`: the file came while the session was open.
    before: Option<ProgramContent>,
    now: ProgramContent,
}

impl Read {
    /// `true` if a file lies in the project.
    pub(super) fn holds(&self, path: &Path) -> bool {
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
        let all_same = changes.iter().all(is_same);
        let changes: BTreeMap<PathBuf, ProgramContent> =
            changes.into_iter().filter(|_| all_same).map(|change| (change.path, change.now)).collect();
        let mut of_project = changes.clone();
        of_project.retain(|path, _| self.read.holds(path));
        if let Err(error) = self.read.updates.record_programs(&of_project) {
            tracing::warn!(%error, "what was confirmed is asked about again in the next session");
        }
        self.review.trusted.lock().extend(changes);
        all_same.then_some(())
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
    let verb = if names.len() == 1 { "has" } else { "have" };
    format!("{} {verb} changed since it was trusted, and {} runs it", names.join(", "), line.source)
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
pub(super) fn diff(path: &Path, before: Option<&ProgramContent>, now: &ProgramContent) -> String {
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

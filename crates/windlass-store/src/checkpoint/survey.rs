//! Surveys: changes in the workspace, and their authors.

use super::baseline::{Baseline, Known, NO_ROOM, SECRET, Tree, named, no_file, outermost, plan, too_large};
use super::engine::{Engine, seen};
use super::record::{Kind, Record, State};
use super::shelf::{Content, Shelf};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use windlass_session::{ChangedBy, CheckpointError, LeftOut, Survey};
use windlass_tool::{SurveyChange, Surveyed, TreeSurvey, WholeFile, WorkspaceError};

/// Maximum number of entries of a surveyed directory tree.
const MAX_ENTRIES: usize = 1_000_000;

/// Maximum number of files and bytes that are read as a group, so that memory use stays constant.
const GROUP_FILES: usize = 512;
const GROUP_BYTES: u64 = 8 * 1024 * 1024;

/// Maximum number of repeated scans for files that have changed while the baseline was made.
const MAX_ROUNDS: usize = 3;

/// Reason for a file that kept changing.
const KEPT_CHANGING: &str = "it changed while the baseline was made";

/// Present state of a file.
struct PresentFile {
    path: PathBuf,
    state: State,
    content: Content,
}

/// State of a file at the last survey.
enum EarlierState {
    /// Not examined.
    Unseen,
    Absent,
    Known(Known),
}

/// A file that differs, or may.
struct DifferingFile {
    was: EarlierState,
    now: PresentFile,
    /// `true` if the file system reports a change, `false` if one could only not be ruled out.
    is_certain: bool,
}

impl DifferingFile {
    fn is_real(&self) -> bool {
        match &self.was {
            EarlierState::Unseen => false,
            EarlierState::Absent => !matches!(self.now.state, State::Absent { .. }),
            EarlierState::Known(was) => {
                let is_comparable = !matches!(self.now.state, State::Unkept { .. });
                !was.state.is_same(&self.now.state) && (self.is_certain || is_comparable)
            }
        }
    }
}

impl<S: Shelf> Engine<S> {
    pub(crate) async fn survey(&self, survey: &Survey) -> Result<(), CheckpointError> {
        self.loaded(true).await?;
        let mut baseline = self.baseline.lock().await;
        if self.core.look(|history| history.has(&survey.prompt)) == Some(false) {
            self.record_begin(&survey.prompt, Kind::Prompt);
        }
        for root in outermost(&survey.directories) {
            if survey.changed_by == ChangedBy::Others && baseline.is_stale(self.limits.baseline_bytes) {
                *baseline = Baseline::default();
            }
            match baseline.trees.get(&root).cloned() {
                None => self.begin_baseline(&mut baseline, &root, survey).await?,
                Some(Tree::Surveyed(before)) => self.survey_again(&mut baseline, &root, before, survey).await?,
                Some(Tree::GivenUp) => {}
            }
        }
        baseline.recorded.clear();
        // Not synced: until the next file is kept, only a failure of the whole machine loses it.
        self.write(self.core.recorded(), false).await
    }

    /// Notes that tools have recorded their changes to these files themselves.
    pub(crate) async fn recorded_by_tools(&self, paths: &[PathBuf]) {
        let mut baseline = self.baseline.lock().await;
        if !baseline.trees.is_empty() {
            baseline.recorded.extend(paths.iter().cloned());
        }
    }

    /// Keeps the present state of a directory.
    async fn begin_baseline(
        &self,
        baseline: &mut Baseline,
        root: &Path,
        survey: &Survey,
    ) -> Result<(), CheckpointError> {
        if baseline.trees.is_empty() {
            baseline.begin();
            self.off_thread(|core| core.shelf.clear_baseline()).await?;
        }
        let Some(mut tree) = self.scan(baseline, root, None, survey).await else { return Ok(()) };
        let files = tree.files().filter(|(path, _)| !self.is_own(path));
        let why_not = |path: &Path| self.is_secret(path, root).then_some(SECRET);
        let plan = plan(files, why_not, self.limits.file_bytes, baseline.room(self.limits.baseline_bytes));
        for LeftOut { path, reason, .. } in &plan.left_out {
            let state = State::Unkept { why: reason.clone() };
            baseline.set(path.clone(), Some(Known::without_content(state)));
        }
        self.name_left_out(survey, &named(&plan.left_out, root));
        for group in groups(plan.kept, |(_, size)| *size) {
            let found = self.read(group.into_iter().map(|(path, _)| path).collect()).await?;
            self.store_present(baseline, found).await?;
        }
        for round in 1..=MAX_ROUNDS {
            let before = Some(Arc::clone(&tree));
            let Some(later) = self.scan(baseline, root, before, survey).await else { return Ok(()) };
            let is_quiet =
                self.settle_baseline(baseline, later.changes_since(&tree), (root, round == MAX_ROUNDS)).await?;
            tree = later;
            if is_quiet {
                break;
            }
        }
        let unseen = self.read_unseen(baseline, &tree, root).await?;
        self.store_present(baseline, unseen.into_iter().map(|change| change.now).collect()).await?;
        self.notice_others_since_tools(baseline, root);
        baseline.trees.insert(root.to_owned(), Tree::Surveyed(tree));
        Ok(())
    }

    /// Records files that others have changed since tools did.
    fn notice_others_since_tools(&self, baseline: &Baseline, root: &Path) {
        let kept = self.core.look(|history| history.tracked_and_kept()).unwrap_or_default();
        for path in kept.iter().filter(|path| path.starts_with(root)) {
            let now = baseline.get(path).map_or(State::Absent { parents: 0 }, |known| known.state.clone());
            if !matches!(now, State::Unkept { .. }) {
                self.record_others(path, &now);
            }
        }
    }

    /// Applies changes that happened while a baseline was made. Returns `true` if no file has changed.
    async fn settle_baseline(
        &self,
        baseline: &mut Baseline,
        changes: Vec<SurveyChange>,
        (root, is_last): (&Path, bool),
    ) -> Result<bool, CheckpointError> {
        let mut is_quiet = true;
        for group in groups(changes, size_of) {
            let changes = self.read_changes(baseline, group, (root, ChangedBy::Others)).await?;
            is_quiet &= !changes.iter().any(|change| change.is_certain);
            let found = changes.into_iter().map(|DifferingFile { mut now, is_certain, .. }| {
                if is_certain && is_last && matches!(now.state, State::File { .. }) {
                    now = PresentFile {
                        state: State::Unkept { why: KEPT_CHANGING.to_owned() },
                        content: Content::default(),
                        ..now
                    };
                }
                now
            });
            self.store_present(baseline, found.collect()).await?;
        }
        Ok(is_quiet)
    }

    /// Finds the changes in a directory.
    async fn survey_again(
        &self,
        baseline: &mut Baseline,
        root: &Path,
        before: Arc<TreeSurvey>,
        survey: &Survey,
    ) -> Result<(), CheckpointError> {
        let known = Arc::clone(&before);
        let found = match survey.changed_by {
            ChangedBy::Others => self.tree.survey_reported(root, known, MAX_ENTRIES).await,
            // After a call everything is examined: unreported changes must be found as well.
            _ => self.tree.survey(root, Some(known), MAX_ENTRIES).await,
        };
        let Some(now) = self.check_complete(baseline, root, found, survey) else { return Ok(()) };
        for group in groups(now.changes_since(&before), size_of) {
            let changes = self.read_changes(baseline, group, (root, survey.changed_by)).await?;
            self.record_changes(baseline, &before, changes, survey).await?;
        }
        let unseen = self.read_unseen(baseline, &now, root).await?;
        self.record_changes(baseline, &before, unseen, survey).await?;
        if survey.changed_by == ChangedBy::Others {
            // Includes files that others have restored to their state at the last survey.
            self.notice_others_since_tools(baseline, root);
        }
        baseline.trees.insert(root.to_owned(), Tree::Surveyed(now));
        Ok(())
    }

    async fn record_changes(
        &self,
        baseline: &mut Baseline,
        before: &TreeSurvey,
        changes: Vec<DifferingFile>,
        survey: &Survey,
    ) -> Result<(), CheckpointError> {
        let mut found = Vec::with_capacity(changes.len());
        for change in changes {
            if change.is_real() {
                self.record_change(baseline, before, &change, survey).await?;
            }
            found.push(change.now);
        }
        self.store_present(baseline, found).await
    }

    /// Records a change: as one of the session, or as one of others.
    async fn record_change(
        &self,
        baseline: &Baseline,
        before: &TreeSurvey,
        change: &DifferingFile,
        survey: &Survey,
    ) -> Result<(), CheckpointError> {
        let PresentFile { path, state: now, .. } = &change.now;
        let is_kept = self.core.look(|history| history.is_kept(path)) == Some(true);
        if survey.changed_by == ChangedBy::Others || baseline.recorded.contains(path) {
            if is_kept {
                self.record_others(path, now);
            }
            return Ok(());
        }
        // The content is pinned until the record names it.
        let mut pin = None;
        if !is_kept {
            let (mut state, content) = self.earlier(before, change).await?;
            if let Some(content) = content {
                pin = self.store(&state, content, false).await?;
                if pin.is_none() {
                    state = State::Unkept { why: "there was no room to keep it".to_owned() };
                }
            }
            let (id, tool, path) = (survey.prompt.clone(), survey.tool_use.clone(), path.clone());
            self.core.record(Record::Kept { id, tool, path, state });
        }
        self.core.record(Record::Left { path: path.clone(), state: now.clone() });
        drop(pin);
        Ok(())
    }

    /// Returns the state of a file before its change, and its content.
    async fn earlier(
        &self,
        before: &TreeSurvey,
        change: &DifferingFile,
    ) -> Result<(State, Option<Vec<u8>>), CheckpointError> {
        let EarlierState::Known(was) = &change.was else {
            let above = change.now.path.ancestors().skip(1);
            let missing = above.take_while(|folder| before.lacks_folder(folder)).count();
            return Ok((State::Absent { parents: u32::try_from(missing).unwrap_or(u32::MAX) }, None));
        };
        let State::File { hash, size, .. } = was.state else { return Ok((was.state.clone(), None)) };
        let at = was.at;
        let content =
            self.off_thread(move |core| Ok(at.and_then(|at| core.shelf.baseline_content(at, size).ok()))).await?;
        Ok(match content.filter(|content| blake3::hash(content) == hash) {
            Some(content) => (was.state.clone(), Some(content)),
            None => (State::Unkept { why: "its content in the baseline is missing or damaged".to_owned() }, None),
        })
    }

    /// Scans a whole directory. `None` if that fails: the reason is recorded.
    async fn scan(
        &self,
        baseline: &mut Baseline,
        root: &Path,
        before: Option<Arc<TreeSurvey>>,
        survey: &Survey,
    ) -> Option<Arc<TreeSurvey>> {
        let found = self.tree.survey(root, before, MAX_ENTRIES).await;
        self.check_complete(baseline, root, found, survey)
    }

    /// Returns the result of a scan, if it is complete. Otherwise the directory is given up, and the reason is
    /// recorded.
    fn check_complete(
        &self,
        baseline: &mut Baseline,
        root: &Path,
        found: Result<TreeSurvey, WorkspaceError>,
        survey: &Survey,
    ) -> Option<Arc<TreeSurvey>> {
        let why = match found {
            Ok(found) if !found.is_cut => return Some(Arc::new(found)),
            Ok(_) => format!("it has more than {MAX_ENTRIES} entries: what programs change in it is not known"),
            Err(error) => format!("what programs change in it is not known: {error}"),
        };
        tracing::warn!(directory = %root.display(), why, "no baseline of the workspace");
        baseline.forget(root);
        baseline.trees.insert(root.to_owned(), Tree::GivenUp);
        self.name_left_out(survey, &[LeftOut::new(root, why)]);
        None
    }

    /// `true` if the file is not read because it may contain secrets, and the session has not changed it by a tool that
    /// keeps it.
    fn is_secret(&self, path: &Path, root: &Path) -> bool {
        path.strip_prefix(root).is_ok_and(self.secrets)
            && self.core.look(|history| history.left(path).is_none()).unwrap_or(true)
    }

    fn name_left_out(&self, survey: &Survey, left_out: &[LeftOut]) {
        for LeftOut { path, reason, .. } in left_out {
            let (id, path, why) = (survey.prompt.clone(), path.clone(), reason.clone());
            self.core.record(Record::LeftOut { id, path, why });
        }
    }

    /// Returns the present states of the files at which two surveys differ, or may differ.
    async fn read_changes(
        &self,
        baseline: &Baseline,
        changes: Vec<SurveyChange>,
        (root, changed_by): (&Path, ChangedBy),
    ) -> Result<Vec<DifferingFile>, CheckpointError> {
        let (mut found, mut certain, mut read) = (Vec::new(), std::collections::HashMap::new(), Vec::new());
        for SurveyChange { path, before, now, .. } in changes {
            if self.is_own(&path) {
                continue;
            }
            let known = baseline.get(&path).cloned();
            let was = match known.or_else(|| before.and_then(no_file).map(Known::without_content)) {
                Some(known) => EarlierState::Known(known),
                None if before == Some(Surveyed::LeftOut) => EarlierState::Unseen,
                None => EarlierState::Absent,
            };
            // A file created by the session is no secret of others.
            let is_own = changed_by == ChangedBy::Session && matches!(was, EarlierState::Absent);
            let state = match now {
                None => Some(State::Absent { parents: 0 }),
                Some(Surveyed::File(_)) if !is_own && self.is_secret(&path, root) => {
                    Some(State::Unkept { why: SECRET.to_owned() })
                }
                Some(what) => no_file(what),
            };
            certain.insert(path.clone(), (was, before != now));
            match state {
                Some(state) => found.push(PresentFile { path, state, content: Content::default() }),
                None => read.push(path),
            }
        }
        found.extend(self.read(read).await?);
        let change = |now: PresentFile| {
            let (was, is_certain) = certain.remove(&now.path).unwrap_or((EarlierState::Unseen, true));
            DifferingFile { was, now, is_certain }
        };
        Ok(found.into_iter().map(change).collect())
    }

    /// Reads files that the session has changed and that ignore files exclude: surveys do not see them.
    async fn read_unseen(
        &self,
        baseline: &Baseline,
        tree: &TreeSurvey,
        root: &Path,
    ) -> Result<Vec<DifferingFile>, CheckpointError> {
        let is_unseen = |path: &PathBuf| {
            let is_gone = path.parent().is_some_and(|folder| tree.lacks_folder(folder));
            let is_hidden = matches!(tree.look_up(path), None | Some(Some(Surveyed::LeftOut)));
            path.starts_with(root) && is_hidden && !is_gone && !self.is_own(path)
        };
        let tracked = self.core.look(|history| history.tracked()).unwrap_or_default();
        let found = self.read(tracked.into_iter().filter(is_unseen).collect()).await?;
        let change = |now: PresentFile| {
            let was = baseline.get(&now.path).cloned().map_or(EarlierState::Unseen, EarlierState::Known);
            DifferingFile { was, now, is_certain: true }
        };
        Ok(found.into_iter().map(change).collect())
    }

    /// Reads the states and contents of files.
    async fn read(&self, paths: Vec<PathBuf>) -> Result<Vec<PresentFile>, CheckpointError> {
        if paths.is_empty() {
            return Ok(Vec::new());
        }
        let limit = self.limits.file_bytes;
        let found = self.tree.read_each(paths.clone(), limit).await;
        let read = move || paths.into_iter().zip(found).map(|(path, found)| present_file(path, found, limit)).collect();
        self.off_thread(move |_| Ok(read())).await
    }

    /// Stores the present states of files, with their contents as far as there is space.
    async fn store_present(&self, baseline: &mut Baseline, found: Vec<PresentFile>) -> Result<(), CheckpointError> {
        let (mut new, mut contents) = (Vec::new(), Vec::new());
        for PresentFile { path, state, content } in found {
            let State::File { hash, size, .. } = state else {
                let is_gone = matches!(state, State::Absent { .. });
                baseline.set(path, (!is_gone).then(|| Known::without_content(state)));
                continue;
            };
            match baseline.get(&path) {
                Some(Known { state: State::File { hash: had, .. }, at: at @ Some(_) }) if *had == hash => {
                    let at = *at;
                    baseline.set(path, Some(Known { state, at }));
                }
                _ if size > baseline.room(self.limits.baseline_bytes) => {
                    let state = State::Unkept { why: NO_ROOM.to_owned() };
                    baseline.set(path, Some(Known::without_content(state)));
                }
                _ => {
                    baseline.stored(size);
                    new.push((path, state));
                    contents.push(content);
                }
            }
        }
        if new.is_empty() {
            return Ok(());
        }
        let places = self.off_thread(move |core| core.shelf.add_to_baseline(&contents)).await?;
        for ((path, state), at) in new.into_iter().zip(places) {
            baseline.set(path, Some(Known { state, at: Some(at) }));
        }
        Ok(())
    }
}

fn present_file(path: PathBuf, found: Result<WholeFile, WorkspaceError>, limit: u64) -> PresentFile {
    let (state, content) = match (found.as_ref().ok().and_then(seen), found) {
        (Some(state), Ok(WholeFile::File(file))) => {
            let open = file.file().cloned();
            (state, Content { bytes: file.content, file: open })
        }
        (Some(state), _) => (state, Content::default()),
        (None, Ok(WholeFile::TooLarge { size })) => (State::Unkept { why: too_large(size, limit) }, Content::default()),
        (None, found) => {
            let why = found.err().map_or_else(String::new, |error| error.to_string());
            (State::Unkept { why: format!("it was not kept: {why}") }, Content::default())
        }
    };
    PresentFile { path, state, content }
}

fn size_of(change: &SurveyChange) -> u64 {
    change.now.and_then(|what| what.stamp()).map_or(0, |stamp| stamp.size)
}

/// Splits files into groups that are small enough to be in memory at once.
fn groups<T>(files: Vec<T>, size: impl Fn(&T) -> u64) -> Vec<Vec<T>> {
    let mut groups: Vec<Vec<T>> = Vec::new();
    let mut bytes = 0_u64;
    for file in files {
        let size = size(&file);
        bytes = bytes.saturating_add(size);
        match groups.last_mut() {
            Some(group) if group.len() < GROUP_FILES && bytes <= GROUP_BYTES => group.push(file),
            _ => {
                bytes = size;
                groups.push(vec![file]);
            }
        }
    }
    groups
}

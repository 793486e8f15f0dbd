//! Restoration of earlier states of files.

use super::engine::{Engine, link_or_like, seen};
use super::history::History;
use super::lines;
use super::record::{Kind, Record, State};
use super::shelf::Shelf;
use std::path::{Path, PathBuf};
use windlass_session::{CheckpointError, FileChange, NotRestored, NotRestoredKind, Rewind, RewindOptions, RewoundFile};
use windlass_tool::{WholeFile, WorkspaceError, WorkspaceErrorKind};
use windlass_types::EntryId;
use windlass_types::path::has_parent;

/// A planned change of one file.
struct Step {
    file: RewoundFile,
    /// Present state.
    present: State,
    /// State to restore.
    earlier: State,
    /// Present content; kept and then dropped from memory.
    content: Vec<u8>,
}

/// Result of comparing one file.
enum FileComparison {
    /// Unchanged.
    Same,
    Left(RewoundFile),
    Step(Step),
}

fn not_restored(path: &Path, kind: NotRestoredKind, reason: impl Into<String>) -> FileComparison {
    FileComparison::Left(RewoundFile::left(path, NotRestored::new(kind, reason)))
}

fn not_restored_error(error: &WorkspaceError) -> NotRestored {
    if error.kind == WorkspaceErrorKind::ContentChanged {
        let why = "it was changed outside this session at the same time";
        return NotRestored::new(NotRestoredKind::Conflict, why);
    }
    match link_or_like(error.kind) {
        Some(why) => NotRestored::new(NotRestoredKind::Link, why),
        None => NotRestored::new(NotRestoredKind::Io, error.to_string()),
    }
}

impl<S: Shelf> Engine<S> {
    pub(crate) async fn changes(&self, to: &EntryId, options: &RewindOptions) -> Result<Rewind, CheckpointError> {
        let _shared = self.turn.read().await;
        let mut files = Vec::new();
        for (path, earlier) in self.targets(to).await? {
            match self.compare_file(to, &path, earlier, options).await? {
                FileComparison::Same => {}
                FileComparison::Left(file) | FileComparison::Step(Step { file, .. }) => files.push(file),
            }
        }
        Ok(Rewind::new(files, None))
    }

    pub(crate) async fn rewind(&self, to: &EntryId, options: &RewindOptions) -> Result<Rewind, CheckpointError> {
        let _alone = self.turn.write().await;
        let (mut files, mut steps, mut pins) = (Vec::new(), Vec::new(), Vec::new());
        for (path, earlier) in self.targets(to).await? {
            match self.compare_file(to, &path, earlier, options).await? {
                FileComparison::Same => {}
                FileComparison::Left(file) => files.push(file),
                FileComparison::Step(mut step) => {
                    // No file is changed before all of them are kept.
                    if let Some(pin) = self.store_alone(&step.present, std::mem::take(&mut step.content), to).await? {
                        pins.push(pin);
                        steps.push(step);
                    } else {
                        let why = NotRestored::new(NotRestoredKind::CannotKeep, "there is no room to keep it first");
                        step.file.problem = Some(why);
                        files.push(step.file);
                    }
                }
            }
        }
        if steps.is_empty() {
            return Ok(Rewind::new(files, None));
        }
        let undo = self.keep_present_states(&steps).await?;
        drop(pins);
        let mut last = 0;
        for mut step in steps {
            step.file.problem = self.restore(&step).await.err();
            if step.file.problem.is_none() {
                let (path, state) = (step.file.path.clone(), step.earlier);
                last = self.core.record(Record::Left { path, state });
            }
            files.push(step.file);
        }
        if let Err(error) = self.write(last, false).await {
            // The files are restored; only later changes to them may go unnoticed.
            tracing::warn!(%error, "what a rewind did could not be noted");
        }
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(Rewind::new(files, Some(undo)))
    }

    /// Keeps the present states of files, as a checkpoint of its own.
    async fn keep_present_states(&self, steps: &[Step]) -> Result<EntryId, CheckpointError> {
        let undo = self.fresh_id();
        let mut last = self.record_begin(&undo, Kind::Rewind);
        for Step { file, present, .. } in steps {
            let (path, state) = (file.path.clone(), present.clone());
            last = self.core.record(Record::Kept { id: undo.clone(), tool: None, path, state });
        }
        self.write(last, true).await?;
        Ok(undo)
    }

    /// Compares a file with its earlier state.
    async fn compare_file(
        &self,
        to: &EntryId,
        path: &Path,
        earlier: State,
        options: &RewindOptions,
    ) -> Result<FileComparison, CheckpointError> {
        use NotRestoredKind::{CannotKeep, Conflict, Link, NotKept, Outside};
        // A path with `..` may begin in a directory and end outside of it.
        if has_parent(path) || !options.directories.iter().any(|directory| path.starts_with(directory)) {
            return Ok(not_restored(path, Outside, "it is not in the workspace"));
        }
        if let State::Unkept { why } = earlier {
            return Ok(not_restored(path, NotKept, why));
        }
        let found = match self.tree.read_whole(path, self.limits.file_bytes).await {
            Ok(found) => found,
            Err(error) => return Ok(FileComparison::Left(RewoundFile::left(path, not_restored_error(&error)))),
        };
        let Some(present) = seen(&found) else {
            return Ok(not_restored(path, CannotKeep, "it has become too large to be kept first"));
        };
        if present.is_same(&earlier) {
            return Ok(FileComparison::Same);
        }
        let content = match found {
            WholeFile::File(file) if file.names > 1 => {
                return Ok(not_restored(path, Link, "it has several names (hard links)"));
            }
            WholeFile::File(file) => file.content,
            WholeFile::Absent { .. } | WholeFile::TooLarge { .. } => Vec::new(),
        };
        let change = match (&present, &earlier) {
            (State::Absent { .. }, _) => FileChange::Created,
            (_, State::Absent { .. }) => FileChange::Deleted,
            _ => FileChange::Modified,
        };
        let mut file = RewoundFile::new(path, change);
        let is_others = |history: &History| {
            history.left(path).is_some_and(|left| !left.is_same(&present)) || history.others_since(to, path)
        };
        file.conflict = self.core.look(is_others) == Some(true);
        if file.conflict && options.leave_conflicts {
            file.problem = Some(NotRestored::new(Conflict, "it was changed outside this session since"));
            return Ok(FileComparison::Left(file));
        }
        let (content, counted) = self.compare(content, earlier.clone()).await?;
        match counted {
            Some((insertions, deletions)) => {
                (file.insertions, file.deletions) = (insertions, deletions);
                Ok(FileComparison::Step(Step { file, present, earlier, content }))
            }
            None => Ok(not_restored(path, NotKept, "its earlier content is missing or damaged")),
        }
    }

    /// Counts the lines in which the present content differs from the one to restore, if that can be read.
    async fn compare(
        &self,
        present: Vec<u8>,
        earlier: State,
    ) -> Result<(Vec<u8>, Option<(u64, u64)>), CheckpointError> {
        self.off_thread(move |core| {
            let counted = content(&core.shelf, &earlier).map(|earlier| lines::count(&present, &earlier));
            Ok((present, counted))
        })
        .await
    }

    /// Restores a file, if its content still is the kept one.
    async fn restore(&self, step: &Step) -> Result<(), NotRestored> {
        let path: PathBuf = step.file.path.clone();
        let found =
            self.tree.read_whole(&path, self.limits.file_bytes).await.map_err(|error| not_restored_error(&error))?;
        if !seen(&found).is_some_and(|present| present.is_same(&step.present)) {
            return Err(not_restored_error(&WorkspaceError::content_changed(&path)));
        }
        // Compared once more at the moment when the file is replaced.
        let present = match &found {
            WholeFile::File(file) => Some(file.content.as_slice()),
            WholeFile::Absent { .. } | WholeFile::TooLarge { .. } => None,
        };
        let done = match &step.earlier {
            State::Absent { parents } => match present {
                Some(present) => self.tree.compare_and_remove(&path, present, *parents).await,
                None => self.tree.remove(&path, *parents).await,
            },
            State::File { mode, .. } => {
                let target = step.earlier.clone();
                let content = self.off_thread(move |core| Ok(content(&core.shelf, &target))).await.ok().flatten();
                let missing =
                    || NotRestored::new(NotRestoredKind::NotKept, "its earlier content is missing or damaged");
                self.tree.compare_and_put(&path, present, &content.ok_or_else(missing)?, *mode).await
            }
            State::Unkept { why } => return Err(NotRestored::new(NotRestoredKind::NotKept, why.clone())),
        };
        done.map_err(|error| not_restored_error(&error))
    }
}

/// Returns the content of a kept file, if its hash matches. Empty for a missing file.
fn content(shelf: &impl Shelf, state: &State) -> Option<Vec<u8>> {
    match state {
        State::Absent { .. } => Some(Vec::new()),
        State::File { hash, .. } => shelf.get(hash).ok().filter(|content| blake3::hash(content) == *hash),
        State::Unkept { .. } => None,
    }
}

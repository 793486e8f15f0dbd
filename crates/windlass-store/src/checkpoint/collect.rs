//! Removal of file checkpoints and kept outputs of sessions that were unused for long, or that occupy too much space.

use super::FileCheckpoints;
use crate::disk;
use crate::locate::{existing, modified, session_id};
use crate::lock::{LockError, Locked, LockedLog};
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Duration;
use windlass_session::StoreError;
use windlass_types::{SessionId, Timestamp};

/// Folder of a session with outputs that were too large for the model.
const OUTPUTS: &str = "tool-results";

/// Selection of file checkpoints and kept outputs of stored sessions to drop. Default: none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct CheckpointRetention {
    /// Drops those last used before this time.
    pub used_before: Option<Timestamp>,
    /// Drops those unused for the longest time, until the rest occupies at most this number of bytes.
    pub total_bytes: Option<u64>,
    /// `true` to report only, without dropping any.
    pub dry_run: bool,
}

impl CheckpointRetention {
    /// Drops checkpoints that were last used before this time.
    #[must_use]
    pub fn used_before(mut self, time: Timestamp) -> Self {
        self.used_before = Some(time);
        self
    }

    /// Drops those unused for the longest time until the rest occupies at most this number of bytes.
    #[must_use]
    pub fn total_bytes(mut self, bytes: u64) -> Self {
        self.total_bytes = Some(bytes);
        self
    }

    /// Reports only, without dropping any.
    #[must_use]
    pub fn dry_run(mut self) -> Self {
        self.dry_run = true;
        self
    }
}

/// Result of dropping checkpoints, or its preview.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct CollectedCheckpoints {
    /// Sessions whose checkpoints are dropped, the one unused for the longest time first.
    pub dropped: Vec<SessionCheckpoints>,
    /// Sessions in use: their checkpoints stay.
    pub in_use: Vec<SessionId>,
    /// Sessions whose checkpoints could not be dropped, with the reason.
    pub failed: Vec<(SessionId, String)>,
    /// Bytes of the remaining checkpoints.
    pub left_bytes: u64,
}

/// File checkpoints and kept outputs of one session.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionCheckpoints {
    /// Id of the session.
    pub session: SessionId,
    /// Size in bytes.
    pub bytes: u64,
    /// Time of the last use.
    pub used: Timestamp,
}

/// File checkpoints and outputs of one session on disk, with their paths.
struct CheckpointFolder {
    summary: SessionCheckpoints,
    directory: PathBuf,
    outputs: PathBuf,
    log: PathBuf,
}

/// Drops checkpoints of sessions in the folders of projects.
pub(crate) fn collect(projects: &Path, retention: CheckpointRetention) -> Result<CollectedCheckpoints, StoreError> {
    let mut candidates = Vec::new();
    for project in folders(projects)? {
        for session in folders(&project)? {
            candidates.extend(find_checkpoints(&session).map_err(|error| disk::error(&session, "read", &error))?);
        }
    }
    candidates.sort_by(|a, b| a.summary.used.cmp(&b.summary.used).then_with(|| a.directory.cmp(&b.directory)));
    let left_bytes = candidates.iter().map(|found| found.summary.bytes).sum();
    let mut collected = CollectedCheckpoints { left_bytes, ..CollectedCheckpoints::default() };
    for found in candidates {
        let is_old = retention.used_before.is_some_and(|time| found.summary.used < time);
        let is_beyond = retention.total_bytes.is_some_and(|limit| collected.left_bytes > limit);
        if !is_old && !is_beyond {
            continue;
        }
        match drop_one(&found, retention.dry_run) {
            Ok(()) => {
                collected.left_bytes = collected.left_bytes.saturating_sub(found.summary.bytes);
                collected.dropped.push(found.summary);
            }
            Err(LockError::Held(_)) => collected.in_use.push(found.summary.session),
            Err(LockError::Io(error)) => collected.failed.push((found.summary.session, error.to_string())),
        }
    }
    Ok(collected)
}

/// Returns the folders in a folder. Links are not followed.
fn folders(parent: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let failed = |error: io::Error| disk::error(parent, "read", &error);
    let Some(entries) = existing(fs::read_dir(parent)).map_err(failed)? else { return Ok(Vec::new()) };
    let mut folders = Vec::new();
    for entry in entries {
        let entry = entry.map_err(failed)?;
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            folders.push(entry.path());
        }
    }
    Ok(folders)
}

/// Returns the checkpoints and outputs of the session with this folder, if it has any.
fn find_checkpoints(session: &Path) -> io::Result<Option<CheckpointFolder>> {
    let log = session.with_extension("jsonl");
    let Some(id) = session_id(&log) else { return Ok(None) };
    let (directory, outputs) = (FileCheckpoints::directory_in(session), session.join(OUTPUTS));
    let (mut bytes, mut used) = (0_u64, None);
    for folder in [directory.clone(), directory.join("objects"), outputs.clone()] {
        let Some(metadata) = existing(folder.symlink_metadata())?.filter(fs::Metadata::is_dir) else { continue };
        used = used.max(Some(modified(&metadata)?));
        let Some(entries) = existing(fs::read_dir(folder))? else { continue };
        for entry in entries {
            let Some(metadata) = existing(entry?.metadata())?.filter(fs::Metadata::is_file) else { continue };
            bytes = bytes.saturating_add(metadata.len());
            used = used.max(Some(modified(&metadata)?));
        }
    }
    let Some(used) = used else { return Ok(None) };
    let summary = SessionCheckpoints { session: id, bytes, used: timestamp(used) };
    Ok(Some(CheckpointFolder { summary, directory, outputs, log }))
}

fn timestamp(since: Duration) -> Timestamp {
    Timestamp::from_millis(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

/// Drops the checkpoints of one session, unless the session or the checkpoints are in use.
fn drop_one(found: &CheckpointFolder, dry_run: bool) -> Result<(), LockError> {
    let _session = existing_lock(LockedLog::open(&found.log, false))?;
    let _index = existing_lock(Locked::open(&found.directory.join("index.jsonl"), false))?;
    if dry_run {
        return Ok(());
    }
    // The index is removed last: an interrupted removal is found again.
    for folder in [&found.outputs, &found.directory.join("objects"), &found.directory] {
        match fs::symlink_metadata(folder).and_then(|_| fs::remove_dir_all(folder)) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
    }
    Ok(())
}

/// Returns the lock of a file, if the file exists.
fn existing_lock<T>(taken: Result<T, LockError>) -> Result<Option<T>, LockError> {
    match taken {
        Ok(lock) => Ok(Some(lock)),
        Err(LockError::Io(error)) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

//! Dropping the file checkpoints and kept outputs of sessions that were not used for long, or that take up too much room.

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

/// The folder of a session with outputs that were too large for the model.
const OUTPUTS: &str = "tool-results";

/// Which file checkpoints and kept outputs of stored sessions are dropped. Default: none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct CheckpointRetention {
    /// Those that were last used before this time.
    pub used_before: Option<Timestamp>,
    /// Those used longest ago, until all that are left take up at most so many bytes.
    pub total_bytes: Option<u64>,
    /// Whether they are only looked up, and none is dropped.
    pub dry_run: bool,
}

impl CheckpointRetention {
    /// Drops checkpoints that were last used before this time.
    #[must_use]
    pub fn used_before(mut self, time: Timestamp) -> Self {
        self.used_before = Some(time);
        self
    }

    /// Drops those used longest ago until all together take up at most so many bytes.
    #[must_use]
    pub fn total_bytes(mut self, bytes: u64) -> Self {
        self.total_bytes = Some(bytes);
        self
    }

    /// Drops none, and only reports what would be.
    #[must_use]
    pub fn dry_run(mut self) -> Self {
        self.dry_run = true;
        self
    }
}

/// What dropping checkpoints freed, or would free.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct CollectedCheckpoints {
    /// The sessions whose checkpoints are dropped, the one used longest ago first.
    pub dropped: Vec<SessionCheckpoints>,
    /// The sessions that are in use: theirs stay.
    pub in_use: Vec<SessionId>,
    /// What could not be dropped, and why.
    pub failed: Vec<(SessionId, String)>,
    /// Bytes of the checkpoints that are left.
    pub left_bytes: u64,
}

/// The file checkpoints and kept outputs of one session.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionCheckpoints {
    /// The session.
    pub session: SessionId,
    /// Their size in bytes.
    pub bytes: u64,
    /// When they were used last.
    pub used: Timestamp,
}

/// Checkpoints that were found, and where.
struct Found {
    of: SessionCheckpoints,
    directory: PathBuf,
    outputs: PathBuf,
    log: PathBuf,
}

/// Drops checkpoints of sessions in the folders of projects.
pub(crate) fn collect(projects: &Path, retention: CheckpointRetention) -> Result<CollectedCheckpoints, StoreError> {
    let mut all = Vec::new();
    for project in folders(projects)? {
        for session in folders(&project)? {
            all.extend(look(&session).map_err(|error| disk::error(&session, "read", &error))?);
        }
    }
    all.sort_by(|a, b| a.of.used.cmp(&b.of.used).then_with(|| a.directory.cmp(&b.directory)));
    let left_bytes = all.iter().map(|found| found.of.bytes).sum();
    let mut done = CollectedCheckpoints { left_bytes, ..CollectedCheckpoints::default() };
    for found in all {
        let is_old = retention.used_before.is_some_and(|time| found.of.used < time);
        let is_beyond = retention.total_bytes.is_some_and(|limit| done.left_bytes > limit);
        if !is_old && !is_beyond {
            continue;
        }
        match drop_one(&found, retention.dry_run) {
            Ok(()) => {
                done.left_bytes = done.left_bytes.saturating_sub(found.of.bytes);
                done.dropped.push(found.of);
            }
            Err(LockError::Held(_)) => done.in_use.push(found.of.session),
            Err(LockError::Io(error)) => done.failed.push((found.of.session, error.to_string())),
        }
    }
    Ok(done)
}

/// The folders in a folder. Links are not followed.
fn folders(at: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let failed = |error: io::Error| disk::error(at, "read", &error);
    let Some(entries) = existing(fs::read_dir(at)).map_err(failed)? else { return Ok(Vec::new()) };
    let mut folders = Vec::new();
    for entry in entries {
        let entry = entry.map_err(failed)?;
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            folders.push(entry.path());
        }
    }
    Ok(folders)
}

/// The checkpoints and outputs of the session with this folder, if it has any.
fn look(session: &Path) -> io::Result<Option<Found>> {
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
    let of = SessionCheckpoints { session: id, bytes, used: timestamp(used) };
    Ok(Some(Found { of, directory, outputs, log }))
}

fn timestamp(since: Duration) -> Timestamp {
    Timestamp::from_millis(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

/// Drops the checkpoints of one session, unless it or they are in use.
fn drop_one(found: &Found, dry_run: bool) -> Result<(), LockError> {
    let _session = existing_lock(LockedLog::open(&found.log, false))?;
    let _index = existing_lock(Locked::open(&found.directory.join("index.jsonl"), false))?;
    if dry_run {
        return Ok(());
    }
    // The index goes last: what is left of a removal that was cut short is found again.
    for folder in [&found.outputs, &found.directory.join("objects"), &found.directory] {
        match fs::symlink_metadata(folder).and_then(|_| fs::remove_dir_all(folder)) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
    }
    Ok(())
}

/// The lock of a file, if the file is there.
fn existing_lock<T>(taken: Result<T, LockError>) -> Result<Option<T>, LockError> {
    match taken {
        Ok(lock) => Ok(Some(lock)),
        Err(LockError::Io(error)) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

//! Enumeration of logs, without reading them.

use super::filter::Filter;
use super::listed::PageCursor;
use crate::locate::{Roots, existing, modified, session_id};
use crate::{SkippedFile, disk, open};
use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use windlass_session::{ProjectKey, StoreError, StoreErrorKind};
use windlass_types::SessionId;

/// A log of a session as listed in its folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LogFile {
    pub(super) id: SessionId,
    /// Name of the folder.
    pub(super) project: ProjectKey,
    pub(super) path: PathBuf,
    /// Path as text, which is faster to compare and hash.
    pub(super) place: String,
    pub(super) only_read: bool,
    /// Size in bytes.
    pub(super) size: u64,
    /// Time of the last change, in nanoseconds since the Unix epoch.
    pub(super) modified: u64,
}

impl LogFile {
    /// Returns the time of the last change, in milliseconds since the Unix epoch.
    pub(super) fn millis(&self) -> u64 {
        self.modified / 1_000_000
    }
}

/// Entries of the folders of sessions.
#[derive(Debug, Default)]
pub(super) struct Walked {
    pub(super) logs: Vec<LogFile>,
    pub(super) skipped: Vec<SkippedFile>,
}

/// Returns all logs of a project, or of all projects.
pub(super) fn walk(roots: &Roots, project: Option<&ProjectKey>) -> Result<Walked, StoreError> {
    roots.check_home()?;
    let mut walked = Walked::default();
    for (index, projects) in roots.projects().enumerate() {
        let failed = |error: io::Error| disk::error(&projects, "read", &error);
        let folders = match project {
            Some(project) => Roots::folders(&projects, project).map_err(failed)?,
            None => {
                let entries = existing(fs::read_dir(&projects)).map_err(failed)?;
                entries.into_iter().flatten().filter_map(Result::ok).map(|entry| entry.path()).collect()
            }
        };
        for folder in folders {
            walked.folder(&folder, index > 0);
        }
    }
    Ok(walked)
}

impl Walked {
    fn folder(&mut self, folder: &Path, only_read: bool) {
        let Some(name) = folder.file_name().and_then(|name| name.to_str()) else { return };
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) => {
                // Files may exist beside the folders of projects.
                if folder.is_dir() {
                    self.skipped.push(SkippedFile { path: folder.to_owned(), reason: error.to_string() });
                }
                return;
            }
        };
        let project = ProjectKey::from_slug(name);
        for entry in entries.filter_map(Result::ok) {
            let path = entry.path();
            let Some(id) = session_id(&path) else { continue };
            let Ok(metadata) = entry.metadata() else { continue };
            if !metadata.is_file() {
                // An attempt to open it gives the reason.
                let reason = open::read(&path).err().map(|error| error.to_string());
                self.skipped.extend(reason.map(|reason| SkippedFile { path, reason }));
                continue;
            }
            let nanoseconds = modified(&metadata).unwrap_or_default().as_nanos();
            let modified = u64::try_from(nanoseconds).unwrap_or(u64::MAX);
            if metadata.len() > 0 {
                let (project, size) = (project.clone(), metadata.len());
                let place = path.to_string_lossy().into_owned();
                self.logs.push(LogFile { id, project, path, place, only_read, size, modified });
            }
        }
    }
}

/// Returns the logs for a search, in its order: each session once, the last changed first.
pub(super) fn wanted<'a>(filter: &Filter, logs: &'a [LogFile]) -> Result<Vec<&'a LogFile>, StoreError> {
    let is_of_project =
        |log: &&LogFile| filter.project.as_ref().is_none_or(|project| project.matches(log.project.as_str()));
    let mut wanted: Vec<&LogFile> = logs.iter().filter(is_of_project).collect();
    wanted
        .sort_by(|a, b| b.millis().cmp(&a.millis()).then_with(|| a.id.cmp(&b.id)).then_with(|| a.place.cmp(&b.place)));
    let mut seen = HashSet::new();
    wanted.retain(|log| seen.insert(&log.id));
    let after = filter.after.as_ref().map(|cursor| place(cursor, &wanted)).transpose()?;
    wanted.retain(|log| {
        let millis = log.millis();
        after.as_ref().is_none_or(|(modified, id)| (millis, *id) < (*modified, &log.id))
            && filter.since.is_none_or(|since| millis >= since.millis())
            && filter.until.is_none_or(|until| millis < until.millis())
    });
    Ok(wanted)
}

/// Returns the time and the id after which a page begins.
fn place<'a>(cursor: &'a PageCursor, logs: &[&LogFile]) -> Result<(u64, &'a SessionId), StoreError> {
    let known = || logs.iter().find(|log| log.id == cursor.session).map(|log| log.millis());
    let modified = cursor.modified.or_else(known).ok_or_else(|| {
        let problem = format!("the session {}, behind which the list was to begin, is not in it", cursor.session);
        StoreError::new(StoreErrorKind::NotFound, problem)
    })?;
    Ok((modified, &cursor.session))
}

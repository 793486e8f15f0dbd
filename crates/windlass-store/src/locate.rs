//! Paths of sessions.

use crate::{agents, disk, git, open};
use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};
use windlass_session::{
    AgentSummary, ProjectKey, SUMMARY_BYTES, SessionKey, SessionSummary, StoreError, StoreErrorKind, summarize,
};
use windlass_types::SessionId;

/// Roots of a store: one that is written, and others that are read-only.
#[derive(Debug, Clone)]
pub(crate) struct Roots {
    pub(crate) home: PathBuf,
    pub(crate) imports: Vec<PathBuf>,
}

impl Roots {
    pub(crate) fn projects(&self) -> impl Iterator<Item = PathBuf> {
        std::iter::once(&self.home).chain(&self.imports).map(|root| root.join("projects"))
    }

    /// Returns the folders of a project in one root: the exact one, and those with a hash of another program.
    pub(crate) fn folders(projects: &Path, project: &ProjectKey) -> io::Result<Vec<PathBuf>> {
        let exact = projects.join(project.as_str());
        let mut folders = Vec::new();
        if found(&exact)?.is_some_and(|kind| kind.is_dir()) {
            folders.push(exact);
        }
        if !project.matches(&format!("{}x", project.as_str())) {
            return Ok(folders);
        }
        for entry in existing(fs::read_dir(projects))?.into_iter().flatten() {
            let entry = entry?;
            let name = entry.file_name();
            let is_other = name.to_str().is_some_and(|name| name != project.as_str() && project.matches(name));
            if is_other && found(&entry.path())?.is_some_and(|kind| kind.is_dir()) {
                folders.push(entry.path());
            }
        }
        Ok(folders)
    }

    /// Checks that the home can be read: otherwise an empty list could mean that sessions are not visible.
    pub(crate) fn check_home(&self) -> Result<(), StoreError> {
        let home = self.home.join("projects");
        existing(fs::read_dir(&home)).map(drop).map_err(|error| disk::error(&home, "read", &error))
    }

    /// Returns the path at which a session is or would be written, as far as that can be determined.
    pub(crate) fn log_path(&self, key: &SessionKey) -> PathBuf {
        self.place(key).unwrap_or_else(|_| {
            let session = self.new_path(key);
            key.agent.as_ref().map_or_else(|| session.clone(), |agent| agents::log_path(&session, agent))
        })
    }

    /// Returns the path at which a session is or would be written.
    pub(crate) fn place(&self, key: &SessionKey) -> Result<PathBuf, StoreError> {
        let projects = self.home.join("projects");
        let session = self.existing(&projects, &key.of_session())?.unwrap_or_else(|| self.new_path(key));
        match &key.agent {
            Some(agent) => {
                let existing_log =
                    agents::find(&session, agent).map_err(|error| disk::error(&session, "read", &error))?;
                Ok(existing_log.unwrap_or_else(|| agents::log_path(&session, agent)))
            }
            None => Ok(session),
        }
    }

    /// Returns the path of a new session.
    fn new_path(&self, key: &SessionKey) -> PathBuf {
        self.home.join("projects").join(key.project.as_str()).join(file_name(&key.session))
    }

    /// Returns the path from which a session is read: in the home, else in the other roots.
    pub(crate) fn find(&self, key: &SessionKey) -> Result<Option<PathBuf>, StoreError> {
        for projects in self.projects() {
            if let Some(path) = self.existing(&projects, key)? {
                return Ok(Some(path));
            }
        }
        Ok(None)
    }

    /// Returns the log of a session in one root. An inaccessible session is an error, not a missing one.
    fn existing(&self, projects: &Path, key: &SessionKey) -> Result<Option<PathBuf>, StoreError> {
        let name = file_name(&key.session);
        let folders = Self::folders(projects, &key.project).map_err(|error| disk::error(projects, "read", &error))?;
        for log in folders.into_iter().map(|folder| folder.join(&name)) {
            let path = match &key.agent {
                Some(agent) => agents::find(&log, agent),
                None => is_session(&log).map(|is_session| is_session.then(|| log.clone())),
            };
            let path = path.map_err(|error| disk::error(&log, "read", &error))?;
            if path.is_some() {
                return Ok(path);
            }
        }
        Ok(None)
    }

    /// Returns the agents of a session in all roots, sorted by start time.
    pub(crate) fn agents(&self, key: &SessionKey) -> Result<Vec<AgentSummary>, StoreError> {
        let name = file_name(&key.session);
        let mut found = HashMap::new();
        self.check_home()?;
        for projects in self.projects() {
            let folders =
                Self::folders(&projects, &key.project).map_err(|error| disk::error(&projects, "read", &error))?;
            for (agent, path) in folders.into_iter().flat_map(|folder| agents::all(&folder.join(&name))) {
                if found.len() < AgentSummary::MOST {
                    found.entry(agent).or_insert(path);
                }
            }
        }
        let mut listed: Vec<AgentSummary> =
            found.into_iter().filter_map(|(agent, path)| agents::summary(agent, &path)).collect();
        AgentSummary::sort(&mut listed);
        Ok(listed)
    }

    /// Finds a session in all projects of all roots, the home first.
    pub(crate) fn find_anywhere(&self, session: &SessionId) -> Result<Option<FoundSession>, StoreError> {
        let Some((key, path, only_read)) = self.project_of(session)? else { return Ok(None) };
        let summary = Ends::default().summary(&path, session).map_err(|error| disk::error(&path, "read", &error))?;
        Ok(Some(FoundSession { key, path, only_read, summary }))
    }

    /// Returns the project of a session, its log, and `true` if that is read-only.
    fn project_of(&self, session: &SessionId) -> Result<Option<(SessionKey, PathBuf, bool)>, StoreError> {
        let name = file_name(session);
        let mut failed = None;
        for (index, projects) in self.projects().enumerate() {
            let entries = existing(fs::read_dir(&projects)).map_err(|error| disk::error(&projects, "read", &error))?;
            for entry in entries.into_iter().flatten().filter_map(Result::ok) {
                let folder = entry.file_name();
                let Some(folder) = folder.to_str() else { continue };
                let path = entry.path().join(&name);
                match is_session(&path) {
                    Ok(true) => {
                        let key = SessionKey::new(ProjectKey::from_slug(folder), session.clone());
                        return Ok(Some((key, path, index > 0)));
                    }
                    // A project that is not accessible to this user does not hide others.
                    Err(error) if error.kind() != ErrorKind::PermissionDenied => {
                        failed.get_or_insert_with(|| disk::error(&path, "read", &error));
                    }
                    _ => {}
                }
            }
        }
        failed.map_or(Ok(None), Err)
    }

    /// Returns the directories named by the sessions of a project in the home, and of its subdirectories, from at most
    /// `most` logs.
    pub(crate) fn recorded_directories(&self, project: &ProjectKey, most: usize) -> io::Result<BTreeSet<PathBuf>> {
        let (subfolder_prefix, mut ends) = (format!("{project}-"), Ends::default());
        let mut folders = Vec::new();
        for entry in existing(fs::read_dir(self.home.join("projects")))?.into_iter().flatten() {
            let entry = entry?;
            let name = entry.file_name();
            if name.to_str().is_some_and(|name| project.matches(name) || name.starts_with(&subfolder_prefix)) {
                folders.push(entry.path());
            }
        }
        // The folder of the project itself comes first.
        folders.sort();
        let mut found = BTreeSet::new();
        let logs = folders.into_iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten().filter_map(Result::ok);
        for path in logs.map(|entry| entry.path()).filter(|path| session_id(path).is_some()).take(most) {
            let Some(id) = session_id(&path) else { continue };
            // An unreadable log names none.
            let summary = ends.summary(&path, &id).ok().flatten();
            found.extend(summary.and_then(|summary| summary.cwd).map(PathBuf::from));
        }
        Ok(found)
    }

    /// Returns the sessions of a project in all roots, the last changed first.
    pub(crate) fn list(&self, project: &ProjectKey) -> Result<SessionList, StoreError> {
        let mut skipped = Vec::new();
        let mut newest: HashMap<SessionId, SessionSummary> = HashMap::new();
        let mut ends = Ends::default();
        self.check_home()?;
        for projects in self.projects() {
            let folders = Self::folders(&projects, project).map_err(|error| disk::error(&projects, "read", &error))?;
            for folder in folders {
                let entries = fs::read_dir(&folder).map_err(|error| disk::error(&folder, "read", &error))?;
                for path in entries.filter_map(Result::ok).map(|entry| entry.path()) {
                    let Some(id) = session_id(&path) else { continue };
                    let summary = match ends.summary(&path, &id) {
                        Ok(Some(summary)) => summary,
                        Ok(None) => continue,
                        // An unreadable file does not hide others.
                        Err(error) => {
                            let is_gone = error.kind() == ErrorKind::NotFound;
                            skipped.extend((!is_gone).then(|| SkippedFile { path, reason: error.to_string() }));
                            continue;
                        }
                    };
                    if !is_session_of(project, summary.cwd.as_deref()) {
                        continue;
                    }
                    let known = newest.get(&summary.session_id);
                    if known.is_none_or(|known| known.last_modified < summary.last_modified) {
                        newest.insert(summary.session_id.clone(), summary);
                    }
                }
            }
        }
        let mut sessions: Vec<SessionSummary> = newest.into_values().collect();
        sessions.sort_by(|a, b| b.last_modified.cmp(&a.last_modified).then_with(|| a.session_id.cmp(&b.session_id)));
        Ok(SessionList { sessions, skipped })
    }
}

/// A session that was found by its id, and its location.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FoundSession {
    /// Key of the session, with its project.
    pub key: SessionKey,
    /// Path of the log.
    pub path: PathBuf,
    /// `true` if the session is in one of the read-only homes.
    pub only_read: bool,
    /// Summary for lists; `None` when the log has no facts.
    pub summary: Option<SessionSummary>,
}

/// Sessions of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionList {
    /// Sessions, the last changed first.
    pub sessions: Vec<SessionSummary>,
    /// Unreadable files with the name of a session, in no particular order.
    pub skipped: Vec<SkippedFile>,
}

/// An unreadable file with the name of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SkippedFile {
    /// Path of the file.
    pub path: PathBuf,
    /// Reason.
    pub reason: String,
}

impl fmt::Display for SkippedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is skipped: {}", self.path.display(), self.reason)
    }
}

/// Both ends of a log, in buffers that are reused for each log.
#[derive(Default)]
pub(crate) struct Ends {
    head: Vec<u8>,
    tail: Vec<u8>,
}

impl Ends {
    pub(crate) fn summary(&mut self, path: &Path, id: &SessionId) -> io::Result<Option<SessionSummary>> {
        let mut file = open::read(path)?;
        let metadata = file.metadata()?;
        self.summary_of(&mut file, &metadata, id)
    }

    /// Returns the summary of an open log. The read position of the file is undefined afterwards.
    pub(crate) fn summary_of(
        &mut self,
        file: &mut File,
        metadata: &fs::Metadata,
        id: &SessionId,
    ) -> io::Result<Option<SessionSummary>> {
        if metadata.len() == 0 {
            return Ok(None);
        }
        file.seek(SeekFrom::Start(0))?;
        let limit = SUMMARY_BYTES as u64;
        self.head.clear();
        file.take(limit).read_to_end(&mut self.head)?;
        self.tail.clear();
        let tail = if metadata.len() > limit {
            file.seek(SeekFrom::Start(metadata.len() - limit))?;
            file.take(limit).read_to_end(&mut self.tail)?;
            &self.tail
        } else {
            &self.head
        };
        let modified = u64::try_from(modified(metadata)?.as_millis()).unwrap_or(u64::MAX);
        Ok(summarize(id, &self.head, tail, modified, metadata.len()))
    }
}

/// Returns the time of the last change of a file, since the Unix epoch.
pub(crate) fn modified(metadata: &fs::Metadata) -> io::Result<Duration> {
    Ok(metadata.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default())
}

/// `false` if a log names a directory that shares the key of its folder by coincidence: neither that of the key, nor
/// one below, nor a worktree of it.
pub(crate) fn is_session_of(project: &ProjectKey, recorded: Option<&str>) -> bool {
    let recorded = recorded.map(Path::new);
    let (Some(directory), Some(path)) = (project.directory(), recorded) else { return true };
    let real = || path.canonicalize().is_ok_and(|real| project.may_hold(Some(&real)));
    project.may_hold(recorded) || real() || git::is_worktree_of(path, directory)
}

/// Checks that a key names a path inside the home.
pub(crate) fn check(key: &SessionKey) -> Result<(), StoreError> {
    let mut parts = Path::new(key.project.as_str()).components();
    let is_folder = matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None));
    if is_folder && !key.project.as_str().contains(['/', '\\', '\0']) && key.session.is_uuid() {
        return key.check_agent();
    }
    Err(StoreError::new(
        StoreErrorKind::InvalidKey,
        format!("{:?} in {:?} is no session: a session id is a UUID", key.session, key.project),
    ))
}

fn file_name(session: &SessionId) -> String {
    format!("{session}.jsonl")
}

pub(crate) fn session_id(path: &Path) -> Option<SessionId> {
    let id = SessionId::from(path.file_name()?.to_str()?.strip_suffix(".jsonl")?);
    id.is_uuid().then_some(id)
}

/// `true` if there is a session log at the path: an empty file is only a lock.
fn is_session(path: &Path) -> io::Result<bool> {
    if !found(path)?.is_some_and(|kind| kind.is_file()) {
        return Ok(false);
    }
    Ok(existing(fs::metadata(path))?.is_some_and(|metadata| metadata.len() > 0))
}

/// Returns the type of the file at a path, links followed. Only "not found" means that there is no file; other errors
/// are errors.
pub(crate) fn found(path: &Path) -> io::Result<Option<fs::FileType>> {
    match fs::metadata(path) {
        Ok(metadata) => Ok(Some(metadata.file_type())),
        Err(error) => match error.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => Ok(None),
            // A link that leads to itself.
            _ if path.is_symlink() => Ok(None),
            _ => Err(error),
        },
    }
}

pub(crate) fn existing<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

//! Choice of the session to resume, and of the entry to continue from.

use crate::error::Error;
use crate::storage::Storage;
use crate::stored_files;
use std::path::Path;
use windlass_runtime::OpenError;
use windlass_session::{ProjectKey, ResumePoint, SessionKey, SessionStore, SessionSummary, Titled};
use windlass_tool::Ids;
use windlass_types::{EntryId, SessionId};

/// Choice of the session to resume, and of the entry to continue from. An id alone can be given as a text.
///
/// ```
/// use windlass::{session, session::Resume};
///
/// let session = session().resume(Resume::latest().fork());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[must_use]
pub struct Resume {
    pub(crate) from: ResumeSource,
    /// `true` if the session is resumed as a fork.
    pub(crate) fork: bool,
    /// Last entry that is kept.
    pub(crate) at: Option<String>,
    /// Prompt whose turn is all that may be dropped.
    pub(crate) drops_turn: Option<String>,
}

/// Session to begin or to resume.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) enum ResumeSource {
    /// A new session.
    #[default]
    New,
    /// The session with this id.
    Session(String),
    /// The session of the working directory with this title, else the only one whose title begins with it.
    Titled(String),
    /// The last session of the working directory.
    Latest,
    /// The last session of the working directory, or a new one if there is none.
    LatestOrNew,
}

impl Resume {
    fn from_source(from: ResumeSource) -> Self {
        Self { from, ..Self::default() }
    }

    /// A new session.
    pub fn new() -> Self {
        Self::default()
    }

    /// The session with this id.
    pub fn session(id: impl Into<String>) -> Self {
        Self::from_source(ResumeSource::Session(id.into()))
    }

    /// The session of the working directory with this title, else the only one whose title begins with it. Matching
    /// ignores case. An ambiguous title is an error that names the candidates.
    pub fn titled(title: impl Into<String>) -> Self {
        Self::from_source(ResumeSource::Titled(title.into()))
    }

    /// The last session of the working directory.
    pub fn latest() -> Self {
        Self::from_source(ResumeSource::Latest)
    }

    /// The last session of the working directory, or a new one if there is none.
    pub fn latest_or_new() -> Self {
        Self::from_source(ResumeSource::LatestOrNew)
    }

    /// Resumes a fork of the session: a separate session with fresh ids, written before the first run. The original is
    /// not changed, and may be in use. Default: the session itself is resumed.
    pub fn fork(mut self) -> Self {
        self.fork = true;
        self
    }

    /// Resumes after the entry with this id (a prompt, a message of the model or a block of it, a result) instead of at
    /// the end. A message is kept with the results of its calls. Later entries stay in the log but leave the
    /// conversation; a fork does not get them.
    pub fn at(mut self, entry: impl Into<String>) -> Self {
        self.at = Some(entry.into());
        self
    }

    /// Refuses [`at`](Self::at) if it would drop anything but the turn of this prompt, such as a message that arrived
    /// meanwhile. Default: all later entries are dropped.
    pub fn drops_turn(mut self, prompt: impl Into<String>) -> Self {
        self.drops_turn = Some(prompt.into());
        self
    }
}

impl From<&str> for Resume {
    fn from(id: &str) -> Self {
        Self::session(id)
    }
}

impl From<String> for Resume {
    fn from(id: String) -> Self {
        Self::session(id)
    }
}

impl From<&String> for Resume {
    fn from(id: &String) -> Self {
        Self::session(id)
    }
}

impl From<&SessionId> for Resume {
    fn from(id: &SessionId) -> Self {
        Self::session(id.as_str())
    }
}

impl From<SessionId> for Resume {
    fn from(id: SessionId) -> Self {
        Self::from(&id)
    }
}

/// Options for beginning or resuming a session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Start {
    pub(crate) resume: Resume,
    /// Id of the new session, or of the fork.
    pub(crate) session_id: Option<String>,
}

impl Start {
    /// `true` if no session is resumed.
    pub(crate) fn begins_new(&self) -> bool {
        self.resume.from == ResumeSource::New
    }
}

/// A session that is about to be opened.
#[derive(Debug)]
pub(crate) struct Chosen {
    pub(crate) id: SessionId,
    pub(crate) must_exist: bool,
    pub(crate) fork_of: Option<SessionKey>,
    pub(crate) point: Option<ResumePoint>,
}

impl Chosen {
    fn new(id: SessionId) -> Self {
        Self { id, must_exist: false, fork_of: None, point: None }
    }

    /// `true` if the conversation begins with this session.
    pub(crate) fn is_new(&self) -> bool {
        !self.must_exist && self.fork_of.is_none()
    }
}

/// Chooses the session of a directory, and of the project that its sessions are stored for. A notice names each file
/// that was skipped in the search for the last session.
pub(crate) async fn choose(
    start: &Start,
    storage: &Storage,
    (cwd, project): (&Path, &ProjectKey),
    ids: &dyn Ids,
    notices: &mut Vec<String>,
) -> Result<Chosen, Error> {
    let requested_id = start.session_id.as_deref().map(session_id).transpose()?;
    let new_id = || requested_id.clone().unwrap_or_else(|| SessionId::from_bits(ids.bits()));
    let resume = &start.resume;
    if start.begins_new() {
        let branches = resume.fork || resume.at.is_some() || resume.drops_turn.is_some();
        return if branches { Err(Error::NothingToBranchFrom) } else { Ok(Chosen::new(new_id())) };
    }
    let store = storage.store().ok_or(Error::NoStore)?;
    let source = match &resume.from {
        ResumeSource::Session(id) => session_id(id)?,
        ResumeSource::Titled(title) => {
            let mut sessions = store.list(project).await?;
            sessions.retain(|session| is_of(project, session));
            titled(title, sessions, cwd)?
        }
        from => match latest(storage, &*store, project, notices).await? {
            Some(latest) => latest.session_id,
            None if *from == ResumeSource::LatestOrNew && resume.at.is_none() => return Ok(Chosen::new(new_id())),
            None => return Err(Error::NothingToContinue { cwd: cwd.to_path_buf() }),
        },
    };
    let point = point(resume)?;
    if resume.fork {
        let fork_of = Some(SessionKey::new(project.clone(), source));
        return Ok(Chosen { fork_of, point, ..Chosen::new(new_id()) });
    }
    match requested_id {
        Some(_) => Err(Error::IdOfResumed),
        None => Ok(Chosen { must_exist: true, point, ..Chosen::new(source) }),
    }
}

/// Session with the title.
fn titled(title: &str, sessions: Vec<SessionSummary>, cwd: &Path) -> Result<SessionId, Error> {
    match Titled::among(sessions, title) {
        Titled::One(one) => Ok(one.session_id),
        Titled::Several(sessions) => Err(Error::AmbiguousTitle { title: title.to_owned(), sessions }),
        _ => Err(Error::NoTitle { title: title.to_owned(), cwd: cwd.to_path_buf() }),
    }
}

/// Session that was changed last. An unreadable file in place of a session is a notice, because it may be the intended
/// one.
async fn latest(
    storage: &Storage,
    store: &dyn SessionStore,
    project: &ProjectKey,
    notices: &mut Vec<String>,
) -> Result<Option<SessionSummary>, Error> {
    if let Some(home) = storage.home_of_files()
        && let Some(found) = stored_files::latest(home, project, notices).await?
    {
        return Ok(found);
    }
    Ok(store.list(project).await?.into_iter().find(|session| is_of(project, session)))
}

/// `false` if a session names another directory with the same key by accident. A store of files has already left it
/// out, and supports worktrees.
fn is_of(project: &ProjectKey, session: &SessionSummary) -> bool {
    let Some(recorded) = session.cwd.as_deref().map(Path::new) else { return true };
    cfg!(feature = "store")
        || project.may_hold(Some(recorded))
        || recorded.canonicalize().is_ok_and(|real| project.may_hold(Some(&real)))
}

/// Error that keeps a session from opening. A missing session is also searched in other directories.
pub(crate) async fn refusal(error: OpenError, storage: &Storage, cwd: &Path) -> Error {
    if let (OpenError::NotFound { session_id }, Some(home)) = (&error, storage.home_of_files())
        && let Some(elsewhere) = stored_files::kept_elsewhere(home, session_id, cwd).await
    {
        return elsewhere;
    }
    error.into()
}

fn point(resume: &Resume) -> Result<Option<ResumePoint>, Error> {
    let reject = |reason: &str| Error::TurnGuard { reason: reason.to_owned() };
    let point = resume.at.as_deref().map(ResumePoint::new);
    match (point, resume.drops_turn.as_deref()) {
        (point, None) => Ok(point),
        (None, Some(_)) => Err(reject("it says what a resume at a message may drop, and there is none")),
        (Some(_), Some(prompt)) if !SessionId::from(prompt).is_uuid() => {
            Err(reject(&format!("{prompt:?} is not the id of a prompt")))
        }
        (Some(point), Some(prompt)) => Ok(Some(point.dropping_only(EntryId::from(prompt)))),
    }
}

/// Parses the id of a session.
pub(crate) fn session_id(text: &str) -> Result<SessionId, Error> {
    let id = SessionId::from(text.to_ascii_lowercase());
    if id.is_uuid() { Ok(id) } else { Err(Error::BadSessionId { id: text.to_owned() }) }
}

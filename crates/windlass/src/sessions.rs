//! Stored sessions, for programs that inspect them from outside: lists, transcripts, notes, copies and exports.

mod audit;
mod fork;
mod owner;
mod pending;
mod title;
mod transcript;

pub use fork::ForkOptions;
pub(crate) use owner::owner;
pub use pending::OpenQuestion;
pub use transcript::{SessionTranscript, TranscriptEntry, TranscriptItem};
pub use windlass_store::{
    ListedSession, PageCursor, PageSource, SessionList, SessionMatch, SessionPage, SessionSearch,
};

use crate::error::Error;
use crate::event::AgentId;
use crate::home::Home;
use crate::resume::session_id;
use crate::{ModelProvider, SessionId};
use std::path::{Path, PathBuf};
use windlass_runtime::OpenError;
use windlass_session::{AgentSummary, SessionSummary};
use windlass_session::{Annotation, Loaded, ProjectKey, SessionStore, StoreErrorKind, export_entries};
use windlass_store::{FoundSession, JsonlStore};

/// A stored session and its location.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredSession {
    /// Id of the session.
    pub id: SessionId,
    /// Working directory of the session, from which it can be resumed. `None` when its log names none, or one that it
    /// is not stored for.
    pub directory: Option<PathBuf>,
    /// File of the session's log.
    pub log: PathBuf,
    /// `true` if the session is in one of the homes that are [only read](Home::also_read). It can be resumed, copied,
    /// renamed and tagged, which copies it to this home first, but not deleted.
    pub only_read: bool,
    /// Summary for lists. `None` when its log has no facts about itself.
    pub summary: Option<SessionSummary>,
}

impl StoredSession {
    fn new(found: FoundSession) -> Self {
        let recorded_cwd = found.summary.as_ref().and_then(|summary| summary.cwd.as_deref());
        // Any program can write a log, so the only accepted directory is that of the project it is stored for.
        let is_stored_for = |path: &Path| found.key.project.matches(ProjectKey::of(path).as_str());
        let directory = recorded_cwd.map(PathBuf::from).filter(|path| is_stored_for(path));
        Self { id: found.key.session, directory, log: found.path, only_read: found.only_read, summary: found.summary }
    }
}

/// Stored sessions. A session may be open meanwhile, here or in another process: reading does not disturb it, and
/// titles and tags may be set. Dropping the future of one of these methods leaves nothing half done: started work is
/// finished.
impl Home {
    /// Sessions of a directory, the last changed first, including those of [other homes](Self::also_read). Unreadable
    /// files in place of sessions are in [`skipped`](SessionList::skipped).
    ///
    /// # Errors
    /// The directory does not exist, or its sessions cannot be reached. A directory without any is an empty list.
    pub async fn sessions(&self, cwd: impl AsRef<Path>) -> Result<SessionList, Error> {
        let cwd = cwd.as_ref();
        let resolved = std::fs::canonicalize(cwd).map_err(|error| Error::Directory {
            role: "the directory",
            path: cwd.to_path_buf(),
            problem: error.to_string(),
        })?;
        Ok(self.store().list_all(&ProjectKey::of(&resolved)).await?)
    }

    /// Sessions of a remote directory. `place` identifies the remote workspace: the name of its
    /// [connection](crate::options::WorkspaceOptions::remote), such as `docker:web`.
    ///
    /// # Errors
    /// The sessions cannot be reached. A directory without any is an empty list.
    pub async fn sessions_elsewhere(&self, place: &str, directory: impl AsRef<Path>) -> Result<SessionList, Error> {
        Ok(self.store().list_all(&ProjectKey::elsewhere(place, directory.as_ref())).await?)
    }

    /// Sessions of all directories, the last changed first, page by page. Methods of the list narrow it: to a
    /// directory, a title, a tag, a time.
    ///
    /// ```no_run
    /// # async fn list() -> Result<(), windlass::Error> {
    /// let home = windlass::Home::from_env()?;
    /// let page = home.list().in_directory("/work/app").limit(20).page().await?;
    /// for session in &page.sessions {
    ///     println!("{}  {}", session.id, session.summary.summary);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn list(&self) -> SessionSearch {
        self.store().sessions_by_time()
    }

    /// Searches for sessions that contain all words of a text, also as the beginning of other words: in prompts, texts
    /// of the model, titles and tags. The last changed come first. Any text can be searched for; there is no syntax.
    ///
    /// With the feature `session-index`, the search uses an index in the home, which the first search creates and each
    /// later one updates. Without it, or if the index is unusable, the logs are read: the same results, slower.
    ///
    /// ```no_run
    /// # async fn search() -> Result<(), windlass::Error> {
    /// let home = windlass::Home::from_env()?;
    /// let mut pages = home.search("parser dates").pages();
    /// while let Some(page) = pages.try_next().await? {
    ///     for session in page.sessions {
    ///         println!("{}  {:?}", session.id, session.matches.first().map(|found| &found.snippet));
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn search(&self, text: &str) -> SessionSearch {
        self.store().search(text)
    }

    /// Finds the session with this id in any directory.
    ///
    /// # Errors
    /// The text is no session id, or the homes cannot be read.
    pub async fn find_session(&self, id: impl AsRef<str>) -> Result<Option<StoredSession>, Error> {
        let found = self.store().find(&session_id(id.as_ref())?).await?;
        Ok(found.map(StoredSession::new))
    }

    /// Transcript of a session's log, in order.
    ///
    /// # Errors
    /// The session does not exist, or cannot be read.
    pub async fn transcript(&self, id: impl AsRef<str>) -> Result<SessionTranscript, Error> {
        let key = self.found(id.as_ref()).await?.key;
        Ok(SessionTranscript::new(self.store().load(&key).await?))
    }

    /// Agents that worked for a session, in the order of their start.
    ///
    /// # Errors
    /// The session does not exist, or its agents cannot be reached. A session without any is an empty list.
    pub async fn session_agents(&self, id: impl AsRef<str>) -> Result<Vec<AgentSummary>, Error> {
        let key = self.found(id.as_ref()).await?.key;
        Ok(self.store().agents(&key).await?)
    }

    /// Transcript of the log of a session's agent, in order.
    ///
    /// # Errors
    /// The session or the [agent](Self::session_agents) does not exist, or cannot be read.
    pub async fn agent_transcript(&self, id: impl AsRef<str>, agent: &AgentId) -> Result<SessionTranscript, Error> {
        Ok(SessionTranscript::new(self.load_agent(id.as_ref(), agent).await?))
    }

    /// Copies a session into a new one of the same directory, whole or not at all, and returns the id of the copy. The
    /// source is not changed.
    ///
    /// The session does not exist, it has no messages, the options do not fit it, or the copy cannot be written.
    pub async fn fork_session(&self, id: impl AsRef<str>, options: ForkOptions) -> Result<SessionId, Error> {
        fork::fork(&self.store(), self.found(id.as_ref()).await?, options).await
    }

    /// Sets the title of a session, for lists. White space at its ends is removed.
    ///
    /// # Errors
    /// The session does not exist, the title has no visible characters, or it cannot be written.
    pub async fn rename_session(&self, id: impl AsRef<str>, title: &str) -> Result<(), Error> {
        self.annotate(id.as_ref(), Annotation::title(title)?).await
    }

    /// Has a model write a title from the first messages of a session, in one request without tools, and sets it. A
    /// title set by a person stays the one that is shown. A small model is enough: `haiku`. `None` if the session has
    /// no messages. If the future is dropped, the session has the title, or none.
    ///
    /// # Errors
    /// The session does not exist, the model fails or answers without visible characters, or the title cannot be
    /// written.
    pub async fn title_session(
        &self,
        id: impl AsRef<str>,
        provider: impl ModelProvider,
        model: &str,
    ) -> Result<Option<String>, Error> {
        title::title(&self.store(), self.found(id.as_ref()).await?, provider, model).await
    }

    /// Replaces the tag of a session; `None` removes it. Invisible characters are left out.
    ///
    /// # Errors
    /// The session does not exist, the tag has no visible characters, or it cannot be written.
    pub async fn tag_session(&self, id: impl AsRef<str>, tag: Option<&str>) -> Result<(), Error> {
        let tag = tag.map_or_else(|| Ok(Annotation::no_tag()), Annotation::tag)?;
        self.annotate(id.as_ref(), tag).await
    }

    /// Deletes a session with its files: the logs of its agents, large results, and file checkpoints.
    ///
    /// # Errors
    /// The session does not exist, is in use, is in a home that is [only read](Self::also_read), or a part of it cannot
    /// be removed.
    pub async fn delete_session(&self, id: impl AsRef<str>) -> Result<(), Error> {
        let FoundSession { key, path, only_read, .. } = self.found(id.as_ref()).await?;
        if only_read {
            return Err(Error::OnlyRead { id: key.session, home: self.root().to_path_buf(), log: path });
        }
        Ok(self.store().delete(&key).await?)
    }

    /// Exports the messages that the next request would carry: a JSON array in the format of the Messages API, with the
    /// exact text of every tool input. Calls without a result get one that reports this.
    ///
    /// # Errors
    /// The session does not exist, or cannot be read.
    pub async fn export_session(&self, id: impl AsRef<str>) -> Result<String, Error> {
        let key = self.found(id.as_ref()).await?.key;
        Ok(export_entries(self.store().load(&key).await?.entries))
    }

    /// Exports the messages of a session's agent, as [`export_session`](Self::export_session) does.
    ///
    /// # Errors
    /// The session or the [agent](Self::session_agents) does not exist, or cannot be read.
    pub async fn export_agent(&self, id: impl AsRef<str>, agent: &AgentId) -> Result<String, Error> {
        Ok(export_entries(self.load_agent(id.as_ref(), agent).await?.entries))
    }

    /// Sessions as files in this home.
    pub(crate) fn store(&self) -> JsonlStore {
        JsonlStore::with_imports(self.root(), self.also_read().to_vec())
    }

    async fn found(&self, id: &str) -> Result<FoundSession, Error> {
        let found = self.store().find(&session_id(id)?).await?;
        found.ok_or_else(|| OpenError::NotFound { session_id: id.to_owned() }.into())
    }

    async fn load_agent(&self, given: &str, agent: &AgentId) -> Result<Loaded, Error> {
        let key = self.found(given).await?.key.of_agent(agent.clone());
        match self.store().load(&key).await {
            Err(error) if error.kind == StoreErrorKind::NotFound => {
                Err(Error::NoAgent { id: key.session, agent: agent.clone() })
            }
            loaded => Ok(loaded?),
        }
    }

    async fn annotate(&self, id: &str, annotation: Annotation) -> Result<(), Error> {
        let key = self.found(id).await?.key;
        Ok(self.store().annotate(&key, &owner(), &annotation).await?)
    }
}

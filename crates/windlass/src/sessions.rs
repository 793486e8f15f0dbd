//! Stored sessions, for programs that look at them from outside: lists, transcripts, notes, copies and exports.

mod audit;
mod fork;
mod pending;
mod title;
mod transcript;

pub use fork::ForkOptions;
pub use pending::OpenQuestion;
pub use transcript::{SessionTranscript, TranscriptEntry, TranscriptItem};

use crate::resume::session_id;
use crate::{
    Error, Home, ModelProvider, SessionId,
    event::AgentId,
    session::{AgentSummary, OpenError, SessionSearch, SessionSummary},
};
use std::path::{Path, PathBuf};
use windlass_session::{Annotation, Loaded, Owner, ProjectKey, SessionStore, StoreErrorKind, export_entries};
use windlass_store::{FoundSession, JsonlStore, SessionList};

/// A stored session and where it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredSession {
    /// Its id.
    pub id: SessionId,
    /// The directory that it works in, from which it can be resumed. `None` when its log does not say, or names one
    /// that it is not stored for.
    pub directory: Option<PathBuf>,
    /// The file of its log.
    pub log: PathBuf,
    /// Whether it is in one of the homes that are [only read](Home::also_read). It can be resumed, copied, renamed and
    /// tagged, which copies it to this home first, but not deleted.
    pub only_read: bool,
    /// What lists show of it. `None` when its log says nothing about itself.
    pub summary: Option<SessionSummary>,
}

impl StoredSession {
    fn new(found: FoundSession) -> Self {
        let said = found.summary.as_ref().and_then(|summary| summary.cwd.as_deref());
        // A log can be written by any program: it names no directory but that of the project it is stored for.
        let is_stored_for = |path: &Path| found.key.project.matches(ProjectKey::of(path).as_str());
        let directory = said.map(PathBuf::from).filter(|path| is_stored_for(path));
        Self { id: found.key.session, directory, log: found.path, only_read: found.only_read, summary: found.summary }
    }
}

/// Stored sessions. A session may be open meanwhile, here or in another process: reading does not disturb it, and
/// titles and tags may be set. None of these methods is half done when its future is dropped: what it began is finished.
impl Home {
    /// The sessions of a directory, the last changed first, those of [other homes](Self::also_read) among them. What
    /// stands in the place of a session and cannot be read is in [`skipped`](SessionList::skipped).
    ///
    /// # Errors
    /// The directory is not there, or its sessions cannot be reached. A directory without any is an empty list.
    pub async fn sessions(&self, cwd: impl AsRef<Path>) -> Result<SessionList, Error> {
        let cwd = cwd.as_ref();
        let resolved = std::fs::canonicalize(cwd).map_err(|error| Error::Directory {
            role: "the directory",
            path: cwd.to_path_buf(),
            problem: error.to_string(),
        })?;
        Ok(self.store().list_all(&ProjectKey::of(&resolved)).await?)
    }

    /// The sessions of a directory that is not on this machine. `place` is what tells that place from others: the name of
    /// what it is [reached through](crate::SessionBuilder::remote), such as `docker:web`.
    ///
    /// # Errors
    /// The sessions cannot be reached. A directory without any is an empty list.
    pub async fn sessions_elsewhere(&self, place: &str, directory: impl AsRef<Path>) -> Result<SessionList, Error> {
        Ok(self.store().list_all(&ProjectKey::elsewhere(place, directory.as_ref())).await?)
    }

    /// The sessions of all directories, the last changed first, page by page. Methods of the list narrow it: to a
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

    /// The sessions in which all words of a text stand, or begin others: in prompts, texts of the model, titles and
    /// tags. The last changed come first. Any text can be searched for; there is no syntax.
    ///
    /// With the feature `session-index` an index in the home is asked, which the first search makes, and each later one
    /// brings up to date. Without it, and where the index cannot be used, the logs are read: the same is found, slower.
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

    /// The session with this id, of whatever directory it is.
    ///
    /// # Errors
    /// The text is no id of a session, or the homes cannot be read.
    pub async fn find_session(&self, id: impl AsRef<str>) -> Result<Option<StoredSession>, Error> {
        let found = self.store().find(&session_id(id.as_ref())?).await?;
        Ok(found.map(StoredSession::new))
    }

    /// What a session's log says, in order.
    ///
    /// # Errors
    /// There is no such session, or it cannot be read.
    pub async fn transcript(&self, id: impl AsRef<str>) -> Result<SessionTranscript, Error> {
        let key = self.found(id.as_ref()).await?.key;
        Ok(SessionTranscript::new(self.store().load(&key).await?))
    }

    /// The agents that worked for a session, the first to begin first.
    ///
    /// # Errors
    /// There is no such session, or its agents cannot be reached. A session without any is an empty list.
    pub async fn session_agents(&self, id: impl AsRef<str>) -> Result<Vec<AgentSummary>, Error> {
        let key = self.found(id.as_ref()).await?.key;
        Ok(self.store().agents(&key).await?)
    }

    /// What the log of an agent of a session says, in order.
    ///
    /// # Errors
    /// There is no such session or [agent](Self::session_agents), or it cannot be read.
    pub async fn agent_transcript(&self, id: impl AsRef<str>, agent: &AgentId) -> Result<SessionTranscript, Error> {
        Ok(SessionTranscript::new(self.load_agent(id.as_ref(), agent).await?))
    }

    /// Copies a session into a new one of the same directory, whole or not at all, and returns the id of the copy. The
    /// source is not changed.
    ///
    /// # Errors
    /// There is no such session, it has no messages, the options do not fit it, or the copy cannot be written.
    pub async fn fork_session(&self, id: impl AsRef<str>, options: ForkOptions) -> Result<SessionId, Error> {
        fork::fork(&self.store(), self.found(id.as_ref()).await?, options).await
    }

    /// Gives a session a title, which lists show. White space at its ends does not count.
    ///
    /// # Errors
    /// There is no such session, nothing of the title can be seen, or it cannot be written.
    pub async fn rename_session(&self, id: impl AsRef<str>, title: &str) -> Result<(), Error> {
        self.annotate(id.as_ref(), Annotation::title(title)?).await
    }

    /// Has a model make up a title from what was said first in a session, in one request without tools, and gives it to the
    /// session. A title that a person gave stays the one that is shown. A small model does: `haiku`. `None` if nothing was
    /// said in the session. When the future is dropped, the session has the title, or none.
    ///
    /// # Errors
    /// There is no such session, the model fails or answers with nothing that can be seen, or it cannot be written.
    pub async fn title_session(
        &self,
        id: impl AsRef<str>,
        provider: impl ModelProvider,
        model: &str,
    ) -> Result<Option<String>, Error> {
        title::title(&self.store(), self.found(id.as_ref()).await?, provider, model).await
    }

    /// Gives a session a tag in place of the one that it has; `None` takes it away. Characters that cannot be seen are
    /// left out.
    ///
    /// # Errors
    /// There is no such session, nothing of the tag can be seen, or it cannot be written.
    pub async fn tag_session(&self, id: impl AsRef<str>, tag: Option<&str>) -> Result<(), Error> {
        let tag = tag.map_or_else(|| Ok(Annotation::no_tag()), Annotation::tag)?;
        self.annotate(id.as_ref(), tag).await
    }

    /// Deletes a session and what belongs to it: the logs of its agents, large results, and files that were kept.
    ///
    /// # Errors
    /// There is no such session, it is in use, it is in a home that is [only read](Self::also_read), or something of it
    /// cannot be removed.
    pub async fn delete_session(&self, id: impl AsRef<str>) -> Result<(), Error> {
        let FoundSession { key, path, only_read, .. } = self.found(id.as_ref()).await?;
        if only_read {
            return Err(Error::OnlyRead { id: key.session, home: self.root().to_path_buf(), log: path });
        }
        Ok(self.store().delete(&key).await?)
    }

    /// The messages that a request would carry if the session continued: a JSON array as the Messages API takes it, with
    /// the exact text of every tool input. Calls that have no result get one that says so.
    ///
    /// # Errors
    /// There is no such session, or it cannot be read.
    pub async fn export_session(&self, id: impl AsRef<str>) -> Result<String, Error> {
        let key = self.found(id.as_ref()).await?.key;
        Ok(export_entries(self.store().load(&key).await?.entries))
    }

    /// The messages of an agent of a session, as [`export_session`](Self::export_session) gives them.
    ///
    /// # Errors
    /// There is no such session or [agent](Self::session_agents), or it cannot be read.
    pub async fn export_agent(&self, id: impl AsRef<str>, agent: &AgentId) -> Result<String, Error> {
        Ok(export_entries(self.load_agent(id.as_ref(), agent).await?.entries))
    }

    /// Sessions as files in this home.
    pub(crate) fn store(&self) -> JsonlStore {
        JsonlStore::with_imports(self.root(), self.also_read().to_vec())
    }

    async fn found(&self, given: &str) -> Result<FoundSession, Error> {
        let found = self.store().find(&session_id(given)?).await?;
        found.ok_or_else(|| OpenError::NotFound { session_id: given.to_owned() }.into())
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

    async fn annotate(&self, given: &str, annotation: Annotation) -> Result<(), Error> {
        let key = self.found(given).await?.key;
        Ok(self.store().annotate(&key, &owner(), &annotation).await?)
    }
}

/// Who changes stored sessions.
fn owner() -> Owner {
    Owner::new(std::process::id(), "windlass")
}

//! Copies of stored sessions.

use super::owner::owner;
use crate::SessionId;
use crate::error::Error;
use crate::resume::session_id;
use std::path::Path;
use windlass_runtime::OpenError;
use windlass_runtime::{SystemClock, SystemIds};
use windlass_session::{Annotation, ForkRequest, LogHeader, ProjectKey, ResumePoint, SessionKey, fork_session};
use windlass_store::{FoundSession, JsonlStore, git_branch};
use windlass_tool::{Clock, Ids};
use windlass_types::EntryId;

/// Options for the copy of a session. Default: all of it, under a new id, with the title of the session, or its first
/// prompt, and "(fork)".
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ForkOptions {
    /// Last entry that is copied; `None` copies all.
    pub at: Option<EntryId>,
    /// Title of the copy.
    pub title: Option<String>,
    /// Id of the copy, an unused UUID.
    pub session_id: Option<String>,
    /// Name of the program in the lines of the copy. Default: `sdk-rust`.
    pub entrypoint: Option<String>,
}

impl ForkOptions {
    /// A copy of everything.
    pub fn new() -> Self {
        Self::default()
    }

    /// Copies no further than this entry, such as one of a [transcript](crate::session::SessionTranscript).
    #[must_use]
    pub fn at(mut self, entry: impl Into<EntryId>) -> Self {
        self.at = Some(entry.into());
        self
    }

    /// Gives the copy this title.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Gives the copy this id, a UUID.
    #[must_use]
    pub fn session_id(mut self, id: impl Into<String>) -> Self {
        self.session_id = Some(id.into());
        self
    }

    /// Names the program in the lines of the copy.
    #[must_use]
    pub fn entrypoint(mut self, name: impl Into<String>) -> Self {
        self.entrypoint = Some(name.into());
        self
    }
}

/// Copies a session and returns the id of the copy.
pub(super) async fn fork(store: &JsonlStore, source: FoundSession, options: ForkOptions) -> Result<SessionId, Error> {
    let ids = SystemIds::default();
    let FoundSession { key, summary, .. } = source;
    let id = options.session_id.as_deref().map(session_id).transpose()?;
    let target = SessionKey::new(key.project.clone(), id.unwrap_or_else(|| SessionId::from_bits(ids.bits())));
    let title = match (&options.title, &summary) {
        (Some(title), _) => title.clone(),
        (None, Some(summary)) => summary.fork_title(),
        (None, None) => "Forked session (fork)".to_owned(),
    };
    let title = Annotation::title(&title)?;
    let cwd = summary.and_then(|summary| summary.cwd).unwrap_or_else(|| directory_of(&key.project));
    let entrypoint = options.entrypoint.unwrap_or_else(|| "sdk-rust".to_owned());
    let branch = (!key.project.is_elsewhere()).then(|| git_branch(cwd.as_ref())).flatten();
    let header = LogHeader::new(&*cwd, env!("CARGO_PKG_VERSION"), entrypoint).with_git_branch(branch);
    let request = ForkRequest::new(owner(), header, SystemClock::default().now())
        .at(options.at.map(ResumePoint::new))
        .titled(Some(title));
    let copied = fork_session(store, &key, &target, request, || EntryId::from_bits(ids.bits())).await;
    copied.map_err(OpenError::from)?;
    Ok(target.session)
}

/// The current directory, if it is that of the project, because the directory cannot be derived from its key.
fn directory_of(project: &ProjectKey) -> String {
    let current = std::fs::canonicalize(Path::new("."));
    let current = current.ok().filter(|current| ProjectKey::of(current) == *project);
    current.map(|current| current.to_string_lossy().into_owned()).unwrap_or_default()
}

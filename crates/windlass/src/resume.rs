//! Which session to go on with, and from where.

use crate::{Error, Options};
use std::path::Path;
use windlass_session::{ProjectKey, ResumePoint, SessionKey, SessionStore, SessionSummary};
use windlass_tool::Ids;
use windlass_types::{EntryId, SessionId};

/// Which session to go on with.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Resume {
    /// A new one.
    #[default]
    New,
    /// The one with this id.
    Session(String),
    /// The last one of the working directory.
    Latest,
    /// The last one of the working directory, or a new one if there is none.
    LatestOrNew,
}

/// How to go on with it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Branch {
    /// The id of the new session, or of the copy.
    pub(crate) session_id: Option<String>,
    /// Whether to go on in a copy.
    pub(crate) fork: bool,
    /// The last entry that is kept.
    pub(crate) at: Option<String>,
    /// The prompt whose turn is all that may be dropped.
    pub(crate) drops_turn: Option<String>,
}

/// A session that is about to be opened.
#[derive(Debug)]
pub(crate) struct Chosen {
    pub(crate) id: SessionId,
    pub(crate) must_exist: bool,
    pub(crate) fork_of: Option<SessionKey>,
    pub(crate) point: Option<ResumePoint>,
}

/// Finds the session that the options mean.
pub(crate) async fn choose(
    options: &Options,
    cwd: &Path,
    store: Option<&dyn SessionStore>,
    ids: &dyn Ids,
    notices: &mut Vec<String>,
) -> Result<Chosen, Error> {
    let branch = &options.branch;
    let given = branch.session_id.as_deref().map(session_id).transpose()?;
    let new_id = || given.clone().unwrap_or_else(|| SessionId::from_bits(ids.bits()));
    let project = ProjectKey::of(cwd);
    let source = match (&options.resume, store) {
        (Resume::New, _) if branch.fork || branch.at.is_some() || branch.drops_turn.is_some() => {
            return Err(Error::NothingToBranchFrom);
        }
        (Resume::New, _) => {
            return Ok(Chosen { id: new_id(), must_exist: false, fork_of: None, point: None });
        }
        (_, None) => return Err(Error::NoStore),
        (Resume::Session(id), Some(_)) => session_id(id)?,
        (Resume::Latest | Resume::LatestOrNew, Some(store)) => {
            match (latest(options, store, &project, notices).await?, &options.resume) {
                (Some(latest), _) => latest.session_id,
                (None, Resume::LatestOrNew) if branch.at.is_none() => {
                    return Ok(Chosen { id: new_id(), must_exist: false, fork_of: None, point: None });
                }
                (None, _) => return Err(Error::NothingToContinue { cwd: cwd.to_path_buf() }),
            }
        }
    };
    let point = point(branch)?;
    if branch.fork {
        let fork_of = Some(SessionKey::new(project, source));
        return Ok(Chosen { id: new_id(), must_exist: false, fork_of, point });
    }
    match given {
        Some(_) => Err(Error::IdOfResumed),
        None => Ok(Chosen { id: source, must_exist: true, fork_of: None, point }),
    }
}

/// The session that was changed last. What stands in the place of a session and cannot be read is appended to `notices`:
/// it may be the one that is meant.
async fn latest(
    options: &Options,
    store: &dyn SessionStore,
    project: &ProjectKey,
    notices: &mut Vec<String>,
) -> Result<Option<SessionSummary>, Error> {
    #[cfg(feature = "store")]
    if let (None, Some(home)) = (&options.store, &options.home) {
        /// Most files that a notice names as skipped.
        const MOST_SKIPPED: usize = 10;
        let files = windlass_store::JsonlStore::with_imports(home.root(), home.also_read().to_vec());
        let listed = files.list_all(project).await?;
        let skipped = listed.skipped.iter().take(MOST_SKIPPED);
        notices.extend(skipped.map(|skipped| format!("looking for the last session: {skipped}")));
        return Ok(listed.sessions.into_iter().next());
    }
    let _ = (options, notices);
    Ok(store.list(project).await?.into_iter().next())
}

fn point(branch: &Branch) -> Result<Option<ResumePoint>, Error> {
    let reject = |reason: &str| Error::TurnGuard { reason: reason.to_owned() };
    let point = branch.at.as_deref().map(ResumePoint::new);
    match (point, branch.drops_turn.as_deref()) {
        (point, None) => Ok(point),
        (None, Some(_)) => Err(reject("it says what a resume at a message may drop, and there is none")),
        (Some(_), Some(prompt)) if !SessionId::from(prompt).is_uuid() => {
            Err(reject(&format!("{prompt:?} is not the id of a prompt")))
        }
        (Some(point), Some(prompt)) => Ok(Some(point.dropping_only(EntryId::from(prompt)))),
    }
}

/// The id of a session, checked.
pub(crate) fn session_id(text: &str) -> Result<SessionId, Error> {
    let id = SessionId::from(text.to_ascii_lowercase());
    if id.is_uuid() { Ok(id) } else { Err(Error::BadSessionId { id: text.to_owned() }) }
}

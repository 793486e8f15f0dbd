//! Sessions that are stored as files in a home.

use crate::error::Error;
use crate::home::Home;
use std::path::Path;
use std::sync::Arc;
use windlass_session::{ProjectKey, SessionKey, SessionStore, SessionSummary};

/// Maximum number of skipped files named in notices.
const MAX_NAMED_FILES: usize = 10;

/// Store of a home.
pub(crate) fn store(home: &Home) -> Option<Arc<dyn SessionStore>> {
    Some(Arc::new(home.store()))
}

/// Refuses a relative home, because sessions would be wherever the program happens to start.
pub(crate) fn check(home: &Home) -> Result<(), Error> {
    if home.root().is_absolute() {
        return Ok(());
    }
    let problem = "it is relative: give an absolute path, or one below `std::env::current_dir()?`".to_owned();
    Err(Error::Directory { role: "the home", path: home.root().to_path_buf(), problem })
}

/// Branch of the repository around a directory, for the log.
pub(crate) fn git_branch(cwd: &Path) -> Option<String> {
    windlass_store::git_branch(cwd)
}

/// Session of a project that was changed last. An unreadable file in place of a session is a notice, because it may be
/// the intended one. `None` if the home lists no sessions in this build.
pub(crate) async fn latest(
    home: &Home,
    project: &ProjectKey,
    notices: &mut Vec<String>,
) -> Result<Option<Option<SessionSummary>>, Error> {
    let listed = home.store().list_all(project).await?;
    let skipped = listed.skipped.iter().take(MAX_NAMED_FILES);
    notices.extend(skipped.map(|skipped| format!("looking for the last session: {skipped}")));
    Ok(Some(listed.sessions.into_iter().next()))
}

/// `true` if a home has a session of a project.
pub(crate) async fn holds(home: &Home, key: &SessionKey) -> Result<bool, Error> {
    Ok(home.store().find(&key.session).await?.is_some_and(|found| found.key.project == key.project))
}

/// Error that names the place of a session of another directory.
pub(crate) async fn kept_elsewhere(home: &Home, session_id: &str, cwd: &Path) -> Option<Error> {
    // If the homes are unreadable, the first error is enough.
    let stored = home.find_session(session_id).await.ok()??;
    let kept_in = stored.directory.unwrap_or(stored.log);
    Some(Error::KeptElsewhere { id: session_id.to_owned(), cwd: cwd.to_path_buf(), kept_in })
}

//! Lookup of the session that options name, without opening it.

use crate::error::Error;
use crate::options::Options;
use crate::resume::{choose, refusal};
use crate::stored_files;
use std::path::Path;
use windlass_runtime::{OpenError, SystemIds};
use windlass_session::{SessionKey, StoreErrorKind};
use windlass_types::SessionId;

impl Options {
    /// Finds the session to be resumed, without opening it, so that a program that opens it later reports a wrong id at
    /// its start. `None` for a new session.
    ///
    /// # Errors
    /// The session does not exist, or is ambiguous.
    pub async fn find_resumed(&self) -> Result<Option<SessionId>, Error> {
        find(self).await
    }
}

/// The session to be resumed, which exists; `None` for a new session.
async fn find(options: &Options) -> Result<Option<SessionId>, Error> {
    let cwd = options.working_directory()?;
    let (project, storage) = (options.project_key(&cwd), &options.storage);
    let chosen = choose(&options.start, storage, (&cwd, &project), &SystemIds::default(), &mut Vec::new()).await?;
    let resumed = chosen.must_exist.then(|| SessionKey::new(project.clone(), chosen.id));
    let Some(key) = chosen.fork_of.or(resumed) else { return Ok(None) };
    if let Some(home) = storage.home_of_files()
        && stored_files::holds(home, &key).await?
    {
        return Ok(Some(key.session));
    }
    let store = storage.store().ok_or(Error::NoStore)?;
    match store.load(&key).await {
        Ok(_) => Ok(Some(key.session)),
        Err(error) if error.kind == StoreErrorKind::NotFound => {
            let error = OpenError::NotFound { session_id: key.session.to_string() };
            Err(refusal(error, storage, &cwd).await)
        }
        Err(error) => Err(error.into()),
    }
}

/// Error for a session that is to be resumed and does not exist, or whose id is malformed.
pub(crate) async fn missing_session(options: &Options, cwd: &Path) -> Option<Error> {
    let project = options.project_key(cwd);
    let chosen =
        choose(&options.start, &options.storage, (cwd, &project), &SystemIds::default(), &mut Vec::new()).await;
    match chosen {
        Err(error) => Some(error),
        Ok(chosen) if chosen.must_exist => {
            let session_id = chosen.id.to_string();
            let loaded = options.storage.store()?.load(&SessionKey::new(project, chosen.id)).await;
            match loaded {
                Err(error) if error.kind == StoreErrorKind::NotFound => {
                    Some(refusal(OpenError::NotFound { session_id }, &options.storage, cwd).await)
                }
                // Opening the session reports other faults.
                _ => None,
            }
        }
        Ok(_) => None,
    }
}

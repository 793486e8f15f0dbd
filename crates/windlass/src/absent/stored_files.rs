//! Sessions that are stored as files, in a build without the feature `store`: there are none.

use crate::error::Error;
use crate::home::Home;
use std::path::Path;
use std::sync::Arc;
use windlass_session::{ProjectKey, SessionKey, SessionStore, SessionSummary};

pub(crate) fn store(_: &Home) -> Option<Arc<dyn SessionStore>> {
    None
}

pub(crate) fn check(_: &Home) -> Result<(), Error> {
    Ok(())
}

pub(crate) fn git_branch(_: &Path) -> Option<String> {
    None
}

pub(crate) async fn latest(
    _: &Home,
    _: &ProjectKey,
    _: &mut Vec<String>,
) -> Result<Option<Option<SessionSummary>>, Error> {
    Ok(None)
}

pub(crate) async fn holds(_: &Home, _: &SessionKey) -> Result<bool, Error> {
    Ok(false)
}

pub(crate) async fn kept_elsewhere(_: &Home, _: &str, _: &Path) -> Option<Error> {
    None
}

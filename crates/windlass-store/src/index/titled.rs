//! Which session a title means.

use super::ListedSession;
use crate::JsonlStore;
use std::path::PathBuf;
use windlass_session::StoreError;

/// Which session a title means.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Titled {
    /// No session has it, or one that begins with it.
    None,
    /// This one.
    One(Box<ListedSession>),
    /// Any of these, the last changed first.
    Several(Vec<ListedSession>),
}

impl JsonlStore {
    /// The session of a directory that a title means: the one that has it, else the only one whose title begins with it.
    /// Upper and lower case make no difference. Only the logs are read, never an index.
    ///
    /// # Errors
    /// The sessions of the directory cannot be reached.
    pub async fn find_titled(&self, directory: impl Into<PathBuf>, title: &str) -> Result<Titled, StoreError> {
        let mut beginning = Vec::new();
        if title.trim().is_empty() {
            return Ok(Titled::None);
        }
        let mut pages = self.sessions_by_time().in_directory(directory).titled(title).from_logs().pages();
        while let Some(page) = pages.try_next().await? {
            beginning.extend(page.sessions);
        }
        Ok(choose(beginning, title))
    }
}

/// Chooses among sessions whose titles begin with what was given.
fn choose(beginning: Vec<ListedSession>, title: &str) -> Titled {
    let wanted = title.trim().to_lowercase();
    let has_it = |session: &ListedSession| {
        session.summary.custom_title.as_ref().is_some_and(|title| title.trim().to_lowercase() == wanted)
    };
    let (mut exact, others): (Vec<_>, Vec<_>) = beginning.into_iter().partition(has_it);
    if exact.is_empty() {
        exact = others;
    }
    match (exact.pop(), exact.is_empty()) {
        (None, _) => Titled::None,
        (Some(one), true) => Titled::One(Box::new(one)),
        (Some(last), false) => {
            exact.push(last);
            Titled::Several(exact)
        }
    }
}

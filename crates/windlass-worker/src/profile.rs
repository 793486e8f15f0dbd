//! Kinds of sessions that a worker runs.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use windlass::session::SessionBuilder;

/// Reason why a profile opens no session.
pub type ProfileError = Box<dyn std::error::Error + Send + Sync>;

type Build = dyn Fn(&Path) -> Result<SessionBuilder, ProfileError> + Send + Sync;

/// Options of the sessions of one name: model, tools, permissions and limits.
///
/// The options should [wait for answers](windlass::Permissions::wait_for_answers): nobody sits at a worker, so a call that needs
/// a permission is denied otherwise.
#[derive(Clone)]
pub struct Profile {
    build: Arc<Build>,
    max_turns: Option<u32>,
}

impl Profile {
    /// Returns a profile. `build` returns the options of a session in a workspace, given by its path; the worker adds the
    /// store and the id.
    pub fn new(build: impl Fn(&Path) -> Result<SessionBuilder, ProfileError> + Send + Sync + 'static) -> Self {
        Self { build: Arc::new(build), max_turns: None }
    }

    /// Limits the turns of a run. A session may ask for fewer.
    #[must_use]
    pub fn max_turns(mut self, turns: u32) -> Self {
        self.max_turns = Some(turns);
        self
    }

    /// Returns the options of a session, narrowed by what it asks for.
    pub(crate) fn options(&self, workspace: &Path, asked: Option<u32>) -> Result<SessionBuilder, ProfileError> {
        let options = (self.build)(workspace)?;
        let turns = [self.max_turns, asked].into_iter().flatten().min();
        Ok(match turns {
            Some(turns) => options.max_turns(turns),
            None => options,
        })
    }
}

impl fmt::Debug for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Profile").field("max_turns", &self.max_turns).finish_non_exhaustive()
    }
}

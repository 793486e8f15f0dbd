//! The project of an open session.

use crate::assembly::{Assembly, Contribution};
use crate::error::Error;
use async_trait::async_trait;

/// Joins the project itself, which follows the session once it is open.
pub(crate) struct OpenProject;

#[async_trait]
impl Contribution for OpenProject {
    async fn join(&self, assembly: &mut Assembly) -> Result<(), Error> {
        if let Some(project) = assembly.options.project.applied().cloned() {
            let base = assembly.base_subagents.take();
            assembly.on_open(move |session, tools| project.opened(base, session, tools));
        }
        Ok(())
    }
}

//! The sandbox of a project's programs, in a build without the feature `sandbox`: there is none.

use super::configuration::state::Configuration;
use crate::project::{LoadedProject, ProjectError};
use crate::server_guard::ServerGuard;
use std::sync::Arc;
use windlass_tool::Process;

impl LoadedProject {
    pub(crate) fn page_rules(&self) -> (Vec<String>, Vec<String>) {
        (Vec::new(), Vec::new())
    }

    pub(super) fn server_sandbox(&self, _: Arc<dyn Process>) -> Option<Arc<dyn ServerGuard>> {
        None
    }
}

pub(super) fn configure(_: &mut Configuration<'_>) -> Result<(), ProjectError> {
    Ok(())
}

//! The language servers of a project, in a build without the feature `lsp`: none is used.

use super::configuration::state::Configuration;
use crate::project::{LoadedProject, ProjectError};
use windlass_project::ConfiguredLine;

impl LoadedProject {
    pub(super) fn language_server_lines(&self) -> Vec<ConfiguredLine> {
        Vec::new()
    }
}

pub(super) fn configure(_: &mut Configuration<'_>) -> Result<(), ProjectError> {
    Ok(())
}

//! The skills of a session.

use super::state::Configuration;
use crate::project::ProjectError;

/// Adds the tool that reads skills.
pub(super) fn configure(configuration: &mut Configuration<'_>) -> Result<(), ProjectError> {
    if let Some(tool) = configuration.project.skill_tool() {
        configuration.options.tools.toolkit.add_missing(tool);
    }
    Ok(())
}

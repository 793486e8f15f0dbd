//! The Bash tool of a session.

use super::state::Configuration;
use crate::project::ProjectError;

/// Replaces the Bash tool of [`coding_tools`](crate::coding_tools), if settings or variables configure it.
pub(super) fn configure(configuration: &mut Configuration<'_>) -> Result<(), ProjectError> {
    if let Some(bash) = configuration.project.bash_with(&configuration.variables) {
        configuration.options.tools.toolkit.replace_own_bash(bash);
    }
    Ok(())
}

//! The rights of a session.

use super::state::Configuration;
use crate::project::{LoadedProject, MainAgent, ProjectError};
use windlass_types::PermissionMode;

/// Applies the mode, the rules, and the storage of answers.
pub(super) fn configure(configuration: &mut Configuration<'_>) -> Result<(), ProjectError> {
    let Configuration { project, options, found, agent, .. } = configuration;
    let resolved = project.resolved();
    let mut permissions = std::mem::take(&mut options.permissions).deny(agent.forbidden().cloned());
    permissions.limits.extend(agent.tool_rules().cloned());
    permissions.bypass_allowed &= resolved.permissions.bypass_disabled.is_none();
    permissions.auto.forbidden |= resolved.permissions.auto_disabled.is_some();
    let mode = permissions.mode.unwrap_or_else(|| mode_of(project, agent, permissions.bypass_allowed));
    permissions.mode = Some(project.permitted_mode(mode));
    // Answers are stored for directories of this machine.
    permissions.remember = project.place_elsewhere().is_none().then(|| project.remembering());
    let (denied, allowed) = project.page_rules();
    let permissions = permissions.deny(denied).allow(allowed);
    let programs = project.program_files(found);
    project.begin_program_review(&programs);
    let programs = project.protected(programs, found);
    options.permissions = project.permissions_beside(permissions, programs);
    Ok(())
}

/// Mode of the agent, else of settings.
fn mode_of(project: &LoadedProject, agent: &MainAgent, bypass_allowed: bool) -> PermissionMode {
    agent.mode(project.mode(bypass_allowed).unwrap_or_default())
}

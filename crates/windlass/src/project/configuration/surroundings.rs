//! Directories of a session, and the environment of its programs.

use super::state::Configuration;
use crate::options::Options;
use crate::project::{LoadedProject, ProjectError};
use std::ffi::OsString;
use std::path::Path;

/// Applies directories, the environment of programs, and the permission to run git.
pub(super) fn configure(configuration: &mut Configuration<'_>) -> Result<(), ProjectError> {
    let Configuration { project, options, variables, .. } = configuration;
    options.tools.budget = options.tools.budget.or(variables.tool_budget);
    options.tools.background = Some(options.tools.background.unwrap_or(true) && variables.background);
    if project.place_elsewhere().is_some() {
        return Ok(());
    }
    let surroundings = &mut options.surroundings;
    surroundings.additional_directories.extend(project.directories().map(Path::to_path_buf));
    surroundings.environments.programs = match surroundings.environments.programs.take() {
        Some(own) => {
            let mut all = project.added_variables();
            all.retain(|(name, _): &(OsString, OsString)| !own.iter().any(|(known, _)| known == name));
            Some(all.into_iter().chain(own).collect())
        }
        None => project.program_environment(),
    };
    surroundings.environments.host = project.process_environment();
    let home = project.places().user_home.clone();
    surroundings.user_home = surroundings.user_home.take().or(home);
    surroundings.git_status = Some(surroundings.git_status.unwrap_or_else(|| project.may_ask_git()));
    Ok(())
}

/// Checks that the session works in the start directory of the project, which is also the default.
pub(super) fn check_directory(project: &LoadedProject, options: &mut Options) -> Result<(), ProjectError> {
    let (start, is_here) = match project.place_elsewhere() {
        Some(there) => (there.start(), false),
        None => (project.places().start(), true),
    };
    // A missing directory of this machine is reported when the session opens.
    let differs = |given: &Path| match is_here {
        true => given.canonicalize().is_ok_and(|given| given != start),
        false => given != start,
    };
    match options.given_directory() {
        Some(given) if differs(given) => {
            Err(ProjectError::OtherDirectory { cwd: given.to_path_buf(), project: start.to_path_buf() })
        }
        Some(_) if is_here => Ok(()),
        _ => {
            options.surroundings.cwd = Some(start.to_path_buf());
            Ok(())
        }
    }
}

//! Settings and MCP servers of the current directory.

use super::check::Check;
use crate::args::SettingsArgs;
use crate::failure::of_project;
use crate::launch;
use crate::settings::current_directory;
use windlass::project::LoadedProject;

/// Reads the project here, and writes nothing.
pub(super) fn inspect() -> anyhow::Result<LoadedProject> {
    launch::project(&SettingsArgs::default(), &current_directory()?)?.inspect().map_err(of_project)
}

/// Files of settings, with a check for each mistake.
pub(super) fn settings(found: &anyhow::Result<LoadedProject>) -> Vec<Check> {
    let project = match found {
        Ok(project) => project,
        Err(error) => return vec![Check::broken("settings", format!("{error:#}"))],
    };
    let files: Vec<String> = project.files().iter().map(|file| file.origin.to_string()).collect();
    let text = if files.is_empty() { "no settings files".to_owned() } else { files.join(", ") };
    let mistakes = project.settings_notices().into_iter().map(|notice| Check::notice("settings", notice.text));
    std::iter::once(Check::ok("settings", text)).chain(mistakes).collect()
}

/// MCP servers of files. None is started.
pub(super) fn servers(project: &LoadedProject) -> Vec<Check> {
    let problems = project.servers().file_problems().into_iter().map(|problem| Check::broken("servers", problem));
    let mut checks: Vec<Check> = problems.collect();
    let states = crate::mcp::states(project);
    let started = states.iter().filter(|(_, left_out)| left_out.is_none()).map(|(name, _)| name.as_str());
    let started = started.collect::<Vec<_>>().join(", ");
    for (name, reason) in &states {
        if let Some(reason) = reason {
            checks.push(Check::notice("servers", format!("{name} is not started: {reason}")));
        }
    }
    if !started.is_empty() {
        let text = format!("a session starts {started}");
        checks.push(Check::ok("servers", text).advice("`windlass mcp list --check` starts them and asks each"));
    } else if states.is_empty() && checks.is_empty() {
        checks.push(Check::ok("servers", "no MCP servers"));
    }
    checks
}

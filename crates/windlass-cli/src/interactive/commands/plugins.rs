//! `/plugins`: plugins with their parts.

use super::context::{CommandContext, lines};
use crate::terminal::clean_line;
use windlass_terminal::app::CommandReply;

pub(super) fn view(context: &CommandContext) -> anyhow::Result<CommandReply> {
    let plugins = context.project.plugins();
    let mut rows: Vec<String> = Vec::new();
    for plugin in &plugins.plugins {
        let version = plugin.version.as_deref().map(|version| format!(" {version}")).unwrap_or_default();
        let parts = format!(
            "{} commands, {} agents, {} servers",
            plugin.commands.len(),
            plugin.agents.agents.len(),
            plugin.servers.len()
        );
        rows.push(clean_line(&format!("{}{version}  {parts}  {}", plugin.name, plugin.path.display())));
    }
    rows.extend(plugins.errors.iter().map(|error| clean_line(&error.to_string())));
    Ok(lines(&rows, "No plugin is loaded. --plugin-dir DIR loads one."))
}

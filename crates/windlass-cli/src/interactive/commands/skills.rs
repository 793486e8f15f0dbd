//! `/skills`: skills and commands with their sources.

use super::context::{CommandContext, lines};
use crate::terminal::clean_line;
use windlass_terminal::app::CommandReply;

pub(super) fn view(context: &CommandContext) -> anyhow::Result<CommandReply> {
    let known = context.project.commands();
    let mut rows: Vec<String> = known
        .commands
        .iter()
        .map(|command| {
            let kind = if command.skill.is_some() { "skill" } else { "command" };
            clean_line(&format!("/{:<24} {kind:<8} {}  {}", command.name, command.description, command.path.display()))
        })
        .collect();
    rows.extend(known.notes.iter().map(|note| clean_line(&note.to_string())));
    Ok(lines(&rows, "No skill and no command is defined here."))
}

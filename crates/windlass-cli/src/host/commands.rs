//! Custom slash commands, as a host sees them.

use std::sync::Arc;
use windlass::ContentBlock;
use windlass::crates::project::Commands;
use windlass_protocol::SlashCommand;

/// The commands for a list; who wrote one is part of what it says.
pub(super) fn listed(commands: &Commands) -> Vec<SlashCommand> {
    let listed = |command: &windlass::crates::project::Command| {
        SlashCommand::new(&command.name, format!("{} ({})", command.description, command.source))
            .with_argument_hint(&command.argument_hint)
    };
    commands.commands.iter().map(listed).collect()
}

/// Turns a command and its arguments into a prompt.
pub(super) fn expand(
    commands: Arc<Commands>,
) -> impl Fn(&str, &str) -> Option<Vec<ContentBlock>> + Send + Sync + 'static {
    move |name, arguments| {
        let prompt = commands.get(name)?.expand(arguments);
        match prompt {
            Ok(text) => Some(vec![ContentBlock::text(text)]),
            Err(error) => {
                super::note_to_stderr(&error.to_string());
                None
            }
        }
    }
}

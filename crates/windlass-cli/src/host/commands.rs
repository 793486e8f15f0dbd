//! Custom slash commands, as a host sees them.

use super::Host;
use windlass::ContentBlock;
use windlass::crates::project::{Command, Commands};
use windlass_protocol::SlashCommand;

/// The commands for a list; each entry names its author.
pub(super) fn listed(commands: Option<&Commands>) -> Vec<SlashCommand> {
    let listed = |command: &Command| {
        SlashCommand::new(&command.name, format!("{} ({})", command.description, command.source))
            .with_argument_hint(&command.argument_hint)
    };
    commands.into_iter().flat_map(Commands::for_users).map(listed).collect()
}

/// Turns a command and its arguments into a prompt.
pub(super) fn expand(host: Host) -> impl Fn(&str, &str) -> Option<Vec<ContentBlock>> + Send + Sync + 'static {
    move |name, arguments| {
        let commands = host.commands()?;
        match commands.get(name)?.expand(arguments) {
            Ok(text) => Some(vec![ContentBlock::text(text)]),
            Err(error) => {
                super::note_to_stderr(&error.to_string());
                None
            }
        }
    }
}

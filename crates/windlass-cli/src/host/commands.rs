//! Custom slash commands and skills, as a host sees them.

use super::Host;
use windlass::crates::project::{Command, Commands};
use windlass::project::LoadedProject;
use windlass::session::SessionId;
use windlass_protocol::{Expanded, SlashCommand};

/// The commands for a list; each entry names its author.
pub(super) fn listed(commands: Option<&Commands>) -> Vec<SlashCommand> {
    let listed = |command: &Command| {
        SlashCommand::new(&command.name, format!("{} ({})", command.description, command.source))
            .with_argument_hint(&command.argument_hint)
    };
    commands.into_iter().flat_map(Commands::for_users).map(listed).collect()
}

/// Turns a command and its arguments into a prompt.
pub(super) fn expand(
    host: &Host,
    project: LoadedProject,
    session: Option<SessionId>,
) -> impl Fn(&str, &str) -> Expanded + Send + Sync + 'static {
    let enabled = host.commands().is_some();
    move |name, arguments| match enabled {
        true => project.called(name, arguments, session.as_ref()).map_err(|error| error.to_string()),
        false => Ok(None),
    }
}

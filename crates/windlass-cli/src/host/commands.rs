//! Custom slash commands, as a host sees them.

use crate::settings::ProjectSettings;
use std::sync::{Arc, PoisonError, RwLock};
use windlass::ContentBlock;
use windlass::crates::project::Commands;
use windlass_protocol::SlashCommand;

/// The commands as they are now: a host may load plugins again.
#[derive(Debug)]
pub(crate) struct LiveCommands {
    current: RwLock<Arc<Commands>>,
    /// Whether there are any at all.
    enabled: bool,
}

impl LiveCommands {
    /// The commands of settings, if there are to be any.
    pub(super) fn new(settings: &ProjectSettings, enabled: bool) -> Self {
        let commands = Self { current: RwLock::default(), enabled };
        commands.renew(settings);
        commands
    }

    pub(super) fn current(&self) -> Arc<Commands> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Reads them again.
    pub(super) fn renew(&self, settings: &ProjectSettings) {
        if self.enabled {
            *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(settings.commands());
        }
    }
}

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
    commands: Arc<LiveCommands>,
) -> impl Fn(&str, &str) -> Option<Vec<ContentBlock>> + Send + Sync + 'static {
    move |name, arguments| {
        let prompt = commands.current().get(name)?.expand(arguments);
        match prompt {
            Ok(text) => Some(vec![ContentBlock::text(text)]),
            Err(error) => {
                super::note_to_stderr(&error.to_string());
                None
            }
        }
    }
}

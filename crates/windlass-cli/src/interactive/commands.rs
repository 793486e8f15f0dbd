//! Slash commands of the command beside those of the terminal, each a view of a file of its own.

mod agents;
mod config;
mod diff;
mod directory;
mod hooks;
mod mcp;
mod memory;
mod model;
mod permissions;
mod plugins;
mod skills;
mod status_line;
mod subcommand;
mod theme;

use crate::opening::Opening;
use std::path::PathBuf;
use windlass::conversation::SlashCommand;
use windlass_terminal::app::{CommandCall, CommandReply};

/// Names of the commands, with what they do and their arguments.
const COMMANDS: [(&str, &str, &str); 17] = [
    ("add-dir", "Make another directory part of the workspace", "<directory>"),
    ("agents", "List the agents that the model can give tasks to", ""),
    ("config", "Show settings with their sources, or change one of yours", "[key value]"),
    ("diff", "Show what has changed since the last commit", ""),
    ("doctor", "Check terminal, key, network, sandbox, store, servers and settings", ""),
    ("hooks", "List the hooks with their sources", ""),
    ("init", "Write a first instruction file for this project", ""),
    ("login", "Keep the key of a model vendor", "[vendor]"),
    ("logout", "Forget the key of a model vendor", "[vendor]"),
    ("mcp", "Show the MCP servers, log in to one, or connect one again", "[login name | reconnect name]"),
    ("memory", "List instruction files and notes for later sessions", ""),
    ("model", "Change the model of this session, and its effort", "[name] [effort]"),
    (
        "permissions",
        "Show rules, why calls ran, and how one would be judged; add a rule",
        "[why | test tool input | allow rule]",
    ),
    ("plugins", "List the plugins of this session", ""),
    ("skills", "List skills and commands with their sources", ""),
    ("statusline", "Show or set the command that writes the row below the prompt", "[command | off]"),
    ("theme", "Change the colours", "[name]"),
];

/// Carrier of the commands. Cheap to clone.
#[derive(Clone)]
pub(super) struct ProgramCommands {
    opening: Opening,
    cwd: PathBuf,
}

impl ProgramCommands {
    pub(super) fn new(opening: &Opening, cwd: PathBuf) -> Self {
        Self { opening: opening.clone(), cwd }
    }

    /// All of them, as the menu lists them.
    pub(super) fn listed() -> Vec<SlashCommand> {
        let listed = COMMANDS.iter().map(|(name, description, arguments)| {
            SlashCommand::new(*name, *description).with_argument_hint(*arguments).as_builtin()
        });
        listed.collect()
    }

    /// Carries out a command. An error is the text of the reply.
    pub(super) async fn run(&self, call: &CommandCall) -> CommandReply {
        let argument = call.argument.as_str();
        let reply = match call.name.as_str() {
            "add-dir" => directory::add(self, call),
            "agents" => agents::view(self),
            "config" => config::view(self, argument),
            "diff" => diff::view(self).await,
            "hooks" => hooks::view(self),
            "mcp" => mcp::view(self, argument).await,
            "memory" => memory::view(self).await,
            "model" => model::view(self, argument, call.status.model.as_deref()),
            "permissions" => permissions::view(self, call).await,
            "plugins" => plugins::view(self),
            "skills" => skills::view(self),
            "statusline" => status_line::view(self, argument),
            "theme" => theme::view(self, argument),
            name => subcommand::view(self, name, argument).await,
        };
        reply.unwrap_or_else(|error| CommandReply::Text(crate::terminal::clean(&format!("{error:#}"))))
    }
}

/// Lines as a reply; `none` if there are none.
fn lines(lines: &[String], none: &str) -> CommandReply {
    CommandReply::Text(if lines.is_empty() { none.to_owned() } else { lines.join("\n") })
}

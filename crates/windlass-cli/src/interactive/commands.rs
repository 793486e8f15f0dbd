//! Slash commands of the command beside those of the terminal, each a view of a file of its own.

mod agents;
mod config;
mod context;
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

pub(super) use context::CommandContext;

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

/// All of them, as the menu lists them.
pub(super) fn listed() -> Vec<SlashCommand> {
    let listed = COMMANDS.iter().map(|(name, description, arguments)| {
        SlashCommand::new(*name, *description).with_argument_hint(*arguments).as_builtin()
    });
    listed.collect()
}

/// Carries out a command. An error is the text of the reply.
pub(super) async fn run(context: &CommandContext, call: &CommandCall) -> CommandReply {
    let argument = call.argument.as_str();
    let reply = match call.name.as_str() {
        "add-dir" => directory::add(context, call),
        "agents" => agents::view(context),
        "config" => config::view(context, argument),
        "diff" => diff::view(context).await,
        "hooks" => hooks::view(context),
        "mcp" => mcp::view(context, argument).await,
        "memory" => memory::view(context),
        "model" => model::view(context, argument, call.status.model.as_deref()),
        "permissions" => permissions::view(context, call).await,
        "plugins" => plugins::view(context),
        "skills" => skills::view(context),
        "statusline" => status_line::view(context, argument),
        "theme" => theme::view(argument),
        name => Ok(subcommand::view(name, argument).await),
    };
    reply.unwrap_or_else(|error| CommandReply::Text(crate::terminal::clean(&format!("{error:#}"))))
}

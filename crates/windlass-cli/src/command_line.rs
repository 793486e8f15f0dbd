//! The command line: its commands, and what it is without one.

use crate::args::{
    AgentsListArgs, ContextShowArgs, DemoArgs, ModelsArgs, RunArgs, SettingsArgs, ToolsCallArgs, TrustArgs,
};
use crate::config::command::ConfigCommand;
use crate::index::{IndexArgs, SearchArgs};
use crate::mcp::command::McpCommand;
use crate::memory::command::MemoryCommand;
use crate::proxy::ProxyArgs;
use crate::sessions::command::SessionsCommand;
use clap::{Parser, Subcommand};

/// Run a coding agent: it reads, searches, edits and runs things in the current directory, and asks before it does
/// anything risky.
#[derive(Debug, Parser)]
#[command(
    name = "windlass",
    disable_version_flag = true,
    disable_help_subcommand = true,
    args_conflicts_with_subcommands = true,
    override_usage = "windlass [OPTIONS] [PROMPT]\n       windlass -p [OPTIONS] PROMPT\n       windlass COMMAND",
    after_help = AFTER_HELP
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

const AFTER_HELP: &str = "\
Environment:
  ANTHROPIC_API_KEY   The key of the model provider; `windlass demo` needs none
  ANTHROPIC_BASE_URL  Another address of the API
  WINDLASS_HOME       Where sessions are kept [default: ~/.windlass]
  NO_COLOR            Switches colours off

Exit codes: 0 success, 1 the run or command failed, 2 the command line is wrong, 3 no turns left, 4 no money left, 5 the
model refused, 6 no output that fits --json-schema, 7 and 8 a hook stopped the run or the prompt, 9 background work was
stopped, 10 questions wait for an answer, 130 interrupted, 143 terminated. With stream-json: 0, 1 and those of signals.

Examples:
  windlass
  windlass -p 'Why does the test in src/parse.rs fail?'
  windlass -p 'Fix it' --continue --permission-mode acceptEdits --allowedTools 'Bash(cargo test *)'
  git diff | windlass -p 'Review this change' --output-format json";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Watch an agent find and fix a real bug; needs no key
    Demo(DemoArgs),
    /// Keep the key here: run a command, or anything, with a local address and a nonce instead
    Proxy(ProxyArgs),
    /// Look at the settings that are in force here, where each comes from, and change them
    #[command(subcommand)]
    Config(ConfigCommand),
    /// The same as config show --json
    #[command(hide = true)]
    Settings(SettingsArgs),
    /// Trust the project here: what its settings allow counts from now on
    Trust(TrustArgs),
    /// Show what takes up the context window before the first prompt
    #[command(subcommand)]
    Context(ContextCommand),
    /// Look at the notes that agents keep for later sessions here, write and remove them
    #[command(subcommand)]
    Memory(MemoryCommand),
    /// Add MCP servers, look at them and try them, and take them out
    #[command(subcommand)]
    Mcp(McpCommand),
    /// List known models, with their limits and prices; needs no key
    Models(ModelsArgs),
    /// List agents
    #[command(subcommand)]
    Agents(AgentsCommand),
    /// Test permission rules without a model
    #[command(subcommand)]
    Permissions(PermissionsCommand),
    /// List tools, or call them without a model
    #[command(subcommand)]
    Tools(ToolsCommand),
    /// Look at stored sessions, name, copy and delete them
    #[command(subcommand)]
    Sessions(SessionsCommand),
}

#[derive(Debug, Subcommand)]
pub(crate) enum AgentsCommand {
    /// The agents that --agent can name here, and where each comes from
    List(AgentsListArgs),
}

#[derive(Debug, Subcommand)]
pub(crate) enum ContextCommand {
    /// The system prompt, tools and instruction files of a session that starts here, with their sizes in tokens
    Show(ContextShowArgs),
    /// What is in the project: languages, packages, commands, entry points
    Index(IndexArgs),
    /// The files whose paths or symbols fit some words best
    Search(SearchArgs),
}

#[derive(Debug, Subcommand)]
pub(crate) enum PermissionsCommand {
    /// Print how each call on standard input would be judged: JSON Lines in, JSON Lines out
    Explain,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ToolsCommand {
    /// Print the tools, one JSON object a line
    List,
    /// Run calls through the whole permission gate: one from the arguments, or JSON Lines from standard input
    Call(Box<ToolsCallArgs>),
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn no_arguments_are_those_of_the_empty_command_line() {
        let whole = Cli::try_parse_from(["windlass"]).unwrap().run;
        assert_eq!(format!("{:?}", RunArgs::none().unwrap()), format!("{whole:?}"));
    }

    #[test]
    fn a_prompt_may_have_the_name_of_a_command() {
        let cli = Cli::try_parse_from(["windlass", "-p", "demo"]).unwrap();
        assert_eq!(cli.run.given.print.as_deref(), Some("demo"));
        let cli = Cli::try_parse_from(["windlass", "-p", "--verbose", "fix it"]).unwrap();
        assert_eq!((cli.run.given.print.as_deref(), cli.run.given.prompt.as_deref()), (Some(""), Some("fix it")));
        let cli = Cli::try_parse_from(["windlass", "fix it", "-p", "--", "-v"]);
        assert!(cli.is_err());
        let cli = Cli::try_parse_from(["windlass", "-p", "--", "- a list"]).unwrap();
        assert_eq!(cli.run.given.prompt.as_deref(), Some("- a list"));
        assert!(matches!(Cli::try_parse_from(["windlass", "demo"]).unwrap().command, Some(Command::Demo(_))));
    }
}

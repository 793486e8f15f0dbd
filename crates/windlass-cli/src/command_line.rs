//! The command line and its commands.

use crate::acp::AcpArgs;
use crate::args::{
    AgentsListArgs, ContextShowArgs, DemoArgs, ModelsArgs, RunArgs, SettingsArgs, ToolsCallArgs, TrustArgs,
};
use crate::completions::{CompletionsArgs, ManArgs};
use crate::config::command::ConfigCommand;
use crate::doctor::DoctorArgs;
use crate::import::ImportArgs;
use crate::index::{IndexArgs, SearchArgs};
use crate::init::InitArgs;
use crate::login::{LoginArgs, LogoutArgs};
use crate::mcp::command::McpCommand;
use crate::memory::command::MemoryCommand;
use crate::proxy::ProxyArgs;
use crate::sessions::command::SessionsCommand;
use crate::uninstall::UninstallArgs;
#[cfg(feature = "postgres")]
use crate::worker::command::WorkerArgs;
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
  ANTHROPIC_API_KEY   The key of the model provider, if `windlass login` stored none; `windlass demo` needs none
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
    /// Serve an editor over the Agent Client Protocol
    Acp(Box<AcpArgs>),
    /// Watch an agent find and fix a real bug; needs no key
    Demo(DemoArgs),
    /// Run a command behind the credential proxy: it gets a local URL and a nonce instead of the API key
    Proxy(ProxyArgs),
    /// Show the active settings and their sources, and change them
    #[command(subcommand)]
    Config(ConfigCommand),
    /// The same as config show --json
    #[command(hide = true)]
    Settings(SettingsArgs),
    /// Check what works here: terminal, key, network, sandbox, sessions, settings, MCP servers
    Doctor(DoctorArgs),
    /// Write a first AGENTS.md or CLAUDE.md from what the index of the project knows
    Init(InitArgs),
    /// Import settings, MCP servers, instructions and commands of another agent
    Import(ImportArgs),
    /// Trust the project here: its settings may allow calls from now on
    Trust(TrustArgs),
    /// Store the key of a model provider for yourself
    Login(LoginArgs),
    /// Forget the stored key of a model provider
    Logout(LogoutArgs),
    /// Show the use of the context window before the first prompt
    #[command(subcommand)]
    Context(ContextCommand),
    /// Show, write and remove the notes that agents keep for later sessions here
    #[command(subcommand)]
    Memory(MemoryCommand),
    /// Add, show, try and remove MCP servers
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
    /// Show, name, copy and delete stored sessions
    #[command(subcommand)]
    Sessions(SessionsCommand),
    /// Run the sessions of a shared store, as one of many workers on one machine or several
    #[cfg(feature = "postgres")]
    Worker(Box<WorkerArgs>),
    /// Print completions for a shell
    Completions(CompletionsArgs),
    /// Print the manual page, or write those of all commands
    Man(ManArgs),
    /// Show what windlass has left on this machine, and how it is removed; removes nothing
    Uninstall(UninstallArgs),
}

#[derive(Debug, Subcommand)]
pub(crate) enum AgentsCommand {
    /// List the agents that --agent can name here, with their sources
    List(AgentsListArgs),
}

#[derive(Debug, Subcommand)]
pub(crate) enum ContextCommand {
    /// The system prompt, tools and instruction files of a session that starts here, with their sizes in tokens
    Show(ContextShowArgs),
    /// Overview of the project: languages, packages, commands, entry points
    Index(IndexArgs),
    /// Search for files by words in their paths or symbols
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
        assert_eq!((cli.run.given.print.as_deref(), cli.run.given.prompt.as_deref()), (Some("\0"), Some("fix it")));
        let cli = Cli::try_parse_from(["windlass", "fix it", "-p", "--", "-v"]);
        assert!(cli.is_err());
        let cli = Cli::try_parse_from(["windlass", "-p", "--", "- a list"]).unwrap();
        assert_eq!(cli.run.given.prompt.as_deref(), Some("- a list"));
        assert!(matches!(Cli::try_parse_from(["windlass", "demo"]).unwrap().command, Some(Command::Demo(_))));
    }
}

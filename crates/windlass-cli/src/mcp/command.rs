//! The arguments of `windlass mcp`.

use crate::args::{PermissionArgs, SettingsArgs};
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;
use windlass::project::ServerScope;

/// Variable with the bearer token.
const TOKEN: &str = "WINDLASS_MCP_TOKEN";
/// Name of the agent that is chosen by `--agent` alone.
const USUAL: &str = "";

#[derive(Debug, Subcommand)]
pub(crate) enum McpCommand {
    /// Add an MCP server: `add NAME -- PROGRAM ARGS..`, or `add NAME https://..`
    Add(AddArgs),
    /// Add an MCP server from the JSON text of its entry
    AddJson(AddJsonArgs),
    /// Remove an MCP server from the file that defines it
    Remove(RemoveArgs),
    /// List the MCP servers of sessions that start here, with the reasons why some are left out. Starts none
    List(ListArgs),
    /// Show the configuration of an MCP server, without secrets. Does not start it
    Get(GetArgs),
    /// Start an MCP server, and show its tools and its problems
    Test(TestArgs),
    /// Copy MCP servers from the configuration of another client
    Import(ImportArgs),
    /// Serve the tools here, and with --agent an agent, as an MCP server over standard streams or HTTP
    Serve(Box<ServeArgs>),
    /// Log in to an MCP server with a browser, for the sessions that follow
    Login(LoginArgs),
    /// Forget the login to an MCP server
    Logout(LogoutArgs),
}

/// The server of a command.
#[derive(Debug, Args)]
pub(crate) struct ServerArgs {
    /// Name of the server
    #[arg(value_name = "NAME")]
    pub(super) name: String,
    /// Look for it in this configuration first: JSON, or a file; may be repeated
    #[arg(long, value_name = "JSON|FILE")]
    pub(super) mcp_config: Vec<String>,
    #[command(flatten)]
    pub(super) settings: SettingsArgs,
}

#[derive(Debug, Args)]
pub(crate) struct LoginArgs {
    #[command(flatten)]
    pub(super) server: ServerArgs,
    /// Print the address of the page, and open no browser
    #[arg(long)]
    pub(super) no_browser: bool,
}

#[derive(Debug, Args)]
pub(crate) struct LogoutArgs {
    #[command(flatten)]
    pub(super) server: ServerArgs,
}

/// Owner of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Scope {
    /// Yours, for this project: in `~/.claude.json`.
    Local,
    /// Of all who work on this project: in its `.mcp.json`.
    Project,
    /// Yours, for all projects: in `~/.claude.json`.
    User,
}

impl Scope {
    pub(crate) const ALL: [Self; 3] = [Self::Local, Self::Project, Self::User];

    pub(crate) fn server_scope(self) -> ServerScope {
        match self {
            Self::Local => ServerScope::Local,
            Self::Project => ServerScope::Project,
            Self::User => ServerScope::User,
        }
    }
}

#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct ScopeArgs {
    /// File to change: yours for this project, that of the project, or yours for all projects
    #[arg(short, long, value_name = "SCOPE", default_value = "local")]
    pub(super) scope: Scope,
    /// Replace a server of this name in that file
    #[arg(long)]
    pub(super) replace: bool,
    /// One JSON object
    #[arg(long)]
    pub(super) json: bool,
}

/// Transport of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Transport {
    /// A program that speaks over its standard streams.
    Stdio,
    /// A streamable HTTP endpoint.
    Http,
    /// An endpoint of the older HTTP transport with server-sent events.
    Sse,
}

#[derive(Debug, Args)]
pub(crate) struct AddArgs {
    /// Name of the server
    #[arg(value_name = "NAME")]
    pub(super) name: String,
    /// The program with its arguments, or the address. Words that begin with `-` stand behind `--`
    #[arg(value_name = "PROGRAM|URL")]
    pub(super) target: Vec<String>,
    /// The program with its arguments
    #[arg(value_name = "PROGRAM", last = true)]
    pub(super) program: Vec<String>,
    /// Transport of the server [default: http for an address, else stdio]
    #[arg(short, long, value_name = "KIND")]
    pub(super) transport: Option<Transport>,
    /// A variable of the program's environment; may be repeated. `${VAR}` in a value is replaced by a variable of yours
    #[arg(short, long, value_name = "NAME=VALUE")]
    pub(super) env: Vec<String>,
    /// A header of every request; may be repeated
    #[arg(short = 'H', long, value_name = "NAME: VALUE")]
    pub(super) header: Vec<String>,
    /// Start it at its first call, once a session has read its tools
    #[arg(long)]
    pub(super) lazy: bool,
    #[command(flatten)]
    pub(super) scope: ScopeArgs,
}

#[derive(Debug, Args)]
pub(crate) struct AddJsonArgs {
    /// Name of the server
    #[arg(value_name = "NAME")]
    pub(super) name: String,
    /// `{"command":"..","args":[..],"env":{..}}` or `{"type":"http","url":"..","headers":{..}}`
    #[arg(value_name = "JSON")]
    pub(super) entry: String,
    #[command(flatten)]
    pub(super) scope: ScopeArgs,
}

#[derive(Debug, Args)]
pub(crate) struct RemoveArgs {
    /// Name of the server
    #[arg(value_name = "NAME")]
    pub(super) name: String,
    /// File to change, if several define it
    #[arg(short, long, value_name = "SCOPE")]
    pub(super) scope: Option<Scope>,
    /// One JSON object
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// One JSON object a line
    #[arg(long)]
    pub(super) json: bool,
    /// Start those that a session would start, and show their answers
    #[arg(long)]
    pub(super) check: bool,
    #[command(flatten)]
    pub(super) settings: SettingsArgs,
}

#[derive(Debug, Args)]
pub(crate) struct GetArgs {
    /// Name of the server
    #[arg(value_name = "NAME")]
    pub(super) name: String,
    /// One JSON object
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten)]
    pub(super) settings: SettingsArgs,
}

#[derive(Debug, Args)]
pub(crate) struct TestArgs {
    /// Name of the server
    #[arg(value_name = "NAME")]
    pub(super) name: String,
    /// One JSON object
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten)]
    pub(super) settings: SettingsArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// The client [default: all whose configuration is found]
    #[arg(value_name = "CLIENT")]
    pub(super) client: Option<super::import::client::Client>,
    /// Configuration of the client, if not at the usual place
    #[arg(long, value_name = "FILE", requires = "client")]
    pub(super) file: Option<PathBuf>,
    /// Only this server; may be repeated
    #[arg(long, value_name = "NAME")]
    pub(super) only: Vec<String>,
    /// Show what would be copied, and write no file
    #[arg(long)]
    pub(super) dry_run: bool,
    #[command(flatten)]
    pub(super) scope: ScopeArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// The tools that are offered: names separated by commas, "" for none
    #[arg(long, value_name = "NAMES")]
    pub(super) tools: Option<String>,
    /// Offer an agent, too, as the tool `agent`: the usual one, or one of the project or user
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = USUAL)]
    pub(super) agent: Option<String>,
    /// The model of the agent
    #[arg(long, value_name = "MODEL", requires = "agent")]
    pub(super) model: Option<String>,
    /// Most messages of the model for a task of the agent
    #[arg(long, value_name = "N", value_parser = crate::args::turns, requires = "agent")]
    pub(super) max_turns: Option<u32>,
    /// Most money for a task of the agent, in US dollars
    #[arg(long, value_name = "USD", value_parser = crate::args::budget, requires = "agent")]
    pub(super) max_budget_usd: Option<f64>,
    #[command(flatten)]
    pub(super) permissions: PermissionArgs,
    #[command(flatten)]
    pub(super) settings: SettingsArgs,
    #[command(flatten)]
    pub(super) http: HttpArgs,
}

/// Streamable HTTP in place of the standard streams.
#[derive(Debug, Args)]
pub(crate) struct HttpArgs {
    /// Serve HTTP at this address, such as 127.0.0.1:8765. Prints the address of the endpoint
    #[arg(long, value_name = "ADDRESS")]
    pub(super) http: Option<String>,
    /// The variable with the bearer token. Without a value there a token is made and written to standard error
    #[arg(long, value_name = "NAME", default_value = TOKEN, requires = "http")]
    pub(super) token_env: String,
    /// A name by which clients reach the server, beside those of this machine; may be repeated
    #[arg(long, value_name = "NAME", requires = "http")]
    pub(super) host: Vec<String>,
    /// An origin whose pages may send requests, such as https://app.example.com; may be repeated
    #[arg(long, value_name = "ORIGIN", requires = "http")]
    pub(super) origin: Vec<String>,
}

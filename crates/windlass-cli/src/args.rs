//! The arguments of commands, and groups of them that several commands have.

use crate::elsewhere::target::Target;
use clap::{Args, FromArgMatches, ValueEnum};
use std::path::PathBuf;
use windlass::project::PluginDir;
use windlass::{Effort, JsonText, PermissionMode};

/// A prompt and how to run it.
#[derive(Debug, Clone, Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) given: PromptArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    #[command(flatten)]
    pub(crate) permissions: PermissionArgs,
    #[command(flatten)]
    pub(crate) mcp: McpArgs,
    #[command(flatten)]
    pub(crate) plugins: PluginArgs,
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    #[command(flatten)]
    pub(crate) offered: OfferedArgs,
    #[command(flatten)]
    pub(crate) elsewhere: ElsewhereArgs,
    #[command(flatten)]
    pub(crate) asks: AskArgs,
    #[command(flatten)]
    pub(crate) session: SessionArgs,

    /// Converse in labelled lines, without redrawing: for screen readers, and terminals without control sequences
    #[arg(long, help_heading = "Session")]
    pub(crate) plain: bool,

    /// Print the version
    #[arg(short = 'v', long)]
    pub(crate) version: bool,
}

/// Marker for `-p` without a value: a NUL byte, which no program argument can contain.
const NO_VALUE: &str = "\0";

/// The prompt, as the value of -p or by itself.
#[derive(Debug, Clone, Args)]
pub(crate) struct PromptArgs {
    /// Run a prompt and print the answer. Standard input, if it is not a terminal, is the prompt or is added to it
    #[arg(short, long, value_name = "PROMPT", num_args = 0..=1, default_missing_value = NO_VALUE)]
    pub(crate) print: Option<String>,
    /// The prompt, if -p does not hold it
    #[arg(value_name = "PROMPT", hide = true)]
    pub(crate) prompt: Option<String>,
}

/// The tools that the model is offered.
#[derive(Debug, Clone, Args)]
pub(crate) struct OfferedArgs {
    /// The tools that the model is offered: names separated by commas, `default` for all, "" for none
    #[arg(long, value_name = "NAMES", help_heading = "Tools and permissions")]
    pub(crate) tools: Option<String>,
    /// Also offer the tool Program: the model writes small programs that call other tools, each call passes permissions. Needs
    /// a build with the feature `program`
    #[arg(long, help_heading = "Tools and permissions")]
    pub(crate) programs: bool,
}

/// Format and amount of the output.
#[derive(Debug, Clone, Args)]
pub(crate) struct OutputArgs {
    /// Format of standard output: the answer; one JSON object with the result (with --verbose: an array of all
    /// messages); or one JSON object a line as things happen
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT", help_heading = "Output")]
    pub(crate) output_format: OutputFormat,
    /// With stream-json: also hand on the model's own stream
    #[arg(long, help_heading = "Output")]
    pub(crate) include_partial_messages: bool,
    /// With stream-json: also report when hooks begin, and what they have written
    #[arg(long, help_heading = "Output")]
    pub(crate) include_hook_events: bool,
    /// End with data that fits a JSON Schema of an object: the schema, or a file with it. The data is the answer
    #[arg(long, value_name = "SCHEMA", value_parser = crate::schema::read, help_heading = "Output")]
    pub(crate) json_schema: Option<JsonText>,
    /// Show tool activity on standard error; with json: print all messages
    #[arg(long, help_heading = "Output")]
    pub(crate) verbose: bool,
    /// Write a debug log to a new file in the folder `debug` of windlass's home
    #[arg(short, long, help_heading = "Output")]
    pub(crate) debug: bool,
    /// Write a debug log to this file, which only you can read
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) debug_file: Option<PathBuf>,
}

/// The model, its prompts, and how long it may work.
#[derive(Debug, Clone, Args)]
pub(crate) struct ModelArgs {
    /// The model: opus, sonnet, haiku, or a full name
    #[arg(long, help_heading = "Model")]
    pub(crate) model: Option<String>,
    /// The model that takes over when the first is overloaded
    #[arg(long, value_name = "MODEL", help_heading = "Model")]
    pub(crate) fallback_model: Option<String>,
    /// Effort to spend on an answer: low, medium, high, xhigh or max
    #[arg(long, value_name = "LEVEL", help_heading = "Model")]
    pub(crate) effort: Option<Effort>,
    /// The agent that the session is: its prompt, tools, model and limits. One of --agents, the project or the user
    #[arg(long, value_name = "NAME", help_heading = "Model")]
    pub(crate) agent: Option<String>,
    /// More agents: a file, or JSON text, with `{"name":{"description":"..","prompt":".."}}`
    #[arg(long, value_name = "FILE|JSON", help_heading = "Model")]
    pub(crate) agents: Option<String>,
    /// Replace the system prompt
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, help_heading = "Model")]
    pub(crate) system_prompt: Option<String>,
    /// Add to the system prompt
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, help_heading = "Model")]
    pub(crate) append_system_prompt: Option<String>,
    /// Most messages of the model
    #[arg(long, value_name = "N", value_parser = turns, allow_negative_numbers = true, help_heading = "Model")]
    pub(crate) max_turns: Option<u32>,
    /// Most money for the session, in US dollars; reserved before each call
    #[arg(long, value_name = "USD", value_parser = budget, allow_negative_numbers = true, help_heading = "Model")]
    pub(crate) max_budget_usd: Option<f64>,
}

/// Workspace of the agent.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ElsewhereArgs {
    /// Work in a container that runs, or on another machine: docker:NAME[:PATH] or ssh:HOST[:PATH]. Sessions and your settings
    /// stay here [default: the current directory]
    #[arg(long, value_name = "PLACE", help_heading = "Tools and permissions")]
    pub(crate) workspace: Option<Target>,
}

/// Flags that let calls run without a question, or keep the question.
#[derive(Debug, Clone, Args)]
pub(crate) struct AskArgs {
    /// Allow everything that no rule and no safety check forbids. HIGH RISK: whatever text the model reads can make
    /// it run programs here
    #[arg(long, help_heading = "Tools and permissions")]
    pub(crate) dangerously_skip_permissions: bool,
    /// Let an agent or settings choose the mode bypassPermissions
    #[arg(long, hide = true)]
    pub(crate) allow_dangerously_skip_permissions: bool,
    /// Keep questions that no one answers: the run ends, `windlass sessions answer` answers them, and --resume without a
    /// prompt continues [default: what would ask is denied]
    #[arg(long, conflicts_with = "no_session_persistence", help_heading = "Tools and permissions")]
    pub(crate) wait_for_answers: bool,
}

/// Flags that choose the session, and where it is kept.
#[derive(Debug, Clone, Args)]
pub(crate) struct SessionArgs {
    /// Continue the last session of this directory
    #[arg(short, long, conflicts_with = "resume", help_heading = "Session")]
    pub(crate) r#continue: bool,
    /// Continue a session: its id, or its title, or how that begins. Without one, a list at the terminal to choose from
    #[arg(short, long, value_name = "ID|TITLE", num_args = 0..=1, default_missing_value = "", help_heading = "Session")]
    pub(crate) resume: Option<String>,
    /// With --resume or --continue: continue in a copy, and leave the session as it is
    #[arg(long, help_heading = "Session")]
    pub(crate) fork_session: bool,
    /// The id of the new session, or of the copy, a UUID. If there is a session of this id, it is continued
    #[arg(long, value_name = "UUID", help_heading = "Session")]
    pub(crate) session_id: Option<String>,
    /// Do not write the session to disk
    #[arg(long, conflicts_with_all = ["continue", "resume"], help_heading = "Session")]
    pub(crate) no_session_persistence: bool,
    #[command(flatten)]
    pub(crate) cassette: CassetteArgs,
}

/// Recorded answers of models.
#[derive(Debug, Clone, Args)]
pub(crate) struct CassetteArgs {
    /// Write what the model is asked and answers to a cassette, without keys
    #[arg(long, value_name = "FILE", conflicts_with = "replay", help_heading = "Session")]
    pub(crate) record: Option<PathBuf>,
    /// Answer from a cassette instead of a model
    #[arg(long, value_name = "FILE", help_heading = "Session")]
    pub(crate) replay: Option<PathBuf>,
}

/// Permission modes and rules.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct PermissionArgs {
    /// default, acceptEdits, plan, dontAsk, auto or bypassPermissions
    #[arg(long, value_name = "MODE", help_heading = "Tools and permissions")]
    pub(crate) permission_mode: Option<PermissionMode>,
    /// Rules of calls that need no question, such as 'Bash(cargo test *)' or 'Edit(src/**)'
    #[arg(
        long = "allowedTools",
        alias = "allowed-tools",
        value_name = "RULES",
        help_heading = "Tools and permissions"
    )]
    pub(crate) allowed_tools: Vec<String>,
    /// Rules of calls that are refused, even if another rule allows them
    #[arg(
        long = "disallowedTools",
        alias = "disallowed-tools",
        value_name = "RULES",
        help_heading = "Tools and permissions"
    )]
    pub(crate) disallowed_tools: Vec<String>,
    /// Make another directory part of the workspace
    #[arg(long, value_name = "DIR", help_heading = "Tools and permissions")]
    pub(crate) add_dir: Vec<PathBuf>,
}

/// MCP servers.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct McpArgs {
    /// MCP servers whose tools are offered: a file, or JSON text, with `{"mcpServers":{..}}`
    #[arg(long, value_name = "FILE|JSON", help_heading = "Tools and permissions")]
    pub(crate) mcp_config: Vec<String>,
    /// Use no other MCP servers than those of --mcp-config
    #[arg(long, help_heading = "Tools and permissions")]
    pub(crate) strict_mcp_config: bool,
}

/// Plugins to load.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct PluginArgs {
    /// Load a plugin: a directory whose commands, agents and MCP servers join the session. Trusts it
    #[arg(long, value_name = "DIR", help_heading = "Tools and permissions")]
    pub(crate) plugin_dir: Vec<PathBuf>,
    /// The same without its MCP servers
    #[arg(long, value_name = "DIR", help_heading = "Tools and permissions")]
    pub(crate) plugin_dir_no_mcp: Vec<PathBuf>,
    /// Directories as a host names them, in one order.
    #[arg(skip)]
    pub(crate) named: Vec<PluginDir>,
}

impl PluginArgs {
    /// Returns the directories.
    pub(crate) fn directories(&self) -> Vec<PluginDir> {
        let without = self.plugin_dir_no_mcp.iter().map(|path| PluginDir::new(path).without_mcp());
        self.plugin_dir.iter().map(PluginDir::new).chain(without).chain(self.named.iter().cloned()).collect()
    }
}

/// Settings files to read.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct SettingsArgs {
    /// Settings of this run: a file, or JSON text that begins with `{`. They override other files
    #[arg(long, value_name = "FILE|JSON", help_heading = "Tools and permissions")]
    pub(crate) settings: Option<String>,
    /// Managed settings of this run: a file, or JSON text that begins with `{`. If the machine's administrator has
    /// managed settings, too, only the restrictions of these apply
    #[arg(long, value_name = "FILE|JSON", help_heading = "Tools and permissions")]
    pub(crate) managed_settings: Option<String>,
    /// Settings files to read: some of user, project and local, separated by commas; "" for none. Naming project or
    /// local trusts those files [default: all, without trust]
    #[arg(long, value_name = "NAMES", help_heading = "Tools and permissions")]
    pub(crate) setting_sources: Option<String>,
    /// Trust the permissions of this project's settings and commands, for this run
    #[arg(long, help_heading = "Tools and permissions")]
    pub(crate) trust: bool,
}

/// Trust in a project.
#[derive(Debug, Args)]
pub(crate) struct TrustArgs {
    /// Trust it no longer
    #[arg(long)]
    pub(crate) remove: bool,
    /// Show what trust would put into effect, and record no trust
    #[arg(long, conflicts_with = "remove")]
    pub(crate) show: bool,
    /// Do not ask, also at a terminal
    #[arg(short, long, conflicts_with = "show")]
    pub(crate) yes: bool,
}

/// Format of standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum OutputFormat {
    /// The answer.
    #[default]
    Text,
    /// The result, or all messages, when it is there.
    Json,
    /// One message a line, as it happens.
    StreamJson,
}

#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Use the real model; needs ANTHROPIC_API_KEY
    #[arg(long)]
    pub(crate) live: bool,
    /// Keep the folder that the agent worked in
    #[arg(long)]
    pub(crate) keep: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ModelsArgs {
    /// Only models whose name contains this, or with this alias
    #[arg(value_name = "PATTERN")]
    pub(crate) pattern: Option<String>,
    /// Only models of this provider. `ollama` asks its server on this machine
    #[arg(long, value_name = "NAME")]
    pub(crate) provider: Option<String>,
    /// One JSON object a line
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
}

#[derive(Debug, Args)]
pub(crate) struct AgentsListArgs {
    /// One JSON object a line
    #[arg(long)]
    pub(crate) json: bool,
    /// More agents: a file, or JSON text
    #[arg(long, value_name = "FILE|JSON")]
    pub(crate) agents: Option<String>,
    #[command(flatten)]
    pub(crate) plugins: PluginArgs,
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ContextShowArgs {
    /// One JSON object, with each tool
    #[arg(long)]
    pub(crate) json: bool,
    /// The model whose context window is shown
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    #[command(flatten)]
    pub(crate) plugins: PluginArgs,
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ToolsCallArgs {
    /// The tool
    #[arg(requires = "input")]
    pub(crate) name: Option<String>,
    /// Input of the tool, a JSON object
    #[arg(value_name = "JSON")]
    pub(crate) input: Option<String>,
    /// The directory to work in
    #[arg(long, value_name = "DIR", conflicts_with = "workspace")]
    pub(crate) cwd: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) elsewhere: ElsewhereArgs,
    #[command(flatten)]
    pub(crate) permissions: PermissionArgs,
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    /// The answer to calls that ask
    #[arg(long, value_enum, default_value_t, value_name = "ANSWER")]
    pub(crate) on_ask: OnAsk,
    /// Have the tool Program, too. Needs a build with the feature `program`
    #[arg(long)]
    pub(crate) programs: bool,
}

/// The answer to calls that ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum OnAsk {
    /// They do not run.
    #[default]
    Deny,
    /// They run.
    Allow,
}

pub(crate) fn turns(text: &str) -> Result<u32, String> {
    match text.parse::<u32>() {
        Ok(turns) if turns > 0 => Ok(turns),
        _ => Err("give a whole number above zero".to_owned()),
    }
}

pub(crate) fn budget(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(usd) if usd.is_finite() && usd > 0.0 => Ok(usd),
        _ => Err("give an amount in US dollars above zero, such as 0.50".to_owned()),
    }
}

impl RunArgs {
    /// Arguments of a command line without any.
    pub(crate) fn none() -> Result<Self, clap::Error> {
        let command = Self::augment_args(clap::Command::new("windlass"));
        Self::from_arg_matches(&command.try_get_matches_from(["windlass"])?)
    }

    /// Returns `true` if neither a prompt nor an option was given.
    pub(crate) fn is_empty(&self) -> bool {
        self.given.print.is_none() && self.given.prompt.is_none() && !self.resumes()
    }

    /// The prompts of the command line, empty ones too.
    fn prompts(&self) -> impl Iterator<Item = &str> {
        let given = [&self.given.print, &self.given.prompt].into_iter().flatten();
        given.map(String::as_str).filter(|text| *text != NO_VALUE)
    }

    /// The words of the command line, if it has exactly one prompt.
    pub(crate) fn given_prompt(&self) -> Option<&str> {
        let mut given = self.prompts().filter(|text| !text.is_empty());
        given.next().filter(|_| given.next().is_none())
    }

    /// `true` if the command line has two prompts with words.
    pub(crate) fn has_two_prompts(&self) -> bool {
        self.prompts().filter(|text| !text.is_empty()).count() > 1
    }

    /// `true` if an argument of the command line is an empty prompt, as that of an empty variable is.
    pub(crate) fn has_empty_prompt(&self) -> bool {
        self.prompts().any(|text| text.trim().is_empty())
    }

    /// Returns `true` if the command line itself has a prompt.
    pub(crate) fn has_prompt(&self) -> bool {
        self.prompts().any(|text| !text.trim().is_empty())
    }

    /// Returns `true` if a session is continued. Without a prompt, its last run is.
    pub(crate) fn resumes(&self) -> bool {
        self.session.resume.is_some() || self.session.r#continue
    }

    /// Returns `true` if the session to continue is to be chosen from a list.
    pub(crate) fn picks_session(&self) -> bool {
        self.session.resume.as_deref() == Some("")
    }

    /// Drops the prompt, which was sent.
    pub(crate) fn forget_prompt(&mut self) {
        self.given = PromptArgs { print: None, prompt: None };
    }

    /// Continues the session with this id, without a prompt.
    pub(crate) fn resume_session(&mut self, id: String) {
        self.forget_prompt();
        self.session = SessionArgs { resume: Some(id), r#continue: false, fork_session: false, ..self.session.clone() };
    }

    /// Returns `true` if the mode may be bypassPermissions.
    pub(crate) fn bypass_allowed(&self) -> bool {
        self.asks.dangerously_skip_permissions
            || self.asks.allow_dangerously_skip_permissions
            || self.permissions.permission_mode == Some(PermissionMode::BypassPermissions)
    }

    /// Returns the mode that the command line sets.
    pub(crate) fn chosen_mode(&self) -> Option<PermissionMode> {
        match self.asks.dangerously_skip_permissions {
            true => Some(PermissionMode::BypassPermissions),
            false => self.permissions.permission_mode,
        }
    }
}

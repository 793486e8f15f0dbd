//! Flags of `windlass worker` and its commands.

use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Flags of `windlass worker`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, after_help = AFTER_HELP)]
pub(crate) struct WorkerArgs {
    #[command(subcommand)]
    pub(crate) command: Option<WorkerCommand>,
    #[command(flatten)]
    pub(crate) run: WorkerRunArgs,
}

const AFTER_HELP: &str = "\
The address of the database is in the variable WINDLASS_DATABASE_URL, or in the file that `database_url_file` of the
configuration names: never on the command line, which other users of the machine can read.

A configuration:
  tenant = \"acme\"
  [profiles.fix]
  model = \"sonnet\"
  allow = [\"Bash(cargo test *)\"]
  max_turns = 50
  [workspaces.shop]
  path = \"/srv/shop\"

SIGTERM or Ctrl-C hands the open sessions over to other workers; a second one ends the worker at once.

Exit codes: 0 ended as asked, 1 the database refused, 2 the command line or the configuration is wrong, 130 and 143 ended
at once.";

/// Flags of a worker that runs.
#[derive(Debug, Args)]
pub(crate) struct WorkerRunArgs {
    #[command(flatten)]
    pub(crate) configuration: ConfigurationArgs,
    /// End when no session is open and none can be claimed
    #[arg(long)]
    pub(crate) once: bool,
    /// Most sessions that are open at once [default: that of the configuration, or 50]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) max_sessions: Option<u32>,
}

/// Place of the configuration.
#[derive(Debug, Args)]
pub(crate) struct ConfigurationArgs {
    /// The configuration [default: worker.toml in the home of windlass]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum WorkerCommand {
    /// Check the configuration, the models' keys and the database; claims no session
    Check(ConfigurationArgs),
    /// Create or update the tables, and let database roles use the tenant. Needs the address of a role that may create
    /// tables and roles
    Migrate(MigrateArgs),
    /// Send a prompt to a session, or to a new one whose id is printed. Workers run it
    Send(SendArgs),
    /// List the sessions of workers; of one session: its state, open questions and last answer
    Status(StatusArgs),
    /// Answer an open question of a session: any worker continues it
    Answer(WorkerAnswerArgs),
}

/// Flags of `windlass worker migrate`.
#[derive(Debug, Args)]
pub(crate) struct MigrateArgs {
    #[command(flatten)]
    pub(crate) configuration: ConfigurationArgs,
    /// A role with a login that may use the tenant. Grant it windlass_worker or windlass_service
    #[arg(long = "role", value_name = "ROLE")]
    pub(crate) roles: Vec<String>,
}

/// Flags of `windlass worker send`.
#[derive(Debug, Args)]
pub(crate) struct SendArgs {
    #[command(flatten)]
    pub(crate) configuration: ConfigurationArgs,
    /// Profile of a new session
    #[arg(long, value_name = "NAME", required_unless_present = "session")]
    pub(crate) profile: Option<String>,
    /// Workspace of the session
    #[arg(long, value_name = "NAME")]
    pub(crate) workspace: String,
    /// The session, a UUID. Without it a new one
    #[arg(long, value_name = "UUID")]
    pub(crate) session: Option<String>,
    /// Idempotency key: a message with the same key is stored once [default: a new one]
    #[arg(long, value_name = "TEXT")]
    pub(crate) key: Option<String>,
    /// Most turns of a run of a new session, where the profile allows more
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_turns: Option<u32>,
    /// The prompt
    #[arg(value_name = "PROMPT")]
    pub(crate) prompt: String,
}

/// Flags of `windlass worker status`.
#[derive(Debug, Args)]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    pub(crate) configuration: ConfigurationArgs,
    /// The session, a UUID. Without it the sessions that changed last
    #[arg(value_name = "SESSION")]
    pub(crate) session: Option<String>,
    /// Most sessions to list
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) limit: usize,
    /// One JSON object a line
    #[arg(long)]
    pub(crate) json: bool,
}

/// Flags of `windlass worker answer`.
#[derive(Debug, Args)]
pub(crate) struct WorkerAnswerArgs {
    #[command(flatten)]
    pub(crate) configuration: ConfigurationArgs,
    /// The session, a UUID
    #[arg(value_name = "SESSION")]
    pub(crate) session: String,
    /// The question, as `status SESSION` shows it
    #[arg(value_name = "QUESTION")]
    pub(crate) question: String,
    /// Answer
    #[arg(value_enum, value_name = "ANSWER")]
    pub(crate) answer: WorkerAnswer,
    /// Text of a denial for the model
    #[arg(long, value_name = "TEXT")]
    pub(crate) message: Option<String>,
}

/// Answer to a permission request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum WorkerAnswer {
    /// The call runs.
    Allow,
    /// The call does not run.
    Deny,
}

//! The commands on settings.

use crate::args::SettingsArgs;
use clap::{Args, Subcommand, ValueEnum};
use windlass::permission::UpdateDestination;

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Print the settings that are in force here
    Show(ShowArgs),
    /// Print one setting, such as model or permissions.deny; fails if no file says it
    Get(GetArgs),
    /// Give a setting another value in a file; the rest of the file stays as it is
    Set(SetArgs),
    /// Take a setting out of a file
    Unset(UnsetArgs),
    /// Print the JSON Schema of settings files
    Schema,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// One JSON object
    #[arg(long)]
    pub(super) json: bool,
    /// Each file and line that says something of a setting, also where it does not count
    #[arg(long)]
    pub(super) origin: bool,
    #[command(flatten)]
    pub(super) settings: SettingsArgs,
}

#[derive(Debug, Args)]
pub(crate) struct GetArgs {
    /// Its name
    #[arg(value_name = "KEY")]
    pub(super) key: String,
    /// One JSON object
    #[arg(long)]
    pub(super) json: bool,
    /// Each file and line that says something of it, also where it does not count
    #[arg(long)]
    pub(super) origin: bool,
    #[command(flatten)]
    pub(super) settings: SettingsArgs,
}

#[derive(Debug, Args)]
pub(crate) struct SetArgs {
    /// Its name: model, permissions.deny, env.NAME
    #[arg(value_name = "KEY")]
    pub(super) key: String,
    /// JSON, or the text itself where a setting takes text
    #[arg(value_name = "VALUE", allow_hyphen_values = true)]
    pub(super) value: String,
    #[command(flatten)]
    pub(super) scope: ScopeArgs,
}

#[derive(Debug, Args)]
pub(crate) struct UnsetArgs {
    /// Its name
    #[arg(value_name = "KEY")]
    pub(super) key: String,
    #[command(flatten)]
    pub(super) scope: ScopeArgs,
}

#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct ScopeArgs {
    /// Which file: yours, that of the project, or yours for this project
    #[arg(long, value_name = "SCOPE", default_value = "user")]
    pub(super) scope: Scope,
}

/// Whose file is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Scope {
    User,
    Project,
    Local,
}

impl Scope {
    pub(super) fn destination(self) -> UpdateDestination {
        match self {
            Self::User => UpdateDestination::UserSettings,
            Self::Project => UpdateDestination::ProjectSettings,
            Self::Local => UpdateDestination::LocalSettings,
        }
    }
}

//! The commands on settings.

use crate::args::SettingsArgs;
use clap::{Args, Subcommand, ValueEnum};
use windlass::permission::UpdateDestination;

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Print the active settings
    Show(ShowArgs),
    /// Print one setting, such as model or permissions.deny; fails if no file sets it
    Get(GetArgs),
    /// Set a setting in a file; the rest of the file stays as it is
    Set(SetArgs),
    /// Remove a setting from a file
    Unset(UnsetArgs),
    /// Print the JSON Schema of settings files
    Schema,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// One JSON object
    #[arg(long)]
    pub(super) json: bool,
    /// Each file and line that sets a setting, also inactive ones
    #[arg(long)]
    pub(super) origin: bool,
    #[command(flatten)]
    pub(super) settings: SettingsArgs,
}

#[derive(Debug, Args)]
pub(crate) struct GetArgs {
    /// Name of the setting
    #[arg(value_name = "KEY")]
    pub(super) key: String,
    /// One JSON object
    #[arg(long)]
    pub(super) json: bool,
    /// Each file and line that sets it, also inactive ones
    #[arg(long)]
    pub(super) origin: bool,
    #[command(flatten)]
    pub(super) settings: SettingsArgs,
}

#[derive(Debug, Args)]
pub(crate) struct SetArgs {
    /// Name of the setting: model, permissions.deny, env.NAME
    #[arg(value_name = "KEY")]
    pub(super) key: String,
    /// JSON, or plain text for a setting that takes text
    #[arg(value_name = "VALUE", allow_hyphen_values = true)]
    pub(super) value: String,
    #[command(flatten)]
    pub(super) scope: ScopeArgs,
}

#[derive(Debug, Args)]
pub(crate) struct UnsetArgs {
    /// Name of the setting
    #[arg(value_name = "KEY")]
    pub(super) key: String,
    #[command(flatten)]
    pub(super) scope: ScopeArgs,
}

#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct ScopeArgs {
    /// File to change: yours, that of the project, or yours for this project
    #[arg(long, value_name = "SCOPE", default_value = "user")]
    pub(super) scope: Scope,
}

/// Owner of the changed file.
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

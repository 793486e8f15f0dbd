//! The commands on the memory of a project.

use crate::args::SettingsArgs;
use clap::{Args, Subcommand};
use windlass::memory::MemoryKind;

#[derive(Debug, Subcommand)]
pub(crate) enum MemoryCommand {
    /// The notes of this project, sorted by name
    List(ListArgs),
    /// A note in full
    Show(ShowArgs),
    /// Write a note; the content comes from standard input unless it is given
    Add(AddArgs),
    /// Remove notes, for good
    Forget(ForgetArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// One JSON object a line
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten)]
    pub(super) settings: SettingsArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// Its name
    #[arg(value_name = "NAME")]
    pub(super) name: String,
    /// A JSON object
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten)]
    pub(super) settings: SettingsArgs,
}

#[derive(Debug, Args)]
pub(crate) struct AddArgs {
    /// Its name, such as release-steps
    #[arg(value_name = "NAME")]
    pub(super) name: String,
    /// What it is about, in a line
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(super) description: String,
    /// What kind of note it is: user, feedback, project or reference
    #[arg(long, value_name = "TYPE")]
    pub(super) r#type: Option<MemoryKind>,
    /// What is to be known
    #[arg(value_name = "CONTENT", allow_hyphen_values = true)]
    pub(super) content: Option<String>,
    #[command(flatten)]
    pub(super) settings: SettingsArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ForgetArgs {
    /// Their names
    #[arg(value_name = "NAME", required = true)]
    pub(super) names: Vec<String>,
    #[command(flatten)]
    pub(super) settings: SettingsArgs,
}

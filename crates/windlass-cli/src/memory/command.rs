//! The commands on the memory of a project.

use crate::args::SettingsArgs;
use clap::{Args, Subcommand};
use windlass::memory::MemoryKind;

#[derive(Debug, Subcommand)]
pub(crate) enum MemoryCommand {
    /// List the notes of this project, sorted by name
    List(ListArgs),
    /// Show a note in full
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
    /// Name of the note
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
    /// Name of the note, such as release-steps
    #[arg(value_name = "NAME")]
    pub(super) name: String,
    /// Subject of the note, in a line
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(super) description: String,
    /// Kind of the note: user, feedback, project or reference
    #[arg(long, value_name = "TYPE")]
    pub(super) r#type: Option<MemoryKind>,
    /// Content of the note
    #[arg(value_name = "CONTENT", allow_hyphen_values = true)]
    pub(super) content: Option<String>,
    #[command(flatten)]
    pub(super) settings: SettingsArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ForgetArgs {
    /// Names of the notes
    #[arg(value_name = "NAME", required = true)]
    pub(super) names: Vec<String>,
    #[command(flatten)]
    pub(super) settings: SettingsArgs,
}

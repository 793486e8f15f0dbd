//! `/memory`: notes for later sessions.

use super::{ProgramCommands, lines};
use anyhow::Context;
use windlass_terminal::app::CommandReply;

pub(super) async fn view(commands: &ProgramCommands) -> anyhow::Result<CommandReply> {
    let directory = commands.opening.project().memory().context(crate::memory::NONE)?;
    let mut rows = crate::memory::rows(&directory)?;
    if !rows.is_empty() {
        rows.push(format!("They lie in {}.", crate::terminal::clean_line(&directory.path().display().to_string())));
    }
    Ok(lines(&rows, "No note is kept for this project yet."))
}

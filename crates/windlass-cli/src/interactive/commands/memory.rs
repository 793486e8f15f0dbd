//! `/memory`: notes for later sessions.

use super::context::{CommandContext, lines};
use anyhow::Context;
use windlass_terminal::app::CommandReply;

pub(super) fn view(context: &CommandContext) -> anyhow::Result<CommandReply> {
    let directory = context.project.memory().context(crate::memory::NONE)?;
    let mut rows = crate::memory::rows(&directory)?;
    if !rows.is_empty() {
        rows.push(format!("They lie in {}.", crate::terminal::clean_line(&directory.path().display().to_string())));
    }
    Ok(lines(&rows, "No note is kept for this project yet."))
}

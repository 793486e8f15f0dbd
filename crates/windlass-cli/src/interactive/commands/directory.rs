//! `/add-dir`: another directory of the workspace.

use super::context::CommandContext;
use anyhow::Context;
use windlass::project::absolute;
use windlass_terminal::app::{CommandCall, CommandReply, TerminalEnd};

pub(super) fn add(context: &CommandContext, call: &CommandCall) -> anyhow::Result<CommandReply> {
    if call.argument.is_empty() {
        return Ok(CommandReply::Text("Name a directory: /add-dir <directory>.".to_owned()));
    }
    if call.status.is_running {
        return Ok(CommandReply::Text(
            "A run continues: add the directory when it has ended, or press Esc first.".to_owned(),
        ));
    }
    let path = absolute(&context.cwd, std::path::Path::new(&call.argument));
    let path = path.canonicalize().with_context(|| format!("{} cannot be added", path.display()))?;
    anyhow::ensure!(path.is_dir(), "{} is no directory", path.display());
    let directory = path.to_string_lossy().into_owned();
    Ok(CommandReply::End(TerminalEnd::AddDirectory { session: call.status.session_id.clone(), directory }))
}

//! State of the conversation that slash commands use.

use crate::args::RunArgs;
use std::path::PathBuf;
use windlass::mcp::McpServers;
use windlass::project::LoadedProject;
use windlass_terminal::app::CommandReply;

/// Flags, project, servers and directory of the conversation.
pub(in crate::interactive) struct CommandContext {
    pub(in crate::interactive) args: RunArgs,
    pub(in crate::interactive) project: LoadedProject,
    pub(in crate::interactive) servers: Option<McpServers>,
    pub(in crate::interactive) cwd: PathBuf,
}

/// Lines as a reply; `none` if there are none.
pub(super) fn lines(lines: &[String], none: &str) -> CommandReply {
    CommandReply::Text(if lines.is_empty() { none.to_owned() } else { lines.join("\n") })
}

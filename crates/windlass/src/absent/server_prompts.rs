//! Prompts of MCP servers as slash commands, in a build without the feature `mcp`: there are none.

use crate::session_tools::SessionTools;
use windlass_conversation::{Expanded, SlashCommand};

/// No prompts.
#[derive(Clone)]
pub(super) struct ServerPrompts;

impl ServerPrompts {
    pub(super) async fn of(_: &SessionTools) -> Self {
        Self
    }

    pub(super) fn add_to(&self, _: &mut Vec<SlashCommand>) {}

    pub(super) async fn expand(&self, _: &str, _: &str) -> Expanded {
        Ok(None)
    }
}

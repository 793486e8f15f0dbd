//! Cache of MCP servers' tools in the user's directory.

use windlass_mcp::McpToolCache;
use windlass_project::{KeptTexts, Places};
use windlass_types::JsonText;

/// Directory of the cache, in that of the user.
const DIRECTORY: &str = "mcp-tools";

/// Lists of tools in private files.
#[derive(Debug)]
pub(super) struct ToolLists(KeptTexts);

impl ToolLists {
    /// Cache of the user, if the user has a directory for it.
    pub(super) fn of(places: &Places) -> Option<Self> {
        let directory = places.records.first()?.parent()?.join(DIRECTORY);
        Some(Self(KeptTexts::new(directory)))
    }
}

impl McpToolCache for ToolLists {
    fn load(&self, key: &str) -> Option<JsonText> {
        JsonText::parse(self.0.load(key)?).ok()
    }

    fn store(&self, key: &str, offered: &JsonText) {
        if let Err(error) = self.0.store(key, offered.as_str()) {
            tracing::debug!(%error, "what an MCP server offers cannot be kept");
        }
    }
}

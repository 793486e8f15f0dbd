//! What servers of tools say of their use.

use std::collections::HashSet;
use std::sync::Arc;
use windlass_context::ServerInstructions;
use windlass_types::{ContentBlock, Entry, EntryKind, ToolSpec};

/// Most texts of servers that one conversation holds: a server with another text at each start must not fill it.
const MOST_TEXTS: usize = 64;

/// The instructions that the conversation holds: a fold over the log, so that a resumed session repeats none.
#[derive(Debug, Default)]
pub(crate) struct KnownInstructions(HashSet<String>);

impl KnownInstructions {
    pub(crate) fn apply(&mut self, entry: &Entry) {
        match &entry.kind {
            EntryKind::User(user) if user.is_meta => {
                let texts = user.content.iter().filter_map(ContentBlock::as_text);
                self.0.extend(texts.filter(|text| text.contains("<server-instructions ")).map(str::to_owned));
            }
            // The summary takes their place, and need not hold them.
            EntryKind::Compacted(_) => self.0.clear(),
            _ => {}
        }
    }

    /// The texts that the conversation does not hold yet, of servers of which a tool is offered.
    pub(crate) fn missing(&self, offered: &[ServerInstructions], tools: &[Arc<ToolSpec>]) -> Vec<ContentBlock> {
        let room = MOST_TEXTS.saturating_sub(self.0.len());
        let is_of_use = |said: &&ServerInstructions| tools.iter().any(|tool| tool.name.starts_with(&said.prefix));
        let missing = offered.iter().filter(|said| !self.0.contains(&said.text)).filter(is_of_use).take(room);
        missing.map(|said| ContentBlock::text(said.text.as_str())).collect()
    }
}

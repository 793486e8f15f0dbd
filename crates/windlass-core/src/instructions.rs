//! What servers of tools say of themselves, and what the host should hear beside a run.

use crate::Machine;
use std::collections::HashSet;
use std::sync::Arc;
use windlass_context::ServerInstructions;
use windlass_types::{ContentBlock, Entry, EntryKind, EventKind, Status};

/// Most texts of servers that one conversation holds: a server that says something else at each start must not fill it.
const MOST_TOLD: usize = 64;

/// Most notices that wait for a run.
const MOST_NOTICES: usize = 200;

/// The instructions that the conversation holds: a fold over the log, so that a resumed session tells none twice.
#[derive(Debug, Default)]
pub(crate) struct Told(HashSet<String>);

impl Told {
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
}

impl Machine {
    /// Takes the instructions of the servers that there are now.
    pub(crate) fn set_instructions(&mut self, instructions: Arc<[ServerInstructions]>) {
        self.config.instructions = instructions;
    }

    /// Records the instructions that the conversation does not hold yet, as texts of the runtime. What was sent before
    /// stays as it is, so the provider's cache of it does, too.
    pub(crate) fn record_instructions(&mut self) -> Option<Entry> {
        let told = &self.state.told().0;
        let room = MOST_TOLD.saturating_sub(told.len());
        let is_of_use =
            |said: &&ServerInstructions| self.config.tools.iter().any(|tool| tool.name.starts_with(&said.prefix));
        let fresh =
            self.config.instructions.iter().filter(|said| !told.contains(&said.text)).filter(is_of_use).take(room);
        let blocks: Vec<ContentBlock> = fresh.map(|said| ContentBlock::text(said.text.as_str())).collect();
        if blocks.is_empty() { None } else { Some(self.record_user(blocks, true)) }
    }

    /// Reports something to the host: in the current run, or else in the next one.
    pub(crate) fn notice(&mut self, message: String) {
        if self.run.is_some() {
            self.event(EventKind::Status(Status::Notice { message }), None);
        } else if self.notices.len() < MOST_NOTICES {
            self.notices.push(message);
        }
    }

    /// Tells what waited for a run.
    pub(crate) fn tell_notices(&mut self) {
        for message in std::mem::take(&mut self.notices) {
            self.event(EventKind::Status(Status::Notice { message }), None);
        }
    }
}

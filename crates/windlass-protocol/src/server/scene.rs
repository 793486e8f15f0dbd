//! What is known of the session beside its events.

use super::hooks::table::HookTable;
use std::path::PathBuf;
use windlass_types::{AgentId, PermissionMode};

/// What hooks of the host listen to, and what they read of the session.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scene {
    pub(crate) hooks: HookTable,
    pub(crate) transcript: Option<PathBuf>,
    pub(crate) permission_mode: PermissionMode,
}

impl Scene {
    /// Where the session is written; empty when it is not.
    pub(crate) fn transcript_path(&self) -> String {
        self.transcript.as_ref().map(|path| path.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// Where an agent of the session is written: beside it, in a folder of its name.
    pub(crate) fn agent_transcript_path(&self, agent: &AgentId) -> String {
        let Some(folder) = self.transcript.as_ref().map(|path| path.with_extension("")) else { return String::new() };
        folder.join("subagents").join(format!("agent-{agent}.jsonl")).to_string_lossy().into_owned()
    }
}

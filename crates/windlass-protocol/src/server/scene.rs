//! What is known of the session beside its events.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use windlass_types::{AgentId, PermissionMode};

/// What hooks are told of the session.
#[derive(Debug, Default)]
pub(crate) struct Scene(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    transcript: Option<PathBuf>,
    mode: PermissionMode,
}

impl Scene {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set_transcript(&self, path: Option<PathBuf>) {
        self.lock().transcript = path;
    }

    /// Where the session is written; empty when it is not.
    pub(crate) fn transcript_path(&self) -> String {
        self.lock().transcript.as_ref().map(|path| path.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// Where an agent of the session is written: beside it, in a folder of its name.
    pub(crate) fn agent_transcript_path(&self, agent: &AgentId) -> String {
        let inner = self.lock();
        let Some(folder) = inner.transcript.as_ref().map(|path| path.with_extension("")) else { return String::new() };
        folder.join("subagents").join(format!("agent-{agent}.jsonl")).to_string_lossy().into_owned()
    }

    pub(crate) fn set_permission_mode(&self, mode: PermissionMode) {
        self.lock().mode = mode;
    }

    pub(crate) fn permission_mode(&self) -> PermissionMode {
        self.lock().mode
    }
}

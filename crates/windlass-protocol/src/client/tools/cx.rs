//! What a tool is given that runs in the host, away from the session.

use async_trait::async_trait;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use windlass_runtime::SystemClock;
use windlass_tool::{
    Cancel, Ids, OpenFile, Permit, Process, ProcessCommand, ProcessError, ProcessOutcome, ResolvedPath, SessionState,
    ToolCx, ToolCxParts, Workspace, WorkspaceError, WorkspaceErrorKind, WriteOptions,
};
use windlass_types::{CallDigest, SessionId, ToolUseId};

const ELSEWHERE: &str = "files and programs of the session are at the other end: use the host's own";

/// What the calls of one client share.
pub(super) struct Calls {
    state: Arc<SessionState>,
    ids: Arc<dyn Ids>,
}

/// Tells a call to stop when it is dropped.
pub(super) struct Stop(Cancel);

impl Drop for Stop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

impl Calls {
    pub(super) fn new(ids: Arc<dyn Ids>) -> Self {
        Self { state: Arc::default(), ids }
    }

    /// The context of one call, which lasts as long as what comes with it.
    pub(super) fn cx(&self, tool: &str, tool_use_id: String) -> (ToolCx, Stop) {
        let cancel = Cancel::new();
        let cx = ToolCx::new(ToolCxParts {
            // The envelope does not say which session asks; a client has one.
            session_id: SessionId::from(""),
            tool_use_id: ToolUseId::from(tool_use_id),
            cancel: cancel.clone(),
            permit: Permit::new(CallDigest::new(tool)),
            workspace: Arc::new(Elsewhere),
            process: Arc::new(Elsewhere),
            clock: Arc::new(SystemClock::default()),
            ids: Arc::clone(&self.ids),
            cwd: PathBuf::from("/"),
            directories: Arc::from([]),
            env: Arc::from([]),
            artifacts: None,
            state: Arc::clone(&self.state),
            background: None,
            agents: None,
            progress: Arc::new(|_| {}),
        });
        (cx, Stop(cancel))
    }
}

/// Files and programs that are not here.
#[derive(Debug)]
struct Elsewhere;

fn elsewhere<T>() -> Result<T, WorkspaceError> {
    Err(WorkspaceError::new(WorkspaceErrorKind::NotFound, ELSEWHERE))
}

#[async_trait]
impl Workspace for Elsewhere {
    async fn resolve(&self, _: &Path) -> Result<ResolvedPath, WorkspaceError> {
        elsewhere()
    }

    async fn open(&self, _: &Permit, _: &Path) -> Result<Box<dyn OpenFile>, WorkspaceError> {
        elsewhere()
    }

    async fn write(&self, _: &Permit, _: &Path, _: &[u8], _: WriteOptions) -> Result<(), WorkspaceError> {
        elsewhere()
    }

    async fn list(&self, _: &Permit, _: &Path, _: usize) -> Result<Vec<String>, WorkspaceError> {
        elsewhere()
    }

    fn is_local(&self) -> bool {
        false
    }
}

#[async_trait]
impl Process for Elsewhere {
    async fn run(&self, _: ProcessCommand, _: &Cancel) -> Result<ProcessOutcome, ProcessError> {
        Err(ProcessError::new(ELSEWHERE))
    }
}

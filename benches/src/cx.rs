//! Tool contexts for work in a folder of this machine.

use std::path::Path;
use std::sync::Arc;
use windlass::{
    ToolCx,
    tool::{Cancel, Permit},
};
use windlass_local::{LocalProcess, LocalWorkspace};
use windlass_runtime::{SystemClock, SystemIds};
use windlass_tool::{CallAbilities, CallPlace, ToolCxParts};

/// Makes a context for calls in a folder.
pub fn in_folder(root: &Path, permit: Permit) -> ToolCx {
    ToolCx::new(ToolCxParts {
        session_id: "session".into(),
        tool_use_id: "toolu".into(),
        cancel: Cancel::new(),
        permit,
        workspace: Arc::new(LocalWorkspace::default()),
        process: Arc::new(LocalProcess::new("bench")),
        clock: Arc::new(SystemClock::default()),
        ids: Arc::new(SystemIds::default()),
        place: CallPlace {
            cwd: root.to_owned(),
            directories: Arc::from([root.to_owned()]),
            env: Arc::from([]),
            artifacts: None,
        },
        state: Arc::default(),
        abilities: CallAbilities::default(),
        progress: Arc::new(|_| {}),
    })
}

//! File checkpoints for hosts.

use crate::notes::note_to_stderr;
use windlass::options::StorageOptions;
use windlass::{Home, SessionBuilder};

/// Variable with which the SDKs switch file checkpoints on.
const SWITCH: &str = "CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING";

/// Keeps files before tools change them, if the host wants that.
pub(super) fn keep(builder: SessionBuilder, home: Option<&Home>) -> SessionBuilder {
    let wanted = std::env::var(SWITCH).is_ok_and(|value| matches!(value.as_str(), "true" | "1"));
    if wanted && home.is_none() {
        note_to_stderr("no files are kept and none can be rewound: that needs session persistence");
    }
    builder.storage(StorageOptions::new().file_checkpoints(wanted && home.is_some()))
}

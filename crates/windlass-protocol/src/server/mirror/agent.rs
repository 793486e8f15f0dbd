//! Logs of agents: `<session>/subagents/agent-<id>.jsonl`, each with an `agent-<id>.meta.json`.

use super::batch::push_frame;
use crate::line::MAX_LINE;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};
use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Maximum number of bytes that are read of the metadata beside a log.
const MAX_METADATA_BYTES: u64 = 64 * 1024;

/// Session of the agent that writes this log; `None` if the log is a session's own.
pub(super) fn session(log: &Path) -> Option<&OsStr> {
    log.file_name()?.to_str()?.strip_prefix("agent-")?;
    let is_folder = |path: &&Path| path.file_name().is_some_and(|name| name == "subagents");
    log.ancestors().skip(1).find(is_folder)?.parent()?.file_name()
}

/// Frame that describes the agent that writes this log, as stores keep it beside the lines.
pub(super) fn frame(log: &Path) -> Option<Vec<u8>> {
    let mut meta = Vec::new();
    File::open(log.with_extension("meta.json")).ok()?.take(MAX_METADATA_BYTES).read_to_end(&mut meta).ok()?;
    let mut meta: Map<String, Value> = serde_json::from_slice(&meta).ok()?;
    meta.insert("type".to_owned(), "agent_metadata".into());
    let entry: Box<RawValue> = to_raw_value(&meta).ok()?;
    let mut frame = Vec::new();
    push_frame(&mut frame, log, &[entry], MAX_LINE).then_some(frame)
}

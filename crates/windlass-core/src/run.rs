//! One run.

use crate::compaction::Pace;
use windlass_types::{
    Continuation, EntryId, JsonText, PermissionDenial, RunId, RunOrigin, StopReason, Timestamp, Usage,
};

/// What is known of the run that is going on.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) id: RunId,
    pub(crate) started: Timestamp,
    pub(crate) origin: RunOrigin,
    /// The entry of its prompt.
    pub(crate) prompt: Option<EntryId>,
    pub(crate) turns: u32,
    pub(crate) api_ms: u64,
    pub(crate) usage: Usage,
    pub(crate) denials: Vec<PermissionDenial>,
    pub(crate) text: String,
    pub(crate) stop_reason: Option<StopReason>,
    /// Why the next model call is made.
    pub(crate) continuation: Continuation,
    pub(crate) stop_continuations: u32,
    pub(crate) output_continuations: u32,
    pub(crate) failing_turns: u32,
    /// The output that fits the schema, as the model gave it last.
    pub(crate) structured: Option<JsonText>,
    /// A call in this batch gave an output: `Some(true)` if it fits.
    pub(crate) offered: Option<bool>,
    pub(crate) structured_failures: u32,
    pub(crate) pace: Pace,
    /// The user stopped it; open calls are being settled.
    pub(crate) interrupted: bool,
    /// A hook ends it after this batch.
    pub(crate) stopped_by: Option<String>,
    /// What hooks want the model to read, delivered after this batch.
    pub(crate) context: Vec<String>,
}

impl Run {
    pub(crate) fn new(id: RunId, started: Timestamp) -> Self {
        Self {
            id,
            started,
            origin: RunOrigin::User,
            prompt: None,
            turns: 0,
            api_ms: 0,
            usage: Usage::default(),
            denials: Vec::new(),
            text: String::new(),
            stop_reason: None,
            continuation: Continuation::Prompt,
            stop_continuations: 0,
            output_continuations: 0,
            failing_turns: 0,
            structured: None,
            offered: None,
            structured_failures: 0,
            pace: Pace::default(),
            interrupted: false,
            stopped_by: None,
            context: Vec::new(),
        }
    }
}

//! Entries as lines of JSON, and back.

mod decode;
mod encode;
mod line;
mod sum;
#[cfg(test)]
mod tests;

pub(crate) use decode::{Body, Decoded, MessageLine, Parent, ResultLine, decode};
pub use encode::LogEncoder;
pub(crate) use sum::LineSum;

/// Type of the line that contains the checksum of the lines before it.
pub(crate) const CHECKSUM: &str = "windlass-checksum";
/// Type of the line after one that a kill cut off.
pub(crate) const TORN: &str = "windlass-torn";
/// Line end and marker after a last line that a kill cut off. The content of that line was never acknowledged, so a
/// later load does not treat it as damage.
pub const END_OF_TORN_LINE: &str = "\n{\"type\":\"windlass-torn\"}\n";
pub(crate) const INTENT: &str = "windlass-intent";
pub(crate) const QUESTION: &str = "windlass-question";
pub(crate) const AGENT_WAITS: &str = "windlass-agent-waits";
pub(crate) const DECISION: &str = "windlass-decision";
pub(crate) const MODEL: &str = "windlass-model";
pub(crate) const CWD: &str = "windlass-cwd";
pub(crate) const TODOS: &str = "windlass-todos";
pub(crate) const TASK: &str = "windlass-task";
pub(crate) const TOOLS_ADDED: &str = "windlass-tools-added";
pub(crate) const TOOLS_WITHHELD: &str = "windlass-tools-withheld";
pub(crate) const RESULTS_TRIMMED: &str = "windlass-results-trimmed";
pub(crate) const REPLAY_DROPPED: &str = "windlass-replay-dropped";
pub(crate) const MODEL_LEARNED: &str = "windlass-model-learned";
pub(crate) const SPENT: &str = "windlass-spent";
pub(crate) const RUN_RESUMED: &str = "windlass-run-resumed";
pub(crate) const PROMPT_QUEUED: &str = "windlass-prompt-queued";
pub(crate) const PROMPT_UNQUEUED: &str = "windlass-prompt-unqueued";
pub(crate) const MODE: &str = "mode";
pub(crate) const COST: &str = "cost-state";

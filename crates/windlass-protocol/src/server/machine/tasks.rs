//! Background work: what hosts order and ask.

use super::Machine;
use super::answers::{Refusal, Reply, field};
use super::io::{Job, SessionOrder};
use super::tickets::Asked;
use serde_json::{Value, json};
use windlass_types::JsonText;

/// How much of an output a host gets: its end.
const TAIL_BYTES: u64 = 8 * 1024;

impl Machine {
    /// Stops background work. Unknown work is no error: it may just have ended.
    pub(super) fn stop_task(&mut self, body: &JsonText) -> Result<Reply, Refusal> {
        let id = field::<String>(body, "task_id")?.ok_or_else(|| Refusal::new("`task_id` is missing"))?;
        self.order_session(SessionOrder::StopTask(id.into()));
        Reply::value(json!({}))
    }

    /// Has calls that are waited for continue in the background: one, or all that can.
    pub(super) fn move_to_background(&mut self, id: &str, body: &JsonText) -> Result<Reply, Refusal> {
        let call = field::<String>(body, "tool_use_id")?.map(Into::into);
        self.begin_job(id, Asked::Moved, Job::MoveToBackground(call))
    }

    /// The end of what background work has written.
    pub(super) fn task_output(&mut self, id: &str, body: &JsonText) -> Result<Reply, Refusal> {
        let task = field::<String>(body, "task_id")?.ok_or_else(|| Refusal::new("`task_id` is missing"))?;
        let file = self.session.outputs.find(&task);
        let file = file.ok_or_else(|| Refusal::new(format!("No task found with ID: {task}")))?;
        match file {
            Some(file) => self.begin_job(id, Asked::Tail, Job::Tail(file, TAIL_BYTES)),
            None => Reply::value(output("", 0)),
        }
    }
}

/// The answer with the end of an output of so many bytes.
pub(super) fn output(tail: &str, total: u64) -> Value {
    json!({ "output": tail, "total_bytes": total, "truncated": total > TAIL_BYTES })
}

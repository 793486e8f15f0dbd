//! Background work: control requests of hosts.

use super::ServerMachine;
use super::answers::{RequestRefusal, RequestReply, field};
use serde_json::json;
use windlass_conversation::Request;
use windlass_types::JsonText;

impl ServerMachine {
    /// Stops background work. Unknown work is no error, because it may just have ended.
    pub(super) fn stop_task(&mut self, id: &str, body: &JsonText) -> Result<RequestReply, RequestRefusal> {
        let task = field::<String>(body, "task_id")?.ok_or_else(|| RequestRefusal::new("`task_id` is missing"))?;
        self.ask_conversation(id, "stop_task", Some(json!({})), Request::StopTask(task.into()))
    }

    /// Moves waiting calls to the background: one, or all that can be moved.
    pub(super) fn move_to_background(&mut self, id: &str, body: &JsonText) -> Result<RequestReply, RequestRefusal> {
        let call = field::<String>(body, "tool_use_id")?.map(Into::into);
        self.ask_conversation(id, "background_tasks", None, Request::MoveToBackground(call))
    }

    /// Reads the end of the output of background work.
    pub(super) fn task_output(&mut self, id: &str, body: &JsonText) -> Result<RequestReply, RequestRefusal> {
        let task = field::<String>(body, "task_id")?.ok_or_else(|| RequestRefusal::new("`task_id` is missing"))?;
        self.ask_conversation(id, "get_task_output", None, Request::TaskOutput(task))
    }
}

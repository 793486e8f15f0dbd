//! Tasks: calls that a server continues on its own, and that are polled.
//!
//! Servers of 2026-07-28 decide for themselves that a call becomes a task (the extension
//! `io.modelcontextprotocol/tasks`). Servers of 2025-11-25 state for each tool whether its calls can be tasks, and the
//! client asks for one.

use crate::listener::ServerNotifications;
use crate::text::{LONGEST_ERROR, clipped};
use rmcp::model::{InputRequests, ProgressToken, ServerResult};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::Duration;

/// Pauses between two polls of a task: the default, the shortest and the longest.
const PAUSE: Duration = Duration::from_secs(1);
const MIN_PAUSE: Duration = Duration::from_millis(50);
const MAX_PAUSE: Duration = Duration::from_secs(60);
/// Maximum length of a task id, in bytes.
const MAX_ID_BYTES: usize = 1024;
/// Time for which a server is asked to keep a task.
const REQUESTED_KEEP_TIME: Duration = Duration::from_secs(24 * 3600);

/// Form of tasks in a revision of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TaskForm {
    /// The poll of a task returns its result and its questions (2026-07-28).
    Extension,
    /// The result is fetched by a request of its own, which waits while questions arrive (2025-11-25).
    Experimental,
}

/// Task that has begun.
#[derive(Debug, Clone)]
pub(crate) struct Begun {
    pub(crate) id: String,
    pub(crate) shape: TaskForm,
    /// Pause until the next poll.
    pub(crate) pause: Duration,
    /// Receiver and token of the call's progress.
    pub(crate) progress: Option<(Arc<ServerNotifications>, ProgressToken)>,
}

/// State of a task as reported by a poll.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum PolledState {
    /// In progress, with a status message.
    Working(Option<String>),
    /// Waiting for answers.
    Asks(InputRequests),
    /// Ready: it has a result, or questions that come with the request for the result.
    Due,
    /// Finished with this result.
    Done(Value),
    /// Failed with this error code and message of the call.
    Failed(i64, String),
    /// Cancelled by a party other than the client.
    Cancelled,
}

impl Begun {
    /// Reads the task that an answer to a call announces, if any.
    pub(crate) fn read(
        answer: &ServerResult,
        progress: Option<(Arc<ServerNotifications>, ProgressToken)>,
    ) -> Option<Self> {
        let (task, shape) = match answer {
            ServerResult::CreateTaskResult(_) => (serde_json::to_value(answer).ok()?, TaskForm::Extension),
            ServerResult::CustomResult(result) => (result.0.get("task")?.clone(), TaskForm::Experimental),
            _ => return None,
        };
        let id = task.get("taskId").and_then(Value::as_str).filter(|id| !id.is_empty() && id.len() <= MAX_ID_BYTES)?;
        Some(Self { id: id.to_owned(), shape, pause: pause(&task).unwrap_or(PAUSE), progress })
    }
}

/// Returns the pause that a server requests, within the limits.
pub(crate) fn pause(task: &Value) -> Option<Duration> {
    let requested = task.get("pollIntervalMs").or_else(|| task.get("pollInterval"))?.as_f64()?;
    let requested = Duration::try_from_secs_f64(requested / 1000.0).unwrap_or(MAX_PAUSE);
    Some(requested.clamp(MIN_PAUSE, MAX_PAUSE))
}

impl PolledState {
    /// Reads an answer to `tasks/get`. `None` if it does not describe a task.
    pub(crate) fn read(shape: TaskForm, answer: &Value) -> Option<Self> {
        let text = |value: Option<&Value>| value.and_then(Value::as_str).map(|text| clipped(text, LONGEST_ERROR));
        match (answer.get("status")?.as_str()?, shape) {
            ("working", _) => Some(Self::Working(text(answer.get("statusMessage")))),
            ("cancelled", _) => Some(Self::Cancelled),
            ("input_required", TaskForm::Extension) => {
                serde_json::from_value(answer.get("inputRequests")?.clone()).ok().map(Self::Asks)
            }
            ("completed", TaskForm::Extension) => answer.get("result").cloned().map(Self::Done),
            ("failed", TaskForm::Extension) => {
                let error = answer.get("error")?;
                let message = text(error.get("message")).unwrap_or_else(|| "the task failed".to_owned());
                Some(Self::Failed(error.get("code").and_then(Value::as_i64).unwrap_or_default(), message))
            }
            ("input_required" | "completed" | "failed", TaskForm::Experimental) => Some(Self::Due),
            _ => None,
        }
    }
}

/// Returns the parameters of a call that is to become a task of 2025-11-25.
pub(crate) fn as_task(tool: &str, arguments: &Map<String, Value>, whole: Option<Duration>) -> Value {
    let ttl =
        u64::try_from(whole.unwrap_or(REQUESTED_KEEP_TIME).min(REQUESTED_KEEP_TIME).as_millis()).unwrap_or_default();
    json!({ "name": tool, "arguments": arguments, "task": { "ttl": ttl } })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begun(answer: &Value) -> Option<Begun> {
        Begun::read(&serde_json::from_value(answer.clone()).unwrap(), None)
    }

    #[test]
    fn answers_to_calls_are_tasks_in_two_shapes() {
        let times = json!({ "createdAt": "2026-01-01T00:00:00Z", "lastUpdatedAt": "2026-01-01T00:00:00Z" });
        let with = |more: Value| {
            let mut task = times.as_object().unwrap().clone();
            task.extend(more.as_object().unwrap().clone());
            Value::Object(task)
        };
        let newest = with(
            json!({ "resultType": "task", "taskId": "a", "status": "working", "ttlMs": null, "pollIntervalMs": 70 }),
        );
        let newest = begun(&newest).unwrap();
        assert_eq!((newest.id.as_str(), newest.shape, newest.pause.as_millis()), ("a", TaskForm::Extension, 70));
        let older = with(json!({ "taskId": "b", "status": "working", "ttl": 60_000 }));
        let older = begun(&json!({ "task": older })).unwrap();
        assert_eq!((older.id.as_str(), older.shape, older.pause), ("b", TaskForm::Experimental, PAUSE));
        for other in [json!({ "content": [] }), json!({ "task": {} }), json!({ "task": { "taskId": "" } }), json!({})] {
            assert!(begun(&other).is_none(), "{other}");
        }
    }

    #[test]
    fn pauses_are_bounded() {
        for (given, read) in [(0.0, 50), (49.9, 50), (1500.0, 1500), (1e9, 60_000), (-5.0, 60_000)] {
            assert_eq!(pause(&json!({ "pollInterval": given })).map(|pause| pause.as_millis()), Some(read), "{given}");
        }
        assert_eq!(pause(&json!({ "pollInterval": "soon" })), None);
    }

    #[test]
    fn a_look_at_a_task_is_read_as_its_revision_means_it() {
        let read = PolledState::read;
        let (new, old) = (TaskForm::Extension, TaskForm::Experimental);
        assert_eq!(
            read(new, &json!({ "status": "working", "statusMessage": "half" })),
            Some(PolledState::Working(Some("half".to_owned())))
        );
        assert_eq!(
            read(new, &json!({ "status": "completed", "result": { "content": [] } })),
            Some(PolledState::Done(json!({ "content": [] })))
        );
        assert_eq!(read(old, &json!({ "status": "completed" })), Some(PolledState::Due));
        assert_eq!(read(old, &json!({ "status": "input_required" })), Some(PolledState::Due));
        let failed = json!({ "status": "failed", "error": { "code": -32000, "message": "no" } });
        assert_eq!(read(new, &failed), Some(PolledState::Failed(-32000, "no".to_owned())));
        assert_eq!(read(old, &json!({ "status": "cancelled" })), Some(PolledState::Cancelled));
        let nothing = [
            json!({}),
            json!({ "status": "odd" }),
            json!({ "status": "completed" }),
            json!({ "status": "input_required" }),
            json!(7),
        ];
        assert!(nothing.iter().all(|answer| read(new, answer).is_none()));
    }
}

//! Tasks: calls that continue without a waiting client, and whose state clients poll (the extension
//! `io.modelcontextprotocol/tasks` of 2026-07-28).

use crate::client::Client;
use crate::handler::HandledResult;
use crate::parked::ParkedCall;
use crate::rounds::QuestionRounds;
use rmcp::model::{
    CreateTaskResult, DetailedTask, ErrorData, GetTaskResult, InputResponses, JsonObject, Task, TaskPayload, TaskStatus,
};
use serde::Serialize;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::task::{AbortHandle, JoinError, JoinHandle};
use tokio::time::sleep;
use windlass::event::Timestamp;
use windlass::tool::{Clock, Ids, SystemClock, SystemIds};

/// Maximum numbers of running and of known tasks. Calls beyond that are answered when they are done.
const MOST_RUNNING: usize = 64;
const MOST_KNOWN: usize = 1000;
/// Maximum total size of the kept results of all tasks, in bytes. The newest is kept in any case.
const MOST_BYTES: usize = 64 << 20;
/// Maximum run time of a task, and lifetime of its result, from its begin.
const KEPT: Duration = Duration::from_secs(24 * 3600);
/// Recommended pause between two polls, in milliseconds.
const PAUSE: u64 = 1000;

/// Tasks of a server, by random ids. Dropping them stops the running ones.
pub(crate) struct ServerTasks {
    all: Mutex<HashMap<String, ServerTask>>,
    clock: Box<dyn Clock>,
    ids: Box<dyn Ids>,
}

struct ServerTask {
    begun: Timestamp,
    changed: Timestamp,
    state: TaskTable,
    client: Client,
    rounds: Arc<QuestionRounds>,
    work: AbortHandle,
}

enum TaskTable {
    Working,
    /// Result, and its size as JSON in bytes.
    Done(JsonObject, usize),
    Failed(JsonObject),
    Cancelled,
}

impl Drop for ServerTask {
    fn drop(&mut self) {
        self.work.abort();
    }
}

impl Default for ServerTasks {
    fn default() -> Self {
        Self { all: Mutex::default(), clock: Box::new(SystemClock::default()), ids: Box::new(SystemIds::default()) }
    }
}

impl ServerTasks {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, ServerTask>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Turns a call into a task. Returns the call if there are too many.
    pub(crate) fn begin(self: &Arc<Self>, call: ParkedCall) -> Result<CreateTaskResult, ParkedCall> {
        let mut all = self.lock();
        let running = all.values().filter(|one| matches!(one.state, TaskTable::Working)).count();
        if running >= MOST_RUNNING || all.len() >= MOST_KNOWN {
            return Err(call);
        }
        let id = format!("{:032x}", self.ids.bits());
        let work = tokio::spawn(call.future);
        let begun = self.clock.now();
        let one = ServerTask {
            begun,
            changed: begun,
            state: TaskTable::Working,
            client: call.client,
            rounds: call.rounds,
            work: work.abort_handle(),
        };
        let created = CreateTaskResult::new(one.task(&id));
        // The task is registered before its client learns of it.
        all.insert(id.clone(), one);
        drop(all);
        tokio::spawn(watch(Arc::downgrade(self), id, work));
        Ok(created)
    }

    /// Returns the state of a task.
    ///
    /// # Errors
    /// Fails if the task is unknown.
    pub(crate) fn get(&self, id: &str) -> Result<GetTaskResult, ErrorData> {
        let all = self.lock();
        let one = all.get(id).ok_or_else(unknown)?;
        let payload = match &one.state {
            TaskTable::Working => match one.rounds.requests() {
                open if open.is_empty() => TaskPayload::Working,
                input_requests => TaskPayload::InputRequired { input_requests },
            },
            TaskTable::Done(result, _) => TaskPayload::Completed { result: result.clone() },
            TaskTable::Failed(error) => TaskPayload::Failed { error: error.clone() },
            TaskTable::Cancelled => TaskPayload::Cancelled,
        };
        Ok(GetTaskResult::new(DetailedTask::new(one.task(id), payload)))
    }

    /// Takes answers to the questions of a task. Other answers are ignored.
    ///
    /// # Errors
    /// Fails if the task is unknown.
    pub(crate) fn answer(&self, id: &str, responses: InputResponses) -> Result<(), ErrorData> {
        let rounds = Arc::clone(&self.lock().get(id).ok_or_else(unknown)?.rounds);
        let open = rounds.requests();
        rounds.give(responses.into_iter().filter(|(name, _)| open.contains_key(name)).collect());
        Ok(())
    }

    /// Stops a task. One that has ended stays unchanged.
    ///
    /// # Errors
    /// Fails if the task is unknown.
    pub(crate) fn cancel(&self, id: &str) -> Result<(), ErrorData> {
        let mut all = self.lock();
        let one = all.get_mut(id).ok_or_else(unknown)?;
        if matches!(one.state, TaskTable::Working) {
            (one.state, one.changed) = (TaskTable::Cancelled, self.clock.now());
            one.work.abort();
        }
        Ok(())
    }

    fn end(&self, id: &str, done: Result<Result<HandledResult, ErrorData>, JoinError>) {
        let state = match done {
            Ok(Ok(HandledResult::Call(result))) => {
                let written = object(&result).map(|object| TaskTable::Done(object, bytes(&result)));
                written.unwrap_or_else(|| failed("its result cannot be written"))
            }
            Ok(Ok(_)) => failed("it has no result of a call"),
            Ok(Err(error)) => object(&error).map_or_else(|| failed("it failed"), TaskTable::Failed),
            Err(error) if error.is_cancelled() => return,
            Err(_) => failed("the tool failed unexpectedly"),
        };
        let mut all = self.lock();
        if let Some(one) = all.get_mut(id).filter(|one| matches!(one.state, TaskTable::Working)) {
            (one.state, one.changed) = (state, self.clock.now());
            make_room(&mut all, id);
        }
    }
}

/// Removes the oldest results while all of them take too many bytes, except that of the newest task.
fn make_room(all: &mut HashMap<String, ServerTask>, newest: &str) {
    let done = |(id, one): (&String, &ServerTask)| match one.state {
        TaskTable::Done(_, bytes) if id != newest => Some((one.changed, id.clone(), bytes)),
        _ => None,
    };
    let older = all.iter().filter_map(done).collect();
    let own = match all.get(newest).map(|one| &one.state) {
        Some(TaskTable::Done(_, bytes)) => *bytes,
        _ => 0,
    };
    for id in too_much(older, MOST_BYTES.saturating_sub(own)) {
        if let Some(one) = all.get_mut(&id) {
            one.state = failed("its result is no longer kept: newer ones took its room");
        }
    }
}

/// Returns the oldest entries that have to be removed for the others to take at most `most` bytes.
fn too_much(mut kept: Vec<(Timestamp, String, usize)>, most: usize) -> Vec<String> {
    kept.sort_unstable();
    let mut total = kept.iter().fold(0_usize, |sum, (.., bytes)| sum.saturating_add(*bytes));
    let mut gone = Vec::new();
    for (_, id, bytes) in kept {
        if total <= most {
            break;
        }
        total = total.saturating_sub(bytes);
        gone.push(id);
    }
    gone
}

/// Returns the size of a value as JSON, in bytes.
fn bytes(value: &impl Serialize) -> usize {
    struct TaskCount(usize);
    impl std::io::Write for TaskCount {
        fn write(&mut self, text: &[u8]) -> std::io::Result<usize> {
            self.0 = self.0.saturating_add(text.len());
            Ok(text.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut count = TaskCount(0);
    // A value that cannot be serialized was refused before.
    let _ = serde_json::to_writer(&mut count, value);
    count.0
}

impl ServerTask {
    fn task(&self, id: &str) -> Task {
        let task = Task::new(id, TaskStatus::Working, self.begun.to_string(), self.changed.to_string());
        let task = task.with_ttl_ms(u64::try_from(KEPT.as_millis()).unwrap_or(u64::MAX)).with_poll_interval_ms(PAUSE);
        match self.client.said() {
            Some(said) if matches!(self.state, TaskTable::Working) => task.with_status_message(said),
            _ => task,
        }
    }
}

fn unknown() -> ErrorData {
    ErrorData::invalid_params("there is no such task, or no longer", None)
}

fn failed(why: &str) -> TaskTable {
    TaskTable::Failed(object(&ErrorData::internal_error(why.to_owned(), None)).unwrap_or_default())
}

fn object(value: &impl Serialize) -> Option<JsonObject> {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::Object(object)) => Some(object),
        _ => None,
    }
}

/// Waits for the end of a task, and then until it expires. A task that has not ended by then is stopped.
async fn watch(tasks: Weak<ServerTasks>, id: String, work: JoinHandle<Result<HandledResult, ErrorData>>) {
    let forgotten = sleep(KEPT);
    tokio::pin!(forgotten);
    let done = tokio::select! {
        biased;
        done = work => Some(done),
        () = &mut forgotten => None,
    };
    if let (Some(tasks), Some(done)) = (tasks.upgrade(), done) {
        tasks.end(&id, done);
        forgotten.await;
    }
    if let Some(tasks) = tasks.upgrade() {
        let gone = tasks.lock().remove(&id);
        drop(gone);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_go_first_and_no_more_than_have_to() {
        let kept = |sizes: &[(u64, usize)]| {
            let one = |(at, bytes): &(u64, usize)| (Timestamp::from_millis(*at), format!("at {at}"), *bytes);
            sizes.iter().map(one).collect::<Vec<_>>()
        };
        for (sizes, most, gone) in [
            (&[(1, 10), (2, 10)][..], 20, &[][..]),
            (&[(1, 10), (2, 10)], 19, &["at 1"]),
            (&[(2, 10), (1, 10), (3, 10)], 10, &["at 1", "at 2"]),
            (&[(1, 1), (2, 100), (3, 1)], 50, &["at 1", "at 2"]),
            (&[(1, 30), (2, 1)], 0, &["at 1", "at 2"]),
            (&[], 0, &[]),
        ] {
            assert_eq!(too_much(kept(sizes), most), gone, "{sizes:?}");
        }
    }

    #[test]
    fn bytes_are_those_of_the_text() {
        assert_eq!(bytes(&serde_json::json!({"a": ["é", 1]})), r#"{"a":["é",1]}"#.len());
    }
}

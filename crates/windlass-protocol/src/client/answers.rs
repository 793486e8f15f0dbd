//! Control requests of the other side, answered by callbacks of the host.

use super::failure::RequestFailure;
use super::hooks::HookCallbacks;
use super::options::ClientOptions;
use super::outbox::LineOutbox;
use super::permission;
use super::tools::ToolServers;
use crate::channel::frames::{ControlResponse, answer};
use futures_util::FutureExt;
use serde_json::json;
use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::task::AbortHandle;
use windlass_permission::CanUseTool;
use windlass_types::JsonText;

/// Maximum number of requests that are answered at the same time; further ones are refused.
const MAX_RUNNING: usize = 256;

/// Callbacks that answer requests.
pub(super) struct HostCallbacks {
    can_use_tool: Option<Arc<dyn CanUseTool>>,
    pub(super) hooks: HookCallbacks,
    pub(super) tools: ToolServers,
}

impl HostCallbacks {
    pub(super) fn new(options: &ClientOptions) -> Self {
        Self {
            can_use_tool: options.can_use_tool.clone(),
            hooks: HookCallbacks::new(options.hooks.clone(), options.limits.hook_timeout),
            tools: ToolServers::new(options.tools.clone(), &options.ids),
        }
    }

    async fn answer(&self, id: &str, subtype: &str, body: &JsonText) -> Result<JsonText, RequestFailure> {
        match (subtype, &self.can_use_tool) {
            ("can_use_tool", Some(answer)) => permission::answer(&**answer, id, body).await,
            ("can_use_tool", None) => {
                Err(RequestFailure::new("the host has no callback for questions about tool calls"))
            }
            ("hook_callback", _) => self.hooks.answer(body).await,
            ("mcp_message", _) => self.tools.answer(body).await,
            ("elicitation", _) => Ok(JsonText::of(&json!({ "action": "decline" }))?),
            ("request_user_dialog", _) => Ok(JsonText::of(&json!({ "behavior": "cancelled" }))?),
            _ => Err(RequestFailure {
                error: format!("Unsupported control request subtype: {subtype}"),
                code: Some("unsupported_request"),
            }),
        }
    }
}

/// Requests that are being answered. Dropping this drops the callbacks.
pub(super) struct CallbackTasks {
    callbacks: Arc<HostCallbacks>,
    running: Arc<Mutex<RunningCallbacks>>,
    outbox: LineOutbox,
    max_line: usize,
}

#[derive(Default)]
struct RunningCallbacks {
    tasks: HashMap<String, (AbortHandle, usize)>,
    bytes: usize,
}

impl RunningCallbacks {
    fn remove(&mut self, id: &str) -> Option<AbortHandle> {
        let (task, size) = self.tasks.remove(id)?;
        self.bytes = self.bytes.saturating_sub(size);
        Some(task)
    }
}

fn lock(running: &Mutex<RunningCallbacks>) -> MutexGuard<'_, RunningCallbacks> {
    running.lock().unwrap_or_else(PoisonError::into_inner)
}

impl CallbackTasks {
    pub(super) fn new(callbacks: Arc<HostCallbacks>, outbox: LineOutbox, max_line: usize) -> Self {
        Self { callbacks, running: Arc::default(), outbox, max_line }
    }

    /// Starts to answer a request, or refuses it if there are too many.
    ///
    /// Waits only if the other side sends requests without reading the answers.
    pub(super) async fn take(&self, id: String, subtype: String, body: JsonText) {
        let size = body.as_str().len();
        if !self.start(&id, subtype, body, size) {
            let response =
                ControlResponse::Refused { error: "too many requests wait for an answer", code: Some("overloaded") };
            // Fails only when nothing waits for the answer any more.
            let _ = self.outbox.send(answer(&id, &response, self.max_line)).await;
        }
    }

    fn start(&self, id: &str, subtype: String, body: JsonText, size: usize) -> bool {
        let mut running = lock(&self.running);
        if running.tasks.contains_key(id) {
            tracing::warn!(id, "a question came twice; the second one is left alone");
            return true;
        }
        let is_full = running.tasks.len() >= MAX_RUNNING || running.bytes.saturating_add(size) > self.max_line;
        if is_full && !running.tasks.is_empty() {
            return false;
        }
        let (callbacks, outbox, max_line) = (Arc::clone(&self.callbacks), self.outbox.clone(), self.max_line);
        let (shared_running, owned_id) = (Arc::clone(&self.running), id.to_owned());
        let task = tokio::spawn(async move {
            let outcome = AssertUnwindSafe(callbacks.answer(&owned_id, &subtype, &body)).catch_unwind().await;
            let outcome = outcome.unwrap_or_else(|_| Err(RequestFailure::new("the callback panicked")));
            // Fails only when nothing waits for the answer any more.
            let _ = outbox.send(response_line(&owned_id, &outcome, max_line)).await;
            lock(&shared_running).remove(&owned_id);
        });
        running.tasks.insert(id.to_owned(), (task.abort_handle(), size));
        running.bytes = running.bytes.saturating_add(size);
        true
    }

    /// Drops the callback of a cancelled request.
    pub(super) fn cancel(&self, id: &str) {
        if let Some(task) = lock(&self.running).remove(id) {
            task.abort();
        }
    }
}

fn response_line(id: &str, outcome: &Result<JsonText, RequestFailure>, max_line: usize) -> Vec<u8> {
    let outcome = match outcome {
        Ok(json) => ControlResponse::Done(Some(json)),
        Err(failure) => ControlResponse::Refused { error: &failure.error, code: failure.code },
    };
    answer(id, &outcome, max_line)
}

impl Drop for CallbackTasks {
    fn drop(&mut self) {
        for (_, (task, _)) in lock(&self.running).tasks.drain() {
            task.abort();
        }
    }
}

//! Tools behind the permission gate of a session.

mod model;
mod queue;

use crate::{McpService, ServeError, ServedCall, ServedHints, ServedTool, question};
use async_trait::async_trait;
use model::calling_model;
use queue::{GatedQueue, GatedTicket};
use std::fmt;
use std::sync::Arc;
use tokio::task::AbortHandle;
use windlass::provider::ToolSpec;
use windlass::{ContentBlock, Event, EventKind, Permissions, Session, SessionBuilder, SessionHandle, ToolOutput};
use windlass::{PermissionAnswer, PermissionRequest, permission::can_use_tool_fn};
use windlass::{Prompt, session::SessionError};

/// Prompt of the calls in the session's log.
const PROMPT: &str = "Make the calls.";

/// Tools of a session, called by clients in place of a model.
///
/// Each call passes all checks of a model's call: schema, hooks, rules, permission mode, protected paths, trust of the
/// project, and checkpoints if the session has them. A question goes to the user of the calling client. Calls that
/// arrive together run in one batch, concurrently unless they touch the same; calls that arrive while a batch runs
/// follow it. All clients share one session, so that a file that one of them has read may be edited by another.
pub struct GatedTools {
    queue: Arc<GatedQueue>,
    handle: SessionHandle,
    tools: Vec<ServedTool>,
    driver: AbortHandle,
}

impl GatedTools {
    /// Opens a session for the tools of `builder`, whose model and permissions are replaced: the clients are the model,
    /// and `permissions` applies, except for its handler of questions. Must be called inside a tokio runtime.
    ///
    /// # Errors
    /// Fails if the session cannot be opened, or ends at once.
    pub async fn open(builder: SessionBuilder, permissions: Permissions) -> Result<Self, ServeError> {
        let queue = Arc::new(GatedQueue::default());
        let asked = Arc::clone(&queue);
        let answer = move |request: PermissionRequest| {
            let asked = Arc::clone(&asked);
            async move { answered(&asked, &request).await }
        };
        let builder =
            builder.provider(calling_model(Arc::clone(&queue))).permissions(permissions.host(can_use_tool_fn(answer)));
        let mut session = builder.open().await?;
        // The first request lists the tools that a model would be offered.
        run(&mut session, &queue).await.map_err(windlass::Error::from)?;
        let tools = queue.offered().ok_or(ServeError::Blocked)?.iter().map(|spec| served(spec)).collect();
        let handle = session.handle.clone();
        let driver = tokio::spawn(drive(session, Arc::clone(&queue))).abort_handle();
        Ok(Self { queue, handle, tools, driver })
    }

    /// Closes the session and its background tasks, in bounded time.
    ///
    /// # Errors
    /// Fails if a part of the session may not be stored.
    pub async fn close(&self) -> Result<(), ServeError> {
        self.queue.close();
        Ok(self.handle.close().await.map_err(windlass::Error::from)?)
    }
}

impl Drop for GatedTools {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

impl fmt::Debug for GatedTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GatedTools").field("tools", &self.tools.len()).finish_non_exhaustive()
    }
}

#[async_trait]
impl McpService for GatedTools {
    fn tools(&self) -> Vec<ServedTool> {
        self.tools.clone()
    }

    async fn call(&self, call: ServedCall) -> ToolOutput {
        let ticket = GatedTicket { queue: &self.queue, handle: &self.handle, id: self.queue.add(call) };
        match self.queue.outcome(&ticket.id).await {
            Some(output) => output,
            None => ToolOutput::text("The call was not made: the session has ended.").failed(),
        }
    }
}

/// Returns the hints on the effects of the built-in tools.
fn hints(tool: &str) -> ServedHints {
    match tool {
        "Read" | "Glob" | "Grep" | "ProjectSearch" | "TaskOutput" => ServedHints::reads(),
        "Write" | "Edit" | "MultiEdit" | "NotebookEdit" => ServedHints::writes(),
        "WebFetch" | "WebSearch" => ServedHints::fetches(),
        _ => ServedHints::default(),
    }
}

fn served(spec: &ToolSpec) -> ServedTool {
    ServedTool::new(spec.name.clone(), spec.description.clone(), spec.input_schema.clone())
        .with_hints(hints(&spec.name))
}

/// Asks the client of a call for permission.
async fn answered(queue: &GatedQueue, request: &PermissionRequest) -> PermissionAnswer {
    match queue.client(&request.tool_use_id) {
        Some(client) => question::ask(&client, request).await,
        None => PermissionAnswer::deny("The client that called is gone, so it was denied."),
    }
}

/// Runs batches of calls until the session or the queue is closed.
async fn drive(mut session: Session, queue: Arc<GatedQueue>) {
    while queue.wait().await {
        if let Err(error) = run(&mut session, &queue).await {
            tracing::debug!(%error, "the session behind an MCP server has ended");
            break;
        }
        queue.settle_unmade("The call was not made: the run ended before it.");
    }
    queue.close();
}

/// Performs one run: all waiting calls, and those that arrive until the model ends its turn.
async fn run(session: &mut Session, queue: &GatedQueue) -> Result<(), SessionError> {
    session.handle.prompt(Prompt::new(vec![ContentBlock::text(PROMPT)]))?;
    while let Some(event) = session.events.try_next().await? {
        if finished(*event, queue) {
            return Ok(());
        }
    }
    Err(SessionError::Closed)
}

/// Passes an event to the call that it is about. Returns `true` if the run has ended.
fn finished(event: Event, queue: &GatedQueue) -> bool {
    match event.kind {
        EventKind::ToolProgress(progress) => {
            if let Some(client) = queue.client(&progress.tool_use_id) {
                client.report(progress.message);
            }
        }
        EventKind::ToolFinished(tool) => {
            let id = tool.result.tool_use_id.clone();
            queue.settle(&id, model::output(tool));
        }
        EventKind::RunFinished(_) => return event.agent.is_main(),
        _ => {}
    }
    false
}

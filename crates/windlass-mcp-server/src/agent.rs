//! Agent as one tool.

use crate::{Client, McpService, ServedCall, ServedTool, question};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use windlass::permission::can_use_tool_fn;
use windlass::{
    Event, EventKind, JsonText, Outcome, PermissionRequest, Permissions, RunResult, SessionBuilder, ToolOutput,
};

/// Duration of a call after which it becomes a task that its client polls, if the client can.
const TASK_AFTER: Duration = Duration::from_secs(10);
/// Maximum number of concurrent tasks.
const MOST_TASKS: usize = 8;

const INPUT: &str = r#"{"type":"object","properties":{"prompt":{"type":"string","description":"The task, with all that has to be known to do it."}},"required":["prompt"],"additionalProperties":false}"#;

const OUTPUT: &str = r#"{"type":"object","properties":{"result":{"type":"string"},"is_error":{"type":"boolean"},"session_id":{"type":"string"},"turns":{"type":"integer"},"cost_usd":{"type":"string"}},"required":["result","is_error","session_id","turns","cost_usd"]}"#;

/// Whole agent as one tool: it takes a prompt, works on it in a session of its own, and returns its last words.
///
/// The client sees the agent's tool calls as progress. A question of its permission gate goes to the client's user. A
/// cancelled call stops the run. A call that takes longer than ten seconds becomes a [task](ServedTool::with_task). At
/// most 8 tasks run at once; others are refused.
pub struct AgentTool {
    tool: ServedTool,
    permissions: Permissions,
    session: Arc<dyn Fn() -> SessionBuilder + Send + Sync>,
    tasks: Semaphore,
}

#[derive(Deserialize)]
struct AgentInput {
    prompt: String,
}

#[derive(Serialize)]
struct AgentOutput<'a> {
    result: &'a str,
    is_error: bool,
    session_id: &'a str,
    turns: u32,
    /// Cost as a decimal text, so that it is exact.
    cost_usd: String,
}

impl AgentTool {
    /// Creates an agent of this name. `description` tells models its purpose. `session` returns the options of a
    /// session for each task, except for permissions: `permissions` replaces them, together with their handler of
    /// questions.
    pub fn new(
        name: impl Into<String>,
        description: impl Into<String>,
        permissions: Permissions,
        session: impl Fn() -> SessionBuilder + Send + Sync + 'static,
    ) -> Self {
        let schema = |text| JsonText::parse(text).unwrap_or_else(|_| JsonText::empty_object());
        let tool = ServedTool::new(name, description, schema(INPUT)).with_output_schema(schema(OUTPUT));
        let tool = tool.with_task(TASK_AFTER);
        Self { tool, permissions, session: Arc::new(session), tasks: Semaphore::new(MOST_TASKS) }
    }

    async fn run(&self, prompt: String, client: &Client) -> Result<RunResult, String> {
        let asked = client.clone();
        let answer = move |request: PermissionRequest| {
            let asked = asked.clone();
            async move { question::ask(&asked, &request).await }
        };
        let permissions = self.permissions.clone().host(can_use_tool_fn(answer));
        // Dropping the run stops it.
        let mut run = (self.session)().permissions(permissions).query(prompt).stream();
        let mut result = None;
        while let Some(event) = run.try_next().await.map_err(|error| error.to_string())? {
            report(&event, client).await;
            if let EventKind::RunFinished(finished) = event.kind
                && event.agent.is_main()
            {
                result = Some(finished);
            }
        }
        result.ok_or_else(|| "the agent ended without a result".to_owned())
    }
}

/// Reports the agent's tool calls to the client.
async fn report(event: &Event, client: &Client) {
    match &event.kind {
        EventKind::ToolStarted(tool) => client.progress(&format!("{}: {}", tool.tool, tool.title)).await,
        EventKind::ToolFinished(tool) if tool.denied.is_some() => {
            client.progress(&format!("{} was denied", tool.tool)).await;
        }
        _ => {}
    }
}

fn output(result: &RunResult) -> Result<ToolOutput, String> {
    let text = match &result.outcome {
        Outcome::Success => result.text.clone(),
        outcome => format!("{}\n\nThe agent did not finish: {outcome}", result.text).trim().to_owned(),
    };
    let is_error = result.outcome != Outcome::Success;
    let (session_id, turns) = (result.session_id.as_str(), result.turns);
    let structured = AgentOutput { result: &text, is_error, session_id, turns, cost_usd: result.cost.to_string() };
    let output = ToolOutput::text(text.as_str()).with_structured(&structured).map_err(|error| error.to_string())?;
    Ok(if is_error { output.failed() } else { output })
}

#[async_trait]
impl McpService for AgentTool {
    fn tools(&self) -> Vec<ServedTool> {
        vec![self.tool.clone()]
    }

    async fn call(&self, call: ServedCall) -> ToolOutput {
        let prompt = match call.input.to::<AgentInput>() {
            Ok(input) if !input.prompt.trim().is_empty() => input.prompt,
            Ok(_) => return ToolOutput::text("The prompt is empty.").failed(),
            Err(error) => return ToolOutput::text(format!("The input cannot be used: {error}")).failed(),
        };
        let Ok(_task) = self.tasks.try_acquire() else {
            return ToolOutput::text(format!("{MOST_TASKS} tasks run already: wait for one of them.")).failed();
        };
        let ran = self.run(prompt, &call.client).await;
        let ran = ran.and_then(|result| output(&result));
        ran.unwrap_or_else(|problem| ToolOutput::text(format!("The agent could not work: {problem}")).failed())
    }
}

impl fmt::Debug for AgentTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentTool").field("name", &self.tool.name).finish_non_exhaustive()
    }
}

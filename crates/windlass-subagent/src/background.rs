//! Agents that continue after their call.

use crate::report::{self, Task, happened};
use serde::Serialize;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use windlass_blocking::run_blocking;
use windlass_tool::{
    AgentReport, AgentSpec, BoxFuture, TaskCx, TaskOutcome, TaskSpec, ToolCx, ToolError, ToolOutput, private_file,
};
use windlass_types::{Outcome, TaskId, TaskKind, TaskStatus};

/// Structured result that a host reads when a call left its agent in the background.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Launched<'a> {
    status: &'static str,
    agent_id: &'a str,
    description: &'a str,
    prompt: &'a str,
    output_file: &'a str,
    can_read_output_file: bool,
}

/// Starts an agent in the background and returns at once.
pub(crate) fn start(mut spec: AgentSpec, task: &Task, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
    let (agents, background) = (Arc::clone(cx.agents()?), cx.background()?);
    if cx.cancel().is_cancelled() {
        return Err(ToolError::cancelled());
    }
    let id = TaskId::new(task.id.as_str());
    let file = background.folder().map(|folder| folder.join(format!("agent-{id}.output")));
    spec.task = Some(id.clone());
    let mut about =
        TaskSpec::new(TaskKind::LocalAgent, task.description.as_str()).with_agent(id.clone(), task.agent_type.as_str());
    about.output_file.clone_from(&file);
    let (own, own_file) = (task.clone(), file.clone());
    let work = move |cx: TaskCx| -> BoxFuture<'static, TaskOutcome> {
        Box::pin(async move {
            let ended = agents.run(spec, cx.cancel.clone()).await;
            outcome(&own, ended, own_file).await
        })
    };
    background.start(about, Box::new(work))?;
    let path = file.as_deref().map(Path::to_string_lossy).unwrap_or_default();
    let file_note = if file.is_some() {
        format!(" It is also written to {path}, when the agent has ended.")
    } else {
        String::new()
    };
    let text = format!(
        "The agent works in the background; its task is {id}. You are told when it ends, with its report.{file_note} Go on \
         with something else; TaskStop ends it sooner."
    );
    ToolOutput::text(text).with_structured(&Launched {
        status: "async_launched",
        agent_id: task.id.as_str(),
        description: &task.description,
        prompt: &task.prompt,
        output_file: &path,
        can_read_output_file: file.is_some(),
    })
}

/// Returns the outcome that the model and the host read when an agent has ended.
async fn outcome(task: &Task, ended: Result<AgentReport, ToolError>, file: Option<PathBuf>) -> TaskOutcome {
    let name = &task.description;
    let ended = match ended {
        Ok(ended) => ended,
        Err(error) => {
            if let Some(source) = error.source() {
                tracing::warn!(%source, "an agent could not begin");
            }
            let summary = format!("Agent \"{name}\" could not begin: {}", error.model_text());
            return TaskOutcome::new(TaskStatus::Failed, summary);
        }
    };
    let (status, mut summary) = match &ended.outcome {
        Outcome::Success => (TaskStatus::Completed, format!("Agent \"{name}\" completed")),
        Outcome::Interrupted { .. } => (TaskStatus::Stopped, format!("Agent \"{name}\" was stopped")),
        other => (TaskStatus::Failed, format!("Agent \"{name}\" did not finish: {}", happened(other))),
    };
    let full = report::in_full(task, &ended);
    if let Some(file) = file
        && let Err(error) = write_output(file, full).await
    {
        summary.push_str(&format!(". Its report could not be written to its file: {error}"));
    }
    let mut outcome = TaskOutcome::new(status, summary);
    outcome.usage = Some(ended.usage);
    outcome.report = Some(ended.text).filter(|text| !text.trim().is_empty());
    outcome
}

/// Writes a report to a new private file, whole or not at all. The file is durable, since the notification names it.
/// Dropping the future does not stop the writing.
async fn write_output(file: PathBuf, text: String) -> io::Result<()> {
    run_blocking(move || private_file::write_new(&file, text.as_bytes())).await.map_err(io::Error::other)?
}

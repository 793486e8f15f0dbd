//! Reports of agents that have ended, for the model, the host and the file.

use crate::text::beginning;
use serde::Serialize;
use windlass_tool::{AgentReport, AgentSpec, ToolError, ToolOutput};
use windlass_types::{AgentId, Outcome, Usage};

/// Maximum number of bytes of a report that are handed on.
pub(crate) const MOST_REPORT: usize = 1 << 20;

/// Marks that a report must not contain: its own end, and the tags that the runtime uses.
const MARKS: [(&str, &str); 5] = [
    ("[End of the report", "(End of the report"),
    ("<system-reminder", "&lt;system-reminder"),
    ("</system-reminder", "&lt;/system-reminder"),
    ("<task-notification", "&lt;task-notification"),
    ("</task-notification", "&lt;/task-notification"),
];

/// Description of an agent before it begins.
#[derive(Debug, Clone)]
pub(crate) struct Task {
    pub(crate) id: AgentId,
    pub(crate) agent_type: String,
    pub(crate) description: String,
    pub(crate) prompt: String,
}

impl Task {
    pub(crate) fn new(spec: &AgentSpec) -> Self {
        Self {
            id: spec.id.clone(),
            agent_type: spec.agent_type.clone(),
            description: spec.description.clone(),
            prompt: spec.prompt.clone(),
        }
    }
}

/// Structured result that a host reads when an agent has reported.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Completed<'a> {
    status: &'static str,
    agent_id: &'a str,
    agent_type: &'a str,
    content: [Content<'a>; 1],
    total_tool_use_count: u64,
    total_duration_ms: u64,
    total_tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<Tokens>,
    prompt: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    resolved_model: Option<&'a str>,
}

#[derive(Serialize)]
struct Content<'a> {
    r#type: &'static str,
    text: &'a str,
}

/// The four token counts that the Messages API has in every usage.
#[derive(Serialize)]
struct Tokens {
    input_tokens: u64,
    output_tokens: u64,
    cache_creation_input_tokens: u64,
    cache_read_input_tokens: u64,
}

/// Returns the result of a call that waited.
pub(crate) fn output(task: &Task, ended: &AgentReport) -> Result<ToolOutput, ToolError> {
    let output = ToolOutput::text(in_full(task, ended));
    if !ended.outcome.is_success() {
        return Ok(output.failed());
    }
    let (text, _) = beginning(&ended.text, MOST_REPORT);
    output.with_structured(&Completed {
        status: "completed",
        agent_id: task.id.as_str(),
        agent_type: &task.agent_type,
        content: [Content { r#type: "text", text }],
        total_tool_use_count: ended.usage.tool_uses,
        total_duration_ms: ended.usage.duration_ms,
        total_tokens: ended.usage.total_tokens,
        usage: (ended.tokens != Usage::default()).then_some(Tokens {
            input_tokens: ended.tokens.input_tokens,
            output_tokens: ended.tokens.output_tokens,
            cache_creation_input_tokens: ended.tokens.cache_creation_input_tokens,
            cache_read_input_tokens: ended.tokens.cache_read_input_tokens,
        }),
        prompt: &task.prompt,
        resolved_model: Some(ended.model.as_str()).filter(|model| !model.is_empty()),
    })
}

/// Returns the report, then what became of the agent if it did not finish, and at the very end the origin of the text.
pub(crate) fn in_full(task: &Task, ended: &AgentReport) -> String {
    let (text, is_cut) = beginning(&ended.text, MOST_REPORT);
    let left_out = ended.text.len() - text.len();
    let text = MARKS.iter().fold(text.to_owned(), |text, (mark, plain)| text.replace(mark, plain));
    let is_empty = text.trim().is_empty();
    let mut full = match (ended.outcome.is_success(), is_empty) {
        (true, true) => "The agent ended without a report.".to_owned(),
        (true, false) => text,
        (false, true) => format!("The agent did not finish: {}. It wrote nothing.", happened(&ended.outcome)),
        (false, false) => {
            format!("The agent did not finish: {}. The last that it wrote:\n\n{text}", happened(&ended.outcome))
        }
    };
    if is_cut {
        full.push_str(&format!("\n[… {} more bytes]", left_out));
    }
    let usage = &ended.usage;
    full.push_str(&format!(
        "\n\n[End of the report. It is the word of the agent {id} ({kind}), not of the user. It used {tokens} tokens and \
         {uses} tool uses in {ms} ms.]",
        id = task.id,
        kind = task.agent_type,
        tokens = usage.total_tokens,
        uses = usage.tool_uses,
        ms = usage.duration_ms,
    ));
    full
}

/// Describes how an agent ended that did not finish, in half a sentence.
pub(crate) fn happened(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Refused => "its model refused".to_owned(),
        Outcome::Interrupted { .. } => "it was stopped".to_owned(),
        Outcome::StoppedByHook { reason } => format!("a hook stopped it: {reason}"),
        other => other.to_string(),
    }
    .trim_end_matches('.')
    .to_owned()
}

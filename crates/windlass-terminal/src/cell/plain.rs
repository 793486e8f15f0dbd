//! Cells as labelled lines.

use super::{CallOutcome, Cell, NoticeLevel, RunSummary, TaskNote, TodoItem, TodoPhase, ToolCall};
use crate::layout::duration;
use crate::text::{safe_line, safe_lines};

/// Most lines of a result.
const RESULT_LINES: usize = 40;

pub(super) fn lines(cell: &Cell) -> Vec<String> {
    match cell {
        Cell::User(message) => labelled("You", &safe_lines(&message.text)),
        Cell::Answer(part) => {
            let lines = safe_lines(&part.chunk.source);
            if part.is_first { labelled("Assistant", &lines) } else { lines }
        }
        Cell::Thinking(text) => labelled("Thinking", &safe_lines(text)),
        Cell::Tool(call) => tool_lines(call),
        Cell::Todos(items) => labelled("Tasks", &items.iter().map(todo_line).collect::<Vec<_>>()),
        Cell::Notice(notice) => {
            let label = match notice.level {
                NoticeLevel::Info => "Notice",
                NoticeLevel::Warning => "Warning",
                NoticeLevel::Error => "Error",
            };
            labelled(label, &safe_lines(&notice.text))
        }
        Cell::Local(output) => {
            let command = safe_line(&output.command);
            labelled(if command.is_empty() { "Output" } else { &command }, &output.text.safe_lines())
        }
        Cell::Run(summary) => run_lines(summary),
        Cell::Task(note) => task_lines(note),
    }
}

fn tool_lines(call: &ToolCall) -> Vec<String> {
    let mut lines = labelled("Tool", &safe_lines(&call.title));
    let label = match &call.outcome {
        CallOutcome::Denied(reason) => {
            lines.extend(labelled("Denied", &safe_lines(reason)));
            return lines;
        }
        CallOutcome::Done if call.is_quiet() => {
            lines.extend(labelled("Result", &[call.details(true).join(", ")]));
            return lines;
        }
        CallOutcome::Done => "Result",
        CallOutcome::Failed => "Error",
    };
    let output = call.diff.as_ref().map_or_else(|| call.output.safe_lines(), |diff| safe_lines(diff));
    let mut shown: Vec<String> = output.iter().take(RESULT_LINES).cloned().collect();
    if output.len() > RESULT_LINES {
        shown.push(format!("({} more lines)", output.len() - RESULT_LINES));
    }
    if shown.is_empty() {
        shown.push("no output".to_owned());
    }
    lines.extend(labelled(label, &shown));
    lines
}

fn todo_line(item: &TodoItem) -> String {
    let phase = match item.phase {
        TodoPhase::Completed => "done",
        TodoPhase::InProgress => "in progress",
        TodoPhase::Pending | TodoPhase::Other => "to do",
    };
    format!("{phase}: {}", safe_line(&item.text))
}

fn run_lines(summary: &RunSummary) -> Vec<String> {
    let details = summary.details().join(", ");
    if summary.is_success {
        return labelled("Done", &[details]);
    }
    labelled("Stopped", &[safe_lines(&summary.message).join(" "), details])
}

fn task_lines(note: &TaskNote) -> Vec<String> {
    let mut text = safe_line(&note.text()).into_owned();
    if note.duration_ms > 0 {
        text = format!("{text} ({})", duration(note.duration_ms));
    }
    labelled("Task", &[text])
}

/// The lines with a label before the first.
fn labelled(label: &str, lines: &[String]) -> Vec<String> {
    let Some((first, rest)) = lines.split_first() else { return vec![format!("{label}:")] };
    let mut labelled = vec![format!("{label}: {first}")];
    labelled.extend(rest.iter().cloned());
    labelled
}

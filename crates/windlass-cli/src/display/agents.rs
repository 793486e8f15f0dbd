//! Agents below the main one, for people: one line for each of their actions.

use super::{Display, Paint, command, is_unfit, retrying, shortened, unpriced};
use crate::terminal::visible;
use std::collections::HashMap;
use std::io;
use windlass::event::{TaskEnded, ToolStarted};
use windlass::{
    Event, EventKind,
    event::{AgentPath, Status, TaskKind, TaskStatus, ToolFinished},
    permission::{Behavior, DecisionReason},
};

/// Maximum number of lines that wait for the end of a line of the answer.
const MAX_HELD_LINES: usize = 100;

/// The running agents, and their lines that wait for the end of a line.
#[derive(Default)]
pub(super) struct Agents {
    types: HashMap<AgentPath, String>,
    held: Vec<(Paint, String)>,
    /// Number of lines beyond that maximum.
    left_out: usize,
}

impl Agents {
    /// Takes the lines that waited for the end of the line.
    pub(super) fn take_held(&mut self) -> Vec<(Paint, String)> {
        let mut held = std::mem::take(&mut self.held);
        match std::mem::take(&mut self.left_out) {
            0 => {}
            more => held.push((Paint::Dim, format!("  … {more} more lines of agents"))),
        }
        held
    }
}

impl Display {
    /// Shows an event of an agent below the main one. Its text is for its parent agent, and is not shown.
    pub(super) fn of_agent(&mut self, event: &Event) -> io::Result<()> {
        match &event.kind {
            EventKind::RunStarted(started) => {
                let kind = started.identity.as_ref().map_or("agent", |agent| agent.agent_type.as_str());
                self.agents.types.insert(event.agent.clone(), visible(kind));
                Ok(())
            }
            EventKind::RunFinished(_) => {
                self.agents.types.remove(&event.agent);
                Ok(())
            }
            kind => match line(kind, self.verbose) {
                Some((paint, text)) => self.say_of_agent(&event.agent, paint, &text),
                None => Ok(()),
            },
        }
    }

    /// Writes a line about an agent, indented below that of the call which started it.
    fn say_of_agent(&mut self, agent: &AgentPath, paint: Paint, text: &str) -> io::Result<()> {
        let indent = "  ".repeat(agent.tool_uses().len().min(8));
        let kind = self.agents.types.get(agent).map_or("agent", String::as_str);
        let text = format!("{indent}{kind}: {text}");
        if !self.mid_line {
            return self.note(paint, &text);
        }
        // The answer is being written: an agent in the background does not break its line.
        if self.agents.held.len() < MAX_HELD_LINES {
            self.agents.held.push((paint, text));
        } else {
            self.agents.left_out += 1;
        }
        Ok(())
    }

    /// Shows the end of an agent in the background.
    pub(super) fn task_ended(&mut self, ended: &TaskEnded) -> io::Result<()> {
        if ended.info.kind != TaskKind::LocalAgent {
            return Ok(());
        }
        let paint = if ended.status == TaskStatus::Completed { Paint::Dim } else { Paint::Yellow };
        self.note(paint, &format!("  {}", shortened(&ended.summary)))
    }
}

/// Returns the line about an event of an agent, if it has one.
fn line(kind: &EventKind, verbose: bool) -> Option<(Paint, String)> {
    match kind {
        EventKind::ToolStarted(started) => Some((Paint::Cyan, format!("● {}", title(started)))),
        EventKind::ToolFinished(finished) => failed(finished, verbose),
        // A call that was denied for lack of a host has a note of its own, with what would allow it.
        EventKind::PermissionResolved { tool, decision, .. }
            if decision.behavior == Behavior::Deny && decision.reason != DecisionReason::NobodyToAsk =>
        {
            Some((Paint::Red, format!("✗ {tool} denied: {}", decision.message)))
        }
        EventKind::Status(status) => match status {
            Status::Retrying(retry) => Some((Paint::Yellow, retrying(retry))),
            Status::FallingBack { from, to } => Some((Paint::Yellow, format!("{from} is overloaded; {to} takes over"))),
            Status::PriceUnknown { model } => Some((Paint::Yellow, unpriced(model))),
            Status::CompactionFailed { message } => {
                Some((Paint::Yellow, format!("the conversation was not summarized: {message}")))
            }
            Status::HooksRunning { message } => Some((Paint::Dim, message.clone())),
            Status::Notice { message } => Some((Paint::Yellow, message.clone())),
            _ => None,
        },
        _ => None,
    }
}

fn title(started: &ToolStarted) -> String {
    let command = command(&started.input).filter(|_| started.tool == "Bash");
    let title = command.map_or_else(|| started.title.clone(), |command| format!("$ {}", visible(&command)));
    let first = title.lines().next().unwrap_or_default();
    if first.len() < title.len() { format!("{} …", shortened(first)) } else { shortened(first) }
}

/// Returns the first line of a failed result.
fn failed(finished: &ToolFinished, verbose: bool) -> Option<(Paint, String)> {
    let text = match &finished.denied {
        Some(decision) if is_unfit(decision.reason) => decision.message.clone(),
        // The denial is shown already.
        Some(_) => return None,
        None if finished.result.is_error || verbose => finished.result.content.text(),
        None => return None,
    };
    let first = text.lines().find(|line| !line.trim().is_empty())?;
    let (paint, mark) = if finished.result.is_error { (Paint::Red, "✗ ") } else { (Paint::Dim, "  ") };
    Some((paint, format!("{mark}{}", shortened(first))))
}

#[cfg(test)]
mod tests;

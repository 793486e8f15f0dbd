//! Runs for people: the answer as it comes, and one line for each event beside it.

mod agents;

use crate::allowance;
use crate::ask::Question;
use crate::permissions::flags_for;
use crate::terminal::{Filter, Size, clean, visible};
use std::io::{self, Write};
use windlass::text::{clause, sentence};
use windlass::{
    Delta, Event, EventKind, JsonText, PermissionRequest,
    event::{Status, ToolFinished},
    permission::{Behavior, Decision, DecisionReason},
};
use windlass::{
    event::{RetryStatus, ToolStarted},
    permission::MatchedRule,
};

/// Colour of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Paint {
    Plain,
    Bold,
    Dim,
    Red,
    Green,
    Yellow,
    Cyan,
}

impl Paint {
    fn code(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Bold => "\u{1b}[1m",
            Self::Dim => "\u{1b}[2m",
            Self::Red => "\u{1b}[31m",
            Self::Green => "\u{1b}[32m",
            Self::Yellow => "\u{1b}[33m",
            Self::Cyan => "\u{1b}[36m",
        }
    }
}

/// A stream of output, with or without colours.
pub(crate) struct Pen {
    out: Box<dyn Write + Send>,
    colours: bool,
}

impl Pen {
    pub(crate) fn new(out: impl Write + Send + 'static, colours: bool) -> Self {
        Self { out: Box::new(out), colours }
    }

    /// Writes a line of windlass that includes foreign text: the text is cleaned.
    fn line(&mut self, paint: Paint, text: &str) -> io::Result<()> {
        let text = clean(text);
        let (on, off) = if self.colours && paint != Paint::Plain { (paint.code(), "\u{1b}[0m") } else { ("", "") };
        writeln!(self.out, "{on}{text}{off}")
    }
}

/// Maximum number of shown lines of one result.
const RESULT_LINES: usize = 6;
/// Maximum number of shown lines of one diff.
const DIFF_LINES: usize = 60;

/// Shows the events of a run.
pub(crate) struct Display {
    /// The answer, as it is written. `None`: it is not shown while it is written.
    text: Option<Pen>,
    /// The lines beside it.
    activity: Option<Pen>,
    filter: Filter,
    /// `true` if the last output was text without a line end.
    mid_line: bool,
    agents: agents::Agents,
    /// `true` if results are shown in full.
    pub(crate) verbose: bool,
}

impl Display {
    pub(crate) fn new(text: Option<Pen>, activity: Option<Pen>) -> Self {
        let agents = agents::Agents::default();
        Self { text, activity, filter: Filter::default(), mid_line: false, agents, verbose: false }
    }

    /// Returns `true` if lines beside the answer are shown.
    pub(crate) fn has_activity(&self) -> bool {
        self.activity.is_some()
    }

    /// Shows a line beside the answer.
    pub(crate) fn note(&mut self, paint: Paint, text: &str) -> io::Result<()> {
        if self.activity.is_none() {
            return Ok(());
        }
        self.end_line()?;
        match &mut self.activity {
            Some(pen) => pen.line(paint, text),
            None => Ok(()),
        }
    }

    /// Shows an event.
    pub(crate) fn event(&mut self, event: &Event) -> io::Result<()> {
        if !event.agent.is_main() {
            return self.of_agent(event);
        }
        match &event.kind {
            EventKind::BlockDelta { delta: Delta::Text(text), .. } => self.text(text),
            EventKind::BlockFinished { .. } | EventKind::RunFinished(_) => self.end_line(),
            EventKind::MessageWithdrawn { .. } => self.note(Paint::Yellow, "(the answer broke off and does not count)"),
            // Lines about tools are formatted only if they are shown, because their texts may be long.
            EventKind::ToolStarted(_) | EventKind::ToolFinished(_) if !self.has_activity() => Ok(()),
            EventKind::ToolStarted(started) => self.started(started),
            EventKind::ToolFinished(finished) => self.finished(finished),
            EventKind::PermissionResolved { tool, decision, .. } => self.resolved(tool, decision),
            EventKind::Status(status) => self.status(status),
            EventKind::TaskEnded(ended) => self.task_ended(ended),
            EventKind::RateLimit(limit) => match allowance::warning(limit) {
                Some(warning) => self.note(Paint::Yellow, &warning),
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }

    fn text(&mut self, piece: &str) -> io::Result<()> {
        let Some(pen) = &mut self.text else { return Ok(()) };
        let shown = self.filter.clean(piece);
        if let Some(last) = shown.chars().last() {
            self.mid_line = last != '\n';
            pen.out.write_all(shown.as_bytes())?;
            pen.out.flush()?;
        }
        Ok(())
    }

    /// Ends a line of text that is not ended.
    pub(crate) fn end_line(&mut self) -> io::Result<()> {
        if std::mem::take(&mut self.mid_line)
            && let Some(pen) = &mut self.text
        {
            self.filter = Filter::default();
            pen.out.write_all(b"\n")?;
            pen.out.flush()?;
        }
        for (paint, text) in self.agents.take_held() {
            self.note(paint, &text)?;
        }
        Ok(())
    }

    fn started(&mut self, started: &ToolStarted) -> io::Result<()> {
        let title = command(&started.input).filter(|_| started.tool == "Bash");
        let title = title.map_or_else(|| started.title.clone(), |command| format!("$ {}", visible(&command)));
        self.note(Paint::Cyan, &format!("● {title}"))?;
        match &started.decision {
            Some(decision) if decision.reason == DecisionReason::Rule || self.verbose => {
                self.note(Paint::Dim, &format!("  {}", decision.message))
            }
            _ => Ok(()),
        }
    }

    fn finished(&mut self, finished: &ToolFinished) -> io::Result<()> {
        if finished.denied.is_some() {
            // The verdict is shown already, or the text of the result names the error of the call.
            return match &finished.denied {
                Some(decision) if is_unfit(decision.reason) => {
                    self.note(Paint::Red, &format!("  ✗ {}", decision.message))
                }
                _ => Ok(()),
            };
        }
        if let Some(diff) = &finished.diff {
            return self.diff(diff);
        }
        let text = finished.result.content.text();
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        let max_lines = if self.verbose { 40 } else { RESULT_LINES };
        let hidden_lines = lines.len().saturating_sub(max_lines);
        // The end is the most useful part of a program's output, the beginning that of other results.
        let first_line = if finished.tool == "Bash" { hidden_lines } else { 0 };
        let paint = if finished.result.is_error { Paint::Red } else { Paint::Dim };
        if first_line > 0 {
            self.note(Paint::Dim, &format!("  … {hidden_lines} lines"))?;
        }
        for line in lines.iter().skip(first_line).take(max_lines) {
            self.note(paint, &format!("  {}", shortened(line)))?;
        }
        if first_line == 0 && hidden_lines > 0 {
            self.note(Paint::Dim, &format!("  … {hidden_lines} more lines"))?;
        }
        Ok(())
    }

    fn diff(&mut self, diff: &str) -> io::Result<()> {
        let lines: Vec<&str> = diff.lines().collect();
        for line in lines.iter().take(DIFF_LINES) {
            let paint = match line.chars().next() {
                Some('+') if !line.starts_with("+++") => Paint::Green,
                Some('-') if !line.starts_with("---") => Paint::Red,
                _ => Paint::Dim,
            };
            self.note(paint, &format!("  {line}"))?;
        }
        match lines.len().saturating_sub(DIFF_LINES) {
            0 => Ok(()),
            more => self.note(Paint::Dim, &format!("  … {more} more lines")),
        }
    }

    fn resolved(&mut self, tool: &str, decision: &Decision) -> io::Result<()> {
        // A call that was denied for lack of a host has a note of its own, with what would allow it.
        if decision.behavior != Behavior::Deny || decision.reason == DecisionReason::NobodyToAsk {
            return Ok(());
        }
        self.note(Paint::Red, &format!("✗ {tool} denied: {}", decision.message))
    }

    fn status(&mut self, status: &Status) -> io::Result<()> {
        match status {
            Status::Retrying(retry) => self.note(Paint::Yellow, &retrying(retry)),
            Status::FallingBack { from, to } => {
                self.note(Paint::Yellow, &format!("{from} is overloaded; {to} takes over"))
            }
            Status::PriceUnknown { model } => self.note(Paint::Yellow, &unpriced(model)),
            Status::CompactionFailed { message } => {
                self.note(Paint::Yellow, &format!("the conversation was not summarized: {message}"))
            }
            Status::HooksRunning { message } => self.note(Paint::Dim, message),
            Status::Notice { message } => self.note(Paint::Yellow, message),
            _ => Ok(()),
        }
    }

    /// Shows a question that another program answers.
    pub(crate) fn question(&mut self, request: &PermissionRequest) -> io::Result<()> {
        for row in Question::of(request, Size::USUAL.columns).rows {
            self.note(Paint::Yellow, &format!("? {row}"))?;
        }
        Ok(())
    }
}

/// Returns the warning about a model with an unknown price, in a session with a budget.
pub(crate) fn unpriced(model: &str) -> String {
    format!("the price of {model} is not known, so --max-budget-usd does not hold for it; settings can say the price")
}

/// Returns the reason why a call was denied that could not be asked about, and the flags that would allow it.
pub(crate) fn denied_note(tool: &str, decision: &Decision) -> Option<String> {
    if decision.behavior != Behavior::Deny || decision.reason != DecisionReason::NobodyToAsk {
        return None;
    }
    let rule = decision.rule.as_ref().map(|MatchedRule { rule, .. }| format!(" (rule {rule})")).unwrap_or_default();
    let message = sentence(&decision.message);
    let hint = match flags_for(&decision.suggestions) {
        Some(flags) => format!(" To allow it: {flags}"),
        None => String::new(),
    };
    Some(format!("{tool} was denied{rule}: {message}{hint}"))
}

/// Returns `true` if a call was refused because it cannot be read, which no verdict announces.
fn is_unfit(reason: DecisionReason) -> bool {
    matches!(reason, DecisionReason::InvalidInput | DecisionReason::UnknownTool | DecisionReason::ToolCheck)
}

pub(crate) fn retrying(retry: &RetryStatus) -> String {
    let seconds = retry.delay_ms as f64 / 1e3;
    let reason = clause(&retry.message);
    format!("{reason}; trying again in {seconds:.1} s ({} of {})", retry.attempt, retry.max_retries)
}

fn command(input: &JsonText) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Command {
        command: String,
    }
    input.to::<Command>().ok().map(|input| input.command)
}

fn shortened(line: &str) -> String {
    const MAX_CHARS: usize = 160;
    match line.char_indices().nth(MAX_CHARS) {
        Some((at, _)) => format!("{}…", line.get(..at).unwrap_or_default()),
        None => line.to_owned(),
    }
}

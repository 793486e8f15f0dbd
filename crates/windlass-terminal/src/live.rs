//! Composition of the live area: what may still change, above the input.

use crate::cell::todo_rows;
use crate::layout::{Layout, tokens};
use crate::presenter::{AgentRow, QueuedMessage, RunningCall, TerminalPresenter};
use crate::screen::{Caret, LiveArea, Size};
use crate::text::{Line, Span, safe_line, truncate, width};
use crate::theme::Role;
use std::time::Duration;

/// Time of one frame of the spinner.
const SPINNER_FRAME: Duration = Duration::from_millis(100);
/// Most rows of running calls, agents, tasks of the list, and queued messages.
const CALLS: usize = 3;
const AGENTS: usize = 4;
/// Most rows of agents beside a question.
const AGENTS_BESIDE: usize = 3;
const TODOS: usize = 5;
const QUEUED: usize = 3;
/// Rows of an area that has room for a row without text.
const ROOMY: usize = 8;

/// Rows of the input: the composer or a dialog, with the cursor in them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(clippy::exhaustive_structs, reason = "programs make it for each frame")]
pub struct InputArea {
    /// Rows, at most [`Size::live_columns`] wide.
    pub rows: Vec<Line>,
    /// Place of the cursor in the rows; hidden if `None`.
    pub caret: Option<Caret>,
    /// Row below the input, such as a status line.
    pub status: Option<Line>,
}

/// Options of the live area.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "options that programs set")]
pub struct LiveOptions {
    /// `true` to move the spinner and count seconds. Needs a frame each 100 ms while a run continues.
    pub animates: bool,
    /// `true` to show the model's list of tasks.
    pub shows_todos: bool,
}

impl Default for LiveOptions {
    fn default() -> Self {
        Self { animates: true, shows_todos: true }
    }
}

/// Time at which the live area changes by itself; `None` while nothing runs, or nothing moves.
#[must_use]
pub fn next_change(presenter: &TerminalPresenter, options: LiveOptions, now: Duration) -> Option<Duration> {
    presenter.activity().filter(|_| options.animates && presenter.questions().is_empty())?;
    let frames = now.as_millis() / SPINNER_FRAME.as_millis() + 1;
    u32::try_from(frames).ok().map(|frames| SPINNER_FRAME.saturating_mul(frames))
}

/// The live area at `now`, of at most [`Size::live_rows`].
///
/// From the top: the part of the answer that may still change, running calls, agents, tasks, the spinner, queued messages, the
/// input, and the row below it. The input has its rows first; the end of the answer gets those that are left.
#[must_use]
pub fn live_area(
    presenter: &TerminalPresenter,
    input: &InputArea,
    layout: &Layout<'_>,
    size: Size,
    options: LiveOptions,
    now: Duration,
) -> LiveArea {
    let layout = Layout { columns: size.live_columns(), ..*layout };
    let time = options.animates.then_some(now);
    let limit = size.live_rows();
    let spinner = spinner(presenter, &layout, time);
    let status = input.status.clone().filter(|_| limit > 2);
    let fixed = usize::from(status.is_some()) + usize::from(spinner.is_some() && has_spinner(size));
    let (shown, caret) = clip_input(input, limit.saturating_sub(fixed).max(1));
    let mut left = limit.saturating_sub(fixed + shown.len());
    let mut take = |rows: Vec<Line>, most: usize| {
        let most = most.min(left);
        let rows: Vec<Line> = rows.into_iter().take(most).collect();
        left -= rows.len();
        rows
    };
    // Beside a question, agents that work come first: the dialog leaves them their rows.
    let reserved = if presenter.questions().is_empty() { 0 } else { agent_room(size, presenter.agents().len()) };
    let mut agents = take(agent_rows(presenter.agents(), &layout, reserved.min(AGENTS)), reserved);
    let gap = take(vec![Line::new()], usize::from(limit >= ROOMY));
    let calls = take(call_rows(presenter.running_calls(), &layout, time), CALLS + 1);
    if agents.is_empty() {
        agents = take(agent_rows(presenter.agents(), &layout, AGENTS), AGENTS + 1);
    }
    let queued = take(queued_rows(presenter, &layout), QUEUED + 1);
    let todos = if options.shows_todos { todo_rows(presenter.todos(), &layout, TODOS) } else { Vec::new() };
    let todos = take(todos, TODOS);
    let tail = tail_rows(presenter, &layout, left);

    let mut rows = tail;
    rows.extend(calls);
    rows.extend(agents);
    rows.extend(todos);
    // The row without text separates the input from what is above, also from finished rows.
    rows.extend(gap);
    rows.extend(spinner.filter(|_| has_spinner(size)));
    rows.extend(queued);
    let above = rows.len();
    rows.extend(shown);
    rows.extend(status);
    LiveArea { rows, caret: caret.map(|caret| Caret { row: caret.row + above, ..caret }) }
}

/// `true` if the live area has a row for the spinner beside the four that a question needs.
pub(crate) fn has_spinner(size: Size) -> bool {
    size.live_rows() > 4
}

/// Rows that a dialog leaves to so many agents that work.
pub(crate) fn agent_room(size: Size, agents: usize) -> usize {
    if size.live_rows() >= ROOMY { agents.min(AGENTS_BESIDE) } else { 0 }
}

/// The rows of the input that fit, with the row of the cursor.
fn clip_input(input: &InputArea, limit: usize) -> (Vec<Line>, Option<Caret>) {
    let count = input.rows.len();
    let caret_row = input.caret.map_or(0, |caret| caret.row.min(count.saturating_sub(1)));
    let start = if count <= limit { 0 } else { (caret_row + 1).saturating_sub(limit) };
    let rows = input.rows.iter().skip(start).take(limit).cloned().collect();
    (rows, input.caret.map(|caret| Caret { row: caret_row - start, ..caret }))
}

/// The last rows of the answer that streams.
fn tail_rows(presenter: &TerminalPresenter, layout: &Layout<'_>, room: usize) -> Vec<Line> {
    let tail = presenter.tail();
    if room == 0 || tail.chunk.source.trim().is_empty() {
        return Vec::new();
    }
    let mut rows = if tail.chunk.continues { Vec::new() } else { vec![Line::new()] };
    rows.extend(tail.rows(layout));
    rows.split_off(rows.len().saturating_sub(room))
}

fn one_row(line: Line, columns: usize) -> Line {
    if line.width() <= columns {
        return line;
    }
    let (mut row, mut left) = (Line::new(), columns);
    for span in line.spans() {
        let text = truncate(span.text(), left);
        left = left.saturating_sub(width(&text));
        row.push(Span::of_safe(text.as_ref(), span.style()));
        if left == 0 {
            break;
        }
    }
    row
}

/// `12 s` or `3m 05s`, in whole seconds.
fn elapsed(now: Duration, since: Duration) -> String {
    let seconds = now.saturating_sub(since).as_secs();
    if seconds < 60 { format!("{seconds} s") } else { format!("{}m {:02}s", seconds / 60, seconds % 60) }
}

fn spinner(presenter: &TerminalPresenter, layout: &Layout<'_>, time: Option<Duration>) -> Option<Line> {
    let activity = presenter.activity()?;
    if !presenter.questions().is_empty() {
        // Nothing moves until the person has answered.
        return Some(layout.line(format!("{} Waits for your answer", layout.glyphs.dot), Role::Accent));
    }
    let frames = layout.glyphs.spinner;
    let frame = time.map_or(0, |now| (now.as_millis() / SPINNER_FRAME.as_millis()) as usize % frames.len().max(1));
    let glyph = if time.is_some() { frames.get(frame).copied().unwrap_or("*") } else { layout.glyphs.dot };
    let mut details = vec![activity.label.clone()];
    details.extend(time.map(|now| elapsed(now, activity.since)));
    if activity.output_tokens > 0 {
        details.push(format!("{} tokens", tokens(activity.output_tokens)));
    }
    details.push("Esc interrupts".to_owned());
    let mut line = layout.line(format!("{glyph} "), Role::Accent);
    line.push(layout.span(layout.details(details), Role::Faint));
    Some(one_row(line, layout.columns))
}

/// Details behind a name, each after a dot.
fn behind(details: &[String], layout: &Layout<'_>) -> Span {
    let text: String = details.iter().map(|detail| format!(" {} {detail}", layout.glyphs.dot)).collect();
    layout.span(text, Role::Faint)
}

fn call_rows(calls: &[RunningCall], layout: &Layout<'_>, time: Option<Duration>) -> Vec<Line> {
    let row = |call: &RunningCall| {
        let title = safe_line(call.title.lines().next().unwrap_or_default()).into_owned();
        let mut line = layout.line(format!("{} ", layout.glyphs.active), Role::Accent);
        line.push(layout.span(title, Role::Tool));
        let mut details = Vec::new();
        details.extend(time.map(|now| elapsed(now, call.since)).filter(|time| time != "0 s"));
        details.extend((!call.progress.is_empty()).then(|| call.progress.clone()));
        line.push(behind(&details, layout));
        one_row(line, layout.columns)
    };
    let mut rows: Vec<Line> = calls.iter().take(CALLS).map(row).collect();
    rows.extend(more(calls.len(), CALLS, "calls", layout));
    rows
}

/// Rows of agents, at most `most` and one that counts the others. Those that work come first.
fn agent_rows(agents: &[AgentRow], layout: &Layout<'_>, most: usize) -> Vec<Line> {
    let row = |agent: &AgentRow| {
        let mut line = Line::plain("  ".repeat(agent.path.tool_uses().len().min(4)));
        let glyph = if agent.is_done { layout.glyphs.done } else { layout.glyphs.active };
        line.push(layout.span(format!("{glyph} "), Role::Accent));
        line.push(layout.span(&agent.agent_type, Role::Tool));
        let mut details = Vec::new();
        details.extend((!agent.description.is_empty()).then(|| agent.description.clone()));
        details.push(format!("{} calls, {} tokens", agent.work.calls, tokens(agent.work.tokens)));
        details.extend((!agent.last.is_empty() && !agent.is_done).then(|| agent.last.clone()));
        line.push(behind(&details, layout));
        one_row(line, layout.columns)
    };
    let mut sorted: Vec<&AgentRow> = agents.iter().collect();
    sorted.sort_by_key(|agent| agent.is_done);
    let mut rows: Vec<Line> = sorted.into_iter().take(most).map(row).collect();
    rows.extend(more(agents.len(), most, "agents", layout));
    rows
}

fn queued_rows(presenter: &TerminalPresenter, layout: &Layout<'_>) -> Vec<Line> {
    let queued = presenter.queued();
    let row = |message: &QueuedMessage| {
        let place = if message.joins { "joins the run" } else { "waits for the end" };
        let place = format!(" {} {place}", layout.glyphs.dot);
        let mut line = layout.line(format!("  {} ", layout.glyphs.prompt), Role::Faint);
        let first = safe_line(message.text.lines().next().unwrap_or_default());
        let room = layout.columns.saturating_sub(line.width() + width(&place)).max(1);
        line.push(layout.span(truncate(&first, room), Role::Faint));
        line.push(layout.span(place, Role::Faint));
        one_row(line, layout.columns)
    };
    let mut rows: Vec<Line> = queued.iter().take(QUEUED).map(|message| row(message)).collect();
    rows.extend(more(queued.len(), QUEUED, "messages wait", layout));
    rows
}

fn more(count: usize, most: usize, noun: &str, layout: &Layout<'_>) -> Option<Line> {
    let more = count.checked_sub(most).filter(|more| *more > 0)?;
    Some(layout.line(format!("  {} {more} more {noun}", layout.glyphs.ellipsis), Role::Faint))
}

//! Output to standard output, by format.

use crate::allowance;
use crate::args::OutputFormat;
use crate::display::{Display, Paint, Pen, retrying};
use crate::terminal::{Terminal, clean};
use crate::warnings::{RunWarnings, WarningPlace};
use crate::writer::{Target, Writer};
use std::borrow::Cow;
use std::io::{self, Write};
use std::sync::Arc;
use windlass::text::visible_json;
use windlass::tool::Ids;
use windlass::tool::SystemIds;
use windlass::{Event, EventKind, JsonText, Outcome, RunResult, event::Status};
use windlass_protocol::{FrameMapper, FrameOptions, McpControl, PluginControl};

/// Number of buffered bytes at which frames are written. They are also written when no event is left to handle.
const ENOUGH: usize = 64 * 1024;

/// Output to standard output, with notes to standard error. No method waits for its readers.
pub(crate) struct Output {
    form: Form,
    writer: Writer,
    warnings: RunWarnings,
    /// `true` if standard output is a terminal: characters that terminals obey, or that are invisible, are then escaped
    /// in data.
    is_shown: bool,
}

enum Form {
    /// The answer.
    Text { display: Box<Display>, streams: bool },
    /// The result, or all messages, at the end.
    Json { mapper: Box<FrameMapper>, all: bool, lines: Vec<u8> },
    /// Messages as they happen.
    Stream { mapper: Box<FrameMapper>, waiting: Vec<u8> },
}

/// The format of the output.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OutputOptions {
    pub(crate) format: OutputFormat,
    pub(crate) verbose: bool,
    pub(crate) partial: bool,
    /// `true` if runs of hooks are reported.
    pub(crate) hooks: bool,
    /// `true` if the answer is data: the model's texts are then not printed.
    pub(crate) structured: bool,
    pub(crate) key_source: &'static str,
    pub(crate) terminal: Terminal,
}

impl Output {
    pub(crate) fn new(options: OutputOptions, writer: Writer) -> Self {
        let OutputOptions { format, verbose, partial, hooks, structured, key_source, terminal } = options;
        let mapper = || {
            let streams = format == OutputFormat::StreamJson;
            let frames = FrameOptions::default()
                .with_partial_messages(partial && streams)
                .with_hook_events(hooks && streams)
                .with_api_key_source(key_source);
            Box::new(FrameMapper::new(frames, random_bits()))
        };
        let form = match format {
            OutputFormat::Text => {
                let colours = |is_terminal: bool| is_terminal && terminal.colours;
                let streams = terminal.stdout && !structured;
                let text = streams.then(|| Pen::new(writer.to(Target::Out), colours(true)));
                let activity =
                    (terminal.stderr || verbose).then(|| Pen::new(writer.to(Target::Err), colours(terminal.stderr)));
                let mut display = Display::new(text, activity);
                display.verbose = verbose;
                Form::Text { display: Box::new(display), streams }
            }
            OutputFormat::Json => Form::Json { mapper: mapper(), all: verbose, lines: Vec::new() },
            OutputFormat::StreamJson => Form::Stream { mapper: mapper(), waiting: Vec::new() },
        };
        Self { form, writer, warnings: RunWarnings::default(), is_shown: terminal.stdout }
    }

    /// Sets the MCP servers for `system/init`.
    pub(crate) fn lists_mcp_servers(&mut self, servers: Arc<dyn McpControl>) {
        match &mut self.form {
            Form::Text { .. } => {}
            Form::Json { mapper, .. } | Form::Stream { mapper, .. } => mapper.lists_mcp_servers(Some(servers)),
        }
    }

    /// Sets the plugins for `system/init`.
    pub(crate) fn lists_plugins(&mut self, plugins: Arc<dyn PluginControl>) {
        match &mut self.form {
            Form::Text { .. } => {}
            Form::Json { mapper, .. } | Form::Stream { mapper, .. } => mapper.lists_plugins(Some(plugins)),
        }
    }

    /// Sets the agents for `system/init`.
    pub(crate) fn lists_agents(&mut self, names: Vec<String>) {
        match &mut self.form {
            Form::Text { .. } => {}
            Form::Json { mapper, .. } | Form::Stream { mapper, .. } => mapper.lists_agents(names),
        }
    }

    /// Sets the reason for which the run is stopped, if not by the user.
    pub(crate) fn stops_because(&mut self, reason: &str) {
        match &mut self.form {
            Form::Text { .. } => {}
            Form::Json { mapper, .. } | Form::Stream { mapper, .. } => mapper.stops_because(reason),
        }
    }

    /// Sets the output style for `system/init`.
    pub(crate) fn uses_style(&mut self, name: &str) {
        match &mut self.form {
            Form::Text { .. } => {}
            Form::Json { mapper, .. } | Form::Stream { mapper, .. } => mapper.uses_output_style(name),
        }
    }

    /// Handles an event.
    pub(crate) fn event(&mut self, event: &Event) -> io::Result<()> {
        self.warnings_of(event)?;
        match &mut self.form {
            Form::Text { display, .. } => {
                display.event(event)?;
            }
            Form::Json { mapper, all, lines } => {
                let mut frames = Vec::new();
                mapper.map(event, &mut frames);
                if *all {
                    lines.append(&mut frames);
                } else if matches!(event.kind, EventKind::RunFinished(_)) && event.agent.is_main() {
                    // Events of background work may follow.
                    *lines = frames;
                }
            }
            Form::Stream { mapper, waiting } => {
                mapper.map(event, waiting);
                if waiting.len() >= ENOUGH {
                    return self.flush();
                }
                return Ok(());
            }
        }
        // Without activity on the screen a user should see the reason for waiting. With activity shown, it is on the
        // screen already.
        if let EventKind::Status(Status::Retrying(retry)) = &event.kind
            && !self.shows_activity()
        {
            return self.note(&retrying(retry));
        }
        if let EventKind::RateLimit(limit) = &event.kind
            && let Some(warning) = allowance::warning(limit)
            && !self.shows_activity()
        {
            return self.note(&warning);
        }
        Ok(())
    }

    /// Writes the warnings of an event, and adds them to the next result.
    fn warnings_of(&mut self, event: &Event) -> io::Result<()> {
        for warning in self.warnings.of(&event.kind) {
            if let Form::Json { mapper, .. } | Form::Stream { mapper, .. } = &mut self.form {
                mapper.add_warning(&warning.text);
            }
            let is_shown = match warning.place {
                WarningPlace::Note => false,
                WarningPlace::Activity => self.shows_activity(),
                WarningPlace::Ending => true,
            };
            if !is_shown {
                self.note(&warning.text)?;
            }
        }
        Ok(())
    }

    fn shows_activity(&self) -> bool {
        matches!(&self.form, Form::Text { display, .. } if display.has_activity())
    }

    /// Writes a note to standard error, in every format.
    pub(crate) fn note(&mut self, text: &str) -> io::Result<()> {
        match &mut self.form {
            Form::Text { display, .. } if display.has_activity() => display.note(Paint::Yellow, text),
            // A host that closed standard error wants no notes.
            _ => writeln!(self.writer.to(Target::Note), "windlass: {}", clean(text)),
        }
    }

    /// Writes an error to standard error, which must not be left out.
    pub(crate) fn warn(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.writer.to(Target::Err), "windlass: {text}")
    }

    /// Writes the waiting frames. Called when no event is left to handle.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        if let Form::Stream { waiting, .. } = &mut self.form
            && !waiting.is_empty()
        {
            let mut out = self.writer.to(Target::Out);
            if self.is_shown {
                out.write_all(data(waiting, true).as_bytes())?;
            } else {
                out.write_all(waiting)?;
            }
            waiting.clear();
        }
        Ok(())
    }

    /// Ends the output of a run that could not start: machines get a result even then.
    pub(crate) fn refused(&mut self, session_id: &str, error: &str) -> io::Result<()> {
        match &mut self.form {
            Form::Text { .. } => return Ok(()),
            Form::Json { mapper, lines, .. } => mapper.refused(session_id, error, lines),
            Form::Stream { mapper, waiting } => mapper.refused(session_id, error, waiting),
        }
        self.end(None)
    }

    /// Writes the output of a slash command that needed no model.
    pub(crate) fn local(&mut self, session_id: &str, command: &str, text: &str) -> io::Result<()> {
        match &mut self.form {
            Form::Text { .. } => {
                let mut out = self.writer.to(Target::Out);
                return if self.is_shown { writeln!(out, "{}", clean(text)) } else { writeln!(out, "{text}") };
            }
            Form::Json { mapper, lines, .. } => mapper.local_output(session_id, command, text, lines),
            Form::Stream { mapper, waiting } => mapper.local_output(session_id, command, text, waiting),
        }
        self.end(None)
    }

    /// Ends the output of a run.
    pub(crate) fn end(&mut self, result: Option<&RunResult>) -> io::Result<()> {
        self.flush()?;
        let mut out = self.writer.to(Target::Out);
        match &mut self.form {
            Form::Text { display, streams: true } => display.end_line()?,
            Form::Text { streams: false, .. } => {
                if let Some(result) = result.filter(|result| has_answer(&result.outcome)) {
                    let structured = result.structured_output.as_ref().map(JsonText::as_str);
                    let shown = structured.map(|json| data(json.as_bytes(), self.is_shown));
                    writeln!(out, "{}", shown.as_deref().unwrap_or(&result.text).trim_end_matches('\n'))?;
                }
            }
            Form::Json { all, lines, .. } => {
                let text = data(lines, self.is_shown);
                if *all {
                    writeln!(out, "[{}]", text.trim_end().replace('\n', ","))?;
                } else if let Some(last) = text.lines().rfind(|line| line.starts_with("{\"type\":\"result\"")) {
                    writeln!(out, "{last}")?;
                }
            }
            Form::Stream { .. } => {}
        }
        Ok(())
    }
}

/// Returns `true` if the model finished its answer, regardless of background work.
fn has_answer(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::BackgroundStopped { .. }) || !windlass_protocol::is_error(outcome)
}

/// Returns JSON for the reader of standard output. A terminal gets characters that it would obey or not show as
/// `\uXXXX`.
fn data(json: &[u8], is_shown: bool) -> Cow<'_, str> {
    let text = String::from_utf8_lossy(json);
    match text {
        Cow::Borrowed(text) if is_shown => visible_json(text),
        text if is_shown => Cow::Owned(visible_json(&text).into_owned()),
        text => text,
    }
}

/// Returns a stream of bits for the ids of frames: seeded by the operating system once, so that no frame costs a system
/// call.
fn random_bits() -> impl FnMut() -> u128 + Send + 'static {
    let seed = SystemIds::default().bits();
    let (mut state, mixed) = (seed as u64, (seed >> 64) as u64);
    move || {
        let mut next = || {
            // SplitMix64.
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        };
        (u128::from(next() ^ mixed) << 64) | u128::from(next())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_terminal_gets_data_escaped() {
        let json = "{\"a\":\"\u{202e}\u{9b}2J\u{200b}e\u{301}\"}";
        assert_eq!(data(json.as_bytes(), false), json);
        let shown = data(json.as_bytes(), true);
        assert_eq!(shown, "{\"a\":\"\\u202e\\u009b2J\\u200be\u{301}\"}");
        let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!(read(&shown), read(json));
    }
}

//! Permission requests at the terminal.

mod question;
mod rows;

pub(crate) use question::Question;

use crate::terminal::{Size, forget_input};
use std::io::{BufRead, Write, stderr, stdin};
use std::sync::Arc;
use tokio::sync::{Mutex, MutexGuard, Semaphore};
use windlass::{PermissionAnswer, PermissionRequest, permission::CanUseTool};

/// Asks the person at the terminal, one question at a time. Clones share the
/// terminal.
#[derive(Debug, Clone)]
pub(crate) struct AskAtTerminal {
    /// Held by each writer to the terminal: a question stays the last text on the screen until it is answered.
    screen: Arc<Mutex<()>>,
    /// Questions that may be asked, because all earlier output has been shown.
    due: Arc<Semaphore>,
}

impl AskAtTerminal {
    pub(crate) fn new() -> Self {
        Self { screen: Arc::default(), due: Arc::new(Semaphore::new(0)) }
    }

    /// Waits until no question is on the screen.
    pub(crate) async fn screen(&self) -> MutexGuard<'_, ()> {
        self.screen.lock().await
    }

    /// Records that all output before the next question has been shown.
    pub(crate) fn shown(&self) {
        self.due.add_permits(1);
    }
}

#[async_trait::async_trait]
impl CanUseTool for AskAtTerminal {
    async fn can_use_tool(&self, request: PermissionRequest) -> PermissionAnswer {
        let unasked = || PermissionAnswer::deny("The question could not be put to the user, so the call was denied.");
        match self.due.acquire().await {
            Ok(due) => due.forget(),
            Err(_) => return unasked(),
        }
        let _screen = self.screen.lock().await;
        let mut open = OpenQuestion(true);
        // Standard error is not locked: after an interrupt the user wants to read how the run ends, while the
        // thread still waits for a line.
        let asked = tokio::task::spawn_blocking(move || {
            let mut terminal =
                Dialog { size: Size::of_stderr(), input: stdin().lock(), output: stderr(), forget: forget_input };
            terminal.ask(&request)
        })
        .await;
        open.0 = false;
        match asked {
            Ok(Ok(answer)) => answer,
            _ => unasked(),
        }
    }
}

/// A question whose line is still open on the screen.
struct OpenQuestion(bool);

impl Drop for OpenQuestion {
    fn drop(&mut self) {
        if self.0 {
            let _ = writeln!(stderr());
        }
    }
}

/// Dialog about one question, with its input and output.
struct Dialog<I, O> {
    size: Size,
    input: I,
    output: O,
    /// Discards input that was typed before the question could be read.
    forget: fn(),
}

impl<I: BufRead, O: Write> Dialog<I, O> {
    /// Asks a question and reads the answer. The end of input is a no. A question that does not fit on the screen is
    /// shown page by page: a yes is possible after the last page.
    fn ask(&mut self, request: &PermissionRequest) -> std::io::Result<PermissionAnswer> {
        let denied = || PermissionAnswer::deny("The user did not allow the call.");
        let question = Question::of(request, self.size.columns);
        let prompt = format!("Allow it? {}: ", choices(question.always.len()));
        // An empty row above, and the row of the prompt with the answer.
        let prompt_rows = 2 + prompt.len() / self.size.columns.max(1);
        let pages = question.rows.chunks(self.size.rows.saturating_sub(prompt_rows).max(MIN_ROWS));
        let (mut shown, all) = (0, question.rows.len());
        writeln!(self.output)?;
        for page in pages {
            if shown > 0 && !self.turns_page(&format!("-- {shown} of {all} lines. Enter: more, n: no: "))? {
                return Ok(denied());
            }
            for row in page {
                writeln!(self.output, "{row}")?;
            }
            shown += page.len();
        }
        (self.forget)();
        loop {
            let Some(line) = self.line(&prompt)? else { return Ok(denied()) };
            match line.as_str() {
                "y" | "yes" => return Ok(PermissionAnswer::allow()),
                "n" | "no" => return Ok(denied()),
                chosen => {
                    if let Some(update) = alternative(chosen).and_then(|index| question.always.get(index)) {
                        return Ok(PermissionAnswer::Allow { updated_input: None, updates: vec![update.clone()] });
                    }
                }
            }
        }
    }

    /// Asks whether to show the next page.
    fn turns_page(&mut self, prompt: &str) -> std::io::Result<bool> {
        let line = self.line(prompt)?;
        Ok(line.is_some_and(|line| !matches!(line.as_str(), "n" | "no")))
    }

    /// Reads the text that is typed behind a prompt; `None` at the end of input.
    fn line(&mut self, prompt: &str) -> std::io::Result<Option<String>> {
        write!(self.output, "{prompt}")?;
        self.output.flush()?;
        let mut line = String::new();
        let read = self.input.read_line(&mut line)?;
        Ok((read > 0).then(|| line.trim().to_lowercase()))
    }
}

/// Returns the answers that the prompt names, with `alternatives` choices for "always".
fn choices(alternatives: usize) -> String {
    let more: String = (2..=alternatives).map(|number| format!(" [a{number}]")).collect();
    if alternatives == 0 { "[y]es [n]o".to_owned() } else { format!("[y]es [n]o [a]lways in this session{more}") }
}

/// Returns the index of the alternative that an answer chooses: `a` is the first, `a2` the second.
fn alternative(answer: &str) -> Option<usize> {
    match answer {
        "a" | "always" | "a1" => Some(0),
        _ => answer.strip_prefix('a')?.parse::<usize>().ok()?.checked_sub(1),
    }
}

/// Rows of a page on the smallest terminal.
const MIN_ROWS: usize = 3;

#[cfg(test)]
mod tests;

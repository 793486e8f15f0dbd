//! The conversation as lines: for screen readers, and terminals without control sequences.
//!
//! The terminal itself edits the lines that the person writes. Each line is a prompt, or the answer to the question that
//! stands above.

use super::App;
use super::end::TerminalEnd;
use crate::dialog::DialogRowKind;
use crate::input::TerminalInput;
use crate::keys::{Key, KeyCode};
use crate::live::InputArea;
use crate::text::Line;
use std::time::Duration;
use windlass_conversation::Request;

/// Rows of a dialog that is written out whole.
const ALL_ROWS: usize = 100_000;
/// Time between two keys of an answer, longer than any pause that tells words from letters.
const APART: Duration = Duration::from_secs(1);

/// Lines below a question and a list.
const ANSWER: &str = "Answer with a letter, a number or a text, and Enter. The word esc closes the question.";
const CHOOSE: &str = "Write the number of one and Enter. An empty line closes the list.";

impl App {
    /// Takes bytes of lines.
    pub(super) fn typed_lines(&mut self, bytes: &[u8]) {
        if bytes.is_empty() {
            return self.leave(TerminalEnd::Left);
        }
        self.plain.bytes.extend_from_slice(bytes);
        while let Some(end) = self.plain.bytes.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.plain.bytes.drain(..=end).collect();
            let line = String::from_utf8_lossy(&line);
            self.line(line.trim_end_matches(['\r', '\n']));
        }
    }

    fn line(&mut self, line: &str) {
        self.surface.request_frame();
        self.hint = None;
        if !self.dialogs.is_empty() {
            return self.answer_line(line);
        }
        if self.picker.is_some() {
            return self.choose_line(line);
        }
        let now = self.now();
        for input in [TerminalInput::Paste(line.to_owned()), enter()] {
            for action in self.prompt.handle(input, now) {
                self.act(action);
            }
        }
    }

    /// Answers the question above: with a letter or a number, or with a text where one is asked for.
    fn answer_line(&mut self, line: &str) {
        let line = line.trim();
        let question = self.dialogs.shown().cloned();
        let letter = match line.to_lowercase().as_str() {
            "yes" => "y".to_owned(),
            "no" => "n".to_owned(),
            other => other.to_owned(),
        };
        let is_letters = letter.split_whitespace().all(|word| word.chars().count() == 1);
        if line.eq_ignore_ascii_case("esc") {
            return self.answer_key(TerminalInput::Key(Key::new(KeyCode::Escape)));
        }
        if is_letters {
            for c in letter.chars().filter(|c| !c.is_whitespace()) {
                self.answer_key(TerminalInput::Key(Key::char(c)));
            }
        } else if self.dialogs.reads_letters() {
            self.hint = Some("Answer with one of the letters above, and Enter.".to_owned());
            return;
        } else {
            self.answer_key(TerminalInput::Paste(line.to_owned()));
        }
        // A letter may answer by itself.
        if self.dialogs.shown() == question.as_ref() {
            self.answer_key(enter());
        }
    }

    fn answer_key(&mut self, input: TerminalInput) {
        self.plain.time += APART;
        let result = self.dialogs.handle(input, self.plain.time);
        self.dialog_result(result, self.plain.time);
        self.plain.time += APART;
        if let Some(result) = self.dialogs.tick(self.plain.time) {
            self.dialog_result(result, self.plain.time);
        }
        self.dialogs.drawn(self.plain.time);
    }

    /// Chooses the entry with a number; an empty line closes the list.
    fn choose_line(&mut self, line: &str) {
        let Some(choosing) = self.picker.take() else { return };
        let number = line.trim().parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        match number.and_then(|at| choosing.picker.nth(at)) {
            Some(choice) => self.chosen(choice),
            None => self.hint = Some("Nothing was chosen.".to_owned()),
        }
    }

    /// Stops the run, or ends the program while nothing runs.
    pub(super) fn interrupt_lines(&mut self, code: i32) {
        if self.conversation.conversation().is_busy() {
            self.is_interrupting = true;
            self.request("interrupt", Request::Interrupt { cancels_queued: true });
        } else {
            self.leave(TerminalEnd::Signal(code));
        }
    }

    /// Lines of the question, the list or the hint that is open, unless they are written already.
    pub(super) fn plain_area(&mut self) -> InputArea {
        let lines = self.open_lines();
        if lines == self.plain.asked {
            return InputArea::default();
        }
        InputArea { rows: lines.into_iter().map(Line::plain).collect(), ..InputArea::default() }
    }

    /// The lines that are open were written.
    pub(super) fn plain_drawn(&mut self) {
        self.plain.time += APART;
        self.dialogs.drawn(self.plain.time);
        self.plain.asked = self.open_lines();
    }

    fn open_lines(&mut self) -> Vec<String> {
        let columns = self.surface.size().columns();
        self.dialogs.resize(columns, ALL_ROWS);
        if let Some(view) = self.dialogs.view() {
            let rows = view.rows.iter().filter(|row| row.kind != DialogRowKind::Hint);
            let mut lines: Vec<String> = rows.map(|row| row.text.clone()).collect();
            if let Some(first) = lines.first_mut() {
                first.insert_str(0, "Question: ");
            }
            let hint = self.hint.as_deref().map_or(ANSWER.to_owned(), |hint| format!("Hint: {hint}"));
            lines.push(hint);
            return lines;
        }
        if let Some(choosing) = &self.picker {
            let mut lines = vec![format!("List: {}", choosing.title)];
            lines.extend(choosing.picker.numbered());
            lines.push(CHOOSE.to_owned());
            return lines;
        }
        self.hint.iter().map(|hint| format!("Hint: {hint}")).collect()
    }
}

fn enter() -> TerminalInput {
    TerminalInput::Key(Key::new(KeyCode::Enter))
}

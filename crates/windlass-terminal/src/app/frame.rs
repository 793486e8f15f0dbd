//! Frames: the input of the live area, and the pages of the transcript.

use super::App;
use super::command::RunningCommand;
use crate::cell::Fold;
use crate::input::TerminalInput;
use crate::live::InputArea;
use crate::pager::{Pager, PagerResult};
use crate::prompt_area::{PromptExtras, dialog_area, dialog_room, prompt_area};
use crate::screen::Drawn;
use crate::status_line::status_line;
use std::io;

impl App {
    /// Draws what has changed.
    pub(super) fn draw(&mut self) -> io::Result<()> {
        let now = self.now();
        if self.pager.is_none() {
            let input = self.input_area();
            // Without a frame that is due, the screen shows the rows already.
            let is_shown = match self.surface.draw(&input)? {
                Drawn::Written => true,
                Drawn::Unchanged => self.surface.due().is_none(),
                Drawn::Busy => false,
            };
            if is_shown {
                self.dialogs.drawn(now);
            }
        }
        Ok(())
    }

    /// Tells a person who looks elsewhere.
    pub(super) fn notify(&mut self, text: &str) {
        // A terminal that is gone ends the loop with its next frame.
        let _ = self.surface.notify(text);
    }

    /// Shows the transcript on the alternate screen.
    pub(super) fn show_transcript(&mut self) {
        let size = self.surface.size();
        let layout = self.surface.layout();
        let rows = self.surface.transcript().rows(&layout, Fold::Expanded);
        let pager = match self.pager.take() {
            Some(mut pager) => {
                pager.replace(rows);
                pager
            }
            None => Pager::new("Transcript", rows, size),
        };
        self.pager = Some(pager);
        self.draw_page();
    }

    fn draw_page(&mut self) {
        let Some(pager) = &self.pager else { return };
        let rows = pager.view(&self.surface.layout(), self.surface.size());
        // A terminal that is gone ends the loop with its next frame.
        let _ = self.surface.draw_page(&rows);
    }

    /// Takes a key for the transcript.
    pub(super) fn page(&mut self, input: &TerminalInput) {
        let (TerminalInput::Key(key), Some(pager)) = (input, &mut self.pager) else { return };
        if pager.handle(*key, self.surface.size()) == PagerResult::Closed {
            self.pager = None;
            let _ = self.surface.leave_page();
            return;
        }
        self.draw_page();
    }

    /// The prompt or the dialog that is shown.
    fn input_area(&mut self) -> InputArea {
        if self.is_leaving {
            return InputArea::default();
        }
        let size = self.surface.size();
        let (columns, rows) = dialog_room(size);
        self.dialogs.resize(columns, rows);
        if self.dialogs.view().is_none()
            && let Some(area) = self.picker_rows(size.live_rows())
        {
            return area;
        }
        let layout = self.surface.layout();
        if let Some(view) = self.dialogs.view() {
            return dialog_area(&view, &layout);
        }
        let status = status_line(self.surface.presenter().status(), self.prompt.permission_mode(), &layout);
        let running = self.command.as_ref().map(RunningCommand::row);
        let extras = PromptExtras { hint: self.hint.clone().or(running), status: Some(status) };
        prompt_area(&self.prompt, extras, &layout, size)
    }
}

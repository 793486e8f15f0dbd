//! Frames: the input of the live area, and the title of the window.

use super::App;
use super::command::RunningCommand;
use crate::live::InputArea;
use crate::prompt_area::{PromptExtras, dialog_area, dialog_room, prompt_area};
use crate::screen::Drawn;
use crate::status_line::status_line;

use std::io;

impl App {
    /// Draws what has changed.
    pub(super) fn draw(&mut self) -> io::Result<()> {
        let now = self.now();
        self.watch_status();
        // A terminal that does not read gets the newest state once it does.
        if self.surface.is_blocked() {
            return Ok(());
        }
        self.signal()?;
        if self.page.is_none() {
            let input = self.input_area();
            // Without a frame that is due, the screen shows the rows already.
            let is_shown = match self.surface.draw(&input)? {
                Drawn::Written => true,
                Drawn::Unchanged => self.surface.due().is_none(),
                Drawn::Busy => false,
            };
            match (is_shown, self.is_plain) {
                (true, false) if self.surface.is_blocked() => self.unread_question = self.dialogs.view(),
                (true, false) => self.dialogs.drawn(now),
                (true, true) => self.plain_drawn(),
                (false, _) => {}
            }
        }
        Ok(())
    }

    /// Continues on a terminal that reads again.
    pub(super) fn writable(&mut self) -> io::Result<()> {
        if !self.surface.flush()? {
            return Ok(());
        }
        // The question counts as shown if the frame that was read shows it as it is now.
        let unread = self.unread_question.take();
        if unread.is_some() && unread == self.dialogs.view() {
            let now = self.now();
            self.dialogs.drawn(now);
        }
        self.draw_page();
        Ok(())
    }

    /// Sets the title of the window and the mark of work, where they have changed.
    fn signal(&mut self) -> io::Result<()> {
        let status = self.surface.presenter().status();
        let name = status.title.clone().unwrap_or_else(|| self.project.clone());
        let is_running = status.is_running;
        let is_waiting = !self.surface.presenter().questions().is_empty();
        let mark = if is_waiting { "? " } else { "" };
        let title = if name.is_empty() { format!("{mark}windlass") } else { format!("{mark}{name} - windlass") };
        self.surface.set_title(&title)?;
        if self.shows_progress { self.surface.set_progress(is_running && !is_waiting) } else { Ok(()) }
    }

    /// Tells a person who looks elsewhere.
    pub(super) fn notify(&mut self, text: &str) {
        // A terminal that is gone ends the loop with its next frame.
        let _ = self.surface.notify(text);
    }

    /// The prompt or the dialog that is shown.
    fn input_area(&mut self) -> InputArea {
        if self.is_leaving {
            return InputArea::default();
        }
        if self.is_plain {
            return self.plain_area();
        }
        let size = self.surface.size();
        let (columns, rows) = dialog_room(size, self.surface.presenter().agents().len());
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
        let usual = || status_line(self.surface.presenter().status(), self.prompt.permission_mode(), &layout);
        let status = self.own_status().unwrap_or_else(usual);
        let running = self.command.as_ref().map(RunningCommand::row);
        let extras = PromptExtras { hint: self.hint.clone().or(running), status: Some(status) };
        prompt_area(&self.prompt, extras, &layout, size)
    }
}

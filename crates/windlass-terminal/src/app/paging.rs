//! Pages on the alternate screen, shown and closed.

use super::App;
use super::page::{Page, PageSource};
use crate::input::TerminalInput;
use crate::pager::{Pager, PagerMove, PagerResult};
use crate::screen::Drawn;
use crate::text::Line;

impl App {
    /// Shows the whole transcript, from its end.
    pub(super) fn show_transcript(&mut self) {
        self.show_page("Transcript", PageSource::Transcript);
    }

    /// Shows a page; a conversation in lines writes it.
    pub(super) fn show_page(&mut self, title: &str, source: PageSource) {
        let rows = source.rows(self.surface.transcript(), &self.surface.layout());
        if self.is_plain {
            let lines: Vec<String> = rows.iter().map(Line::text).collect();
            // A terminal that is gone ends the loop with its next frame.
            if matches!(self.surface.say(lines.clone()), Ok(Drawn::Busy)) {
                self.local_output(&lines.join("\n"));
            }
            return;
        }
        let size = self.surface.size();
        let mut pager = Pager::new(title, rows, size);
        if !matches!(source, PageSource::Transcript) {
            pager.apply(PagerMove::Start, size);
        }
        self.page = Some(Page { source, pager });
        self.draw_page();
    }

    /// Lays the page out for another size.
    pub(super) fn renew_page(&mut self) {
        let Some(page) = &mut self.page else { return };
        let rows = page.source.rows(self.surface.transcript(), &self.surface.layout());
        page.pager.replace(rows);
        self.draw_page();
    }

    /// Draws the page that is shown, if there is one.
    pub(super) fn draw_page(&mut self) {
        let Some(page) = &self.page else { return };
        let rows = page.pager.view(&self.surface.layout(), self.surface.size());
        // A terminal that is gone ends the loop with its next frame.
        let _ = self.surface.draw_page(&rows);
    }

    /// Takes a key for the page.
    pub(super) fn page_key(&mut self, input: &TerminalInput) {
        let (TerminalInput::Key(key), Some(page)) = (input, &mut self.page) else { return };
        if page.pager.handle(*key, self.surface.size()) == PagerResult::Closed {
            self.page = None;
            let _ = self.surface.leave_page();
            return;
        }
        self.draw_page();
    }
}

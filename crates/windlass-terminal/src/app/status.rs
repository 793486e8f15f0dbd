//! The row below the prompt, written by the command of the person.

use super::App;
use super::services::Outcome;
use crate::status_line::status_json;
use crate::text::{Line, colored_line};
use std::sync::Arc;

impl App {
    /// Notes a change of the facts, and starts the command if it is due.
    pub(super) fn watch_status(&mut self) {
        if !self.services.has_status_command() || self.is_leaving {
            return;
        }
        let now = self.now();
        let facts = status_json(self.surface.presenter().status(), self.services.version());
        let command = &mut self.status_command;
        command.look(&facts, now);
        if command.due().is_none_or(|due| due > now) {
            return;
        }
        (command.due, command.started, command.is_running) = (None, Some(now), true);
        command.facts = Some(facts.clone());
        let services = Arc::clone(&self.services);
        self.jobs.spawn(async move { Outcome::StatusRow(services.status_row(&facts).await) });
    }

    /// Takes the row that the command has written. Without one the row of the terminal stands there.
    pub(super) fn status_row(&mut self, row: Option<String>) {
        self.status_command.is_running = false;
        self.status_command.row = row;
        self.surface.request_frame();
    }

    /// The row as it is shown.
    pub(super) fn own_status(&self) -> Option<Line> {
        let mut line = Line::plain("  ");
        line.extend(colored_line(self.status_command.row.as_ref()?));
        Some(line)
    }
}

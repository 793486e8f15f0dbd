//! The row below the prompt that a command of the person writes.

use super::App;
use super::services::Outcome;
use crate::status_line::status_json;
use crate::text::{Line, colored_line};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// Shortest time between two starts of the command.
const PAUSE: Duration = Duration::from_millis(300);

/// State of the command.
#[derive(Debug, Default)]
pub(super) struct StatusCommand {
    /// Facts that the command was given last.
    facts: Option<Value>,
    /// Time of the last start.
    started: Option<Duration>,
    is_running: bool,
    /// Time of the next start, if facts have changed.
    due: Option<Duration>,
    row: Option<String>,
}

impl StatusCommand {
    /// Time at which the command is to be started; `None` while no fact has changed.
    pub(super) fn due(&self) -> Option<Duration> {
        self.due.filter(|_| !self.is_running)
    }

    /// Tells the facts. Times that pass are none: the command would never rest.
    fn look(&mut self, facts: &Value, now: Duration) {
        if self.facts.as_ref() != Some(facts) && self.due.is_none() {
            self.due = Some(self.started.map_or(now, |started| now.max(started + PAUSE)));
        }
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_command_starts_only_for_changes_and_not_too_often() {
        let at = Duration::from_millis;
        let mut command = StatusCommand::default();
        command.look(&json!(1), at(10));
        assert_eq!(command.due(), Some(at(10)));
        (command.due, command.started, command.facts) = (None, Some(at(10)), Some(json!(1)));
        command.look(&json!(1), at(50));
        assert_eq!(command.due(), None, "nothing has changed");
        command.look(&json!(2), at(60));
        command.look(&json!(3), at(90));
        assert_eq!(command.due(), Some(at(310)));
        command.is_running = true;
        assert_eq!(command.due(), None, "one at a time");
    }
}

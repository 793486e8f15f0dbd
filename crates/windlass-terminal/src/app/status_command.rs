//! The row below the prompt that a command of the person writes.

use serde_json::Value;
use std::time::Duration;

/// Shortest time between two starts of the command.
const PAUSE: Duration = Duration::from_millis(300);

/// State of the command.
#[derive(Debug, Default)]
pub(super) struct StatusCommand {
    /// Facts that the command was given last.
    pub(super) facts: Option<Value>,
    /// Time of the last start.
    pub(super) started: Option<Duration>,
    pub(super) is_running: bool,
    /// Time of the next start, if facts have changed.
    pub(super) due: Option<Duration>,
    pub(super) row: Option<String>,
}

impl StatusCommand {
    /// Time at which the command is to be started; `None` while no fact has changed.
    pub(super) fn due(&self) -> Option<Duration> {
        self.due.filter(|_| !self.is_running)
    }

    /// Tells the facts. Times that pass are none: the command would never rest.
    pub(super) fn look(&mut self, facts: &Value, now: Duration) {
        if self.facts.as_ref() != Some(facts) && self.due.is_none() {
            self.due = Some(self.started.map_or(now, |started| now.max(started + PAUSE)));
        }
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

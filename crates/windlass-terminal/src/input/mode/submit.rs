//! Sending of the prompt.

use super::{InputAction, InputMode, RunActivity};
use windlass_conversation::Priority;

impl InputMode {
    /// Sends the text. While a run continues, `steers` decides between the run and the queue behind it.
    pub(super) fn enter(&mut self, steers: bool, actions: &mut Vec<InputAction>) {
        if self.composer.continue_line() {
            return self.completed(actions);
        }
        let submission = self.composer.submission();
        if submission.is_blank() {
            return;
        }
        let command = self.composer.expanded();
        if let Some(command) = command.strip_prefix('!') {
            return self.run_command(command.trim(), actions);
        }
        self.leave_history(actions);
        let prompt = self.composer.take();
        self.record(prompt.clone(), actions);
        let is_running = self.run == RunActivity::Running;
        let priority = if is_running && steers { Priority::Next } else { Priority::Later };
        let number = self.queue.push(prompt, priority, is_running);
        actions.push(InputAction::Submit { number, submission, priority });
        self.completed(actions);
    }

    fn run_command(&mut self, command: &str, actions: &mut Vec<InputAction>) {
        if command.is_empty() {
            return actions.push(InputAction::Hint("Write a command behind the exclamation mark.".to_owned()));
        }
        let command = command.to_owned();
        self.leave_history(actions);
        let prompt = self.composer.take();
        self.record(prompt, actions);
        actions.push(InputAction::RunCommand(command));
        self.completed(actions);
    }
}

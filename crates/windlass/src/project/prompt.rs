//! Prompts that name a custom command.

use super::{LoadedProject, ProjectError};
use crate::session::PromptInput;
use std::sync::Arc;
use windlass_project::{Commands, load_commands};
use windlass_types::ContentBlock;

impl LoadedProject {
    /// The custom slash commands of files and plugins. They are read once, and again when plugins change.
    pub fn commands(&self) -> Arc<Commands> {
        let known = self.shared.commands.lock().clone();
        known.unwrap_or_else(|| self.reread_commands())
    }

    pub(super) fn reread_commands(&self) -> Arc<Commands> {
        let commands = load_commands(self.places(), &self.read.settings).with_plugins(&self.plugins());
        let commands = Arc::new(commands);
        *self.shared.commands.lock() = Some(Arc::clone(&commands));
        commands
    }

    /// The prompt that a text stands for: that of the custom command that it names (`/fix 12`), or the text itself. A
    /// [query](crate::query()) of the project does this with its prompt; for a session it is up to the program, because not
    /// every text comes from the user.
    ///
    /// # Errors
    /// The prompt would be too long.
    pub fn expand(&self, text: String) -> Result<String, ProjectError> {
        let Some(called) = text.strip_prefix('/') else { return Ok(text) };
        let (name, arguments) = called.split_once(char::is_whitespace).unwrap_or((called, ""));
        match self.commands().get(name) {
            Some(command) => Ok(command.expand(arguments)?),
            None => Ok(text),
        }
    }

    /// The prompt of a query, behind what the session's agent begins a new session with.
    pub(crate) fn prompt(&self, prompt: PromptInput, initial: Option<&str>) -> Result<PromptInput, ProjectError> {
        let PromptInput { mut blocks, mut is_expanded } = prompt;
        if let [ContentBlock::Text { text, .. }] = blocks.as_mut_slice() {
            let expanded = self.expand(text.clone())?;
            is_expanded |= expanded != *text;
            *text = expanded;
        }
        let Some(initial) = initial else { return Ok(PromptInput { blocks, is_expanded }) };
        let initial = self.expand(initial.to_owned())?;
        match blocks.as_mut_slice() {
            [ContentBlock::Text { text, .. }] if text.trim().is_empty() => *text = initial,
            [ContentBlock::Text { text, .. }] => *text = format!("{initial}\n\n{text}"),
            _ => blocks.insert(0, ContentBlock::text(initial)),
        }
        // One text holds both, and the words of the agent's file are not the user's.
        Ok(PromptInput { blocks, is_expanded: true })
    }
}

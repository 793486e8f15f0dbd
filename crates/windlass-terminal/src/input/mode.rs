//! The prompt as a whole: keys come in, and what the loop has to do goes out.

mod keys;
mod submit;

use super::decoder::TerminalInput;
use super::queue::WaitingMessages;
use crate::completion::{Completable, CompletionCandidate, CompletionMenu, completable, ranked};
use crate::composer::{Composer, ComposerOptions, SavedPrompt, Submission};
use crate::history::{HistoryEntry, HistorySearch, PromptHistory};
use crate::keys::{Keymap, KeysList};
use std::time::Duration;
use windlass_conversation::{Priority, SlashCommand};
use windlass_types::PermissionMode;

/// Options of an [`InputMode`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct InputModeOptions {
    /// Keys. Default: [`Keymap::default`].
    pub keymap: Keymap,
    /// Options of the editor.
    pub composer: ComposerOptions,
    /// `true` if Enter queues behind the run and Tab steers; otherwise Enter steers and Tab queues. Default: `false`.
    pub enter_queues: bool,
    /// Modes that the key for the next mode goes through. Bypassing permissions belongs here only if the program was
    /// started so. Default: `default`, `acceptEdits`, `plan`.
    pub modes: Vec<PermissionMode>,
    /// Time within which a second Esc or Ctrl+C counts as the second one. Default: 1 s.
    pub double_press: Duration,
    /// Directory of the project, for the history.
    pub project: String,
    /// Id of the session, for the history.
    pub session: String,
}

impl InputModeOptions {
    /// Sets the modes that the key for the next mode goes through: `auto` only where a model can be asked, and bypassing
    /// permissions only if the program was started so.
    #[must_use]
    pub fn with_modes(mut self, has_auto: bool, allows_bypass: bool) -> Self {
        self.modes = keys::mode_cycle(has_auto, allows_bypass);
        self
    }
}

impl Default for InputModeOptions {
    fn default() -> Self {
        Self {
            keymap: Keymap::default(),
            composer: ComposerOptions::default(),
            enter_queues: false,
            modes: keys::mode_cycle(false, false),
            double_press: Duration::from_secs(1),
            project: String::new(),
            session: String::new(),
        }
    }
}

/// State of the session for the prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[expect(clippy::exhaustive_enums, reason = "a run continues or not")]
pub enum RunActivity {
    /// Nothing runs.
    #[default]
    Idle,
    /// A run continues.
    Running,
}

/// A task for the loop.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum InputAction {
    /// Send a message. Report [`InputMode::taken`], or [`InputMode::returned`] if it got no run.
    Submit {
        /// Number of the message.
        number: u64,
        /// Text and images.
        submission: Submission,
        /// Place among the messages that wait.
        priority: Priority,
    },
    /// Run a command in the shell, as the user's own.
    RunCommand(String),
    /// Take the message with this number back. Report [`InputMode::taken_back`].
    TakeBack(u64),
    /// Stop the run and take back the messages that wait. Report those with [`InputMode::returned`].
    Interrupt,
    /// Show the points to which the session can be rewound.
    OpenRewind,
    /// Move the running command to the background.
    MoveToBackground,
    /// Set the permission mode. Report [`InputMode::set_mode`] with the mode in effect.
    SetMode(PermissionMode),
    /// Append an entry to the history file.
    Record(HistoryEntry),
    /// Open an external editor with this text. Report [`InputMode::edited`].
    OpenEditor(String),
    /// Read the image of the clipboard. Report [`InputMode::attach_image`].
    PasteImage,
    /// Look for files, resources and agents. Report [`InputMode::found`] with the ticket.
    FindMentions {
        /// Number of the search; older ones need no answer.
        ticket: u64,
        /// Text that was typed behind the at sign.
        query: String,
    },
    /// Show a short text below the prompt until the next key.
    Hint(String),
    /// Show the whole transcript.
    ShowTranscript,
    /// Show or hide the list of tasks.
    ToggleTasks,
    /// Draw the screen again.
    Redraw,
    /// Suspend the program.
    Suspend,
    /// End the program. Everything that was written is in the history.
    Exit,
}

/// A key that does more when it is pressed twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DoubleKey {
    Escape,
    Cancel,
}

/// The machine of the prompt: editor, history, completion, queue, and the keys for the run.
///
/// No text is ever lost: it is in the editor, in a message that was sent, or in the history.
///
/// ```
/// use std::time::Duration;
/// use windlass_terminal::input::{InputAction, InputMode, InputModeOptions, TerminalInput};
/// use windlass_terminal::keys::{Key, KeyCode};
///
/// let mut mode = InputMode::new(InputModeOptions::default());
/// let now = Duration::ZERO;
/// mode.handle(TerminalInput::Paste("fix the test".to_owned()), now);
/// let actions = mode.handle(TerminalInput::Key(Key::new(KeyCode::Enter)), now);
/// assert!(actions.iter().any(|action| matches!(action, InputAction::Submit { .. })));
/// ```
#[derive(Debug)]
pub struct InputMode {
    options: InputModeOptions,
    composer: Composer,
    history: PromptHistory,
    search: Option<HistorySearch>,
    menu: Option<CompletionMenu>,
    /// Word for which the menu was closed.
    dismissed: Option<Completable>,
    /// Word that the menu is for.
    word: Option<Completable>,
    commands: Vec<CompletionCandidate>,
    ticket: u64,
    queue: WaitingMessages,
    run: RunActivity,
    mode: PermissionMode,
    /// Key that was pressed once, and when.
    armed: Option<(DoubleKey, Duration)>,
    /// The list of keys, while it is shown.
    keys_list: Option<KeysList>,
    /// Columns of the editor.
    columns: usize,
    /// Rows of the list of keys that fit.
    page: usize,
}

impl InputMode {
    /// A prompt with an empty text.
    #[must_use]
    pub fn new(options: InputModeOptions) -> Self {
        Self {
            composer: Composer::new(options.composer.clone()),
            history: PromptHistory::new(options.project.clone(), options.session.clone()),
            search: None,
            menu: None,
            dismissed: None,
            word: None,
            commands: Vec::new(),
            ticket: 0,
            queue: WaitingMessages::default(),
            run: RunActivity::Idle,
            mode: PermissionMode::Default,
            armed: None,
            keys_list: None,
            columns: 80,
            page: 10,
            options,
        }
    }

    /// The editor.
    #[must_use]
    pub fn composer(&self) -> &Composer {
        &self.composer
    }

    /// The history.
    #[must_use]
    pub fn history(&self) -> &PromptHistory {
        &self.history
    }

    /// The history, for loading its file.
    pub fn history_mut(&mut self) -> &mut PromptHistory {
        &mut self.history
    }

    /// The search in the history, if one is open.
    #[must_use]
    pub fn search(&self) -> Option<&HistorySearch> {
        self.search.as_ref()
    }

    /// The menu of completions, if one is open and not empty.
    #[must_use]
    pub fn menu(&self) -> Option<&CompletionMenu> {
        self.menu.as_ref().filter(|menu| !menu.is_empty())
    }

    /// Arguments of the command that the text begins with, to show behind the caret; `None` if some are written.
    #[must_use]
    pub fn argument_hint(&self) -> Option<&str> {
        let (name, arguments) = self.composer.text().split_once(' ')?;
        let command = self
            .commands
            .iter()
            .find(|command| command.name == name || command.aliases.iter().any(|alias| alias == name))?;
        (arguments.is_empty() && !command.arguments.is_empty()).then_some(command.arguments.as_str())
    }

    /// `true` if the text is a command for the shell.
    #[must_use]
    pub fn is_shell_command(&self) -> bool {
        self.composer.text().starts_with('!')
    }

    /// The messages that wait.
    #[must_use]
    pub fn queue(&self) -> &WaitingMessages {
        &self.queue
    }

    /// The keys.
    #[must_use]
    pub fn keymap(&self) -> &Keymap {
        &self.options.keymap
    }

    /// The permission mode, as it is or was asked for last.
    #[must_use]
    pub fn permission_mode(&self) -> PermissionMode {
        self.mode
    }

    /// The list of keys, if it is shown.
    #[must_use]
    pub fn keys_list(&self) -> Option<&KeysList> {
        self.keys_list.as_ref()
    }

    /// Shows the list of keys until Esc, `?` or another key than those that scroll it.
    pub fn show_keys(&mut self) {
        self.keys_list = Some(KeysList::default());
    }

    /// The list of keys has room for so many rows.
    pub fn set_page(&mut self, rows: usize) {
        self.page = rows.max(1);
    }

    /// The editor has so many columns.
    pub fn set_columns(&mut self, columns: usize) {
        self.columns = columns;
    }

    /// The session runs or is idle.
    pub fn set_run(&mut self, run: RunActivity) {
        self.run = run;
    }

    /// The permission mode in effect.
    pub fn set_mode(&mut self, mode: PermissionMode) {
        self.mode = mode;
    }

    /// The slash commands of the session.
    pub fn set_commands(&mut self, commands: &[SlashCommand]) {
        self.commands = commands.iter().map(CompletionCandidate::command).collect();
        self.complete();
    }

    /// A run has taken the message with this number.
    pub fn taken(&mut self, number: u64) {
        self.queue.remove(number);
    }

    /// The message with this number was taken back (`true`), or a run had taken it before.
    pub fn taken_back(&mut self, number: u64, is_back: bool) {
        if is_back {
            self.returned(&[number]);
        } else {
            self.queue.stays(number);
        }
    }

    /// The messages with these numbers got no run: their texts are in the editor again, in front of what it holds.
    pub fn returned(&mut self, numbers: &[u64]) {
        for number in numbers.iter().rev() {
            if let Some(prompt) = self.queue.remove(*number) {
                self.composer.prepend(prompt);
            }
        }
        self.complete();
    }

    /// The text that an external editor gave back; `None` leaves the text as it was.
    pub fn edited(&mut self, text: Option<&str>) {
        if let Some(text) = text {
            self.composer.replace_all(text);
        }
        self.complete();
    }

    /// Inserts a text in front of what the editor holds, such as what was written into a question that is withdrawn.
    pub fn insert_before(&mut self, text: &str) {
        self.composer.prepend(SavedPrompt::text(text));
        self.complete();
    }

    /// Attaches an image that the loop holds, or a file.
    pub fn attach_image(&mut self, image: crate::composer::ImageReference) {
        self.composer.attach_image(image);
    }

    /// Candidates for [`InputAction::FindMentions`]. Those of an older search are ignored.
    pub fn found(&mut self, ticket: u64, candidates: Vec<CompletionCandidate>) {
        if ticket != self.ticket {
            return;
        }
        if let (Some(Completable::Mention { query, .. }), Some(menu)) = (&self.word, &mut self.menu) {
            menu.set(ranked(query, candidates, crate::completion::MOST_CANDIDATES));
        }
    }

    /// Ends the prompt because the program ends: everything that was written and not taken becomes entries for the history
    /// file. The texts of the messages that wait are among them.
    pub fn close(&mut self) -> Vec<HistoryEntry> {
        let mut actions = Vec::new();
        self.store_all(&mut actions);
        let entries = actions.into_iter().filter_map(|action| match action {
            InputAction::Record(entry) => Some(entry),
            _ => None,
        });
        entries.collect()
    }

    /// Takes an input of the terminal. Times are measured from an arbitrary start and never go back.
    pub fn handle(&mut self, input: TerminalInput, now: Duration) -> Vec<InputAction> {
        let mut actions = Vec::new();
        match input {
            TerminalInput::Key(key) => self.key(key, now, &mut actions),
            TerminalInput::Paste(text) => self.pasted(&text, &mut actions),
            TerminalInput::Focus(_) | TerminalInput::Report(_) => {}
        }
        actions
    }

    fn pasted(&mut self, text: &str, actions: &mut Vec<InputAction>) {
        self.armed = None;
        self.keys_list = None;
        match &mut self.search {
            Some(search) if search.has_room(text) => search.add(text),
            _ => {
                // A text that is too much to search for belongs to the prompt.
                self.search = None;
                self.composer.paste(text);
                self.completed(actions);
            }
        }
    }

    /// Updates the menu after a change of the text or of the caret. Returns the search for mentions that it needs.
    fn complete(&mut self) -> Option<InputAction> {
        let word = completable(self.composer.text(), self.composer.caret());
        let word = word.filter(|word| self.composer.is_plain(word.range()));
        if word.is_none() || word != self.dismissed {
            self.dismissed = None;
        }
        let Some(word) = word.filter(|_| self.dismissed.is_none()) else {
            (self.menu, self.word) = (None, None);
            return None;
        };
        let is_same = self.word.as_ref() == Some(&word);
        let menu = self.menu.get_or_insert_default();
        let action = match &word {
            Completable::Command { query, .. } => {
                menu.set(ranked(query, self.commands.clone(), crate::completion::MOST_CANDIDATES));
                None
            }
            Completable::Mention { .. } if is_same => None,
            Completable::Mention { query, .. } => {
                self.ticket = self.ticket.saturating_add(1);
                Some(InputAction::FindMentions { ticket: self.ticket, query: query.clone() })
            }
        };
        self.word = Some(word);
        action
    }

    /// The same, with the search among the actions.
    fn completed(&mut self, actions: &mut Vec<InputAction>) {
        actions.extend(self.complete());
    }

    /// Puts a prompt of the program's own into the history, such as that of its command line.
    pub fn record_prompt(&mut self, text: &str) -> Vec<InputAction> {
        let mut actions = Vec::new();
        self.record(SavedPrompt::text(text), &mut actions);
        actions
    }

    /// Puts a text into the history.
    fn record(&mut self, prompt: SavedPrompt, actions: &mut Vec<InputAction>) {
        actions.extend(self.history.add(prompt).map(InputAction::Record));
    }

    /// Ends the way through the history: changed texts that are not shown become entries of it.
    fn leave_history(&mut self, actions: &mut Vec<InputAction>) {
        for changed in self.history.leave() {
            self.record(changed, actions);
        }
    }
}

#[cfg(test)]
mod tests;

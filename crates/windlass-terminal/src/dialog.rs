//! Questions to the person: permission for a call, questions of the model and of MCP servers, approval of a plan.
//!
//! A dialog is a pure state machine. It takes keys and gives an answer; its rows are plain text that is safe to show.
//! Keys that were typed before a dialog could be read never answer it: they are handed back for the prompt.

mod choice;
mod content;
mod elicitation;
mod form;
mod guard;
mod pager;
mod permission;
mod plan;
mod reading;

pub use elicitation::{ElicitationDialog, ElicitationError, ElicitationQuestion, ElicitationReply, ElicitationSubject};
pub use form::QuestionForm;
pub use permission::PermissionDialog;
pub use plan::PlanDialog;

use crate::composer::{Composer, ComposerOptions};
use crate::input::TerminalInput;
use crate::keys::{Key, KeyAction, Keymap};
use guard::{KeyGuard, LetterFate, LetterGuard};
use std::collections::VecDeque;
use std::time::Duration;
use windlass_types::{PermissionAnswer, PermissionRequest, QuestionId};

/// Kind of a row, for its colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DialogRowKind {
    /// Title of the dialog.
    Title,
    /// Explanation: who asks, why, and by which rule.
    Note,
    /// Name of a field of the call.
    Field,
    /// Text of a field: what would run.
    Text,
    /// Added line of a diff.
    Added,
    /// Removed line of a diff.
    Removed,
    /// Place of a change in a diff.
    Hunk,
    /// A choice.
    Choice,
    /// The choice that is selected.
    Selected,
    /// A choice that cannot be chosen yet.
    Disabled,
    /// A text that the person writes.
    Input,
    /// Keys that can be pressed.
    Hint,
}

/// A row of a dialog. Nothing in its text is hidden or controls a terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DialogRow {
    /// Kind of the row.
    pub kind: DialogRowKind,
    /// Text of the row, no wider than the dialog.
    pub text: String,
}

impl DialogRow {
    pub(crate) fn new(kind: DialogRowKind, text: impl Into<String>) -> Self {
        Self { kind, text: text.into() }
    }
}

/// A dialog as it is shown.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct DialogView {
    /// Rows, from the top.
    pub rows: Vec<DialogRow>,
    /// Row and column of the caret, if the person writes a text or a choice is selected.
    pub caret: Option<(usize, usize)>,
}

/// An answer to a question.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DialogAnswer {
    /// Id of the question.
    pub id: QuestionId,
    /// Answer for the session.
    pub answer: PermissionAnswer,
    /// Comment of the person on a yes, to be sent to the run as a message. Comments on a no are part of the answer.
    pub comment: Option<String>,
}

/// Result of an input for the dialogs.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum DialogResult {
    /// The dialog has taken the input.
    Taken,
    /// The input is not for a dialog: none is open, or it was typed before the dialog could be read. The prompt takes it.
    Passed(TerminalInput),
    /// The question is answered.
    Answered(DialogAnswer),
    /// The question of an MCP server with this id has a reply.
    Replied {
        /// Id that the question was asked with.
        id: QuestionId,
        /// Reply for the server.
        reply: ElicitationReply,
    },
    /// Open an external editor with this text. Report [`Dialogs::edited`].
    OpenEditor(String),
}

/// Result of a key for one dialog.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum DialogOutcome {
    Taken,
    /// A typed character means nothing to the dialog.
    Stray,
    Answered(PermissionAnswer, Option<String>),
    Replied(ElicitationReply),
    OpenEditor(String),
}

/// A dialog.
#[derive(Debug)]
#[non_exhaustive]
pub enum Dialog {
    /// Permission for a call.
    Permission(Box<PermissionDialog>),
    /// Questions of the model.
    Form(Box<QuestionForm>),
    /// Approval of a plan.
    Plan(Box<PlanDialog>),
    /// A question of an MCP server.
    Elicitation(Box<ElicitationDialog>),
}

impl Dialog {
    /// The dialog for a question: a form or a plan where the tool asks for one and its input can be read.
    #[must_use]
    pub fn new(request: &PermissionRequest) -> Self {
        Self::of_agent(request, "")
    }

    /// The dialog for a question of an agent with this task, such as "Explore the parser"; empty if it is not known.
    #[must_use]
    pub fn of_agent(request: &PermissionRequest, task: &str) -> Self {
        let permission = || Self::Permission(Box::new(PermissionDialog::of_agent(request, task)));
        match request.tool.as_str() {
            "AskUserQuestion" => {
                QuestionForm::of_agent(request, task).map_or_else(permission, |form| Self::Form(Box::new(form)))
            }
            "ExitPlanMode" => {
                PlanDialog::of_agent(request, task).map_or_else(permission, |plan| Self::Plan(Box::new(plan)))
            }
            _ => permission(),
        }
    }

    /// Lays the dialog out on so many columns and rows.
    fn resize(&mut self, columns: usize, rows: usize) {
        match self {
            Self::Permission(dialog) => dialog.resize(columns, rows),
            Self::Form(dialog) => dialog.resize(columns, rows),
            Self::Plan(dialog) => dialog.resize(columns, rows),
            Self::Elicitation(dialog) => dialog.resize(columns, rows),
        }
    }

    /// The dialog is on the screen: its rows count as read.
    fn drawn(&mut self) {
        match self {
            Self::Permission(dialog) => dialog.drawn(),
            Self::Form(_) => {}
            Self::Plan(dialog) => dialog.drawn(),
            Self::Elicitation(dialog) => dialog.drawn(),
        }
    }

    /// `true` while letters answer.
    fn reads_letters(&self) -> bool {
        match self {
            Self::Permission(dialog) => dialog.reads_letters(),
            Self::Form(_) => false,
            Self::Plan(dialog) => dialog.reads_letters(),
            Self::Elicitation(dialog) => dialog.reads_letters(),
        }
    }

    /// The last letters were a text: what they selected is not selected.
    fn forget_letter(&mut self) {
        match self {
            Self::Permission(dialog) => dialog.forget_letter(),
            Self::Form(_) => {}
            Self::Plan(dialog) => dialog.forget_letter(),
            Self::Elicitation(dialog) => dialog.forget_letter(),
        }
    }

    fn view(&self) -> DialogView {
        match self {
            Self::Permission(dialog) => dialog.view(),
            Self::Form(dialog) => dialog.view(),
            Self::Plan(dialog) => dialog.view(),
            Self::Elicitation(dialog) => dialog.view(),
        }
    }

    fn handle(&mut self, input: &TerminalInput, keymap: &Keymap) -> DialogOutcome {
        match self {
            Self::Permission(dialog) => dialog.handle(input, keymap),
            Self::Form(dialog) => dialog.handle(input, keymap),
            Self::Plan(dialog) => dialog.handle(input, keymap),
            Self::Elicitation(dialog) => dialog.handle(input, keymap),
        }
    }

    fn edited(&mut self, text: &str) {
        if let Self::Plan(dialog) = self {
            dialog.edited(text);
        }
    }

    /// Text that the person has written into the dialog.
    fn written(&self) -> String {
        match self {
            Self::Permission(dialog) => dialog.written(),
            Self::Form(dialog) => dialog.written(),
            Self::Plan(dialog) => dialog.written(),
            Self::Elicitation(dialog) => dialog.written(),
        }
    }
}

/// The questions that wait for the person, in their order. One is shown at a time.
///
/// A letter answers if no other character is typed within 150 ms: words answer nothing. A program therefore calls
/// [`tick`](Self::tick) at [`deadline`](Self::deadline), and before it gives a key.
///
/// ```
/// use std::time::Duration;
/// use windlass_terminal::dialog::{DialogResult, Dialogs};
/// use windlass_terminal::input::TerminalInput;
/// use windlass_terminal::keys::{Key, Keymap};
///
/// let mut dialogs = Dialogs::new(Keymap::default());
/// let key = TerminalInput::Key(Key::char('y'));
/// // No question is open: the key belongs to the prompt.
/// assert_eq!(dialogs.handle(key.clone(), Duration::ZERO), DialogResult::Passed(key));
/// ```
#[derive(Debug)]
pub struct Dialogs {
    waiting: VecDeque<(QuestionId, Dialog)>,
    keymap: Keymap,
    guard: KeyGuard,
    letters: LetterGuard,
    /// Keys that did not go to the question, which the person is told of.
    ignored: Option<IgnoredKeys>,
    columns: usize,
    rows: usize,
}

/// Keys that did not go to the question that is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum IgnoredKeys {
    /// Keys typed before it could be read, which went to the prompt.
    Early,
    /// A text.
    Text,
}

impl IgnoredKeys {
    /// The note in front of the hint.
    fn note(self) -> &'static str {
        match self {
            Self::Early => "What you typed before is in the prompt. ",
            Self::Text => "Text answers nothing: one letter does. ",
        }
    }
}

impl Dialogs {
    /// No questions.
    #[must_use]
    pub fn new(keymap: Keymap) -> Self {
        let (guard, letters) = (KeyGuard::default(), LetterGuard::default());
        Self { waiting: VecDeque::new(), keymap, guard, letters, ignored: None, columns: 80, rows: 12 }
    }

    /// Adds a question. It is shown when those before it are answered.
    pub fn ask(&mut self, request: &PermissionRequest) {
        self.ask_for(request, "");
    }

    /// Adds a question of an agent with this task, such as "Explore the parser"; empty if it is not known.
    pub fn ask_for(&mut self, request: &PermissionRequest, task: &str) {
        let id = request.id.clone();
        self.push(id, Dialog::of_agent(request, task));
    }

    /// Adds a question of an MCP server under an id that no other question has.
    ///
    /// # Errors
    /// The question cannot be shown: it is to be declined.
    pub fn elicit(&mut self, id: QuestionId, question: &ElicitationQuestion) -> Result<(), ElicitationError> {
        self.push(id, Dialog::Elicitation(Box::new(ElicitationDialog::new(question)?)));
        Ok(())
    }

    fn push(&mut self, id: QuestionId, dialog: Dialog) {
        self.waiting.push_back((id, dialog));
        if self.waiting.len() == 1 {
            self.show_first();
        }
    }

    /// Lays the first question out. No key belongs to it before it was drawn.
    fn show_first(&mut self) {
        self.guard.hidden();
        self.letters.reset();
        self.ignored = None;
        if let Some((_, dialog)) = self.waiting.front_mut() {
            dialog.resize(self.columns, self.rows);
        }
    }

    /// Removes a question that is withdrawn. Returns the text that the person has written into it, for the prompt; empty
    /// if there is none.
    pub fn withdraw(&mut self, id: &QuestionId) -> String {
        let Some(at) = self.waiting.iter().position(|(waiting, _)| waiting == id) else { return String::new() };
        let written = self.waiting.remove(at).map(|(_, dialog)| dialog.written()).unwrap_or_default();
        if at == 0 {
            self.show_first();
        }
        written
    }

    /// Number of questions that wait, the shown one included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// `true` if no question waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Id of the question that is shown.
    #[must_use]
    pub fn shown(&self) -> Option<&QuestionId> {
        self.waiting.front().map(|(id, _)| id)
    }

    /// Lays the dialogs out on so many columns and rows.
    pub fn resize(&mut self, columns: usize, rows: usize) {
        (self.columns, self.rows) = (columns, rows);
        if let Some((_, dialog)) = self.waiting.front_mut() {
            dialog.resize(columns, rows);
        }
    }

    /// The question that is shown, or `None`.
    #[must_use]
    pub fn view(&self) -> Option<DialogView> {
        let (_, dialog) = self.waiting.front()?;
        let mut view = dialog.view();
        if let (Some(title), more @ 1..) = (view.rows.first_mut(), self.waiting.len().saturating_sub(1)) {
            let more = format!(" ({more} more)");
            title.text = content::cut(&title.text, self.columns.saturating_sub(more.len())) + &more;
        }
        let hint = view.rows.last_mut().filter(|row| row.kind == DialogRowKind::Hint);
        if let (Some(hint), Some(ignored)) = (hint, self.ignored) {
            hint.text = content::cut(&format!("{}{}", ignored.note(), hint.text), self.columns);
        }
        Some(view)
    }

    /// The question is on the screen as [`view`](Self::view) gives it now, with all of its rows. Keys belong to it from a moment later on,
    /// and its rows count as read. A program that does not call this gets no answers.
    pub fn drawn(&mut self, now: Duration) {
        if let Some((_, dialog)) = self.waiting.front_mut() {
            self.guard.shown(now);
            dialog.drawn();
        }
    }

    /// Time at which [`tick`](Self::tick) is to be called if no key comes before; `None` if nothing waits.
    #[must_use]
    pub fn deadline(&self) -> Option<Duration> {
        self.letters.deadline()
    }

    /// The result of a letter behind which no other one was typed; `None` if there is none.
    pub fn tick(&mut self, now: Duration) -> Option<DialogResult> {
        let letter = self.letters.take_due(now)?;
        Some(self.give(&TerminalInput::Key(letter), now))
    }

    /// Takes an input of the terminal. Times are measured from an arbitrary start and never go back.
    pub fn handle(&mut self, input: TerminalInput, now: Duration) -> DialogResult {
        if !matches!(input, TerminalInput::Key(_) | TerminalInput::Paste(_)) {
            return DialogResult::Passed(input);
        }
        let Some((_, dialog)) = self.waiting.front().filter(|_| self.guard.accepts(now)) else {
            self.guard.typed(now);
            self.ignored = (!self.waiting.is_empty()).then_some(IgnoredKeys::Early);
            return DialogResult::Passed(input);
        };
        self.ignored = None;
        let reads_letters = dialog.reads_letters();
        let Some(key) = key_of(&input).filter(|key| reads_letters && self.is_letter_or_submit(*key)) else {
            self.letters.drop_held();
            return self.give(&input, now);
        };
        let submits = self.keymap.action(key) == Some(KeyAction::Submit);
        match self.letters.judge(key, submits, now) {
            LetterFate::Held => DialogResult::Taken,
            LetterFate::Text => self.took_text(),
            LetterFate::Confirms(letter) => match self.give(&TerminalInput::Key(letter), now) {
                // The letter has selected a choice.
                DialogResult::Taken if self.ignored.is_none() => self.give(&input, now),
                result => result,
            },
            LetterFate::Passes => self.give(&input, now),
        }
    }

    /// `true` for a key that types a character, and for one that chooses.
    fn is_letter_or_submit(&self, key: Key) -> bool {
        match self.keymap.action(key) {
            Some(action) => action == KeyAction::Submit,
            None => key.typed().is_some(),
        }
    }

    /// A text was typed over the dialog: it answers nothing.
    fn took_text(&mut self) -> DialogResult {
        self.ignored = Some(IgnoredKeys::Text);
        if let Some((_, dialog)) = self.waiting.front_mut() {
            dialog.forget_letter();
        }
        DialogResult::Taken
    }

    /// Gives an input to the dialog that is shown.
    fn give(&mut self, input: &TerminalInput, now: Duration) -> DialogResult {
        let Some((id, dialog)) = self.waiting.front_mut() else { return DialogResult::Taken };
        match dialog.handle(input, &self.keymap) {
            DialogOutcome::Taken => DialogResult::Taken,
            DialogOutcome::Stray => {
                self.letters.text(now);
                self.took_text()
            }
            DialogOutcome::OpenEditor(text) => DialogResult::OpenEditor(text),
            DialogOutcome::Answered(answer, comment) => {
                let answer = DialogAnswer { id: id.clone(), answer, comment };
                self.next(now);
                DialogResult::Answered(answer)
            }
            DialogOutcome::Replied(reply) => {
                let id = id.clone();
                self.next(now);
                DialogResult::Replied { id, reply }
            }
        }
    }

    /// Removes the first question and shows the next one.
    fn next(&mut self, now: Duration) {
        self.waiting.pop_front();
        self.guard.typed(now);
        self.show_first();
    }

    /// The text that an external editor gave back; `None` leaves the text as it was.
    pub fn edited(&mut self, text: Option<&str>) {
        if let (Some((_, dialog)), Some(text)) = (self.waiting.front_mut(), text) {
            dialog.edited(text);
        }
    }
}

/// A text of a dialog that the person writes.
pub(crate) fn editor() -> Composer {
    Composer::new(ComposerOptions { placeholder_lines: usize::MAX, placeholder_bytes: usize::MAX })
}

/// Gives an input to the editor of a dialog. Returns the action of a key that is none of editing.
pub(crate) fn write(
    editor: &mut Composer,
    input: &TerminalInput,
    keymap: &Keymap,
    columns: usize,
) -> Option<KeyAction> {
    match input {
        TerminalInput::Paste(text) => editor.paste(text),
        TerminalInput::Key(key) => match (keymap.action(*key), key.typed()) {
            (Some(KeyAction::Submit), _) if editor.continue_line() => {}
            (
                Some(
                    action @ (KeyAction::Submit
                    | KeyAction::Interrupt
                    | KeyAction::Cancel
                    | KeyAction::Queue
                    | KeyAction::CycleMode),
                ),
                _,
            ) => {
                return Some(action);
            }
            (Some(action), _) => {
                if !editor.edit(action, columns) {
                    return Some(action);
                }
            }
            (None, Some(c)) => editor.type_char(c),
            (None, None) => {}
        },
        _ => {}
    }
    None
}

/// The key of an input.
pub(crate) fn key_of(input: &TerminalInput) -> Option<Key> {
    match input {
        TerminalInput::Key(key) => Some(*key),
        _ => None,
    }
}

#[cfg(test)]
mod tests;

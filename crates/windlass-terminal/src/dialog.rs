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
use guard::KeyGuard;
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
        match request.tool.as_str() {
            "AskUserQuestion" => match QuestionForm::new(request) {
                Some(form) => Self::Form(Box::new(form)),
                None => Self::Permission(Box::new(PermissionDialog::new(request))),
            },
            "ExitPlanMode" => match PlanDialog::new(request) {
                Some(plan) => Self::Plan(Box::new(plan)),
                None => Self::Permission(Box::new(PermissionDialog::new(request))),
            },
            _ => Self::Permission(Box::new(PermissionDialog::new(request))),
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
    columns: usize,
    rows: usize,
}

impl Dialogs {
    /// No questions.
    #[must_use]
    pub fn new(keymap: Keymap) -> Self {
        Self { waiting: VecDeque::new(), keymap, guard: KeyGuard::default(), columns: 80, rows: 12 }
    }

    /// Adds a question. It is shown when those before it are answered.
    pub fn ask(&mut self, request: &PermissionRequest) {
        let id = request.id.clone();
        self.push(id, Dialog::new(request));
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

    /// Takes an input of the terminal. Times are measured from an arbitrary start and never go back.
    pub fn handle(&mut self, input: TerminalInput, now: Duration) -> DialogResult {
        if !matches!(input, TerminalInput::Key(_) | TerminalInput::Paste(_)) {
            return DialogResult::Passed(input);
        }
        let Some((id, dialog)) = self.waiting.front_mut().filter(|_| self.guard.accepts(now)) else {
            self.guard.typed(now);
            return DialogResult::Passed(input);
        };
        match dialog.handle(&input, &self.keymap) {
            DialogOutcome::Taken => DialogResult::Taken,
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

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
mod queue;
mod reading;

pub use elicitation::{ElicitationDialog, ElicitationError, ElicitationQuestion, ElicitationReply, ElicitationSubject};
pub use form::QuestionForm;
pub use permission::PermissionDialog;
pub use plan::PlanDialog;
pub use queue::Dialogs;

use crate::composer::{Composer, ComposerOptions};
use crate::input::TerminalInput;
use crate::keys::{Key, KeyAction, Keymap};
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

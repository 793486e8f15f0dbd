//! Questions that MCP servers put to the person: values for a form, or a visit to a page.

mod field;

use super::choice::DialogChoice;
use super::content::{DialogLine, NARROWEST, OrderedFields, cut, note, wrapped};
use super::reading::{Reaction, ReadingDialog};
use super::{DialogOutcome, DialogRow, DialogRowKind, DialogView};
use crate::input::TerminalInput;
use crate::keys::{KeyAction, KeyCode, Keymap};
use field::FormField;
use serde::Deserialize;
use serde_json::{Map, Value};
use windlass_types::JsonText;

/// Most fields of a form.
const MOST_FIELDS: usize = 50;

/// A question of an MCP server. All its texts are untrusted.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ElicitationQuestion {
    /// Name of the server.
    pub server: String,
    /// Text of the question.
    pub message: String,
    /// Subject of the question.
    pub subject: ElicitationSubject,
}

impl ElicitationQuestion {
    /// A question of a server.
    #[must_use]
    pub fn new(server: impl Into<String>, message: impl Into<String>, subject: ElicitationSubject) -> Self {
        Self { server: server.into(), message: message.into(), subject }
    }
}

/// Subject of a question of an MCP server.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ElicitationSubject {
    /// Values that fit this JSON Schema: an object of plain values.
    Form(JsonText),
    /// A visit to the page with this address.
    Page(String),
}

/// Reply of the person to a question of an MCP server.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ElicitationReply {
    /// Consent, with the values of a form; `None` for a page, which the loop opens.
    Accept(Option<JsonText>),
    /// Refusal.
    Decline,
    /// No reply: the person closed the question.
    Cancel,
}

/// A schema that cannot be shown as a form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ElicitationError {
    /// The schema is no object of plain values, or has more than 50 of them.
    #[error("the MCP server {server:?} asks for a form that cannot be shown: decline it")]
    Schema {
        /// Name of the server.
        server: String,
    },
    /// A field has a type that forms cannot have.
    #[error("the MCP server {server:?} asks for the field {field:?}, whose type no form can have: decline it")]
    Field {
        /// Name of the server.
        server: String,
        /// Name of the field.
        field: String,
    },
}

/// A dialog with a question of an MCP server.
#[derive(Debug)]
pub struct ElicitationDialog {
    body: ElicitationBody,
}

#[derive(Debug)]
enum ElicitationBody {
    Form(Box<ElicitationForm>),
    Page(Box<ReadingDialog<bool>>),
}

#[derive(Debug)]
struct ElicitationForm {
    server: String,
    message: String,
    fields: Vec<FormField>,
    /// Index of the field that is written; behind the last one are the rows to send and to decline.
    current: usize,
    /// Reason why the values cannot be sent.
    problem: Option<String>,
    columns: usize,
    rows: usize,
}

impl ElicitationDialog {
    /// A dialog for a question.
    ///
    /// # Errors
    /// The schema cannot be shown as a form: the question is to be declined.
    pub fn new(question: &ElicitationQuestion) -> Result<Self, ElicitationError> {
        let body = match &question.subject {
            ElicitationSubject::Form(schema) => {
                ElicitationBody::Form(Box::new(ElicitationForm::new(question, schema)?))
            }
            ElicitationSubject::Page(url) => ElicitationBody::Page(Box::new(page(question, url))),
        };
        Ok(Self { body })
    }

    pub(super) fn resize(&mut self, columns: usize, rows: usize) {
        match &mut self.body {
            ElicitationBody::Form(form) => (form.columns, form.rows) = (columns.max(NARROWEST), rows),
            ElicitationBody::Page(page) => page.resize(columns, rows),
        }
    }

    pub(super) fn drawn(&mut self) {
        if let ElicitationBody::Page(page) = &mut self.body {
            page.drawn();
        }
    }

    pub(super) fn view(&self) -> DialogView {
        match &self.body {
            ElicitationBody::Form(form) => form.view(),
            ElicitationBody::Page(page) => page.view(),
        }
    }

    pub(super) fn reads_letters(&self) -> bool {
        matches!(&self.body, ElicitationBody::Page(page) if page.reads_letters())
    }

    pub(super) fn forget_letter(&mut self) {
        if let ElicitationBody::Page(page) = &mut self.body {
            page.forget_letter();
        }
    }

    pub(super) fn written(&self) -> String {
        match &self.body {
            ElicitationBody::Form(form) => {
                let texts: Vec<String> = form.fields.iter().filter_map(FormField::written).collect();
                texts.join("\n")
            }
            ElicitationBody::Page(page) => page.comment().unwrap_or_default(),
        }
    }

    pub(super) fn handle(&mut self, input: &TerminalInput, keymap: &Keymap) -> DialogOutcome {
        let reply = match &mut self.body {
            ElicitationBody::Form(form) => form.handle(input, keymap),
            ElicitationBody::Page(page) => match page.handle(input, keymap) {
                Reaction::Chosen(true) => Some(ElicitationReply::Accept(None)),
                Reaction::Chosen(false) => Some(ElicitationReply::Decline),
                Reaction::Refused | Reaction::Stopped => Some(ElicitationReply::Cancel),
                Reaction::Stray => return DialogOutcome::Stray,
                Reaction::Other(_) | Reaction::Taken => None,
            },
        };
        reply.map_or(DialogOutcome::Taken, DialogOutcome::Replied)
    }
}

/// The dialog that asks whether a page may be opened. The whole address has to be read.
fn page(question: &ElicitationQuestion, url: &str) -> ReadingDialog<bool> {
    let title = format!("The MCP server {} asks you to open a page", note(&question.server));
    let lines = vec![
        DialogLine::new(DialogRowKind::Note, "", note(&question.message)),
        DialogLine::new(DialogRowKind::Field, "", "Address:"),
        DialogLine::new(DialogRowKind::Text, "  | ", url),
    ];
    let choice = |letter, text: &str, value| DialogChoice {
        letter,
        text: text.to_owned(),
        value,
        needs_reading: value,
        grants_more: false,
    };
    ReadingDialog::new(title, lines, vec![choice('y', "Open it in the browser", true), choice('n', "No", false)])
}

#[derive(Deserialize)]
struct FormSchema {
    properties: OrderedFields,
    #[serde(default)]
    required: Vec<String>,
}

impl ElicitationForm {
    fn new(question: &ElicitationQuestion, schema: &JsonText) -> Result<Self, ElicitationError> {
        let server = question.server.clone();
        let refused = || ElicitationError::Schema { server: server.clone() };
        let schema: FormSchema = schema.to().map_err(|_| refused())?;
        let OrderedFields(properties) = schema.properties;
        if properties.len() > MOST_FIELDS {
            return Err(refused());
        }
        let mut fields = Vec::new();
        for (name, property) in properties {
            let is_required = schema.required.contains(&name);
            let field = FormField::new(&name, &property, is_required);
            fields.push(field.ok_or_else(|| ElicitationError::Field { server: server.clone(), field: name })?);
        }
        let message = note(&question.message);
        Ok(Self { server: note(&server), message, fields, current: 0, problem: None, columns: 80, rows: 12 })
    }

    fn view(&self) -> DialogView {
        let line = DialogLine::new(DialogRowKind::Text, "", self.message.as_str());
        let mut body = wrapped(&line, self.columns);
        let mut caret = (0, 0);
        for (at, field) in self.fields.iter().enumerate() {
            let is_current = at == self.current;
            let (rows, place) = field.rows(is_current, self.columns);
            if is_current {
                caret = (body.len().saturating_add(place.0), place.1);
            }
            body.extend(rows);
        }
        for (at, text) in ["Send these values", "Decline"].iter().enumerate() {
            let is_current = self.current == self.fields.len().saturating_add(at);
            if is_current {
                caret = (body.len(), 0);
            }
            let (mark, kind) = super::form::marked(is_current);
            body.push(DialogRow::new(kind, cut(&format!("{mark}{text}"), self.columns)));
        }
        let title = format!("The MCP server {} asks for values, and gets them", self.server);
        let keys = "Up, Down: field. Enter: next. Esc: close.";
        let hint = self.problem.as_deref().unwrap_or(keys);
        super::form::scrolled(&title, body, hint, caret, (self.columns, self.rows))
    }

    fn handle(&mut self, input: &TerminalInput, keymap: &Keymap) -> Option<ElicitationReply> {
        self.problem = None;
        let last = self.fields.len().saturating_add(1);
        let action = match (self.fields.get_mut(self.current), input) {
            (Some(field), _) => field.handle(input, keymap, self.columns),
            (None, TerminalInput::Key(key)) if key.code == KeyCode::Char(' ') => Some(KeyAction::Submit),
            (None, TerminalInput::Key(key)) => keymap.action(*key),
            (None, _) => None,
        };
        match action? {
            KeyAction::Up | KeyAction::HistoryOlder | KeyAction::CycleMode => {
                self.current = self.current.saturating_sub(1);
            }
            KeyAction::Down | KeyAction::HistoryNewer | KeyAction::Queue => {
                self.current = self.current.saturating_add(1).min(last);
            }
            KeyAction::Submit if self.current == self.fields.len() => return self.send(),
            KeyAction::Submit if self.current > self.fields.len() => return Some(ElicitationReply::Decline),
            KeyAction::Submit => self.current = self.current.saturating_add(1),
            KeyAction::Interrupt | KeyAction::Cancel => return Some(ElicitationReply::Cancel),
            _ => {}
        }
        None
    }

    /// The values, or `None` with the first field that has no valid one selected.
    fn send(&mut self) -> Option<ElicitationReply> {
        let mut values = Map::new();
        for (at, field) in self.fields.iter().enumerate() {
            match field.value() {
                Ok(None) => {}
                Ok(Some(value)) => {
                    values.insert(field.name.clone(), value);
                }
                Err(problem) => {
                    self.current = at;
                    self.problem = Some(problem);
                    return None;
                }
            }
        }
        match JsonText::of(&Value::Object(values)) {
            Ok(values) => Some(ElicitationReply::Accept(Some(values))),
            Err(_) => Some(ElicitationReply::Cancel),
        }
    }
}

#[cfg(test)]
mod tests;

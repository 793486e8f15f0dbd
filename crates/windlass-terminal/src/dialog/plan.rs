//! Approval of a plan, which the person can change first.

use super::choice::DialogChoice;
use super::content::{DialogLine, reasons};
use super::permission::denial;
use super::reading::{Reaction, ReadingDialog};
use super::{DialogOutcome, DialogRow, DialogRowKind, DialogView, editor, write};
use crate::composer::Composer;
use crate::input::TerminalInput;
use crate::keys::{KeyAction, Keymap};
use serde::Deserialize;
use serde_json::{Map, Value};
use windlass_types::{
    JsonText, PermissionAnswer, PermissionMode, PermissionRequest, PermissionUpdate, UpdateDestination,
};

/// Meaning of a choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PlanChoice {
    Approve,
    ApproveWithEdits,
    Edit,
    Refuse,
}

/// A dialog that asks whether a plan is approved.
#[derive(Debug)]
pub struct PlanDialog {
    input: Map<String, Value>,
    notes: Vec<DialogLine>,
    plan: String,
    is_changed: bool,
    /// The plan while it is written in the dialog.
    writing: Option<Composer>,
    reading: ReadingDialog<PlanChoice>,
    rows: usize,
}

impl PlanDialog {
    /// A dialog for a question; `None` if its input holds no plan.
    #[must_use]
    pub fn new(request: &PermissionRequest) -> Option<Self> {
        Self::of_agent(request, "")
    }

    /// A dialog for a question of an agent with this task; empty if it is not known.
    pub(super) fn of_agent(request: &PermissionRequest, task: &str) -> Option<Self> {
        #[derive(Deserialize)]
        struct PlanInput {
            plan: String,
        }
        let PlanInput { plan } = request.input.to().ok()?;
        let input: Map<String, Value> = request.input.to().ok()?;
        let notes = if request.agent.is_main() { Vec::new() } else { reasons(request, task) };
        let choice = |letter, text: &str, value, needs_reading| DialogChoice {
            letter,
            text: text.to_owned(),
            value,
            needs_reading,
            grants_more: value == PlanChoice::ApproveWithEdits,
        };
        let choices = vec![
            choice('y', "Yes, carry it out and ask as before", PlanChoice::Approve, true),
            choice('a', "Yes, and allow edits in the workspace in this session", PlanChoice::ApproveWithEdits, true),
            choice('e', "Change the plan", PlanChoice::Edit, false),
            choice('n', "No, go on planning", PlanChoice::Refuse, false),
        ];
        let lines = lines(&notes, &plan);
        let mut reading = ReadingDialog::new("Carry out this plan?".to_owned(), lines, choices);
        "Ctrl+G: your editor.".clone_into(&mut reading.hint);
        Some(Self { input, notes, plan, is_changed: false, writing: None, reading, rows: 12 })
    }

    pub(super) fn resize(&mut self, columns: usize, rows: usize) {
        self.rows = rows;
        self.reading.resize(columns, rows);
    }

    pub(super) fn drawn(&mut self) {
        if self.writing.is_none() {
            self.reading.drawn();
        }
    }

    pub(super) fn view(&self) -> DialogView {
        let Some(writing) = &self.writing else { return self.reading.view() };
        let columns = self.reading.columns();
        let view = writing.view(columns, self.rows.saturating_sub(2).max(1));
        let rows = view.rows.into_iter().map(|row| DialogRow::new(DialogRowKind::Input, row.text)).collect();
        let caret = (view.caret_row, view.caret_column);
        super::form::scrolled("Change the plan", rows, "Tab or Esc: done.", caret, (columns, self.rows))
    }

    pub(super) fn reads_letters(&self) -> bool {
        self.writing.is_none() && self.reading.reads_letters()
    }

    pub(super) fn forget_letter(&mut self) {
        self.reading.forget_letter();
    }

    pub(super) fn written(&self) -> String {
        let changed = if self.is_changed { self.plan.clone() } else { String::new() };
        let plan = self.writing.as_ref().map(Composer::expanded).filter(|text| *text != self.plan).unwrap_or(changed);
        [plan, self.reading.comment().unwrap_or_default()].join("\n").trim().to_owned()
    }

    /// The plan that an external editor gave back.
    pub(super) fn edited(&mut self, text: &str) {
        self.writing = None;
        if text.trim().is_empty() || text == self.plan {
            return;
        }
        text.clone_into(&mut self.plan);
        self.is_changed = true;
        self.reading.pager.set(lines(&self.notes, text));
        self.reading.lay_out();
    }

    pub(super) fn handle(&mut self, input: &TerminalInput, keymap: &Keymap) -> DialogOutcome {
        if let Some(mut writing) = self.writing.take() {
            match write(&mut writing, input, keymap, self.reading.columns()) {
                Some(KeyAction::Submit) => writing.type_char('\n'),
                Some(KeyAction::Interrupt | KeyAction::Queue | KeyAction::Cancel) => {
                    self.edited(&writing.expanded());
                    return DialogOutcome::Taken;
                }
                _ => {}
            }
            self.writing = Some(writing);
            return DialogOutcome::Taken;
        }
        match self.reading.handle(input, keymap) {
            Reaction::Chosen(PlanChoice::Approve) => self.approved(Vec::new()),
            Reaction::Chosen(PlanChoice::ApproveWithEdits) => self.approved(vec![PermissionUpdate::SetMode {
                mode: PermissionMode::AcceptEdits,
                destination: UpdateDestination::Session,
            }]),
            Reaction::Chosen(PlanChoice::Edit) => {
                let mut writing = editor();
                writing.paste(&self.plan);
                writing.set_caret(0);
                self.writing = Some(writing);
                DialogOutcome::Taken
            }
            Reaction::Other(KeyAction::ExternalEditor) => DialogOutcome::OpenEditor(self.plan.clone()),
            Reaction::Chosen(PlanChoice::Refuse) | Reaction::Refused => self.refused(false),
            Reaction::Stopped => self.refused(true),
            Reaction::Stray => DialogOutcome::Stray,
            Reaction::Other(_) | Reaction::Taken => DialogOutcome::Taken,
        }
    }

    fn approved(&self, updates: Vec<PermissionUpdate>) -> DialogOutcome {
        let updated_input = self.is_changed.then(|| {
            let mut input = self.input.clone();
            input.insert("plan".to_owned(), Value::String(self.plan.clone()));
            JsonText::of(&input)
        });
        match updated_input.transpose() {
            Ok(updated_input) => {
                DialogOutcome::Answered(PermissionAnswer::Allow { updated_input, updates }, self.reading.comment())
            }
            Err(_) => self.refused(false),
        }
    }

    fn refused(&self, interrupt: bool) -> DialogOutcome {
        let mut message = denial("The user does not approve the plan yet.", self.reading.comment());
        if self.is_changed {
            message = format!("{message} The user has changed the plan to:\n{}", self.plan);
        }
        DialogOutcome::Answered(PermissionAnswer::Deny { message, interrupt }, None)
    }
}

fn lines(notes: &[DialogLine], plan: &str) -> Vec<DialogLine> {
    let plan = plan.lines().map(|line| DialogLine::new(DialogRowKind::Text, "", line));
    notes.iter().cloned().chain(plan).collect()
}

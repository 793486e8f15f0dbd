//! Permission for a call of a tool.

use super::choice::DialogChoice;
use super::content::{call_lines, note, reasons};
use super::reading::{Reaction, ReadingDialog};
use super::{DialogOutcome, DialogView};
use crate::input::TerminalInput;
use crate::keys::{KeyAction, Keymap};
use windlass_permission::rule_text;
use windlass_types::text::visible_line;
use windlass_types::{Behavior, PermissionAnswer, PermissionRequest, PermissionUpdate, UpdateDestination};

/// Longest description of a rule that is offered. The person must not agree to what cannot be read at once.
const LONGEST_RULE: usize = 240;

/// Meaning of a choice.
#[derive(Debug, Clone, PartialEq, Eq)]
enum PermissionChoice {
    Once,
    Always(PermissionUpdate),
    Deny,
}

/// A dialog that asks whether a call may run.
///
/// The dialog shows the tool, who asks and why, and the whole call or diff in pages. A yes is possible once the last page was
/// shown. The answers are: once, for the session, for the project or for the user by a rule of the decision's
/// suggestions, and no; each with a comment.
#[derive(Debug)]
pub struct PermissionDialog {
    suggestions: Vec<PermissionUpdate>,
    /// Index of the suggestion that the choices are for.
    alternative: usize,
    reading: ReadingDialog<PermissionChoice>,
}

impl PermissionDialog {
    /// A dialog for a question.
    #[must_use]
    pub fn new(request: &PermissionRequest) -> Self {
        Self::of_agent(request, "")
    }

    /// A dialog for a question of an agent with this task; empty if it is not known.
    pub(super) fn of_agent(request: &PermissionRequest, task: &str) -> Self {
        let mut lines = reasons(request, task);
        lines.extend(call_lines(request));
        let title = if request.title.trim().is_empty() { &request.tool } else { &request.title };
        let title = format!("{} wants permission: {}", note(&request.tool), note(title));
        let is_offered = |update: &PermissionUpdate| {
            !request.decision.protected && in_scope(update, UpdateDestination::Session).is_some()
        };
        let suggestions: Vec<PermissionUpdate> =
            request.decision.suggestions.iter().filter(|u| is_offered(u)).cloned().collect();
        let choices = choices(suggestions.first());
        let mut dialog = Self { suggestions, alternative: 0, reading: ReadingDialog::new(title, lines, choices) };
        dialog.set_hint();
        dialog
    }

    pub(super) fn resize(&mut self, columns: usize, rows: usize) {
        self.reading.resize(columns, rows);
    }

    pub(super) fn drawn(&mut self) {
        self.reading.drawn();
    }

    pub(super) fn view(&self) -> DialogView {
        self.reading.view()
    }

    pub(super) fn reads_letters(&self) -> bool {
        self.reading.reads_letters()
    }

    pub(super) fn forget_letter(&mut self) {
        self.reading.forget_letter();
    }

    pub(super) fn written(&self) -> String {
        self.reading.comment().unwrap_or_default()
    }

    pub(super) fn handle(&mut self, input: &TerminalInput, keymap: &Keymap) -> DialogOutcome {
        match self.reading.handle(input, keymap) {
            Reaction::Chosen(PermissionChoice::Once) => self.allowed(Vec::new()),
            Reaction::Chosen(PermissionChoice::Always(update)) => self.allowed(vec![update]),
            Reaction::Chosen(PermissionChoice::Deny) | Reaction::Refused => self.denied(false),
            Reaction::Stopped => self.denied(true),
            Reaction::Other(KeyAction::Right) => self.alternative(1),
            Reaction::Other(KeyAction::Left) => self.alternative(-1),
            Reaction::Stray => DialogOutcome::Stray,
            Reaction::Other(_) | Reaction::Taken => DialogOutcome::Taken,
        }
    }

    fn allowed(&self, updates: Vec<PermissionUpdate>) -> DialogOutcome {
        DialogOutcome::Answered(PermissionAnswer::Allow { updated_input: None, updates }, self.reading.comment())
    }

    fn denied(&self, interrupt: bool) -> DialogOutcome {
        let message = denial("The user did not allow the call.", self.reading.comment());
        DialogOutcome::Answered(PermissionAnswer::Deny { message, interrupt }, None)
    }

    /// Offers the next or the previous suggestion.
    fn alternative(&mut self, by: isize) -> DialogOutcome {
        let last = self.suggestions.len().saturating_sub(1);
        self.alternative = self.alternative.saturating_add_signed(by).min(last);
        let selected = self.reading.choices.selected;
        self.reading.choices.list = choices(self.suggestions.get(self.alternative));
        self.reading.choices.selected = selected.min(self.reading.choices.list.len().saturating_sub(1));
        self.set_hint();
        self.reading.lay_out();
        DialogOutcome::Taken
    }

    fn set_hint(&mut self) {
        if let all @ 2.. = self.suggestions.len() {
            self.reading.hint = format!("Left, Right: rule {} of {all}.", self.alternative.saturating_add(1));
        }
    }
}

/// The message of a no, with the comment of the person.
pub(super) fn denial(message: &str, comment: Option<String>) -> String {
    comment.map_or_else(|| message.to_owned(), |comment| format!("{message} The user says: {comment}"))
}

fn choices(suggestion: Option<&PermissionUpdate>) -> Vec<DialogChoice<PermissionChoice>> {
    let mut list = vec![DialogChoice {
        letter: 'y',
        text: "Yes, this once".to_owned(),
        value: PermissionChoice::Once,
        needs_reading: true,
        grants_more: false,
    }];
    let scopes = [
        ('a', "in this session", UpdateDestination::Session),
        ('p', "in this project", UpdateDestination::LocalSettings),
        ('u', "in all projects", UpdateDestination::UserSettings),
    ];
    for (letter, scope, destination) in scopes {
        let Some(update) = suggestion.and_then(|update| in_scope(update, destination)) else { continue };
        let Some(rule) = describe(&update) else { continue };
        let text = format!("Yes, and {rule} {scope}");
        let value = PermissionChoice::Always(update);
        list.push(DialogChoice { letter, text, value, needs_reading: true, grants_more: true });
    }
    list.push(DialogChoice {
        letter: 'n',
        text: "No".to_owned(),
        value: PermissionChoice::Deny,
        needs_reading: false,
        grants_more: false,
    });
    list
}

/// The suggestion, kept in another place; `None` if it allows nothing or cannot be kept there.
fn in_scope(update: &PermissionUpdate, destination: UpdateDestination) -> Option<PermissionUpdate> {
    let scoped = match update {
        PermissionUpdate::AddRules { rules, behavior: Behavior::Allow, .. } => {
            PermissionUpdate::AddRules { rules: rules.clone(), behavior: Behavior::Allow, destination }
        }
        // A mode is for the session alone.
        PermissionUpdate::SetMode { mode, .. } if destination == UpdateDestination::Session => {
            PermissionUpdate::SetMode { mode: *mode, destination }
        }
        PermissionUpdate::AddDirectories { directories, .. } => {
            PermissionUpdate::AddDirectories { directories: directories.clone(), destination }
        }
        _ => return None,
    };
    describe(&scoped).is_some().then_some(scoped)
}

/// The suggestion in words; `None` if it is too long to be read at once.
fn describe(update: &PermissionUpdate) -> Option<String> {
    let text = match update {
        PermissionUpdate::AddRules { rules, .. } => {
            format!("allow {}", rules.iter().map(rule_text).collect::<Vec<_>>().join(", "))
        }
        PermissionUpdate::SetMode { mode, .. } => format!("switch to the mode {mode}"),
        PermissionUpdate::AddDirectories { directories, .. } => {
            let names: Vec<String> = directories.iter().map(|directory| directory.display().to_string()).collect();
            format!("add {} to the workspace", names.join(", "))
        }
        _ => return None,
    };
    let text = visible_line(&text);
    (text.chars().count() <= LONGEST_RULE).then_some(text)
}

//! Questions of the model, as a form.

use super::content::{DialogLine, agent_name, cut, note, wrapped};
use super::permission::denial;
use super::{DialogOutcome, DialogRow, DialogRowKind, DialogView, editor, key_of, write};
use crate::composer::Composer;
use crate::input::TerminalInput;
use crate::keys::{KeyAction, KeyCode, Keymap};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use windlass_types::{JsonText, PermissionAnswer, PermissionRequest};

/// Most questions and options of a form that is shown as one.
const MOST: usize = 20;

/// Fewest rows with a title beside the question.
const TIGHT: usize = 4;

/// A question of the form.
#[derive(Debug, Deserialize)]
struct FormQuestion {
    question: String,
    #[serde(default)]
    header: String,
    options: Vec<FormOption>,
    #[serde(default, rename = "multiSelect")]
    is_multiple: bool,
}

/// An answer that can be chosen.
#[derive(Debug, Deserialize)]
struct FormOption {
    label: String,
    #[serde(default)]
    description: String,
}

/// State of one question: the row of the selection, chosen options, and an own answer.
#[derive(Debug)]
struct FormState {
    at: usize,
    chosen: BTreeSet<usize>,
    own: Composer,
    /// `true` if the own answer is chosen.
    is_own: bool,
}

/// A dialog with the questions of the model. Each has answers to choose from, and takes an own one.
#[derive(Debug)]
pub struct QuestionForm {
    input: Map<String, Value>,
    agent: String,
    questions: Vec<(FormQuestion, FormState)>,
    current: usize,
    columns: usize,
    rows: usize,
}

impl QuestionForm {
    /// A form for a question; `None` if its input is no form.
    #[must_use]
    pub fn new(request: &PermissionRequest) -> Option<Self> {
        Self::of_agent(request, "")
    }

    /// A form for a question of an agent with this task; empty if it is not known.
    pub(super) fn of_agent(request: &PermissionRequest, task: &str) -> Option<Self> {
        #[derive(Deserialize)]
        struct FormInput {
            questions: Vec<FormQuestion>,
        }
        let FormInput { questions } = request.input.to().ok()?;
        let input: Map<String, Value> = request.input.to().ok()?;
        let names: BTreeSet<&str> = questions.iter().map(|question| question.question.as_str()).collect();
        let is_fit = (1..=MOST).contains(&questions.len())
            && names.len() == questions.len()
            && questions.iter().all(|question| question.options.len() <= MOST);
        let agent = request.identity.as_ref().map(|agent| format!(" by the agent {}", agent_name(agent, task)));
        let state = |question| (question, FormState { at: 0, chosen: BTreeSet::new(), own: editor(), is_own: false });
        is_fit.then(|| Self {
            input,
            agent: agent.unwrap_or_default(),
            questions: questions.into_iter().map(state).collect(),
            current: 0,
            columns: 80,
            rows: 12,
        })
    }

    pub(super) fn resize(&mut self, columns: usize, rows: usize) {
        (self.columns, self.rows) = (columns.max(super::content::NARROWEST), rows);
    }

    pub(super) fn written(&self) -> String {
        let texts: Vec<String> = self.questions.iter().map(|(_, state)| state.own.expanded()).collect();
        texts.join("\n").trim().to_owned()
    }

    pub(super) fn view(&self) -> DialogView {
        let Some((question, state)) = self.questions.get(self.current) else { return DialogView::default() };
        let number = self.current.saturating_add(1);
        let all = self.questions.len();
        let place = if all > 1 { format!(" {number} of {all}") } else { String::new() };
        let header = if question.header.is_empty() { String::new() } else { format!(": {}", note(&question.header)) };
        let title = format!("Question{place}{}{header}", self.agent);
        // With few rows left the question itself is the title.
        let is_tight = self.rows < TIGHT;
        let title = if is_tight { note(&question.question) } else { title };
        let text = (!is_tight).then(|| DialogLine::new(DialogRowKind::Text, "", note(&question.question)));
        let mut body = text.map(|text| wrapped(&text, self.columns)).unwrap_or_default();
        let mut caret = (0, 0);
        for (at, option) in question.options.iter().enumerate() {
            let is_selected = state.at == at;
            if is_selected {
                caret = (body.len(), 0);
            }
            let mark = mark(question.is_multiple, is_selected, state.chosen.contains(&at));
            let kind = if is_selected { DialogRowKind::Selected } else { DialogRowKind::Choice };
            let text = format!("{}. {}", at.saturating_add(1), note(&option.label));
            body.extend(wrapped(&DialogLine::new(kind, mark, text), self.columns));
            if !option.description.is_empty() {
                let line = DialogLine::new(DialogRowKind::Note, "         ", note(&option.description));
                body.extend(wrapped(&line, self.columns));
            }
        }
        self.own_rows(question, state, &mut body, &mut caret);
        let hint = "Enter: choose. Space: mark. Tab: next question. Esc: no answer.";
        scrolled(&title, body, hint, caret, (self.columns, self.rows))
    }

    fn own_rows(
        &self,
        question: &FormQuestion,
        state: &FormState,
        body: &mut Vec<DialogRow>,
        caret: &mut (usize, usize),
    ) {
        let is_selected = state.at == question.options.len();
        let mark = mark(question.is_multiple, is_selected, state.is_own);
        // A narrow screen has no room for the name of the field.
        let name = if self.columns < 30 { "" } else { "Own answer: " };
        let first = format!("{mark}{name}");
        let width = first.len();
        let view = state.own.view(self.columns.saturating_sub(width), 3);
        if is_selected {
            *caret = (body.len().saturating_add(view.caret_row), width.saturating_add(view.caret_column));
        }
        let kind = if is_selected { DialogRowKind::Input } else { DialogRowKind::Choice };
        for (at, row) in view.rows.iter().enumerate() {
            let before = if at == 0 { first.clone() } else { " ".repeat(width) };
            body.push(DialogRow::new(kind, before + &row.text));
        }
    }

    pub(super) fn handle(&mut self, input: &TerminalInput, keymap: &Keymap) -> DialogOutcome {
        let columns = self.columns;
        let Some((question, state)) = self.questions.get_mut(self.current) else { return DialogOutcome::Taken };
        let is_own = state.at == question.options.len();
        let action = if is_own {
            let action = write(&mut state.own, input, keymap, columns);
            state.is_own = !state.own.expanded().trim().is_empty();
            if state.is_own && !question.is_multiple {
                state.chosen.clear();
            }
            action
        } else {
            match key_of(input) {
                None => {
                    state.at = question.options.len();
                    return self.handle(input, keymap);
                }
                Some(key) => match (keymap.action(key), key.typed()) {
                    (Some(action), _) => Some(action),
                    (None, Some(c)) => return self.typed(c, key.code, input, keymap),
                    (None, None) => None,
                },
            }
        };
        action.map_or(DialogOutcome::Taken, |action| self.act(action))
    }

    /// A character on an option: it marks or chooses, or begins an own answer.
    fn typed(&mut self, c: char, code: KeyCode, input: &TerminalInput, keymap: &Keymap) -> DialogOutcome {
        let Some((question, state)) = self.questions.get_mut(self.current) else { return DialogOutcome::Taken };
        let number = c.to_digit(10).and_then(|digit| usize::try_from(digit).ok()?.checked_sub(1));
        match number.filter(|at| *at < question.options.len()) {
            Some(at) => {
                state.at = at;
                toggle(question, state, at);
                DialogOutcome::Taken
            }
            None if code == KeyCode::Char(' ') => {
                let at = state.at;
                toggle(question, state, at);
                DialogOutcome::Taken
            }
            None => {
                state.at = question.options.len();
                self.handle(input, keymap)
            }
        }
    }

    fn act(&mut self, action: KeyAction) -> DialogOutcome {
        let last = self.questions.len().saturating_sub(1);
        let Some((question, state)) = self.questions.get_mut(self.current) else { return DialogOutcome::Taken };
        match action {
            KeyAction::Up | KeyAction::HistoryOlder => state.at = state.at.saturating_sub(1),
            KeyAction::Down | KeyAction::HistoryNewer => {
                state.at = state.at.saturating_add(1).min(question.options.len());
            }
            KeyAction::Queue | KeyAction::Right => self.current = self.current.saturating_add(1).min(last),
            KeyAction::CycleMode | KeyAction::Left => self.current = self.current.saturating_sub(1),
            KeyAction::Submit => return self.enter(),
            KeyAction::Interrupt => return self.unanswered(false),
            KeyAction::Cancel => return self.unanswered(true),
            _ => {}
        }
        DialogOutcome::Taken
    }

    /// Chooses where one answer is asked for, and goes on to the next question without an answer. Behind the last one the
    /// form is answered.
    fn enter(&mut self) -> DialogOutcome {
        if let Some((question, state)) = self.questions.get_mut(self.current) {
            let at = state.at;
            if at < question.options.len() && (!question.is_multiple || state.chosen.is_empty()) {
                if !question.is_multiple {
                    state.chosen.clear();
                    state.is_own = false;
                }
                state.chosen.insert(at);
            }
            if state.chosen.is_empty() && !state.is_own {
                return DialogOutcome::Taken;
            }
        }
        let is_open = |(_, state): &(FormQuestion, FormState)| state.chosen.is_empty() && !state.is_own;
        match self.questions.iter().position(is_open) {
            Some(open) => {
                self.current = open;
                DialogOutcome::Taken
            }
            None => self.answered(),
        }
    }

    fn answered(&self) -> DialogOutcome {
        let mut answers = Map::new();
        for (question, state) in &self.questions {
            let labels =
                state.chosen.iter().filter_map(|at| question.options.get(*at)).map(|option| option.label.clone());
            let own = state.is_own.then(|| state.own.expanded().trim().to_owned());
            let mut all: Vec<String> = labels.chain(own).collect();
            let answer = match (question.is_multiple, all.pop()) {
                (false, last) => Value::String(last.unwrap_or_default()),
                (true, last) => Value::from(all.into_iter().chain(last).collect::<Vec<_>>()),
            };
            answers.insert(question.question.clone(), answer);
        }
        let mut input = self.input.clone();
        input.insert("answers".to_owned(), Value::Object(answers));
        match JsonText::of(&input) {
            Ok(input) => {
                let answer = PermissionAnswer::Allow { updated_input: Some(input), updates: Vec::new() };
                DialogOutcome::Answered(answer, None)
            }
            Err(_) => self.unanswered(false),
        }
    }

    fn unanswered(&self, interrupt: bool) -> DialogOutcome {
        let written = Some(self.written()).filter(|text| !text.is_empty());
        let message = denial("The user did not answer the questions.", written);
        DialogOutcome::Answered(PermissionAnswer::Deny { message, interrupt }, None)
    }
}

/// Chooses an option: one of several, or the only one.
fn toggle(question: &FormQuestion, state: &mut FormState, at: usize) {
    if !question.is_multiple {
        state.chosen.clear();
        state.is_own = false;
        state.chosen.insert(at);
    } else if !state.chosen.remove(&at) {
        state.chosen.insert(at);
    }
}

/// Title, as many rows of the body as fit around the caret, and the hint, on a screen of so many columns and rows.
pub(super) fn scrolled(
    title: &str,
    mut body: Vec<DialogRow>,
    hint: &str,
    caret: (usize, usize),
    (columns, rows): (usize, usize),
) -> DialogView {
    // The hint goes first where there is no room.
    let (has_title, has_hint) = (rows >= 2, rows >= 4);
    let most = rows.saturating_sub(usize::from(has_title)).saturating_sub(usize::from(has_hint)).max(1);
    let top = caret.0.saturating_add(2).min(body.len()).saturating_sub(most).min(caret.0);
    body.truncate(top.saturating_add(most));
    let mut rows = Vec::from_iter(has_title.then(|| DialogRow::new(DialogRowKind::Title, cut(title, columns))));
    let caret_row = caret.0.saturating_sub(top).saturating_add(rows.len());
    rows.extend(body.into_iter().skip(top));
    rows.extend(has_hint.then(|| DialogRow::new(DialogRowKind::Hint, cut(hint, columns))));
    DialogView { rows, caret: Some((caret_row, caret.1)) }
}

/// The mark and the kind of a row that is selected, or not.
pub(super) fn marked(is_selected: bool) -> (&'static str, DialogRowKind) {
    if is_selected { ("> ", DialogRowKind::Selected) } else { ("  ", DialogRowKind::Choice) }
}

/// The mark of an option.
pub(super) fn mark(is_multiple: bool, is_selected: bool, is_chosen: bool) -> &'static str {
    match (is_multiple, is_selected, is_chosen) {
        (true, true, true) => "> [x] ",
        (true, true, false) => "> [ ] ",
        (true, false, true) => "  [x] ",
        (true, false, false) => "  [ ] ",
        (false, true, true) => "> (x) ",
        (false, true, false) => "> ( ) ",
        (false, false, true) => "  (x) ",
        (false, false, false) => "  ( ) ",
    }
}

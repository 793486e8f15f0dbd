//! A text to read, choices below it, and a comment: what the dialogs for permissions and plans share.

use super::choice::{DialogChoice, DialogChoices, ShownChoices};
use super::content::{DialogLine, cut};
use super::pager::Pager;
use super::{DialogRow, DialogRowKind, DialogView, editor, key_of, write};
use crate::composer::Composer;
use crate::input::TerminalInput;
use crate::keys::{KeyAction, KeyCode, Keymap};

/// Most rows of a comment.
const COMMENT_ROWS: usize = 3;
/// Fewest rows of the text where the screen has them.
const LEAST_PAGE: usize = 3;

/// Result of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reaction<T> {
    /// Taken.
    Taken,
    /// Another choice was made.
    Chosen(T),
    /// The person said no by Esc.
    Refused,
    /// The person said no and stops the run.
    Stopped,
    /// The key means nothing here.
    Other(KeyAction),
    /// The typed character means nothing here.
    Stray,
}

/// A text in pages, choices of which some need it to be read, and a comment.
#[derive(Debug)]
pub(super) struct ReadingDialog<T> {
    title: String,
    pub(super) pager: Pager,
    pub(super) choices: DialogChoices<T>,
    comment: Composer,
    is_commenting: bool,
    /// Rows of the comment; `0` while none is written.
    comment_rows: usize,
    /// Choice that was selected before a letter selected another one, which Enter has not chosen yet.
    before_letter: Option<usize>,
    /// Further keys, for the hint.
    pub(super) hint: String,
    columns: usize,
    rows: usize,
    shown: ShownChoices,
}

impl<T: Clone> ReadingDialog<T> {
    pub(super) fn new(title: String, lines: Vec<DialogLine>, choices: Vec<DialogChoice<T>>) -> Self {
        Self {
            title,
            pager: Pager::new(lines),
            choices: DialogChoices::new(choices),
            comment: editor(),
            is_commenting: false,
            comment_rows: 0,
            before_letter: None,
            hint: String::new(),
            columns: 80,
            rows: 12,
            shown: ShownChoices::default(),
        }
    }

    pub(super) fn resize(&mut self, columns: usize, rows: usize) {
        (self.columns, self.rows) = (columns.max(super::content::NARROWEST), rows);
        self.lay_out();
    }

    pub(super) fn columns(&self) -> usize {
        self.columns
    }

    /// `true` while letters answer.
    pub(super) fn reads_letters(&self) -> bool {
        !self.is_commenting
    }

    /// A letter that selected a choice was the beginning of a text: the choice before is selected again.
    pub(super) fn forget_letter(&mut self) {
        if let Some(before) = self.before_letter.take() {
            self.choices.selected = before;
            self.lay_out();
        }
    }

    /// Divides the rows: title, text, choices, comment, hint. All of them together are no more than there are. Where there is no
    /// room the title is the first row of the text, and the hint stands behind the last choice. Without room for the text it cannot be read, so a yes is not possible.
    pub(super) fn lay_out(&mut self) {
        let beside = usize::from(self.has_title()).saturating_add(usize::from(self.has_hint()));
        let free = self.rows.saturating_sub(beside);
        self.comment_rows = if self.is_commenting { COMMENT_ROWS.min(free.saturating_sub(1)) } else { 0 };
        let free = free.saturating_sub(self.comment_rows);
        let wanted = self.choices.height(self.columns);
        let page = LEAST_PAGE.min(free.saturating_sub(1));
        let for_choices = wanted.min(free.saturating_sub(page));
        let title = (!self.has_title()).then_some(self.title.as_str());
        self.pager.resize(self.columns, free.saturating_sub(for_choices), title);
        self.shown = self.choices.shown(self.pager.is_read_with_page(), self.columns, for_choices);
    }

    /// The dialog is on the screen.
    pub(super) fn drawn(&mut self) {
        self.pager.drawn();
    }

    fn has_title(&self) -> bool {
        self.rows >= 4
    }

    fn has_hint(&self) -> bool {
        self.rows >= 3
    }

    /// The comment; `None` if it is blank.
    pub(super) fn comment(&self) -> Option<String> {
        let text = self.comment.expanded();
        (!text.trim().is_empty()).then(|| text.trim().to_owned())
    }

    pub(super) fn view(&self) -> DialogView {
        let title = self.has_title().then(|| DialogRow::new(DialogRowKind::Title, cut(&self.title, self.columns)));
        let mut rows = Vec::from_iter(title);
        rows.extend(self.pager.rows().iter().cloned());
        let choices_at = rows.len();
        rows.extend(self.shown.rows.iter().cloned());
        let mut caret = Some((choices_at.saturating_add(self.shown.selected_row), 0));
        if self.comment_rows > 0 {
            const MARK: &str = "Comment: ";
            let view = self.comment.view(self.columns.saturating_sub(MARK.len()), self.comment_rows);
            caret = Some((rows.len().saturating_add(view.caret_row), MARK.len().saturating_add(view.caret_column)));
            rows.extend(view.rows.iter().enumerate().map(|(at, row)| {
                let mark = if at == 0 { MARK } else { "         " };
                DialogRow::new(DialogRowKind::Input, format!("{mark}{}", row.text))
            }));
        }
        if self.has_hint() {
            rows.push(DialogRow::new(DialogRowKind::Hint, cut(&self.hint(), self.columns)));
        } else if let Some(last) = rows.last_mut().filter(|_| self.pager.has_page() && !self.is_commenting) {
            last.text = cut(&format!("{}  {}", last.text, self.short_hint()), self.columns);
        }
        DialogView { rows, caret }
    }

    fn hint(&self) -> String {
        if self.is_commenting {
            return "Enter: answer with this comment. Esc: back.".to_owned();
        }
        let place = self.pager.place();
        let enter = if self.before_letter.is_some() { "Enter: the selected answer. " } else { "" };
        let more = match (self.pager.is_read_with_page(), place) {
            (false, Some((row, all))) => format!("Row {row} of {all}: Space shows more, then yes is possible. "),
            (_, Some((row, all))) => format!("Row {row} of {all}. "),
            _ => String::new(),
        };
        let others = if self.choices.has_others(&self.shown) { "Down: other answers. " } else { "" };
        format!("{enter}{more}{others}Tab: comment. Esc: no. {}", self.hint).trim_end().to_owned()
    }

    /// The hint where it has no row.
    fn short_hint(&self) -> String {
        let place = self.pager.place().map(|(row, all)| format!("Space: row {row} of {all}. ")).unwrap_or_default();
        let others = if self.choices.has_others(&self.shown) { " Down: others." } else { "" };
        format!("{place}Esc: no.{others}")
    }

    pub(super) fn handle(&mut self, input: &TerminalInput, keymap: &Keymap) -> Reaction<T> {
        let reaction = if self.is_commenting { self.comment_input(input, keymap) } else { self.key(input, keymap) };
        self.lay_out();
        reaction
    }

    fn comment_input(&mut self, input: &TerminalInput, keymap: &Keymap) -> Reaction<T> {
        match write(&mut self.comment, input, keymap, self.columns) {
            Some(KeyAction::Submit) => self.choose(self.choices.selected),
            Some(KeyAction::Interrupt | KeyAction::Queue | KeyAction::Cancel) => {
                self.is_commenting = false;
                Reaction::Taken
            }
            Some(KeyAction::Up) => self.step(-1),
            Some(KeyAction::Down) => self.step(1),
            _ => Reaction::Taken,
        }
    }

    fn step(&mut self, by: isize) -> Reaction<T> {
        self.before_letter = None;
        self.choices.step(by);
        Reaction::Taken
    }

    fn key(&mut self, input: &TerminalInput, keymap: &Keymap) -> Reaction<T> {
        let Some(key) = key_of(input) else {
            // A paste is a comment, never an answer.
            self.is_commenting = true;
            write(&mut self.comment, input, keymap, self.columns);
            return Reaction::Taken;
        };
        match key.code {
            KeyCode::PageDown => self.pager.next_page(),
            KeyCode::PageUp => self.pager.previous_page(),
            KeyCode::Char(' ') if key.typed().is_some() => self.pager.next_page(),
            _ => return self.action(keymap.action(key), key.typed()),
        };
        Reaction::Taken
    }

    fn action(&mut self, action: Option<KeyAction>, typed: Option<char>) -> Reaction<T> {
        match (action, typed) {
            (Some(KeyAction::Up | KeyAction::HistoryOlder), _) => self.step(-1),
            (Some(KeyAction::Down | KeyAction::HistoryNewer), _) => self.step(1),
            (Some(KeyAction::Interrupt), _) => Reaction::Refused,
            (Some(KeyAction::Cancel), _) => Reaction::Stopped,
            (Some(KeyAction::Queue), _) => {
                self.is_commenting = true;
                Reaction::Taken
            }
            (Some(KeyAction::Submit), _) => self.choose(self.choices.selected),
            (Some(action), _) => Reaction::Other(action),
            (None, Some(c)) => match self.choices.of_key(c) {
                // A choice that the person cannot see whole is shown first.
                Some(at) if !self.shown.whole.contains(&at) => self.select_by_letter(at),
                Some(at) if self.grants_more(at) && !c.is_ascii_digit() => self.select_by_letter(at),
                Some(at) => self.choose(at),
                None => Reaction::Stray,
            },
            (None, None) => Reaction::Taken,
        }
    }

    fn grants_more(&self, at: usize) -> bool {
        self.choices.list.get(at).is_some_and(|choice| choice.grants_more)
    }

    /// Selects a choice that Enter chooses then: its letter alone may be the first of a word.
    fn select_by_letter(&mut self, at: usize) -> Reaction<T> {
        self.before_letter.get_or_insert(self.choices.selected);
        self.choices.selected = at;
        Reaction::Taken
    }

    /// Makes a choice, unless the text has to be read before: then the next page is shown.
    fn choose(&mut self, at: usize) -> Reaction<T> {
        let Some(choice) = self.choices.list.get(at) else { return Reaction::Taken };
        if choice.needs_reading && !self.pager.is_read() {
            self.choices.selected = at;
            self.is_commenting = false;
            self.pager.next_page();
            return Reaction::Taken;
        }
        if choice.needs_reading && !self.shown.whole.contains(&at) {
            return Reaction::Taken;
        }
        Reaction::Chosen(choice.value.clone())
    }
}

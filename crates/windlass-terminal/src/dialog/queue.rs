//! The questions that wait, and the keys that belong to the first one.

use super::guard::{KeyGuard, LetterFate, LetterGuard};
use super::{
    Dialog, DialogAnswer, DialogOutcome, DialogResult, DialogRowKind, DialogView, ElicitationDialog, ElicitationError,
    ElicitationQuestion, content, key_of,
};
use crate::input::TerminalInput;
use crate::keys::{Key, KeyAction, Keymap};
use std::collections::VecDeque;
use std::time::Duration;
use windlass_types::{PermissionRequest, QuestionId};

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

    /// `true` while letters answer the question that is shown.
    pub(crate) fn reads_letters(&self) -> bool {
        self.waiting.front().is_some_and(|(_, dialog)| dialog.reads_letters())
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

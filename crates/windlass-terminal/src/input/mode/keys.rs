//! Keys of the prompt.

use super::{DoubleKey, InputAction, InputMode, RunActivity};
use crate::completion::CandidateKind;
use crate::history::HistorySearch;
use crate::keys::{Key, KeyAction, KeyCode};
use std::time::Duration;
use windlass_types::PermissionMode;

impl InputMode {
    pub(super) fn key(&mut self, key: Key, now: Duration, actions: &mut Vec<InputAction>) {
        let action = self.options.keymap.action(key);
        let armed = self.armed.take().filter(|(_, at)| now.saturating_sub(*at) <= self.options.double_press);
        let armed = armed.map(|(key, _)| key);
        if self.keys_list.is_some() && self.keys_list_key(key, action) {
            return;
        }
        if self.search.is_some() {
            return self.search_key(key, action, actions);
        }
        match (action, key.typed()) {
            (Some(action), _) => self.act(action, armed, now, actions),
            (None, Some('?')) if self.composer.is_empty() => self.show_keys(),
            (None, Some(c)) => {
                self.composer.type_char(c);
                self.completed(actions);
            }
            (None, None) => {}
        }
    }

    /// Gives a key to the list of keys. Returns `false` for a key that closes the list and means more.
    fn keys_list_key(&mut self, key: Key, action: Option<KeyAction>) -> bool {
        let Some(mut list) = self.keys_list.take() else { return false };
        let rows = list.lines(&self.options.keymap, self.columns).len();
        let page = isize::try_from(self.page).unwrap_or(1);
        let step = match (key.code, action) {
            (KeyCode::PageUp, _) => page.saturating_neg(),
            (KeyCode::PageDown, _) => page,
            (KeyCode::Home, _) => isize::MIN,
            (KeyCode::End, _) => isize::MAX,
            (_, Some(KeyAction::Up | KeyAction::HistoryOlder)) => -1,
            (_, Some(KeyAction::Down | KeyAction::HistoryNewer)) => 1,
            (_, Some(KeyAction::Interrupt | KeyAction::Cancel | KeyAction::Submit)) => return true,
            _ => return key.typed() == Some('?'),
        };
        list.scroll(step, rows, self.page);
        self.keys_list = Some(list);
        true
    }

    fn act(&mut self, action: KeyAction, armed: Option<DoubleKey>, now: Duration, actions: &mut Vec<InputAction>) {
        if self.menu().is_some() && self.menu_action(action, actions) {
            return;
        }
        match action {
            KeyAction::Submit => self.enter(!self.options.enter_queues, actions),
            KeyAction::Queue if self.run == RunActivity::Running => self.enter(self.options.enter_queues, actions),
            KeyAction::Queue | KeyAction::Ignore => {}
            KeyAction::Interrupt => self.escape(armed, now, actions),
            KeyAction::Cancel => self.cancel(armed, now, actions),
            KeyAction::DeleteOrExit if self.composer.is_empty() => self.exit(actions),
            KeyAction::SearchHistory => self.search = Some(HistorySearch::default()),
            KeyAction::ExternalEditor => actions.push(InputAction::OpenEditor(self.composer.expanded())),
            KeyAction::PasteImage => actions.push(InputAction::PasteImage),
            KeyAction::CycleMode => self.cycle_mode(actions),
            KeyAction::Background if self.run == RunActivity::Running => actions.push(InputAction::MoveToBackground),
            // At the prompt the key is the one of readline.
            KeyAction::Background => self.edit(KeyAction::Left, actions),
            KeyAction::Transcript => actions.push(InputAction::ShowTranscript),
            KeyAction::Tasks => actions.push(InputAction::ToggleTasks),
            KeyAction::Redraw => actions.push(InputAction::Redraw),
            KeyAction::Suspend => actions.push(InputAction::Suspend),
            KeyAction::HistoryOlder => self.older(),
            KeyAction::HistoryNewer => self.newer(),
            KeyAction::Up => {
                if !self.composer.edit(KeyAction::Up, self.columns) {
                    self.above(actions);
                }
            }
            KeyAction::Down => {
                if !self.composer.edit(KeyAction::Down, self.columns) {
                    self.newer();
                }
            }
            _ => self.edit(action, actions),
        }
    }

    fn edit(&mut self, action: KeyAction, actions: &mut Vec<InputAction>) {
        self.composer.edit(action, self.columns);
        self.completed(actions);
    }

    /// Carries out an action of the menu. Returns `false` if the action is none of it.
    fn menu_action(&mut self, action: KeyAction, actions: &mut Vec<InputAction>) -> bool {
        let Some(menu) = self.menu.as_mut() else { return false };
        match action {
            KeyAction::Up | KeyAction::HistoryOlder => menu.up(),
            KeyAction::Down | KeyAction::HistoryNewer => menu.down(),
            KeyAction::Interrupt => {
                self.dismissed = self.word.take();
                self.menu = None;
            }
            KeyAction::Queue => self.accept(actions),
            // A word that is written out is sent, not completed.
            KeyAction::Submit if !self.is_written_out() => self.accept(actions),
            _ => return false,
        }
        true
    }

    /// `true` if the selected candidate would not change the text.
    fn is_written_out(&self) -> bool {
        let (Some(word), Some(candidate)) = (&self.word, self.menu().and_then(|menu| menu.selected())) else {
            return true;
        };
        let written = self.composer.text().get(word.range()).unwrap_or_default();
        written == candidate.text || candidate.aliases.iter().any(|alias| alias == written)
    }

    /// Replaces the word by the selected candidate.
    fn accept(&mut self, actions: &mut Vec<InputAction>) {
        let candidate = self.menu().and_then(|menu| menu.selected()).cloned();
        let (Some(word), Some(candidate)) = (self.word.take(), candidate) else { return };
        // Inside of a directory the next name follows.
        let blank = if candidate.kind == CandidateKind::Directory { "" } else { " " };
        let range = word.range();
        let has_blank = self.composer.text().get(range.end..).is_some_and(|rest| rest.starts_with(' '));
        self.composer.replace(range.clone(), &candidate.text);
        match (blank, has_blank) {
            ("", _) => {}
            (_, true) => {
                self.composer.edit(KeyAction::Right, self.columns);
            }
            (blank, false) => self.composer.replace(self.composer.caret()..self.composer.caret(), blank),
        }
        self.menu = None;
        self.completed(actions);
    }

    fn search_key(&mut self, key: Key, action: Option<KeyAction>, actions: &mut Vec<InputAction>) {
        let Some(mut search) = self.search.take() else { return };
        match (action, key.typed()) {
            (Some(KeyAction::SearchHistory | KeyAction::Up | KeyAction::HistoryOlder), _) => {
                search.older(&self.history)
            }
            (Some(KeyAction::Stash), _) => search.cycle_scope(),
            (Some(KeyAction::DeleteBack), _) => search.delete(),
            (Some(KeyAction::Interrupt | KeyAction::Cancel), _) => return,
            (None, Some(c)) => search.add(c.encode_utf8(&mut [0; 4])),
            // Every other key takes the match. Enter does not send it: the person has not seen it as the prompt yet.
            _ => {
                if let Some(found) = search.found(&self.history) {
                    self.leave_history(actions);
                    let before = self.composer.take();
                    self.record(before, actions);
                    self.composer.restore(found.prompt);
                }
                return;
            }
        }
        self.search = Some(search);
    }

    /// The first row is reached: the last queued message comes back, or the older prompt.
    fn above(&mut self, actions: &mut Vec<InputAction>) {
        let asks_queue = self.composer.is_empty() && !self.history.is_away();
        if let Some(number) = asks_queue.then(|| self.queue.take_back_last()).flatten() {
            return actions.push(InputAction::TakeBack(number));
        }
        self.older();
    }

    fn older(&mut self) {
        if let Some(prompt) = self.history.older(self.composer.saved()) {
            self.composer.restore(prompt);
            (self.menu, self.word) = (None, None);
        }
    }

    fn newer(&mut self) {
        if let Some(prompt) = self.history.newer(self.composer.saved()) {
            self.composer.restore(prompt);
            (self.menu, self.word) = (None, None);
        }
    }

    fn escape(&mut self, armed: Option<DoubleKey>, now: Duration, actions: &mut Vec<InputAction>) {
        if self.run == RunActivity::Running {
            actions.push(InputAction::Interrupt);
            return;
        }
        let is_second = armed == Some(DoubleKey::Escape);
        match (self.composer.is_empty(), is_second) {
            (true, true) => actions.push(InputAction::OpenRewind),
            (false, true) => self.clear(actions),
            (is_empty, false) => {
                self.armed = Some((DoubleKey::Escape, now));
                let effect = if is_empty { "rewind" } else { "clear the text into the history" };
                actions.push(self.again(KeyAction::Interrupt, effect));
            }
        }
    }

    fn cancel(&mut self, armed: Option<DoubleKey>, now: Duration, actions: &mut Vec<InputAction>) {
        if !self.composer.is_empty() {
            self.clear(actions);
            self.armed = Some((DoubleKey::Cancel, now));
            return actions.push(self.again(KeyAction::Cancel, "exit. The text is in the history"));
        }
        if armed == Some(DoubleKey::Cancel) {
            return self.exit(actions);
        }
        self.armed = Some((DoubleKey::Cancel, now));
        if self.run == RunActivity::Running {
            actions.push(InputAction::Interrupt);
        }
        actions.push(self.again(KeyAction::Cancel, "exit"));
    }

    /// Clears the text into the history.
    fn clear(&mut self, actions: &mut Vec<InputAction>) {
        self.leave_history(actions);
        let text = self.composer.take();
        self.record(text, actions);
        self.completed(actions);
    }

    /// The hint that the key of an action does something when it is pressed again.
    fn again(&self, action: KeyAction, effect: &str) -> InputAction {
        let key = self.options.keymap.keys(action).next().map(|key| key.to_string()).unwrap_or_default();
        InputAction::Hint(format!("Press {key} again to {effect}."))
    }

    fn exit(&mut self, actions: &mut Vec<InputAction>) {
        self.store_all(actions);
        actions.push(InputAction::Exit);
    }

    /// Puts everything that was written into the history.
    pub(super) fn store_all(&mut self, actions: &mut Vec<InputAction>) {
        for stashed in self.composer.take_stash() {
            self.record(stashed, actions);
        }
        for queued in self.queue.take() {
            self.record(queued, actions);
        }
        self.clear(actions);
    }

    fn cycle_mode(&mut self, actions: &mut Vec<InputAction>) {
        let modes = &self.options.modes;
        let at = modes.iter().position(|mode| *mode == self.mode);
        let next = at.map_or(0, |at| at.saturating_add(1) % modes.len().max(1));
        if let Some(mode) = modes.get(next).copied().filter(|mode| *mode != self.mode) {
            self.mode = mode;
            actions.push(InputAction::SetMode(mode));
        }
    }
}

/// The modes that the key for the next mode goes through.
///
/// Bypassing permissions is among them only if the program was started so, and `auto` only where a model can be asked.
#[must_use]
pub(crate) fn mode_cycle(has_auto: bool, allows_bypass: bool) -> Vec<PermissionMode> {
    let mut modes = vec![PermissionMode::Default, PermissionMode::AcceptEdits, PermissionMode::Plan];
    modes.extend(has_auto.then_some(PermissionMode::Auto));
    modes.extend(allows_bypass.then_some(PermissionMode::BypassPermissions));
    modes
}

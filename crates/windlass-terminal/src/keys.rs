//! Keys of a keyboard, as a terminal reports them, and the actions that they stand for.

mod action;
mod defaults;
mod keymap;
mod list;

pub use action::KeyAction;
pub use keymap::{Keymap, KeymapError};
pub use list::{KeysLine, KeysList};

use std::fmt;
use std::str::FromStr;
use windlass_types::near::nearest;

/// A key that was pressed, with its modifiers.
///
/// ```
/// use windlass_terminal::keys::{Key, KeyCode};
///
/// let key: Key = "ctrl+shift+enter".parse()?;
/// assert_eq!(key, Key::new(KeyCode::Enter).ctrl().shift());
/// assert_eq!(key.to_string(), "ctrl+shift+enter");
/// # Ok::<(), windlass_terminal::keys::KeyError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_structs, reason = "decoders and tests make it")]
pub struct Key {
    /// The key itself.
    pub code: KeyCode,
    /// Modifiers that were held.
    pub modifiers: Modifiers,
}

/// A key without its modifiers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum KeyCode {
    /// A character. Letters with Ctrl or Alt are lower case unless Shift was held.
    Char(char),
    /// Enter or Return.
    Enter,
    /// Tab. With Shift it is what terminals call back tab.
    Tab,
    /// Backspace.
    Backspace,
    /// Delete.
    Delete,
    /// Insert.
    Insert,
    /// Escape.
    Escape,
    /// Arrow up.
    Up,
    /// Arrow down.
    Down,
    /// Arrow left.
    Left,
    /// Arrow right.
    Right,
    /// Home.
    Home,
    /// End.
    End,
    /// Page up.
    PageUp,
    /// Page down.
    PageDown,
    /// A function key, from 1 on.
    Function(u8),
}

/// Modifiers of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[expect(clippy::exhaustive_structs, reason = "terminals report these")]
pub struct Modifiers {
    /// `true` if Ctrl was held.
    pub ctrl: bool,
    /// `true` if Alt (Option, Meta) was held.
    pub alt: bool,
    /// `true` if Shift was held and the character alone does not say it.
    pub shift: bool,
    /// `true` if Super (Command, Windows) was held.
    pub super_key: bool,
}

impl Modifiers {
    /// `true` if none was held.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self == Self::default()
    }
}

impl Key {
    /// A key without modifiers.
    #[must_use]
    pub fn new(code: KeyCode) -> Self {
        Self { code, modifiers: Modifiers::default() }
    }

    /// A character without modifiers.
    #[must_use]
    pub fn char(c: char) -> Self {
        Self::new(KeyCode::Char(c))
    }

    /// Adds Ctrl.
    #[must_use]
    pub fn ctrl(mut self) -> Self {
        self.modifiers.ctrl = true;
        self
    }

    /// Adds Alt.
    #[must_use]
    pub fn alt(mut self) -> Self {
        self.modifiers.alt = true;
        self
    }

    /// Adds Shift.
    #[must_use]
    pub fn shift(mut self) -> Self {
        self.modifiers.shift = true;
        self
    }

    /// The character that the key types, if it types one.
    #[must_use]
    pub fn typed(self) -> Option<char> {
        match self.code {
            KeyCode::Char(c) if !self.modifiers.ctrl && !self.modifiers.alt && !self.modifiers.super_key => Some(c),
            _ => None,
        }
    }
}

/// Names of keys that are not characters, the shown one first.
const NAMES: &[(&str, KeyCode)] = &[
    ("enter", KeyCode::Enter),
    ("return", KeyCode::Enter),
    ("tab", KeyCode::Tab),
    ("backspace", KeyCode::Backspace),
    ("delete", KeyCode::Delete),
    ("del", KeyCode::Delete),
    ("insert", KeyCode::Insert),
    ("esc", KeyCode::Escape),
    ("escape", KeyCode::Escape),
    ("up", KeyCode::Up),
    ("down", KeyCode::Down),
    ("left", KeyCode::Left),
    ("right", KeyCode::Right),
    ("home", KeyCode::Home),
    ("end", KeyCode::End),
    ("pageup", KeyCode::PageUp),
    ("pagedown", KeyCode::PageDown),
    ("space", KeyCode::Char(' ')),
    ("plus", KeyCode::Char('+')),
];

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Modifiers { ctrl, alt, shift, super_key } = self.modifiers;
        for (held, name) in [(ctrl, "ctrl+"), (alt, "alt+"), (shift, "shift+"), (super_key, "super+")] {
            if held {
                f.write_str(name)?;
            }
        }
        match (NAMES.iter().find(|(_, code)| *code == self.code), self.code) {
            (Some((name, _)), _) => f.write_str(name),
            (None, KeyCode::Char(c)) => write!(f, "{c}"),
            (None, KeyCode::Function(number)) => write!(f, "f{number}"),
            (None, code) => write!(f, "{code:?}"),
        }
    }
}

/// A text that names no key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no key{}: write it like ctrl+r, alt+enter, shift+tab or f5", suggestion(.meant.as_deref()))]
#[non_exhaustive]
pub struct KeyError {
    /// The text as it was given.
    pub text: String,
    /// The part that was probably meant.
    pub meant: Option<String>,
}

fn suggestion(name: Option<&str>) -> String {
    name.map(|name| format!(", did you mean {name:?}?")).unwrap_or_default()
}

impl FromStr for Key {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let mut key = Self::new(KeyCode::Escape);
        // A plus sign at the end is the key itself.
        let (modifiers, name) = match text.strip_suffix('+') {
            Some(rest) if rest.is_empty() || rest.ends_with('+') => (rest.trim_end_matches('+'), "plus"),
            _ => text.rsplit_once('+').unwrap_or(("", text)),
        };
        for modifier in modifiers.split('+').filter(|part| !part.is_empty()) {
            match modifier.to_lowercase().as_str() {
                "ctrl" | "control" => key.modifiers.ctrl = true,
                "alt" | "option" | "meta" => key.modifiers.alt = true,
                "shift" => key.modifiers.shift = true,
                "super" | "cmd" | "command" => key.modifiers.super_key = true,
                other => return Err(unknown(text, other, &["ctrl", "alt", "shift", "super"])),
            }
        }
        key.code = code(name).ok_or_else(|| {
            let names: Vec<&str> = NAMES.iter().map(|(name, _)| *name).collect();
            unknown(text, name, &names)
        })?;
        // People write Ctrl+R for the key that types `r`.
        if let (KeyCode::Char(c), false) = (key.code, key.typed().is_some()) {
            key.code = KeyCode::Char(c.to_lowercase().next().unwrap_or(c));
        }
        Ok(normal(key))
    }
}

fn unknown(text: &str, part: &str, known: &[&str]) -> KeyError {
    let meant = nearest(part, known.iter().copied()).first().map(|name| (*name).to_owned());
    KeyError { text: text.to_owned(), meant }
}

fn code(name: &str) -> Option<KeyCode> {
    let mut chars = name.chars();
    if let (Some(c), None) = (chars.next(), chars.next()) {
        return (!c.is_control()).then_some(KeyCode::Char(c));
    }
    let name = name.to_lowercase();
    if let Some((_, code)) = NAMES.iter().find(|(known, _)| *known == name) {
        return Some(*code);
    }
    let number: u8 = name.strip_prefix('f')?.parse().ok()?;
    (1..=35).contains(&number).then_some(KeyCode::Function(number))
}

/// The one form of a key that can be written in several ways: a letter with Ctrl or Alt is lower case, and a capital
/// letter is that letter with Shift. A character that is typed needs no Shift.
#[must_use]
pub(crate) fn normal(mut key: Key) -> Key {
    let KeyCode::Char(c) = key.code else { return key };
    let is_command = key.modifiers.ctrl || key.modifiers.alt || key.modifiers.super_key;
    if is_command {
        let mut lower = c.to_lowercase();
        if let (true, Some(small), None) = (c.is_uppercase(), lower.next(), lower.next()) {
            key.code = KeyCode::Char(small);
            key.modifiers.shift = true;
        }
    } else if key.modifiers.shift {
        let mut upper = c.to_uppercase();
        if let (Some(large), None) = (upper.next(), upper.next()) {
            key.code = KeyCode::Char(large);
        }
        key.modifiers.shift = false;
    }
    key
}

#[cfg(test)]
mod tests;

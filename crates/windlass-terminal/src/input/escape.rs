//! One sequence of a terminal: its end, and the key that it stands for.

use super::decoder::TerminalInput;
use crate::keys::{Key, KeyCode, Modifiers, normal};

/// The first input of some bytes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum EscapeScan {
    /// An input, and the number of its bytes.
    Input(TerminalInput, usize),
    /// A sequence without a meaning, and the number of its bytes.
    Ignored(usize),
    /// The beginning of a bracketed paste, and the number of its bytes.
    PasteStart(usize),
    /// The bytes are the beginning of something longer.
    Incomplete,
}

fn key(key: Key, length: usize) -> EscapeScan {
    EscapeScan::Input(TerminalInput::Key(normal(key)), length)
}

/// Finds the first input of bytes that are not empty.
pub(super) fn scan(bytes: &[u8]) -> EscapeScan {
    match bytes {
        [] => EscapeScan::Incomplete,
        [0x1b, rest @ ..] => escape(bytes, rest),
        [byte @ 0..=0x1f, ..] | [byte @ 0x7f, ..] => key(control(*byte), 1),
        [byte @ 0x20..=0x7e, ..] => key(Key::char(char::from(*byte)), 1),
        _ => character(bytes),
    }
}

/// The key of a control byte.
fn control(byte: u8) -> Key {
    match byte {
        b'\r' => Key::new(KeyCode::Enter),
        b'\t' => Key::new(KeyCode::Tab),
        0x7f => Key::new(KeyCode::Backspace),
        0 => Key::char(' ').ctrl(),
        1..=26 => Key::char(char::from(byte.saturating_add(b'a' - 1))).ctrl(),
        _ => Key::char(char::from(byte.saturating_add(b'@'))).ctrl(),
    }
}

/// A character beyond ASCII.
fn character(bytes: &[u8]) -> EscapeScan {
    let length = match bytes.first() {
        Some(0xc2..=0xdf) => 2,
        Some(0xe0..=0xef) => 3,
        Some(0xf0..=0xf4) => 4,
        _ => 1,
    };
    let head = bytes.get(..length.min(bytes.len())).unwrap_or_default();
    match std::str::from_utf8(head) {
        Ok(text) => match text.chars().next() {
            // C1 control characters type nothing.
            Some(c) if c.is_control() => EscapeScan::Ignored(length),
            Some(c) => key(Key::char(c), length),
            None => EscapeScan::Incomplete,
        },
        Err(error) if error.error_len().is_none() && bytes.len() < length => EscapeScan::Incomplete,
        Err(error) => key(Key::char(char::REPLACEMENT_CHARACTER), error.error_len().unwrap_or(1)),
    }
}

fn escape(bytes: &[u8], rest: &[u8]) -> EscapeScan {
    match rest {
        [] | [0x1b] => EscapeScan::Incomplete,
        [b'[', body @ ..] => csi(bytes, body),
        [b'O', body @ ..] => ss3(body),
        [b']' | b'P' | b'X' | b'^' | b'_', body @ ..] => string(bytes, body),
        // Some terminals put an Escape before a whole sequence for Alt.
        [0x1b, b'[' | b'O', ..] => alt(&escape(rest, rest.get(1..).unwrap_or_default())),
        // A second Escape is a key of its own.
        [0x1b, ..] => key(Key::new(KeyCode::Escape), 1),
        _ => alt(&scan(rest)),
    }
}

/// The input with Alt, behind one more byte.
fn alt(scan: &EscapeScan) -> EscapeScan {
    match scan {
        EscapeScan::Input(TerminalInput::Key(pressed), length) => key(pressed.alt(), length.saturating_add(1)),
        EscapeScan::Input(_, length) | EscapeScan::Ignored(length) | EscapeScan::PasteStart(length) => {
            EscapeScan::Ignored(length.saturating_add(1))
        }
        EscapeScan::Incomplete => EscapeScan::Incomplete,
    }
}

/// `ESC O` and a letter.
fn ss3(body: &[u8]) -> EscapeScan {
    let Some(last) = body.first() else { return EscapeScan::Incomplete };
    match (lettered(*last), last) {
        (Some(code), _) => key(Key::new(code), 3),
        // Keypad keys in application mode.
        (None, b'M') => key(Key::new(KeyCode::Enter), 3),
        (None, b'j'..=b'y') => key(Key::char(char::from(last.saturating_sub(0x40))), 3),
        (None, 0x20..=0x7e) => EscapeScan::Ignored(3),
        // No such sequence: Alt+O, and another key behind it.
        (None, _) => key(Key::char('O').alt(), 2),
    }
}

/// A string up to BEL or ST: an answer of the terminal.
fn string(bytes: &[u8], body: &[u8]) -> EscapeScan {
    let mut previous = 0;
    for (at, byte) in body.iter().enumerate() {
        if *byte == 0x07 || (previous == 0x1b && *byte == b'\\') {
            let length = at.saturating_add(3);
            return EscapeScan::Input(TerminalInput::Report(bytes.get(..length).unwrap_or_default().to_vec()), length);
        }
        previous = *byte;
    }
    EscapeScan::Incomplete
}

/// `ESC [`, parameters, and a final byte.
fn csi(bytes: &[u8], body: &[u8]) -> EscapeScan {
    // A mouse report of the oldest form, which is never asked for.
    if body.first() == Some(&b'M') {
        return if body.len() < 4 { EscapeScan::Incomplete } else { EscapeScan::Ignored(6) };
    }
    // Function keys of the Linux console.
    if let [b'[', rest @ ..] = body {
        return match rest.first() {
            None => EscapeScan::Incomplete,
            Some(letter @ b'A'..=b'E') => key(Key::new(KeyCode::Function(letter.saturating_sub(b'A' - 1))), 4),
            Some(_) => EscapeScan::Ignored(4),
        };
    }
    let Some(end) = body.iter().position(|byte| !matches!(byte, 0x20..=0x3f)) else { return EscapeScan::Incomplete };
    let last = body.get(end).copied().unwrap_or_default();
    if !matches!(last, 0x40..=0x7e) {
        // Broken off: the byte begins something else.
        return EscapeScan::Ignored(end.saturating_add(2));
    }
    let length = end.saturating_add(3);
    let parameters = std::str::from_utf8(body.get(..end).unwrap_or_default()).unwrap_or_default();
    match (parameters, last) {
        ("200", b'~') => EscapeScan::PasteStart(length),
        ("", b'I') => EscapeScan::Input(TerminalInput::Focus(true), length),
        ("", b'O') => EscapeScan::Input(TerminalInput::Focus(false), length),
        (parameters, b'M' | b'm') if parameters.starts_with('<') => EscapeScan::Ignored(length),
        (parameters, _) if parameters.starts_with(['?', '>', '=', '<']) || is_report(parameters, last) => {
            EscapeScan::Input(TerminalInput::Report(bytes.get(..length).unwrap_or_default().to_vec()), length)
        }
        _ => pressed(parameters, last).map_or(EscapeScan::Ignored(length), |pressed| key(pressed, length)),
    }
}

/// `true` for answers without a mark of their own: the place of the caret, the size, the state.
fn is_report(parameters: &str, last: u8) -> bool {
    match last {
        // The place of the caret looks like F3 with modifiers in the first row, which is not asked for.
        b'R' => !parameters.is_empty() && !parameters.starts_with("1;"),
        b'n' | b't' | b'x' | b'y' | b'c' => true,
        _ => false,
    }
}

/// The key of a sequence; `None` if it is none, or was released.
fn pressed(parameters: &str, last: u8) -> Option<Key> {
    let mut fields = parameters.split(';');
    let first = fields.next().unwrap_or_default();
    let mut second = fields.next().unwrap_or_default().split(':');
    let (modifiers, event) = (second.next().unwrap_or_default(), second.next().unwrap_or_default());
    if event == "3" {
        return None;
    }
    let third = fields.next().unwrap_or_default();
    let code = match last {
        b'u' => unicode(first, third)?,
        b'~' if first == "27" => unicode(third, "")?,
        b'~' => numbered(first)?,
        b'Z' => return Some(Key::new(KeyCode::Tab).shift()),
        letter => lettered(letter)?,
    };
    let held: u16 = if modifiers.is_empty() { 1 } else { modifiers.parse().ok()? };
    let held = held.checked_sub(1)?;
    let has = |bit: u16| held & bit != 0;
    // A character that the terminal gives as Shift makes it needs no Shift.
    let is_shifted = last == b'u' && first.split(':').nth(1).is_some_and(|shifted| !shifted.is_empty());
    Some(Key {
        code,
        modifiers: Modifiers { shift: has(1) && !is_shifted, alt: has(2), ctrl: has(4), super_key: has(8) | has(32) },
    })
}

/// The key of a code point, with the text that it types if the terminal says it.
fn unicode(code: &str, text: &str) -> Option<KeyCode> {
    let mut parts = code.split(':');
    let number: u32 = parts.next()?.parse().ok()?;
    Some(match number {
        9 => KeyCode::Tab,
        13 | 57414 => KeyCode::Enter,
        27 => KeyCode::Escape,
        8 | 127 => KeyCode::Backspace,
        57399..=57408 => KeyCode::Char(char::from_digit(number.saturating_sub(57399), 10)?),
        57409 => KeyCode::Char('.'),
        57410 => KeyCode::Char('/'),
        57411 => KeyCode::Char('*'),
        57412 => KeyCode::Char('-'),
        57413 => KeyCode::Char('+'),
        57415 => KeyCode::Char('='),
        57417 => KeyCode::Left,
        57418 => KeyCode::Right,
        57419 => KeyCode::Up,
        57420 => KeyCode::Down,
        57421 => KeyCode::PageUp,
        57422 => KeyCode::PageDown,
        57423 => KeyCode::Home,
        57424 => KeyCode::End,
        57425 => KeyCode::Insert,
        57426 => KeyCode::Delete,
        // Modifiers alone, media keys and the like.
        57344..=63743 => return None,
        _ => {
            let typed = text.split(':').next().and_then(|point| point.parse().ok());
            let shifted = parts.next().and_then(|point| point.parse().ok());
            let point = typed.or(shifted).unwrap_or(number);
            KeyCode::Char(char::from_u32(point).filter(|c| !c.is_control())?)
        }
    })
}

/// The key of a sequence that ends in `~`.
fn numbered(number: &str) -> Option<KeyCode> {
    Some(match number.parse::<u8>().ok()? {
        1 | 7 => KeyCode::Home,
        2 => KeyCode::Insert,
        3 => KeyCode::Delete,
        4 | 8 => KeyCode::End,
        5 => KeyCode::PageUp,
        6 => KeyCode::PageDown,
        number @ 11..=15 => KeyCode::Function(number.saturating_sub(10)),
        number @ 17..=21 => KeyCode::Function(number.saturating_sub(11)),
        number @ 23..=26 => KeyCode::Function(number.saturating_sub(12)),
        number @ 28..=29 => KeyCode::Function(number.saturating_sub(13)),
        number @ 31..=34 => KeyCode::Function(number.saturating_sub(14)),
        _ => return None,
    })
}

/// The key of a final letter.
fn lettered(letter: u8) -> Option<KeyCode> {
    Some(match letter {
        b'A' => KeyCode::Up,
        b'B' => KeyCode::Down,
        b'C' => KeyCode::Right,
        b'D' => KeyCode::Left,
        b'H' => KeyCode::Home,
        b'F' => KeyCode::End,
        b'P' => KeyCode::Function(1),
        b'Q' => KeyCode::Function(2),
        b'R' => KeyCode::Function(3),
        b'S' => KeyCode::Function(4),
        _ => return None,
    })
}

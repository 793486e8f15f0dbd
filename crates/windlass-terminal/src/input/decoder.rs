//! From the bytes of a terminal to keys and pastes.

use super::burst::PasteBurst;
use super::escape::{self, EscapeScan};
use crate::keys::{Key, KeyCode, normal};
use std::time::Duration;

/// Wait for the rest of a sequence after a lone Escape. Longer than the gap of a split read, shorter than a person notices.
const ESCAPE_WAIT: Duration = Duration::from_millis(50);
/// Wait for the rest of a sequence that has more than its Escape.
const SEQUENCE_WAIT: Duration = Duration::from_millis(500);
/// Silence after which a paste ends without its end marker.
const PASTE_WAIT: Duration = Duration::from_millis(1000);
/// Most bytes of a sequence. Longer ones are dropped up to their end.
const LONGEST_SEQUENCE: usize = 4096;
/// Most bytes of a paste that are held. A longer one is handed out in parts.
const LONGEST_PASTE: usize = 16 * 1024 * 1024;
const ESCAPE: u8 = 0x1b;
const PASTE_END: &[u8] = b"\x1b[201~";

/// An input of a terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TerminalInput {
    /// A key was pressed.
    Key(Key),
    /// A text was pasted. Line ends are `\n`; all other characters are as they were.
    Paste(String),
    /// The terminal has the focus (`true`) or lost it.
    Focus(bool),
    /// An answer of the terminal to a question, such as `OSC 11` or a device attribute: the whole sequence, its Escape
    /// included, of at most 4 KiB.
    Report(Vec<u8>),
}

/// Decodes the bytes of a terminal.
///
/// Bytes may be split anywhere. Times are measured from an arbitrary start and never go back. Memory is bounded: by
/// 16 MiB of a paste that has not ended, and 4 KiB of a sequence.
///
/// ```
/// use std::time::Duration;
/// use windlass_terminal::input::{TerminalDecoder, TerminalInput};
/// use windlass_terminal::keys::Key;
///
/// let mut decoder = TerminalDecoder::default();
/// let input = decoder.feed(b"a\x1b[200~two\rlines\x1b[201~", Duration::ZERO);
/// assert_eq!(input, [TerminalInput::Key(Key::char('a')), TerminalInput::Paste("two\nlines".to_owned())]);
/// ```
#[derive(Debug, Default)]
pub struct TerminalDecoder {
    /// Bytes whose meaning depends on the bytes behind them.
    pending: Vec<u8>,
    /// Time of the last byte.
    last: Duration,
    state: DecoderState,
    burst: PasteBurst,
}

#[derive(Debug, Default)]
enum DecoderState {
    #[default]
    Keys,
    /// Inside a bracketed paste.
    Paste(Vec<u8>),
    /// Inside a sequence that is too long: dropped up to its end.
    Overlong,
}

impl TerminalDecoder {
    /// Takes bytes of the terminal, as one read gave them. Returns the inputs that are complete.
    pub fn feed(&mut self, bytes: &[u8], now: Duration) -> Vec<TerminalInput> {
        let mut inputs = Vec::new();
        if bytes.is_empty() {
            return self.tick(now);
        }
        if !self.resumes(bytes) {
            inputs = self.tick(now);
        }
        self.last = now;
        let mut decoded = Vec::new();
        if matches!(self.state, DecoderState::Paste(_)) {
            self.pasted(bytes, &mut decoded);
        } else {
            self.pending.extend_from_slice(bytes);
            self.scan(&mut decoded);
        }
        self.burst.take(decoded, now, &mut inputs);
        inputs
    }

    /// Time at which [`tick`](Self::tick) is to be called if no byte comes before; `None` if nothing waits.
    #[must_use]
    pub fn deadline(&self) -> Option<Duration> {
        let own = self.wait().map(|wait| self.last.saturating_add(wait));
        own.into_iter().chain(self.burst.deadline()).min()
    }

    /// Returns the inputs that are complete because nothing came behind them for a while, such as a lone Escape.
    pub fn tick(&mut self, now: Duration) -> Vec<TerminalInput> {
        let mut inputs = Vec::new();
        let is_due = self.wait().is_some_and(|wait| now >= self.last.saturating_add(wait));
        if is_due {
            let mut decoded = Vec::new();
            match std::mem::take(&mut self.state) {
                DecoderState::Paste(text) => {
                    let rest = std::mem::take(&mut self.pending);
                    decoded.extend(paste([text, rest].concat()));
                }
                DecoderState::Overlong => self.pending.clear(),
                DecoderState::Keys => {
                    decoded.extend(self.incomplete());
                    self.pending.clear();
                }
            }
            self.burst.take(decoded, now, &mut inputs);
        }
        self.burst.tick(now, &mut inputs);
        inputs
    }

    /// `true` if the bytes continue what waits, however late they come: a program that was stopped reads late.
    fn resumes(&self, bytes: &[u8]) -> bool {
        let is_sequence = matches!(bytes, [b'[' | b'O', _, ..]);
        !matches!(self.state, DecoderState::Keys)
            || !(self.pending.is_empty() || self.has_escapes_only())
            || (self.has_escapes_only() && is_sequence)
    }

    /// `true` if one Escape waits, or two.
    fn has_escapes_only(&self) -> bool {
        matches!(self.pending.as_slice(), [ESCAPE] | [ESCAPE, ESCAPE])
    }

    fn wait(&self) -> Option<Duration> {
        match &self.state {
            DecoderState::Paste(_) => Some(PASTE_WAIT),
            DecoderState::Overlong => Some(SEQUENCE_WAIT),
            DecoderState::Keys if self.pending.is_empty() => None,
            DecoderState::Keys if self.has_escapes_only() => Some(ESCAPE_WAIT),
            DecoderState::Keys => Some(SEQUENCE_WAIT),
        }
    }

    /// Meaning of a sequence whose rest never came. Of a cut sequence nothing may appear as text.
    fn incomplete(&self) -> Vec<TerminalInput> {
        let key = match self.pending.as_slice() {
            escapes @ ([ESCAPE] | [ESCAPE, ESCAPE]) => {
                return vec![TerminalInput::Key(Key::new(KeyCode::Escape)); escapes.len()];
            }
            [0x1b, c @ (b'[' | b']' | b'O' | b'P' | b'X' | b'^' | b'_')] => normal(Key::char(char::from(*c)).alt()),
            [ESCAPE, ..] => return Vec::new(),
            _ => Key::char(char::REPLACEMENT_CHARACTER),
        };
        vec![TerminalInput::Key(key)]
    }

    /// Decodes the pending bytes as far as they are complete.
    fn scan(&mut self, inputs: &mut Vec<TerminalInput>) {
        let bytes = std::mem::take(&mut self.pending);
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            if matches!(self.state, DecoderState::Overlong) {
                rest = self.overlong(rest);
                continue;
            }
            match escape::scan(rest) {
                EscapeScan::Input(input, length) => {
                    // Esc with Alt is what some programs make of two.
                    if input == TerminalInput::Key(Key::new(KeyCode::Escape).alt()) {
                        inputs.extend(vec![TerminalInput::Key(Key::new(KeyCode::Escape)); 2]);
                    } else {
                        inputs.push(input);
                    }
                    rest = rest.get(length.max(1)..).unwrap_or_default();
                }
                EscapeScan::Ignored(length) => rest = rest.get(length.max(1)..).unwrap_or_default(),
                EscapeScan::PasteStart(length) => {
                    self.state = DecoderState::Paste(Vec::new());
                    self.pasted(rest.get(length..).unwrap_or_default(), inputs);
                    return;
                }
                EscapeScan::Incomplete if rest.len() > LONGEST_SEQUENCE => self.state = DecoderState::Overlong,
                EscapeScan::Incomplete => {
                    self.pending = rest.to_vec();
                    return;
                }
            }
        }
    }

    /// Drops the bytes of a sequence that is too long, up to its end.
    fn overlong<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let Some(at) = bytes.iter().position(|byte| matches!(byte, 0x07 | b'\\' | b'~')) else { return &[] };
        self.state = DecoderState::Keys;
        bytes.get(at.saturating_add(1)..).unwrap_or_default()
    }

    /// Takes bytes inside a bracketed paste.
    fn pasted(&mut self, bytes: &[u8], inputs: &mut Vec<TerminalInput>) {
        let DecoderState::Paste(text) = &mut self.state else { return };
        // The marker may be split between two reads.
        let from = text.len().saturating_sub(PASTE_END.len());
        text.extend_from_slice(bytes);
        let end = text.get(from..).and_then(|tail| find(tail, PASTE_END)).map(|at| from.saturating_add(at));
        let Some(end) = end else {
            if text.len() > LONGEST_PASTE {
                let whole = whole_characters(text, text.len().saturating_sub(PASTE_END.len()));
                let rest = text.split_off(whole);
                inputs.extend(paste(std::mem::replace(text, rest)));
            }
            return;
        };
        let behind = text.split_off(end);
        inputs.extend(paste(std::mem::take(text)));
        self.state = DecoderState::Keys;
        self.pending = behind.get(PASTE_END.len()..).unwrap_or_default().to_vec();
        self.scan(inputs);
    }
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    // One byte is searched first: a paste of a megabyte has few escapes.
    let first = *wanted.first()?;
    let mut from = 0_usize;
    loop {
        let at = bytes.get(from..)?.iter().position(|byte| *byte == first)?.saturating_add(from);
        if bytes.get(at..)?.starts_with(wanted) {
            return Some(at);
        }
        from = at.saturating_add(1);
    }
}

/// The largest length up to `length` at which no character is cut.
fn whole_characters(bytes: &[u8], length: usize) -> usize {
    let is_inside = |at: &usize| bytes.get(*at).is_some_and(|byte| byte & 0xc0 == 0x80);
    (length.saturating_sub(3)..=length).rev().find(|at| !is_inside(at)).unwrap_or(length)
}

/// A paste of these bytes. An empty one is none.
fn paste(bytes: Vec<u8>) -> Option<TerminalInput> {
    let text = String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
    (!text.is_empty()).then(|| TerminalInput::Paste(line_ends(text)))
}

/// The text with `\n` as its only line end.
pub(crate) fn line_ends(text: String) -> String {
    if text.contains('\r') { text.replace("\r\n", "\n").replace('\r', "\n") } else { text }
}

#[cfg(test)]
mod tests;

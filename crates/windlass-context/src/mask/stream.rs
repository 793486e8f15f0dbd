//! Masking of texts that arrive in pieces.

use super::run::{Found, Scan};
use super::{MASKED, MAX_VALUE_BYTES, Masks, boundary};

/// Maximum number of bytes of one word that are held back.
const WINDOW: usize = 64 * 1024;

/// Number of bytes at the end of a window that are examined again with the next part.
const OVERLAP: usize = 2 * MAX_VALUE_BYTES;

/// Masks for a text that arrives in pieces: [`Masks::stream`]. The splitting makes no difference.
#[derive(Debug, Clone)]
pub struct MaskStream {
    masks: Masks,
    scan: Scan,
    /// Word that has not ended.
    held: String,
    /// Character before the held text, if the beginning of the word was already passed on.
    previous: Option<char>,
    /// `true` if the rest of the word belongs to a replaced secret.
    swallows: bool,
}

impl MaskStream {
    pub(super) fn new(masks: Masks) -> Self {
        Self { masks, scan: Scan::default(), held: String::new(), previous: None, swallows: false }
    }

    /// Returns the text that can be passed on after this piece.
    #[must_use]
    pub fn push(&mut self, piece: &str) -> String {
        let mut out = String::with_capacity(piece.len());
        for part in piece.split_inclusive(char::is_whitespace) {
            let word = part.trim_end_matches(char::is_whitespace);
            self.held.push_str(word);
            while self.held.len() > WINDOW {
                self.cut(&mut out);
            }
            if word.len() < part.len() {
                self.end(&mut out);
                out.push_str(part.get(word.len()..).unwrap_or_default());
            }
        }
        out
    }

    /// Returns the text that was held back, at the end.
    #[must_use]
    pub fn finish(&mut self) -> String {
        let mut out = String::new();
        self.end(&mut out);
        self.scan = Scan::default();
        out
    }

    /// Processes the end of a word.
    fn end(&mut self, out: &mut String) {
        let word = std::mem::take(&mut self.held);
        if !std::mem::take(&mut self.swallows) && !word.is_empty() {
            let found = self.scan.run(&self.masks, &word, self.previous);
            write(&word, &found, out);
        }
        self.previous = None;
    }

    /// Passes on the beginning of a word that is longer than the window. The window always has the same length, so that
    /// the splitting of the word makes no difference.
    fn cut(&mut self, out: &mut String) {
        let end = boundary(&self.held, WINDOW);
        let rest = self.held.split_off(end);
        let window = std::mem::replace(&mut self.held, rest);
        if self.swallows {
            return;
        }
        let found = self.scan.clone().run(&self.masks, &window, self.previous);
        let mut split = boundary(&window, window.len().saturating_sub(OVERLAP));
        if let Some(around) = found.iter().rev().find(|found| found.context < split && split < found.place.end) {
            split = around.context;
        }
        if split == 0 {
            // One secret, or a lookalike, is as long as the window.
            out.push_str(MASKED);
            self.swallows = true;
            return;
        }
        let (passed, kept) = window.split_at_checked(split).unwrap_or((&window, ""));
        let inside: Vec<Found> = found.into_iter().filter(|found| found.place.end <= split).collect();
        write(passed, &inside, out);
        // Labels for the next word are processed when the word ends.
        self.scan = Scan::default();
        self.previous = passed.chars().next_back();
        self.held.insert_str(0, kept);
    }
}

fn write(word: &str, found: &[Found], out: &mut String) {
    let mut written = 0;
    for secret in found {
        out.push_str(word.get(written..secret.place.start).unwrap_or_default());
        out.push_str(MASKED);
        written = secret.place.end;
    }
    out.push_str(word.get(written..).unwrap_or_default());
}

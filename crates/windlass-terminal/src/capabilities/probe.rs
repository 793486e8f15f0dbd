//! A question to the terminal about its colours, and its answers among typed keys.

/// Bytes that ask for the background colour, and then for the kind of the terminal. All terminals answer the second question, so
/// its answer ends the wait for the first.
pub const PROBE: &str = "\u{1b}]11;?\u{1b}\\\u{1b}[c";

/// Most bytes that are kept while answers are awaited.
const MOST_BYTES: usize = 1 << 20;

/// Brightness of the background.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "themes are made for one of both")]
pub enum Background {
    /// Dark, for light text.
    Dark,
    /// Light, for dark text.
    Light,
}

impl Background {
    /// The brightness of a colour, as eyes weigh the primaries.
    #[must_use]
    pub fn of_color(red: u8, green: u8, blue: u8) -> Self {
        let weighed = u32::from(red) * 299 + u32::from(green) * 587 + u32::from(blue) * 114;
        if weighed >= 128_000 { Self::Light } else { Self::Dark }
    }

    /// The brightness that the variable `COLORFGBG` tells, such as `15;0`.
    #[must_use]
    pub fn of_variable(value: &str) -> Option<Self> {
        let (_, background) = value.rsplit_once(';')?;
        match background.parse::<u8>().ok()? {
            7 | 9..=15 => Some(Self::Light),
            0..=8 => Some(Self::Dark),
            _ => None,
        }
    }
}

/// Reader of the answers to [`PROBE`].
#[derive(Debug, Default)]
pub struct ProbeAnswers {
    bytes: Vec<u8>,
    background: Option<Background>,
    is_complete: bool,
}

impl ProbeAnswers {
    /// Reads bytes from the terminal. Returns `true` when the last answer is there; further bytes are keys.
    pub fn feed(&mut self, bytes: &[u8]) -> bool {
        let room = MOST_BYTES.saturating_sub(self.bytes.len());
        self.bytes.extend_from_slice(bytes.get(..bytes.len().min(room)).unwrap_or_default());
        self.take_background();
        self.take_kind();
        self.is_complete |= room <= bytes.len();
        self.is_complete
    }

    /// The background, if the terminal has told it, and all bytes that are no answer: keys that were pressed meanwhile.
    #[must_use]
    pub fn finish(self) -> (Option<Background>, Vec<u8>) {
        (self.background, self.bytes)
    }

    /// Takes `ESC ] 11 ; colour` with its end, BEL or `ESC \`.
    fn take_background(&mut self) {
        let start = b"\x1b]11;";
        let Some(at) = position(&self.bytes, start) else { return };
        let text = self.bytes.get(at + start.len()..).unwrap_or_default();
        let Some(length) = text.iter().position(|byte| matches!(byte, 0x07 | 0x1b)) else { return };
        let end = match text.get(length..) {
            Some([0x07, ..]) => length + 1,
            Some([0x1b, b'\\', ..]) => length + 2,
            // The second byte of the end has not come yet.
            Some([0x1b]) => return,
            _ => length,
        };
        let color = text.get(..length).and_then(|color| parse_color(std::str::from_utf8(color).ok()?));
        self.background = color.map(|(red, green, blue)| Background::of_color(red, green, blue)).or(self.background);
        self.bytes.drain(at..at + start.len() + end);
    }

    /// Takes `ESC [ ? numbers c`.
    fn take_kind(&mut self) {
        let start = b"\x1b[?";
        let Some(at) = position(&self.bytes, start) else { return };
        let text = self.bytes.get(at + start.len()..).unwrap_or_default();
        let Some(length) = text.iter().position(|byte| !matches!(byte, b'0'..=b'9' | b';')) else { return };
        if text.get(length) == Some(&b'c') {
            self.bytes.drain(at..=at + start.len() + length);
            self.is_complete = true;
        }
    }
}

fn position(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

/// Red, green and blue of `rgb:1/22/4444`, `rgba:…` or `#rrggbb`, in 8 bits each.
fn parse_color(text: &str) -> Option<(u8, u8, u8)> {
    if let Some(digits) = text.strip_prefix('#') {
        let part = |at: usize| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
        return Some((part(0)?, part(2)?, part(4)?));
    }
    let parts = text.strip_prefix("rgb:").or_else(|| text.strip_prefix("rgba:"))?;
    let mut parts = parts.split('/').map(|digits| {
        let most = 16_u32.checked_pow(u32::try_from(digits.len()).ok()?)?.checked_sub(1).filter(|most| *most > 0)?;
        let value = u32::from_str_radix(digits, 16).ok()?;
        u8::try_from(u64::from(value) * 255 / u64::from(most)).ok()
    });
    Some((parts.next()??, parts.next()??, parts.next()??))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(pieces: &[&[u8]]) -> (bool, Option<Background>, Vec<u8>) {
        let mut answers = ProbeAnswers::default();
        let mut is_complete = false;
        for piece in pieces {
            is_complete = answers.feed(piece);
        }
        let (background, keys) = answers.finish();
        (is_complete, background, keys)
    }

    #[test]
    fn answers_are_found_among_keys() {
        let (is_complete, background, keys) =
            read(&[b"fix", b"\x1b]11;rgb:ffff/ff", b"ff/f0f0\x1b", b"\\ the\x1b[?62;4", b"c bug"]);
        assert!(is_complete);
        assert_eq!(background, Some(Background::Light));
        assert_eq!(keys, b"fix the bug");
        let (is_complete, background, keys) = read(&[b"\x1b]11;rgb:1e/1e/2e\x07\x1b[?1;2c"]);
        assert_eq!((is_complete, background, keys), (true, Some(Background::Dark), Vec::new()));
    }

    #[test]
    fn a_terminal_may_not_know_its_colors() {
        assert_eq!(read(&[b"\x1b[?1;2c"]), (true, None, Vec::new()));
        assert_eq!(read(&[b"\x1b]11;nonsense\x07\x1b[?6c"]), (true, None, Vec::new()));
        assert_eq!(read(&[b"typed", b"\x1b[A"]), (false, None, b"typed\x1b[A".to_vec()));
        let (is_complete, _, keys) = read(&[&vec![b'x'; 3 << 20]]);
        assert!(is_complete && keys.len() == MOST_BYTES);
    }

    #[test]
    fn the_variable_tells_light_from_dark() {
        for (value, background) in [
            ("15;0", Some(Background::Dark)),
            ("0;15", Some(Background::Light)),
            ("0;default;7", Some(Background::Light)),
            ("0;default", None),
            ("", None),
        ] {
            assert_eq!(Background::of_variable(value), background, "{value}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_break_it(pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..8)) {
            let pieces: Vec<&[u8]> = pieces.iter().map(Vec::as_slice).collect();
            read(&pieces);
        }
    }
}

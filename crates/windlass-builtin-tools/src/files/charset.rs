//! Encoding and line breaks of a file.
//!
//! The detection reads the first [`SAMPLE`] bytes only, so that reading a page of a huge file and editing a small one
//! see the same text.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{CoderResult, Decoder, Encoding, UTF_16BE, UTF_16LE};

use super::kind::Kind;

/// Number of bytes that decide about encoding, line breaks and binary content.
pub(crate) const SAMPLE: usize = 256 * 1024;

/// Content of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    Text(TextFormat),
    Binary(Kind),
}

/// Encoding, byte-order mark and line breaks of a text file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TextFormat {
    pub(crate) charset: Charset,
    /// Length of the byte-order mark, 0 when there is none.
    pub(crate) bom: usize,
    pub(crate) breaks: Breaks,
}

/// Distinguished encodings. UTF-8 includes ASCII and UTF-8 with damaged places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Charset {
    Utf8,
    Utf16Le,
    Utf16Be,
    Legacy(&'static Encoding),
}

/// Line breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Breaks {
    /// LF and CRLF. A lone CR is an ordinary character, so that line numbers
    /// agree with compilers and with Grep.
    Lf,
    /// CR as well: the file has CRs and no LF in its sample.
    Cr,
}

impl TextFormat {
    /// Plain UTF-8 without a byte-order mark, for new files.
    pub(crate) const NEW: Self = Self { charset: Charset::Utf8, bom: 0, breaks: Breaks::Lf };

    /// Splits the byte-order mark from the rest.
    pub(crate) fn split_bom<'a>(&self, raw: &'a [u8]) -> (&'a [u8], &'a [u8]) {
        raw.split_at_checked(self.bom).unwrap_or((raw, &[]))
    }
}

impl Charset {
    /// Usual name of the encoding.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Utf8 => "UTF-8",
            Self::Utf16Le => "UTF-16LE",
            Self::Utf16Be => "UTF-16BE",
            Self::Legacy(encoding) => encoding.name(),
        }
    }

    /// Streaming decoder to UTF-8; `None` for UTF-8, whose bytes are used unchanged.
    pub(crate) fn decoder(self) -> Option<TextDecoder> {
        let encoding = match self {
            Self::Utf8 => return None,
            Self::Utf16Le => UTF_16LE,
            Self::Utf16Be => UTF_16BE,
            Self::Legacy(encoding) => encoding,
        };
        Some(TextDecoder(encoding.new_decoder_without_bom_handling()))
    }

    /// Encodes `text`, or returns the first character that the encoding lacks.
    pub(crate) fn encode(self, text: &str) -> Result<Vec<u8>, char> {
        match self {
            Self::Utf8 => Ok(text.as_bytes().to_vec()),
            Self::Utf16Le => Ok(text.encode_utf16().flat_map(u16::to_le_bytes).collect()),
            Self::Utf16Be => Ok(text.encode_utf16().flat_map(u16::to_be_bytes).collect()),
            Self::Legacy(encoding) => {
                let (bytes, _, unmappable) = encoding.encode(text);
                if !unmappable {
                    return Ok(bytes.into_owned());
                }
                let mut buffer = [0; 4];
                let missing = text.chars().find(|c| encoding.encode(c.encode_utf8(&mut buffer)).2);
                Err(missing.unwrap_or(char::REPLACEMENT_CHARACTER))
            }
        }
    }
}

/// Decodes a stream in any chunks; invalid bytes become U+FFFD.
pub(crate) struct TextDecoder(Decoder);

impl TextDecoder {
    /// Appends the text of `chunk` to `out`; `last` flushes incomplete bytes.
    pub(crate) fn decode(&mut self, mut chunk: &[u8], out: &mut String, last: bool) {
        loop {
            let room = self.0.max_utf8_buffer_length(chunk.len());
            out.reserve(room.unwrap_or(chunk.len()).max(16));
            let (result, read, _) = self.0.decode_to_string(chunk, out, last);
            chunk = chunk.get(read..).unwrap_or_default();
            if result == CoderResult::InputEmpty {
                return;
            }
        }
    }
}

/// Detects the content of a file from its first bytes. `complete`: `sample` is the whole file.
pub(crate) fn classify(sample: &[u8], complete: bool) -> Content {
    if sample.starts_with(&[0xFF, 0xFE, 0, 0]) || sample.starts_with(&[0, 0, 0xFE, 0xFF]) {
        return Content::Binary(Kind::Utf32);
    }
    let (charset, bom) = match *sample {
        [0xEF, 0xBB, 0xBF, ..] => (Charset::Utf8, 3),
        [0xFF, 0xFE, ..] => (Charset::Utf16Le, 2),
        [0xFE, 0xFF, ..] => (Charset::Utf16Be, 2),
        _ => match detect_without_mark(sample, complete) {
            Ok(charset) => (charset, 0),
            Err(kind) => return Content::Binary(kind),
        },
    };
    let body = sample.get(bom..).unwrap_or_default();
    Content::Text(TextFormat { charset, bom, breaks: breaks(body, charset) })
}

/// Detects the content of a file in memory, by the same bytes as for one that is read by pages.
pub(crate) fn of_file(raw: &[u8]) -> Content {
    match raw.get(..SAMPLE) {
        Some(sample) => classify(sample, false),
        None => classify(raw, true),
    }
}

fn detect_without_mark(sample: &[u8], complete: bool) -> Result<Charset, Kind> {
    if sample.starts_with(b"%PDF-") {
        return Err(Kind::Pdf);
    }
    if let Some(charset) = unmarked_utf16(sample) {
        return Ok(charset);
    }
    if is_binary(sample) {
        return Err(Kind::by_magic(sample));
    }
    Ok(match std::str::from_utf8(sample) {
        Ok(_) => Charset::Utf8,
        Err(e) if e.error_len().is_none() && !complete => Charset::Utf8,
        Err(_) if mostly_utf8(sample) => Charset::Utf8,
        Err(_) => {
            let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
            detector.feed(sample, complete);
            let guess = detector.guess(None, Utf8Detection::Deny);
            if guess.output_encoding() == guess { Charset::Legacy(guess) } else { Charset::Utf8 }
        }
    })
}

/// UTF-16 without a mark: western text leaves every second byte zero.
fn unmarked_utf16(sample: &[u8]) -> Option<Charset> {
    let units = sample.len() / 2;
    if units < 4 || memchr::memchr(0, sample).is_none() {
        return None;
    }
    let zeros = |odd: usize| {
        let bytes = sample.iter().skip(odd).step_by(2).take(units);
        bytes.filter(|b| **b == 0).count()
    };
    match (zeros(0), zeros(1)) {
        (0, high) if high * 10 >= units * 9 => Some(Charset::Utf16Le),
        (high, 0) if high * 10 >= units * 9 => Some(Charset::Utf16Be),
        _ => None,
    }
}

/// `true` for a NUL, or more than a tenth of control characters that text does not use.
fn is_binary(sample: &[u8]) -> bool {
    if memchr::memchr(0, sample).is_some() {
        return true;
    }
    let (words, rest) = sample.as_chunks::<8>();
    let mut last = [b' '; 8];
    last.iter_mut().zip(rest).for_each(|(place, byte)| *place = *byte);
    let odd_in = |word: &[u8; 8]| odd_controls(u64::from_ne_bytes(*word)).count_ones() as usize;
    let odd = words.iter().map(odd_in).sum::<usize>() + odd_in(&last);
    odd * 10 > sample.len()
}

/// Marks the highest bit of each byte of a word that is a control character unused by text, which uses 07 to 0D, and
/// 1B.
fn odd_controls(word: u64) -> u64 {
    let all = |byte: u8| u64::from_ne_bytes([byte; 8]);
    let highs = all(0x80);
    // With the highest bit set no byte borrows from the next one.
    let below = |less: u8| !((word | highs) - all(less)) & !word & highs;
    match below(0x20) {
        0 => 0,
        controls => controls & !(below(0x0E) & !below(0x07)) & !(below(0x1C) & !below(0x1B)),
    }
}

/// `true` for UTF-8 with a few damaged bytes. Legacy text hardly ever forms valid sequences by chance.
fn mostly_utf8(sample: &[u8]) -> bool {
    let (mut valid, mut damaged) = (0_usize, 0_usize);
    for chunk in sample.utf8_chunks() {
        valid += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        damaged += usize::from(!chunk.invalid().is_empty());
    }
    valid > damaged
}

fn breaks(body: &[u8], charset: Charset) -> Breaks {
    let (mut cr, mut lf) = (false, false);
    match charset {
        Charset::Utf8 | Charset::Legacy(_) => {
            cr = memchr::memchr(b'\r', body).is_some();
            lf = cr && memchr::memchr(b'\n', body).is_some();
        }
        Charset::Utf16Le | Charset::Utf16Be => {
            for unit in body.chunks_exact(2) {
                let unit = match (charset, unit) {
                    (Charset::Utf16Le, &[low, high]) => u16::from_le_bytes([low, high]),
                    (_, &[high, low]) => u16::from_be_bytes([high, low]),
                    _ => 0,
                };
                cr |= unit == 0x0D;
                lf |= unit == 0x0A;
            }
        }
    }
    if cr && !lf { Breaks::Cr } else { Breaks::Lf }
}

#[cfg(test)]
mod tests;

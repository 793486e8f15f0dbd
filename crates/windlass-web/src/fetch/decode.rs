//! Decoding of a body: compression and charset.

use std::io::Write as _;

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};
use flate2::write::GzDecoder;
use windlass_tool::ToolError;

/// Number of bytes that are decompressed at a time: their output, at most a thousand times as long, still fits.
const STEP: usize = 1024;

/// Body that is decompressed as it arrives, and bounded.
pub(super) struct Inflate {
    form: PageEncoding,
    limit: usize,
}

enum PageEncoding {
    Plain(Vec<u8>),
    Gzip(Box<GzDecoder<Vec<u8>>>),
}

impl Inflate {
    /// Creates a decoder for a body with this `content-encoding`.
    ///
    /// # Errors
    /// Fails if the compression was not requested.
    pub(super) fn of(encoding: Option<&str>, limit: usize) -> Result<Self, ToolError> {
        let form = match encoding.map(str::trim).unwrap_or_default().to_ascii_lowercase().as_str() {
            "" | "identity" => PageEncoding::Plain(Vec::new()),
            "gzip" | "x-gzip" => PageEncoding::Gzip(Box::new(GzDecoder::new(Vec::new()))),
            _ => return Err(ToolError::rejected("The page is compressed in a way that cannot be read.")),
        };
        Ok(Self { form, limit })
    }

    /// Adds bytes. `false` once the limit is exceeded, and no more bytes are needed.
    ///
    /// # Errors
    /// Fails if the bytes are no part of a gzip stream.
    pub(super) fn add(&mut self, bytes: &[u8]) -> Result<bool, ToolError> {
        for step in bytes.chunks(STEP) {
            let length = match &mut self.form {
                PageEncoding::Plain(body) => {
                    body.extend_from_slice(step);
                    body.len()
                }
                PageEncoding::Gzip(decoder) => {
                    decoder.write_all(step).map_err(|error| damaged().with_source(error))?;
                    decoder.get_ref().len()
                }
            };
            if length > self.limit {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the body, at most as long as the limit, and `true` if it was longer.
    ///
    /// # Errors
    /// Fails if the end of a gzip stream is missing.
    pub(super) fn finish(self) -> Result<(Vec<u8>, bool), ToolError> {
        let mut body = match self.form {
            PageEncoding::Plain(body) => body,
            PageEncoding::Gzip(decoder) if decoder.get_ref().len() > self.limit => decoder.get_ref().clone(),
            PageEncoding::Gzip(decoder) => decoder.finish().map_err(|error| damaged().with_source(error))?,
        };
        let is_cut = body.len() > self.limit;
        body.truncate(self.limit);
        Ok((body, is_cut))
    }
}

fn damaged() -> ToolError {
    ToolError::rejected("The page is compressed, and damaged.")
}

/// Decodes the text of a body: by its byte-order mark, else by the charset of its type, else by the declaration at the
/// beginning of an HTML page, else as UTF-8 if valid, else as windows-1252, like browsers.
pub(super) fn text(bytes: &[u8], charset: Option<&str>, is_html: bool) -> String {
    let named = || charset.and_then(|label| Encoding::for_label(label.as_bytes()));
    let meta = || if is_html { meta_charset(bytes) } else { None };
    let encoding = match Encoding::for_bom(bytes) {
        Some((encoding, _)) => encoding,
        None => named().or_else(meta).unwrap_or(if std::str::from_utf8(bytes).is_ok() { UTF_8 } else { WINDOWS_1252 }),
    };
    encoding.decode(bytes).0.into_owned()
}

/// Returns the charset that a page declares in its first kilobyte.
fn meta_charset(bytes: &[u8]) -> Option<&'static Encoding> {
    let head: String = bytes.iter().take(1024).map(|byte| char::from(*byte).to_ascii_lowercase()).collect();
    let (_, rest) = head.split_once("charset=")?;
    let label = rest.trim_start_matches(['"', '\'', ' ']).split(['"', '\'', ' ', ';', '>', '/']).next()?;
    let encoding = Encoding::for_label(label.as_bytes())?;
    // A page that is readable as ASCII up to here has no such charset.
    Some(if encoding.is_ascii_compatible() { encoding } else { UTF_8 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn charsets_are_found() {
        for (bytes, charset, is_html, expected) in [
            (&b"\xef\xbb\xbfa\xc3\xbc"[..], Some("latin1"), false, "a\u{fc}"),
            (b"a\xfc", Some("iso-8859-1"), false, "a\u{fc}"),
            (b"a\xfc", None, false, "a\u{fc}"),
            (b"a\xc3\xbc", None, false, "a\u{fc}"),
            (b"a\xc3\xbc", Some("no-such"), false, "a\u{fc}"),
            (b"<meta charset='shift_jis'>\x83\x65", None, true, "<meta charset='shift_jis'>\u{30c6}"),
            (b"<meta charset=utf-16>a", None, true, "<meta charset=utf-16>a"),
            (b"\xff\xfea\0", None, true, "a"),
            (b"\xff\xff\xff", Some("utf-8"), false, "\u{fffd}\u{fffd}\u{fffd}"),
        ] {
            assert_eq!(text(bytes, charset, is_html), expected, "{bytes:?}");
        }
    }

    #[test]
    fn bombs_are_cut_and_damage_is_an_error() {
        use flate2::Compression;
        use flate2::write::GzEncoder;
        let gzip = |bytes: &[u8]| {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
            encoder.write_all(bytes).unwrap();
            encoder.finish().unwrap()
        };
        let read = |bytes: &[u8]| {
            let mut inflate = Inflate::of(Some("gzip"), 100_000).unwrap();
            let mut steps = 0;
            for chunk in bytes.chunks(5_000) {
                steps += 1;
                if !inflate.add(chunk)? {
                    break;
                }
            }
            inflate.finish().map(|(body, is_cut)| (body.len(), is_cut, steps))
        };
        assert_eq!(read(&gzip(b"hello")).unwrap(), (5, false, 1));
        // A hundred megabytes in a hundred kilobytes: the first step is enough.
        assert_eq!(read(&gzip(&vec![0; 100_000_000])).unwrap(), (100_000, true, 1));
        let mut damaged = gzip(&[7; 50_000]);
        damaged.truncate(20);
        assert!(read(&damaged).is_err());
        assert!(read(b"not gzip at all, but long enough to be looked at").is_err());
        assert!(Inflate::of(Some("br"), 1).is_err());
    }
}

use proptest::prelude::*;

use super::*;
use crate::files::charset::{Content, of_file};

fn format(charset: Charset, breaks: Breaks) -> TextFormat {
    TextFormat { charset, bom: 0, breaks }
}

const CHARSETS: [Charset; 6] = [
    Charset::Utf8,
    Charset::Utf16Le,
    Charset::Utf16Be,
    Charset::Legacy(encoding_rs::WINDOWS_1252),
    Charset::Legacy(encoding_rs::SHIFT_JIS),
    Charset::Legacy(encoding_rs::GB18030),
];

fn charsets() -> impl Strategy<Value = Charset> {
    prop::sample::select(&CHARSETS[..])
}

/// Characters of `raw` that the encoding has.
fn text_for(charset: Charset, raw: &str) -> String {
    raw.chars().filter(|c| charset.encode(&c.to_string()).is_ok()).collect()
}

#[test]
fn line_breaks_become_lf() {
    for (raw, breaks, expected) in [
        ("a\r\nb\nc", Breaks::Lf, "a\nb\nc"),
        ("a\rb\r\nc\n", Breaks::Lf, "a\rb\nc\n"),
        ("a\rb\r\nc\r", Breaks::Cr, "a\nb\nc\n"),
        ("\r\r\n\r", Breaks::Lf, "\r\n\r"),
    ] {
        for charset in CHARSETS {
            let bytes = charset.encode(raw).unwrap();
            let text = canonical(&bytes, format(charset, breaks), Fold::LineBreaks);
            assert_eq!(String::from_utf8_lossy(&text), expected, "{raw:?} in {}", charset.name());
        }
    }
}

#[test]
fn plain_text_is_not_copied() {
    assert!(matches!(canonical("äb\n".as_bytes(), TextFormat::NEW, Fold::LineBreaks), Cow::Borrowed(_)));
}

#[test]
fn endings_are_found_in_order() {
    for charset in CHARSETS {
        let body = charset.encode("a\r\nb\nc\r\n").unwrap();
        let kinds: Vec<Ending> = endings(&body, format(charset, Breaks::Lf)).map(|(_, e)| e).collect();
        assert_eq!(kinds, [Ending::CrLf, Ending::Lf, Ending::CrLf], "{}", charset.name());
        let body = charset.encode("a\rb\r").unwrap();
        let count = |breaks| endings(&body, format(charset, breaks)).filter(|(_, e)| *e == Ending::Cr).count();
        assert_eq!((count(Breaks::Lf), count(Breaks::Cr)), (0, 2));
    }
    // The halves of these UTF-16 characters look like line breaks.
    let body = Charset::Utf16Le.encode("\u{0A0D}\u{0D0A}\u{0A00}\n").unwrap();
    let found: Vec<_> = endings(&body, format(Charset::Utf16Le, Breaks::Lf)).collect();
    assert_eq!(found, [(6..8, Ending::Lf)]);
}

proptest! {
    /// Every range of characters maps to bytes that decode to just that range.
    #[test]
    fn places_lead_back_to_their_bytes(
        charset in charsets(),
        raw in "[a-zé日本\\\\ソ表\r\n]{0,40}",
        cr in any::<bool>(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 4),
    ) {
        let raw = text_for(charset, &raw);
        let body = charset.encode(&raw).unwrap();
        let format = format(charset, if cr { Breaks::Cr } else { Breaks::Lf });
        for fold in [Fold::No, Fold::LineBreaks] {
            let text = String::from_utf8(canonical(&body, format, fold).into_owned()).unwrap();
            let bounds: Vec<usize> = text.char_indices().map(|(i, _)| i).chain([text.len()]).collect();
            let mut at: Vec<usize> = cuts.iter().map(|c| bounds[c.index(bounds.len())]).collect();
            at.sort_unstable();
            let ranges = [at[0]..at[1], at[2]..at[3]];
            let found = locate(&body, format, fold, &ranges).unwrap();
            for (range, raw) in ranges.iter().zip(found) {
                let part = canonical(&body[raw], format, fold).into_owned();
                prop_assert_eq!(String::from_utf8(part).unwrap(), text.get(range.clone()).unwrap());
            }
        }
    }

    #[test]
    fn any_bytes_have_a_text(body in prop::collection::vec(any::<u8>(), 0..60), charset in charsets()) {
        for fold in [Fold::No, Fold::LineBreaks] {
            let text = canonical(&body, format(charset, Breaks::Lf), fold).into_owned();
            let found = locate(&body, format(charset, Breaks::Lf), fold, std::slice::from_ref(&(0..text.len())));
            let all = 0..body.len();
            prop_assert_eq!(found.as_deref(), Some(std::slice::from_ref(&all)));
        }
        let _ = of_file(&body) == Content::Text(TextFormat::NEW);
    }
}

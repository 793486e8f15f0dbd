use super::*;
use proptest::prelude::*;

fn text(charset: Charset, bom: usize, breaks: Breaks) -> Content {
    Content::Text(TextFormat { charset, bom, breaks })
}

fn utf16(text: &str, unit: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(unit).collect()
}

#[test]
fn text_is_recognised_by_its_bytes() {
    use Breaks::{Cr, Lf};
    use Charset::{Utf8, Utf16Be, Utf16Le};
    let le = utf16("\u{FEFF}héllo\r\n", u16::to_le_bytes);
    let be = utf16("\u{FEFF}a\rb", u16::to_be_bytes);
    let bare = utf16("plain text\n", u16::to_le_bytes);
    for (bytes, expected) in [
        (&b""[..], text(Utf8, 0, Lf)),
        (b"plain\n", text(Utf8, 0, Lf)),
        (b"a\r\nb\r\n", text(Utf8, 0, Lf)),
        (b"old\rmac\r", text(Utf8, 0, Cr)),
        (b"progress\rbar\n", text(Utf8, 0, Lf)),
        (b"\xEF\xBB\xBFbom", text(Utf8, 3, Lf)),
        ("naïve 日本".as_bytes(), text(Utf8, 0, Lf)),
        ("many valid: äöü ÄÖÜ, one not: \u{e9}".as_bytes(), text(Utf8, 0, Lf)),
        (b"\xC3\xA4\xC3\xB6\xC3\xBC and one damaged \xE9 byte", text(Utf8, 0, Lf)),
        (b"\x1B[31mcolour\x1B[0m\n", text(Utf8, 0, Lf)),
        (&le, text(Utf16Le, 2, Lf)),
        (&be, text(Utf16Be, 2, Cr)),
        (&bare, text(Utf16Le, 0, Lf)),
    ] {
        assert_eq!(classify(bytes, true), expected, "{bytes:?}");
    }
}

#[test]
fn legacy_encodings_are_guessed() {
    let long = "これは日本語の文章です。テストのために書かれています。";
    let (sjis, _, _) = encoding_rs::SHIFT_JIS.encode(long);
    assert_eq!(classify(&sjis, true), text(Charset::Legacy(encoding_rs::SHIFT_JIS), 0, Breaks::Lf));
    let latin = b"Le caf\xE9 est ferm\xE9, la for\xEAt est l\xE0.\r\n";
    assert_eq!(classify(latin, true), text(Charset::Legacy(encoding_rs::WINDOWS_1252), 0, Breaks::Lf));
}

#[test]
fn a_character_cut_by_the_sample_is_not_damage() {
    let bytes = "ab日".as_bytes();
    assert_eq!(classify(&bytes[..4], false), text(Charset::Utf8, 0, Breaks::Lf));
    assert!(matches!(classify(&bytes[..4], true), Content::Text(TextFormat { charset: Charset::Legacy(_), .. })));
}

#[test]
fn binary_content_is_named() {
    for (bytes, phrase) in [
        (&b"\x7FELF\x02\x01\x01\0\0\0"[..], "ELF"),
        (b"PK\x03\x04\x14\0\0\0", "ZIP"),
        (b"%PDF-1.7\nplain text so far", "PDF"),
        (b"\xFF\xFE\0\0a\0\0\0", "UTF-32"),
        (b"SQLite format 3\0rest", "SQLite"),
        (b"one \0 zero", "binary data"),
        (b"\x01\x02\x03\x04\x05\x06", "binary data"),
    ] {
        let Content::Binary(kind) = classify(bytes, true) else {
            panic!("{bytes:?} is text?");
        };
        assert!(kind.phrase().contains(phrase), "{bytes:?}: {}", kind.phrase());
    }
    // Text that only begins like a format is text.
    for bytes in [&b"MZ is a prefix"[..], b"BM", b"GIF89a is a format", b"ID3 tags"] {
        assert!(matches!(classify(bytes, true), Content::Text(_)), "{bytes:?}");
    }
}

#[test]
fn encoding_names_the_missing_character() {
    assert_eq!(Charset::Legacy(encoding_rs::WINDOWS_1252).encode("café"), Ok(b"caf\xE9".to_vec()));
    assert_eq!(Charset::Legacy(encoding_rs::WINDOWS_1252).encode("a日b"), Err('日'));
    assert_eq!(Charset::Utf16Be.encode("a😀"), Ok(vec![0, b'a', 0xD8, 0x3D, 0xDE, 0x00]));
}

#[test]
fn a_file_is_judged_by_the_same_bytes_as_a_stream() {
    let mut bytes = vec![b'a'; SAMPLE];
    bytes.extend_from_slice(b"\xE9\xE8\0");
    assert_eq!(of_file(&bytes), classify(&bytes[..SAMPLE], false));
    assert_eq!(of_file(b"\xE9t\xE9"), classify(b"\xE9t\xE9", true));
}

#[test]
fn a_tenth_of_control_characters_is_text_wherever_they_stand() {
    for length in [10, 255, 256, 1_000, 4_000] {
        let with = |odd: usize| [vec![1; odd], vec![b'x'; length - odd]].concat();
        assert!(!is_binary(&with(length / 10)), "{length}");
        assert!(is_binary(&with(length / 10 + 1)), "{length}");
        assert!(!is_binary(&vec![b'\t'; length]) && is_binary(&vec![2; length]), "{length}");
    }
}

proptest! {
    #[test]
    fn control_characters_are_counted_as_one_by_one(sample in prop::collection::vec(1_u8..0x28, 0..40)) {
        let odd = sample.iter().filter(|b| **b < 0x20 && !matches!(**b, 0x07..=0x0D | 0x1B)).count();
        prop_assert_eq!(is_binary(&sample), odd * 10 > sample.len());
    }
}

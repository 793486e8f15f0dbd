use proptest::prelude::*;

use super::*;
use crate::files::charset::{Breaks, Content, of_file};

fn format_of(bytes: &[u8]) -> TextFormat {
    match of_file(bytes) {
        Content::Text(format) => format,
        Content::Binary(kind) => panic!("binary: {kind:?}"),
    }
}

fn replace(raw: &[u8], old: &str, new: &str, all: bool) -> Result<Vec<u8>, EditError> {
    apply(raw, format_of(raw), Replacement { old, new, all }).map(|edited| edited.bytes)
}

fn shift_jis(text: &str) -> Vec<u8> {
    Charset::Legacy(encoding_rs::SHIFT_JIS).encode(text).unwrap()
}

#[test]
fn only_the_replaced_bytes_change() {
    for (raw, old, new, expected) in [
        (&b"one two\n"[..], "two", "2", &b"one 2\n"[..]),
        (b"no final newline", "final", "last", b"no last newline"),
        (b"trailing  \nblanks\t\n", "blanks", "x", b"trailing  \nx\t\n"),
        (b"\xEF\xBB\xBFmarked\n", "marked", "kept", b"\xEF\xBB\xBFkept\n"),
        // Line breaks of the file, not of the model.
        (b"a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz", b"x\r\ny\r\nz\r\nc\r\n"),
        (b"a\r\nb\r\n", "b", "b\nc", b"a\r\nb\r\nc\r\n"),
        (b"a\rb\rc", "b\nc", "b\nnew\nc", b"a\rb\rnew\rc"),
        (b"only line", "line", "one\ntwo", b"only one\ntwo"),
        // Mixed line breaks stay unchanged.
        (b"a\r\nb\nc\r\nd\n", "b\nc\nd", "b\nC\nd", b"a\r\nb\nC\r\nd\n"),
        (b"a\nb\r\nc\n", "a\nb\nc", "A\nB\nC", b"A\nB\r\nC\n"),
        (b"a\nb\r\nc\r\n", "a\nb\nc", "x\na\nb\nc", b"x\na\nb\r\nc\r\n"),
        (b"x\ny\r\n", "y", "y\nz", b"x\ny\r\nz\r\n"),
        // A CR in the request is used unchanged.
        (b"a\r\nb\r\n", "a\r\nb", "a\nb", b"a\nb\r\n"),
        (b"a\nb\n", "a\nb", "a\r\nb", b"a\r\nb\n"),
        (b"bar\rbaz\nqux\n", "bar\rbaz", "x", b"x\nqux\n"),
        // Composed and decomposed characters are different bytes.
        ("e\u{301} \u{e9}".as_bytes(), "\u{e9}", "E", "e\u{301} E".as_bytes()),
        // Damaged UTF-8 elsewhere is left alone.
        (b"\xC3\xA4\xC3\xB6\xC3\xBC \xE9 end", "end", "\u{df}", b"\xC3\xA4\xC3\xB6\xC3\xBC \xE9 \xC3\x9F"),
        (b"no $1 \\1 * patterns", "$1 \\1 *", "$& \\0 .", b"no $& \\0 . patterns"),
    ] {
        let got = replace(raw, old, new, false);
        assert_eq!(got.as_deref(), Ok(expected), "{:?}", String::from_utf8_lossy(raw));
    }
}

#[test]
fn other_encodings_keep_theirs() {
    let latin = b"Le caf\xE9 est ferm\xE9, la for\xEAt est l\xE0.\r\nFin.\r\n";
    let expected = b"Le caf\xE9 est ouvert \xE0 9h,\r\nla for\xEAt est l\xE0.\r\nFin.\r\n";
    assert_eq!(replace(latin, "fermé, la", "ouvert à 9h,\nla", false).as_deref(), Ok(&expected[..]));

    let before = "これは日本語の文章です。ソ表示\nテストのために書かれています。\n";
    let after = "これは日本語の文章です。ソ機能\nテストのために書かれています。\n";
    assert_eq!(replace(&shift_jis(before), "表示", "機能", false), Ok(shift_jis(after)));

    for charset in [Charset::Utf16Le, Charset::Utf16Be] {
        let before = charset.encode("\u{FEFF}a😀\r\nb\r\n").unwrap();
        let after = charset.encode("\u{FEFF}a🙂\r\nx\r\nb\r\n").unwrap();
        assert_eq!(replace(&before, "😀\n", "🙂\nx\n", false), Ok(after));
    }
}

#[test]
fn bytes_that_only_look_like_the_text_are_not_matched() {
    // The second byte of these characters is a backslash in ASCII.
    let raw = shift_jis("これは日本語の文章です。表示ソ\\\nテストのために書かれています。");
    let got = replace(&raw, "\\", "/", false).unwrap();
    assert_eq!(got, shift_jis("これは日本語の文章です。表示ソ/\nテストのために書かれています。"));
}

#[test]
fn a_damaged_neighbour_does_not_swallow_the_new_text() {
    // The half character before the place would join with the first new byte.
    let format = TextFormat { charset: Charset::Legacy(encoding_rs::SHIFT_JIS), bom: 0, breaks: Breaks::Lf };
    let edit = |new| apply(b"\x81<place>", format, Replacement { old: "<place>", new, all: false });
    assert_eq!(edit("abc"), Err(EditError::Damaged { charset: "Shift_JIS" }));
    assert_eq!(edit("<abc>").map(|edited| edited.bytes).as_deref(), Ok(&b"\x81<abc>"[..]));
}

#[test]
fn what_the_encoding_lacks_is_an_error() {
    let latin = b"Le caf\xE9 est ferm\xE9, la for\xEAt est l\xE0.\r\n";
    let error = replace(latin, "café", "日本", false).unwrap_err();
    assert_eq!(error, EditError::Unencodable { charset: "windows-1252", character: '日' });
    assert!(error.to_string().contains("U+65E5"));
}

#[test]
fn refusals_say_what_to_do() {
    assert_eq!(replace(b"a", "a", "a", false), Err(EditError::Identical));
    assert_eq!(replace(b"a", "", "b", false), Err(EditError::EmptyOld));
    let error = replace(b"x\nx\ny x\n", "x", "z", false).unwrap_err();
    assert_eq!(error, EditError::Ambiguous { count: 3, lines: vec![1, 2, 3] });
    assert!(error.to_string().contains("3 times (lines 1, 2, 3)"));
    assert!(matches!(replace(b"abc", "zzz", "y", false), Err(EditError::NotFound { .. })));
    // The same text with different line breaks is the same text to the model.
    assert!(matches!(replace(b"a\nb\na\r\nb\n", "a\nb", "c", false), Err(EditError::Ambiguous { count: 2, .. })));
}

#[test]
fn all_occurrences_and_new_files() {
    assert_eq!(replace(b"a\r\nb a\n", "a", "A", true), Ok(b"A\r\nb A\n".to_vec()));
    assert_eq!(replace(b"a\nb\na\r\nb\n", "a\nb", "c\nd", true), Ok(b"c\nd\nc\r\nd\n".to_vec()));
    assert_eq!(replace(b"", "", "new\n", false), Ok(b"new\n".to_vec()));
    assert_eq!(replace(b"\xEF\xBB\xBF", "", "new\n", false), Ok(b"\xEF\xBB\xBFnew\n".to_vec()));
}

#[test]
fn a_huge_file_with_many_places_is_quick() {
    let raw = b"needle in a line\r\n".repeat(200_000);
    let got = replace(&raw, "needle", "pin\nand", true).unwrap();
    assert_eq!(got, b"pin\r\nand in a line\r\n".repeat(200_000));
    let raw = vec![b'a'; 4_000_000];
    let old = format!("{}b", "a".repeat(100_000));
    assert!(matches!(replace(&raw, &old, "c", false), Err(EditError::NotFound { .. })));
}

#[test]
fn an_edit_that_would_grow_without_bound_is_refused() {
    let raw = b"aa".repeat(200_000);
    assert_eq!(replace(&raw, "a", "b", true), Err(EditError::TooLarge { count: 400_000 }));
    assert_eq!(replace(&raw, "aa", &"b".repeat(1000), true), Err(EditError::TooLarge { count: 200_000 }));
    assert!(matches!(replace(&raw, "a", "b", false), Err(EditError::Ambiguous { count: 400_000, .. })));
}

#[test]
fn whole_contents_keep_the_form_of_the_file() {
    let rewritten = |content: &str, raw: &[u8]| rewrite(content, Some((raw, format_of(raw)))).unwrap();
    assert_eq!(rewrite("a\nb", None).unwrap(), b"a\nb");
    assert_eq!(rewritten("x\ny\n", b"a\r\nb\r\n"), b"x\r\ny\r\n");
    assert_eq!(rewritten("x\ny\n", b"a\r\nb\n"), b"x\ny\n");
    assert_eq!(rewritten("x\r\ny\n", b"a\r\nb\r\n"), b"x\r\ny\n");
    assert_eq!(rewritten("x", b"\xEF\xBB\xBFa"), b"\xEF\xBB\xBFx");
    assert_eq!(rewritten("\u{FEFF}x", b"\xEF\xBB\xBFa"), b"\xEF\xBB\xBFx");
    let utf16 = Charset::Utf16Le.encode("\u{FEFF}old\r\n").unwrap();
    assert_eq!(rewritten("é\n", &utf16), Charset::Utf16Le.encode("\u{FEFF}é\r\n").unwrap());
}

proptest! {
    /// Without line breaks to translate, an edit is a splice of the bytes.
    #[test]
    fn an_edit_is_a_splice(
        raw in "[abé\n ]{0,40}",
        old in "[abé\n ]{1,3}",
        new in "[abxé\n ]{0,4}",
        all in any::<bool>(),
        bom in any::<bool>(),
    ) {
        let raw = if bom { format!("\u{FEFF}{raw}") } else { raw };
        let count = raw.matches(&old).count();
        match replace(raw.as_bytes(), &old, &new, all) {
            Ok(bytes) => {
                prop_assert!(count == 1 || (all && count > 1));
                prop_assert_eq!(String::from_utf8(bytes).unwrap(), raw.replace(&old, &new));
            }
            Err(EditError::Identical) => prop_assert_eq!(old, new),
            Err(EditError::NotFound { .. }) => prop_assert_eq!(count, 0),
            Err(EditError::Ambiguous { count: n, .. }) => prop_assert!(!all && n == count && n > 1),
            Err(other) => prop_assert!(false, "{other}"),
        }
    }

    /// In a file with CRLF throughout, an edit is the splice of the LF text, translated.
    #[test]
    fn crlf_is_translated_both_ways(
        raw in "[ab\n ]{1,40}",
        old in "[ab\n ]{1,3}",
        new in "[abx\n ]{0,4}",
        utf16 in any::<bool>(),
    ) {
        prop_assume!(raw.contains('\n') && old != new);
        let charset = if utf16 { Charset::Utf16Le } else { Charset::Utf8 };
        let file = |text: &str| charset.encode(&format!("\u{FEFF}{}", text.replace('\n', "\r\n"))).unwrap();
        let before = file(&raw);
        if let Ok(after) = replace(&before, &old, &new, true) {
            prop_assert_eq!(after, file(&raw.replace(&old, &new)));
        } else {
            prop_assert!(!raw.contains(&old));
        }
    }

    /// The bytes before and after the place stay, whatever they are.
    #[test]
    fn bytes_outside_the_place_do_not_change(
        head in prop::collection::vec(any::<u8>(), 0..40),
        tail in prop::collection::vec(any::<u8>(), 0..40),
        charset in prop::sample::select(vec![
            Charset::Utf8,
            Charset::Legacy(encoding_rs::WINDOWS_1252),
            Charset::Legacy(encoding_rs::SHIFT_JIS),
            Charset::Legacy(encoding_rs::GB18030),
            Charset::Legacy(encoding_rs::EUC_KR),
        ]),
    ) {
        let format = TextFormat { charset, bom: 0, breaks: Breaks::Lf };
        let raw = [&head[..], b"<needle>", &tail].concat();
        let edit = Replacement { old: "<needle>", new: "<pin>", all: false };
        if let Ok(edited) = apply(&raw, format, edit) {
            prop_assert_eq!(edited.bytes, [&head[..], b"<pin>", &tail].concat());
        }
    }

    /// Detected encodings and 16-bit text with damage keep the bytes as well.
    #[test]
    fn whatever_is_taken_for_text_keeps_its_bytes(
        head in prop::collection::vec(any::<u8>(), 0..40),
        tail in prop::collection::vec(any::<u8>(), 0..40),
        wide in prop::option::of(any::<bool>()),
    ) {
        let charset = match wide {
            None => Charset::Utf8,
            Some(true) => Charset::Utf16Le,
            Some(false) => Charset::Utf16Be,
        };
        let file = |word: &str| {
            let mark = if wide.is_some() { "\u{FEFF}" } else { "" };
            let even = if wide.is_some() { head.len() / 2 * 2 } else { head.len() };
            [&charset.encode(mark).unwrap(), &head[..even], &charset.encode(word).unwrap(), &tail].concat()
        };
        let raw = file("<needle>");
        let edit = Replacement { old: "<needle>", new: "<pin>", all: false };
        if let Content::Text(format) = of_file(&raw)
            && let Ok(edited) = apply(&raw, format, edit)
        {
            prop_assert_eq!(edited.bytes, file("<pin>"));
        }
    }
}

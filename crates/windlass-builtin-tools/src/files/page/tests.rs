use proptest::prelude::*;

use super::*;
use crate::files::charset::{Charset, Content, of_file};

fn format_of(bytes: &[u8]) -> TextFormat {
    match of_file(bytes) {
        Content::Text(format) => format,
        Content::Binary(kind) => panic!("binary: {kind:?}"),
    }
}

fn page_in_chunks(bytes: &[u8], request: PageRequest, chunk: usize) -> Page {
    let mut reader = PageReader::new(format_of(bytes), request);
    for part in bytes.chunks(chunk.max(1)) {
        reader.push(part);
    }
    reader.finish(true)
}

fn page(bytes: &[u8], offset: u64, limit: u64) -> Page {
    page_in_chunks(bytes, PageRequest { offset, limit, ..PageRequest::default() }, usize::MAX)
}

fn lines(page: &Page) -> Vec<&str> {
    page.content.split('\n').take(page.lines as usize).collect()
}

#[test]
fn lines_are_numbered_whatever_ends_them() {
    for (bytes, expected) in [
        (&b"a\nb"[..], "1\ta\n2\tb"),
        (b"a\nb\n", "1\ta\n2\tb\n3\t"),
        (b"a\r\nb\r\n", "1\ta\n2\tb\n3\t"),
        (b"a\r\nb\nc\rd\n", "1\ta\n2\tb\n3\tc\rd\n4\t"),
        (b"a\rb\r", "1\ta\n2\tb\n3\t"),
        (b"\n\n", "1\t\n2\t\n3\t"),
        (b"a\n\r", "1\ta\n2\t\r"),
        (b"\xEF\xBB\xBFmark\n", "1\tmark\n2\t"),
        (b"caf\xE9 \xE0 la cr\xE8me\n", "1\tcafé à la crème\n2\t"),
        (b"\xFF\xFEa\0\r\0\n\0\x3D\xD8\x00\xDE", "1\ta\n2\t😀"),
    ] {
        assert_eq!(page(bytes, 1, 100).take_text(), expected, "{bytes:?}");
    }
}

#[test]
fn a_break_of_two_bytes_may_come_in_two_chunks() {
    let format = TextFormat { breaks: Breaks::Cr, ..TextFormat::NEW };
    for chunk in 1..8 {
        let mut reader = PageReader::new(format, PageRequest::default());
        for part in b"a\rb\r\n\r\nc\nd\r".chunks(chunk) {
            reader.push(part);
        }
        assert_eq!(lines(&reader.finish(true)), ["a", "b", "", "c", "d", ""], "{chunk}");
    }
}

#[test]
fn a_part_says_how_to_continue() {
    let text: String = (1..=10).map(|n| format!("line {n}\n")).collect();
    let mut part = page(text.as_bytes(), 3, 4);
    assert_eq!(lines(&part), ["line 3", "line 4", "line 5", "line 6"]);
    assert_eq!((part.first_line, part.total_lines, part.cut), (3, 11, Some(Cut::Lines)));
    assert!(part.take_text().ends_with(
        "6\tline 6\n\n[PARTIAL: lines 3-6 of 11 are shown, up to the line limit. \
         Read on with offset=7, or find the place with Grep.]"
    ));
    assert_eq!(page(text.as_bytes(), 7, 4).cut, None, "only the end of the last line is left");
    assert_eq!(page(text.as_bytes(), 7, 3).cut, Some(Cut::Lines));
    let beyond = page(text.as_bytes(), 12, 1);
    assert!(beyond.lines == 0);
    assert_eq!(beyond.total_lines, 11);
}

#[test]
fn a_page_ends_at_its_token_limit() {
    let text = "x".repeat(700) + "\n";
    let request = PageRequest { max_tokens: 1000, ..PageRequest::default() };
    let mut page = page_in_chunks(text.repeat(50).as_bytes(), request, 1000);
    assert_eq!((page.lines, page.cut), (4, Some(Cut::Tokens)));
    assert!(page.take_text().contains("lines 1-4 of 51"));
    // At least one line is returned: otherwise reading would never advance.
    let request = PageRequest { max_tokens: 1, ..PageRequest::default() };
    assert_eq!(page_in_chunks(text.as_bytes(), request, 7).lines, 1);
}

#[test]
fn long_lines_are_cut_between_characters() {
    let request = PageRequest { max_line_chars: 10, ..PageRequest::default() };
    for (line, hidden) in [("é".repeat(10), 0), ("é".repeat(11), 1), ("日本".repeat(5000), 9990), ("a".repeat(99), 89)]
    {
        for ending in ["\n", "\r\n"] {
            let bytes = format!("{line}{ending}short{ending}");
            for chunk in [1, 3, 1000] {
                let page = page_in_chunks(bytes.as_bytes(), request, chunk);
                let expected: String = line.chars().take(10).collect();
                let expected = match hidden {
                    0 => expected,
                    n => format!("{expected} [… {n} more characters in this line]"),
                };
                assert_eq!(lines(&page), [&*expected, "short", ""], "{ending:?} {chunk}");
                assert_eq!(page.long_lines, u64::from(hidden > 0));
            }
        }
    }
}

#[test]
fn memory_does_not_grow_with_the_file() {
    let request = PageRequest { offset: 1000, limit: 2, ..PageRequest::default() };
    let mut reader = PageReader::new(TextFormat::NEW, request);
    let block = vec![b'y'; 1 << 20];
    for n in 0..2000 {
        reader.push(&block);
        if n % 2 == 1 {
            reader.push(b"\n");
        }
    }
    assert!(reader.lines.line.capacity() < 1 << 20);
    let page = reader.finish(true);
    assert_eq!(page.total_lines, 1001);
    assert!(page.content.len() < 10_000);
}

#[test]
fn the_total_is_a_lower_bound_when_the_end_was_not_seen() {
    let mut reader = PageReader::new(TextFormat::NEW, PageRequest { limit: 1, ..PageRequest::default() });
    reader.push(b"a\nb\nc\nd");
    assert!(reader.is_full());
    let mut page = reader.finish(false);
    assert_eq!((page.lines, page.total_lines, page.complete), (1, 4, false));
    assert!(page.take_text().contains("1-1 of at least 4"));
}

proptest! {
    #[test]
    fn chunks_do_not_matter(
        bytes in "[a-cé日\r\n]{0,60}",
        utf16 in any::<bool>(),
        chunk in 1_usize..7,
        offset in 1_u64..6,
        limit in 1_u64..6,
    ) {
        let bytes = if utf16 {
            Charset::Utf16Le.encode(&format!("\u{FEFF}{bytes}")).unwrap()
        } else {
            bytes.into_bytes()
        };
        let request = PageRequest { offset, limit, max_line_chars: 5, ..PageRequest::default() };
        prop_assert_eq!(page_in_chunks(&bytes, request, chunk), page_in_chunks(&bytes, request, usize::MAX));
    }

    /// Any bytes may follow the sample.
    #[test]
    fn chunks_of_what_is_no_text_do_not_matter(
        bytes in prop::collection::vec(prop::sample::select(&b"a\0\xff\xc3\xa9\r\n"[..]), 0..40),
        chunk in 1_usize..7,
    ) {
        let request = PageRequest { max_line_chars: 5, ..PageRequest::default() };
        let page = |chunk: usize| {
            let mut reader = PageReader::new(TextFormat::NEW, request);
            bytes.chunks(chunk).for_each(|part| reader.push(part));
            reader.finish(true)
        };
        prop_assert_eq!(page(chunk), page(usize::MAX));
    }

    #[test]
    fn lines_are_those_of_split(text in "[a-cé\n]{0,60}", offset in 1_u64..8, limit in 1_u64..8) {
        let all: Vec<&str> = text.split('\n').collect();
        let expected = all.iter().skip(offset as usize - 1).take(limit as usize);
        let page = page(text.as_bytes(), offset, limit);
        prop_assert_eq!(page.total_lines, all.len() as u64);
        prop_assert_eq!(lines(&page), expected.copied().collect::<Vec<_>>());
    }

    #[test]
    fn cut_chars_never_splits_a_character(text in ".{0,40}", max in 0_usize..50) {
        let (head, tail) = cut_chars(&text, max);
        prop_assert_eq!(format!("{head}{tail}"), text.clone());
        prop_assert_eq!(head.chars().count(), text.chars().count().min(max));
    }
}

use super::*;
use crate::layout::Glyphs;
use crate::text::width;
use crate::theme::Theme;
use proptest::prelude::*;

fn shown(source: &str, columns: usize) -> Vec<String> {
    let theme = Theme::default();
    let layout = Layout { columns, theme: &theme, glyphs: Glyphs::UNICODE };
    markdown_rows(source, &layout).iter().map(Line::text).collect()
}

#[test]
fn blocks_are_rows() {
    let source = "# Title\n\nA *soft*\nline with `code`.  \nHard break.\n\n- one\n- two\n  1. deep\n  2. deeper\n\n> quote\n> of two\n\n---\n\n```rust\nfn x() {\n\tgo();\n}\n```\nend";
    assert_eq!(
        shown(source, 40),
        [
            "Title",
            "",
            "A soft line with code.",
            "Hard break.",
            "",
            "• one",
            "• two",
            "  1. deep",
            "  2. deeper",
            "",
            "│ quote of two",
            "",
            "────────────────────────────────────────",
            "",
            "  fn x() {",
            "      go();",
            "  }",
            "",
            "end",
        ]
    );
}

#[test]
fn links_show_their_target() {
    assert_eq!(shown("See [the docs](https://example.com/a) now.", 80), ["See the docs (https://example.com/a) now."]);
    assert_eq!(shown("<https://example.com>", 80), ["https://example.com"]);
    assert_eq!(
        shown("[https://good.example](https://bad.example)", 80),
        ["https://good.example (https://bad.example)"]
    );
    assert_eq!(shown("![a cat](cat.png)", 80), ["[image: a cat] (cat.png)"]);
}

#[test]
fn tables_fit_the_width() {
    let source =
        "| Name | What it does |\n|---|---|\n| `a` | short |\n| long name | a text that is wrapped in its cell |\n";
    assert_eq!(
        shown(source, 60),
        [
            "Name      │ What it does",
            "──────────┼───────────────────────────────────",
            "a         │ short",
            "long name │ a text that is wrapped in its cell",
        ]
    );
    assert_eq!(
        shown(source, 30),
        [
            "Name      │ What it does",
            "──────────┼───────────────────",
            "a         │ short",
            "long name │ a text that is",
            "          │ wrapped in its",
            "          │ cell",
        ]
    );
    assert_eq!(
        shown(source, 14),
        [
            "Name: a",
            "What it does:",
            "  short",
            "",
            "Name: long",
            "  name",
            "What it does:",
            "  a text that",
            "  is wrapped",
            "  in its cell"
        ]
    );
}

#[test]
fn text_of_a_model_is_never_obeyed() {
    let source =
        "a\u{1b}[31mred &#27;[2J \u{202e}x `co\u{7}de`\n\n```\n\u{1b}]0;title\u{7}x\n```\n<b onclick=\"x\">html</b>\n";
    for row in shown(source, 40) {
        assert!(!row.chars().any(|c| c.is_control() || c == '\u{202e}'), "{row:?}");
    }
}

/// Rows of a stream that gets pieces of so many bytes, with a look at each.
fn streamed(source: &str, piece: usize, columns: usize) -> Vec<String> {
    let theme = Theme::default();
    let layout = Layout { columns, theme: &theme, glyphs: Glyphs::UNICODE };
    let mut stream = MarkdownStream::default();
    let mut rows: Vec<String> = Vec::new();
    let mut add = |chunks: Vec<MarkdownChunk>| {
        for chunk in chunks {
            let shown = chunk.rows(&layout);
            if !chunk.continues && !rows.is_empty() && !shown.is_empty() {
                rows.push(String::new());
            }
            rows.extend(shown.iter().map(Line::text));
        }
    };
    let characters: Vec<char> = source.chars().collect();
    for piece in characters.chunks(piece) {
        stream.push(&piece.iter().collect::<String>());
        add(stream.take_finished());
    }
    add(stream.finish());
    rows
}

const SAMPLE: &str = "Intro paragraph\nof two lines.\n\n## Steps\n1. first\n2. second\n   with more\n3. third\n\nThen code:\n\n```rust\nfn main() {\n\n    body();\n}\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> quote\n\n* item\n* item two\n\n***\nlast words";

#[test]
fn a_stream_gives_the_same_rows_as_the_whole() {
    let whole = shown(SAMPLE, 40);
    for piece in [1, 2, 3, 7, 50, 1000] {
        assert_eq!(streamed(SAMPLE, piece, 40), whole, "pieces of {piece}");
    }
}

#[test]
fn finished_lines_are_given_out_before_the_end() {
    let mut stream = MarkdownStream::default();
    stream.push("para");
    assert_eq!(stream.take_finished(), []);
    stream.push("graph\n\n```sh\necho 1\necho");
    let sources: Vec<String> = stream.take_finished().into_iter().map(|chunk| chunk.source).collect();
    assert_eq!(sources.concat(), "paragraph\n\n```sh\necho 1\n");
    assert_eq!(stream.tail().source, "```sh\necho");
    stream.push(" 2\n```\n");
    assert_eq!(stream.take_finished().len(), 1);
    assert!(stream.is_empty());
    stream.push("1. a\n1. b\n1. c");
    let first = stream.take_finished();
    assert_eq!(first.len(), 1);
    assert_eq!((first[0].source.as_str(), first[0].continues), ("1. a\n", false));
    let rest = stream.finish();
    let theme = Theme::default();
    let layout = Layout { columns: 20, theme: &theme, glyphs: Glyphs::UNICODE };
    assert_eq!(rest[0].rows(&layout).iter().map(Line::text).collect::<Vec<_>>(), ["2. b", "3. c"]);
}

#[test]
fn a_megabyte_is_cut_in_bounded_memory() {
    let paragraphs = "Some words of a paragraph that goes on.\n".repeat(26_000);
    let one_line = "word ".repeat(200_000);
    let code = format!("```\n{}", "let x = 1;\n".repeat(95_000));
    for source in [paragraphs, one_line, code] {
        let mut stream = MarkdownStream::default();
        let (mut most, mut given) = (0, 0);
        for piece in source.as_bytes().chunks(4_000) {
            stream.push(std::str::from_utf8(piece).unwrap());
            given += stream.take_finished().iter().map(|chunk| chunk.source.len()).sum::<usize>();
            most = most.max(stream.tail().source.len());
        }
        given += stream.finish().iter().map(|chunk| chunk.source.len()).sum::<usize>();
        assert!(most <= 20_480, "{most} bytes waited");
        assert!(given >= source.len(), "{given} of {}", source.len());
    }
}

proptest! {
    #[test]
    fn nothing_is_wider_than_the_row(source in "(#{1,3} |> |- |1\\. |\\| |```\n|\\*\\*|`|[a-z日é👍]{1,20}|\n| ){0,60}", columns in 20usize..60) {
        for row in shown(&source, columns) {
            prop_assert!(width(&row) <= columns + 24, "{row:?}");
        }
    }

    #[test]
    fn pieces_do_not_matter(source in "(## |> |- |2\\. |```\n|~~~\n|\\*\\*|`|[a-z]{1,9}|\n|\n\n| ){0,40}", one in 1usize..5, other in 1usize..30) {
        let letters = |rows: Vec<String>| rows.concat().chars().filter(|c| c.is_alphabetic()).collect::<String>();
        prop_assert_eq!(letters(streamed(&source, one, 60)), letters(streamed(&source, other, 60)));
    }
}

use proptest::prelude::*;

use super::*;

#[test]
fn terminal_text_becomes_plain() {
    let cases = [
        ("plain\ttext\n", "plain\ttext\n"),
        ("\u{1b}[1;31mred\u{1b}[0m", "red"),
        ("\u{1b}[?25lhidden cursor", "hidden cursor"),
        ("\u{1b}]0;title\u{7}text", "text"),
        ("\u{1b}]8;;http://x\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link"),
        ("\u{1b}]0;never ends\ntext", "\u{241b}]0;never ends\ntext"),
        ("\u{1b}(Bx\u{1b}=y", "xy"),
        ("a\r\nb\r\r\nc", "a\nb\nc"),
        ("10%\r20%\r", "10%\n20%\n"),
        ("b\u{8}bo\u{8}old", "bold"),
        ("\n\u{8}x", "\nx"),
        ("a\0b\u{7}c\u{7f}", "a\u{2400}b\u{2407}c\u{2421}"),
        ("\u{85}", "\u{fffd}"),
        ("end\u{1b}", "end\u{241b}"),
        ("end\u{1b}[31", "end\u{241b}[31"),
        ("\u{1b}\u{e9}", "\u{241b}\u{e9}"),
    ];
    for (given, expected) in cases {
        assert_eq!(clean(given), expected, "{given:?}");
    }
}

#[test]
fn what_fits_is_whole() {
    let output = CapturedOutput::new("\u{e9}\u{e9}\u{e9}\n\n", "", 0);
    assert_eq!(clip(&output, 3, |_| unreachable!()), Clipped { text: "\u{e9}\u{e9}\u{e9}".into(), left_out: 0 });
}

#[test]
fn what_does_not_fit_keeps_both_ends_and_one_marker() {
    let lines: String = (0..100).map(|line| format!("line {line:02}\n")).collect();
    let clipped = clip(&CapturedOutput::new(lines.as_str(), "", 0), 80, |bytes| format!("<{bytes}>"));
    assert_eq!(
        clipped.text,
        "line 00\nline 01\nline 02\nline 03\nline 04\n<720>\nline 95\nline 96\nline 97\nline 98\nline 99"
    );
    assert_eq!(clipped.left_out, 720);
}

#[test]
fn one_long_line_is_cut_inside() {
    let line = "x".repeat(1000);
    let clipped = clip(&CapturedOutput::new(line.as_str(), line.as_str(), 500), 10, |bytes| format!("<{bytes}>"));
    assert_eq!(clipped.text, "xxxxx\n<2490>\nxxxxx");
}

proptest! {
    #[test]
    fn nothing_panics_and_no_control_character_is_left(text in "(\u{1b}|\r|\\[|\\]|[0-9;]|m|\u{7}|\u{8}|\n|\0|\\PC){0,60}") {
        let clean_text = clean(&text);
        prop_assert!(!clean_text.contains(is_special), "{:?}", clean_text);
        prop_assert_eq!(clean(&clean_text), clean_text.clone());
    }

    #[test]
    fn the_count_is_exact(head in "(\\PC|\n){0,80}", tail in "(\\PC|\n){0,80}", omitted in 0u64..1000, budget in 0usize..60) {
        let output = CapturedOutput::new(head.as_str(), tail.as_str(), omitted);
        let clipped = clip(&output, budget, |bytes| format!("<{bytes}>"));
        prop_assert!(clipped.text.chars().count() <= budget + 30);
        prop_assert!(clipped.left_out >= omitted);
        prop_assert!(clipped.left_out <= omitted + (head.len() + tail.len()) as u64);
    }
}

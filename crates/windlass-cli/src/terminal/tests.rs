use super::*;

#[test]
fn a_terminal_obeys_nothing() {
    for (text, shown) in [
        ("plain\n\ttext é 漢 👩‍🚀", "plain\n\ttext é 漢 👩‍🚀"),
        ("\u{1b}[31mred\u{1b}[0m", "red"),
        ("\u{1b}[2J\u{1b}[H\u{1b}[?1049hx", "x"),
        ("\u{1b}]0;title\u{7}x", "x"),
        ("\u{1b}]8;;http://evil\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link"),
        ("\u{1b}Pq#0\u{1b}\\x", "x"),
        ("\u{1b}]52;c;aGk=\u{9c}x", "x"),
        ("\u{9b}31mx\u{9d}0;t\u{7}y", "xy"),
        ("\u{1b}(0x\u{1b}cy\u{1b}%Gz", "xyz"),
        ("a\rb\u{8}c\u{7}\u{0}\u{7f}", "abc"),
        ("safe\u{202e}txt.exe\u{2066}", "safetxt.exe"),
        ("\u{1b}]0;never ends\nnext line", "\nnext line"),
        ("\u{1b}", ""),
    ] {
        assert_eq!(clean(text), shown, "{text:?}");
    }
}

#[test]
fn sequences_are_found_wherever_the_text_is_split() {
    let text = "a\u{1b}[31mb\u{1b}]0;t\u{1b}\\c\u{1b}(0d";
    for (at, _) in text.char_indices() {
        let (first, second) = text.split_at(at);
        let mut filter = Filter::default();
        assert_eq!(filter.clean(first) + &filter.clean(second), "abcd", "split at {at}");
    }
}

#[test]
fn nothing_that_passes_is_a_control() {
    for code in (0..=0x10_ffff).filter_map(char::from_u32) {
        let shown = clean(&format!("{code}"));
        assert!(shown.chars().all(|c| matches!(c, '\n' | '\t') || !c.is_control()), "{code:?}");
    }
}

#[test]
fn what_is_asked_about_hides_nothing() {
    assert_eq!(visible("rm x\u{1b}[2K\r\u{202e}\n\u{200b}é"), "rm x\\u{1b}[2K\\r\\u{202e}\n\\u{200b}é");
}

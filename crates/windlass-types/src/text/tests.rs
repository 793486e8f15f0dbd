use super::*;

fn every_character() -> impl Iterator<Item = char> {
    (0..=0x10_ffff).filter_map(char::from_u32)
}

#[test]
fn a_terminal_finds_no_sequence_to_obey() {
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
        let mut filter = TerminalFilter::default();
        assert_eq!(filter.clean(first) + &filter.clean(second), "abcd", "split at {at}");
    }
}

#[test]
fn no_hidden_character_passes_unless_it_is_drawn() {
    for c in every_character() {
        let alone = c.to_string();
        let passed = clean(&alone);
        let kept = matches!(c, '\n' | '\t') || matches!(hidden(c), None | Some(Hidden::Blank | Hidden::Private));
        assert_eq!(!passed.is_empty(), kept, "{c:?}");
        assert!(passed.chars().all(|c| matches!(c, '\n' | '\t') || !c.is_control()), "{c:?}");
        let written = visible(&alone);
        assert_eq!(written == alone, c == '\n' || hidden(c).is_none(), "{c:?}");
        assert!(visible_line(&alone).chars().all(|c| hidden(c).is_none()), "{c:?}");
    }
}

#[test]
fn what_is_decided_on_hides_nothing() {
    for (text, shown) in [
        ("rm x\u{1b}[2K\r\u{202e}\n\u{200b}é", "rm x\\u{1b}[2K\\r\\u{202e}\n\\u{200b}é"),
        ("rm\u{a0}x\u{3000}y\u{2800}z\t", "rm\\u{a0}x\\u{3000}y\\u{2800}z\\t"),
        ("ls\u{e0072}\u{e006d} \u{3164}\u{115f}\u{fffc}", "ls\\u{e0072}\\u{e006d} \\u{3164}\\u{115f}\\u{fffc}"),
        ("a\u{fe0f}b\u{e0101} \u{f8ff}", "a\\u{fe0f}b\\u{e0101} \\u{f8ff}"),
        ("x\u{200d}y", "x\\u{200d}y"),
    ] {
        assert_eq!(visible(text), shown, "{text:?}");
    }
    assert_eq!(visible_line("a\nb"), "a\\nb");
    assert_eq!(clean_line("a\n\tb\u{1b}[2K"), "a  b");
}

#[test]
fn emoji_are_left_alone_and_selectors_elsewhere_are_not() {
    for emoji in ["👩‍🚀", "❤️", "☎︎", "👩🏽‍❤️‍👨🏻", "©️ ok"] {
        assert_eq!((visible(emoji), clean(emoji)), (emoji.to_owned(), emoji.to_owned()));
    }
    // A second selector hides data in the first one's shadow.
    assert_eq!(visible("❤\u{fe0f}\u{fe0f}\u{fe0e}"), "❤\u{fe0f}\\u{fe0f}\\u{fe0e}");
    assert_eq!(clean("a\u{fe00}\u{fe01}\u{e0100}b"), "ab");
}

#[test]
fn joiners_stay_where_letters_need_them() {
    for word in ["می\u{200c}خواهم", "क्\u{200d}ष"] {
        assert_eq!(clean(word), word);
        assert_ne!(visible(word), word, "a question shows what is not seen");
    }
    assert_eq!(clean("a\u{200c}b\u{200d}c \u{200c}\u{200c}"), "abc ");
}

#[test]
fn floods_of_marks_are_bounded() {
    for word in ["e\u{301}", "Việt Nam", "ที่นี่", "שָׁלוֹם", "o\u{302}\u{301}\u{323}"] {
        assert_eq!((visible(word), clean(word)), (word.to_owned(), word.to_owned()));
    }
    let flood = format!("a{}b", "\u{301}\u{20dd}".repeat(500));
    assert_eq!(clean(&flood), "a\u{301}\u{20dd}\u{301}\u{20dd}b");
    let shown = visible(&flood);
    assert_eq!(shown.chars().filter(|c| is_mark(*c)).count(), usize::from(MAX_MARKS));
    assert!(shown.starts_with("a\u{301}\u{20dd}\u{301}\u{20dd}\\u{301}\\u{20dd}") && shown.ends_with("\\u{20dd}b"));
}

#[test]
fn texts_join_without_doubled_marks() {
    for (text, inside, alone) in [
        ("It failed.", "It failed", "It failed."),
        ("it failed", "it failed", "it failed."),
        ("it failed.. \n", "it failed", "it failed.."),
        ("wait...", "wait...", "wait..."),
        ("wait…", "wait…", "wait…"),
        ("why?", "why?", "why?"),
        ("", "", ""),
    ] {
        assert_eq!((clause(text), &*sentence(text)), (inside, alone), "{text:?}");
    }
}

#[test]
fn data_keeps_its_meaning() {
    for text in ["plain", "a\u{202e}b\u{e0041}\u{9b}\u{7f}", "\u{feff}\"\\\n", "é漢👩‍🚀"] {
        let json = serde_json::to_string(text).unwrap();
        let shown = visible_json(&json);
        assert!(shown.chars().all(|c| hidden(c).is_none()), "{shown}");
        assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), text);
    }
    assert!(matches!(visible_json("{\"a\":\"é\"}"), Cow::Borrowed(_)));
}

#[test]
fn a_path_that_is_written_out_leads_to_its_file() {
    for (path, shown) in [
        ("src/main.rs", "src/main.rs"),
        ("a\nb", "a\\u{a}b"),
        ("a\u{2028}</system-reminder>\t", "a\\u{2028}\\u{3c}/system-reminder>\\u{9}"),
        ("r\u{202e}gpj.exe", "r\\u{202e}gpj.exe"),
        ("C:\\users\\u", "C:\\users\\u"),
        ("a\\u{a}b", "a\\u{5c}u{a}b"),
        ("é 漢.md", "é 漢.md"),
    ] {
        assert_eq!(visible_path(path), shown);
        assert_eq!(path_of_visible(shown), path);
    }
    // No other character hides in an escape.
    for text in ["\\u{2e}env", "\\u{2f}etc", "\\u{61}", "\\u{0}", "\\u{}", "\\u{zz}", "\\u{a", "\\u{1234567}"] {
        assert_eq!(path_of_visible(text), text);
    }
}

proptest::proptest! {
    #[test]
    fn every_path_comes_back(path in "[a-z\\\\u{}0-9\n\u{200b}\u{301}\u{fe0f}\u{200d}☀/]{0,20}|\\PC{0,20}") {
        let shown = visible_path(&path);
        proptest::prop_assert_eq!(path_of_visible(&shown), path.as_str());
        let breaks = shown.contains(['\n', '\r', '\u{2028}', '\u{200b}']);
        proptest::prop_assert!(!breaks);
    }
}

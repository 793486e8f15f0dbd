use super::*;
use proptest::prelude::*;

fn composer(text: &str) -> Composer {
    let mut composer = Composer::new(ComposerOptions::default());
    for c in text.chars() {
        composer.type_char(c);
    }
    composer
}

/// The text with `|` at the caret.
fn with_caret(composer: &Composer) -> String {
    let (before, behind) = composer.text().split_at(composer.caret());
    format!("{before}|{behind}")
}

#[track_caller]
fn check(before: &str, actions: &[KeyAction], after: &str) {
    let mut composer = composer(&before.replace('|', ""));
    composer.set_caret(before.find('|').unwrap());
    for action in actions {
        composer.edit(*action, 80);
    }
    assert_eq!(with_caret(&composer), after, "{before:?} {actions:?}");
}

#[test]
fn the_caret_moves_by_clusters_words_and_lines() {
    use KeyAction::{Left, LineEnd, LineStart, Right, TextEnd, TextStart, WordLeft, WordRight};
    for (before, action, after) in [
        ("ab|c", Left, "a|bc"),
        ("|abc", Left, "|abc"),
        ("abc|", Right, "abc|"),
        ("a👨‍👩‍👧|b", Left, "a|👨‍👩‍👧b"),
        ("|👨‍👩‍👧b", Right, "👨‍👩‍👧|b"),
        ("e\u{301}|", Left, "|e\u{301}"),
        ("|🇩🇪🇫🇷", Right, "🇩🇪|🇫🇷"),
        ("|क्षि", Right, "क्षि|"),
        ("ab cd|", WordLeft, "ab |cd"),
        ("ab |cd", WordLeft, "|ab cd"),
        ("ab, |cd", WordLeft, "|ab, cd"),
        ("|ab cd", WordRight, "ab| cd"),
        ("ab| -- cd", WordRight, "ab -- cd|"),
        ("ab\ncd|ef\ngh", LineStart, "ab\n|cdef\ngh"),
        ("ab\ncd|ef\ngh", LineEnd, "ab\ncdef|\ngh"),
        ("ab\n|cd", LineStart, "ab\n|cd"),
        ("ab\nc|d", TextStart, "|ab\ncd"),
        ("a|b\ncd", TextEnd, "ab\ncd|"),
        ("שלום| عالم", Left, "שלו|ם عالم"),
    ] {
        check(before, &[action], after);
    }
}

#[test]
fn cuts_and_yanks_are_those_of_readline() {
    use KeyAction::{
        DeleteBack, DeleteForward, KillLineEnd, KillLineStart, KillPartBack, KillWordBack, KillWordForward, Left,
        LineStart, Yank, YankPop,
    };
    for (before, actions, after) in [
        ("a-b c-d|", &[KillWordBack] as &[_], "a-b |"),
        ("a-b c-d|", &[KillPartBack], "a-b c-|"),
        ("|ab cd", &[KillWordForward], "| cd"),
        ("ab cd|ef", &[KillLineStart], "|ef"),
        ("ab cd|ef", &[KillLineEnd], "ab cd|"),
        ("ab|\ncd", &[KillLineEnd], "ab|cd"),
        ("ab\n|cd", &[KillLineStart], "ab|cd"),
        ("ab cd|", &[KillWordBack, Yank, Yank], "ab cdcd|"),
        // Cuts in a row are one text.
        ("ab cd ef|", &[KillWordBack, KillWordBack, LineStart, Yank], "cd ef|ab "),
        ("|ab cd", &[KillWordForward, KillWordForward, Yank], "ab cd|"),
        // Another key between them begins a new text.
        ("ab cd|", &[KillWordBack, Left, KillLineStart, Yank, YankPop], "cd| "),
        ("ab cd|", &[KillWordBack, Left, KillLineStart, Yank, YankPop, YankPop], "ab| "),
        ("ab|", &[YankPop], "ab|"),
        ("e\u{301}👍🏽|", &[DeleteBack], "e\u{301}|"),
        ("|e\u{301}x", &[DeleteForward], "|x"),
        ("|", &[DeleteBack, KillWordBack, KillLineEnd, Yank], "|"),
    ] {
        check(before, actions, after);
    }
}

#[test]
fn changes_are_undone_and_redone() {
    use KeyAction::{KillLineStart, Redo, Undo};
    let mut composer = composer("fix the bug");
    composer.edit(Undo, 80);
    assert_eq!(composer.text(), "fix the");
    composer.edit(Undo, 80);
    composer.edit(Redo, 80);
    composer.edit(Redo, 80);
    assert_eq!(with_caret(&composer), "fix the bug|");
    assert!(!composer.edit(Redo, 80));
    composer.edit(KillLineStart, 80);
    composer.edit(Undo, 80);
    assert_eq!(with_caret(&composer), "fix the bug|");
    while composer.edit(Undo, 80) {}
    assert!(composer.is_empty());
    while composer.edit(Redo, 80) {}
    assert!(composer.is_empty(), "the undone cut comes last: {:?}", composer.text());
}

#[test]
fn a_text_is_put_aside_and_taken_back() {
    let mut composer = composer("later");
    assert!(composer.edit(KeyAction::Stash, 80) && composer.is_empty() && composer.has_stash());
    composer.paste("now");
    composer.take();
    assert!(composer.edit(KeyAction::Stash, 80));
    assert_eq!(composer.text(), "later");
    assert!(!composer.has_stash());
}

#[test]
fn a_long_paste_is_a_placeholder_that_is_one_thing() {
    let text = "line\n".repeat(120);
    let mut composer = composer("see ");
    composer.paste(&text);
    composer.type_char('!');
    assert_eq!(composer.text(), "see [Pasted text #1, 120 lines]!");
    assert_eq!(composer.expanded(), format!("see {text}!"));
    assert_eq!(composer.submission(), Submission::text(format!("see {text}!")));
    composer.edit(KeyAction::Left, 80);
    composer.edit(KeyAction::Left, 80);
    assert_eq!(composer.caret(), 4);
    composer.edit(KeyAction::DeleteForward, 80);
    assert_eq!(composer.text(), "see !");
    composer.edit(KeyAction::Undo, 80);
    assert_eq!(composer.expanded(), format!("see {text}!"));
    composer.edit(KeyAction::KillWordForward, 80);
    composer.edit(KeyAction::Yank, 80);
    composer.edit(KeyAction::Yank, 80);
    assert_eq!(composer.expanded(), format!("see {text}{text}!"));
    composer.edit(KeyAction::ExpandPaste, 80);
    assert!(composer.text().contains("line\nline"));
    assert_eq!(composer.expanded(), format!("see {text}{text}!"));
}

#[test]
fn what_looks_like_a_placeholder_is_text() {
    let composer = composer("[Pasted text #1, 120 lines]");
    assert_eq!(composer.expanded(), "[Pasted text #1, 120 lines]");
    assert_eq!(composer.draft.previous(5), 4);
}

#[test]
fn a_mark_behind_a_placeholder_does_not_join_it() {
    let mut composer = composer("");
    composer.paste(&"x\n".repeat(20));
    composer.type_char('\u{301}');
    composer.edit(KeyAction::DeleteBack, 80);
    assert_eq!(composer.expanded(), "x\n".repeat(20));
}

#[test]
fn a_pasted_path_of_an_image_is_the_image() {
    for (pasted, path) in [
        ("/tmp/shot.png", "/tmp/shot.png"),
        ("'/tmp/my shot.PNG'\n", "/tmp/my shot.PNG"),
        ("/tmp/my\\ shot.jpeg ", "/tmp/my shot.jpeg"),
        ("file:///tmp/a%20b.webp", "/tmp/a b.webp"),
        ("C:\\a\\b.gif", "C:\\a\\b.gif"),
    ] {
        let mut composer = composer("look: ");
        composer.paste(pasted);
        let expected = SubmissionPart::Image(ImageReference::Path(path.to_owned()));
        assert_eq!(composer.submission().parts[1], expected, "{pasted:?}");
    }
    for text in ["shot.png", "see /tmp/shot.png", "/tmp/a.png\n/tmp/b.png", "/tmp/a.txt"] {
        let mut composer = composer("");
        composer.paste(text);
        assert_eq!(composer.expanded(), text);
    }
}

#[test]
fn image_files_are_sent_as_mentions() {
    let mut composer = composer("see");
    composer.paste("/tmp/a.png");
    composer.paste("'/tmp/my shot.png'");
    composer.paste("and say, what is");
    composer.paste(&"long\n".repeat(12));
    let expected = format!("see @/tmp/a.png @\"/tmp/my shot.png\" and say, what is{}", "long\n".repeat(12));
    assert_eq!(composer.submission().with_mentions(), Some(expected));
    composer.attach_image(ImageReference::Held(1));
    assert_eq!(composer.submission().with_mentions(), None);
}

#[test]
fn an_external_editor_keeps_images_and_can_be_undone() {
    let mut composer = composer("a ");
    composer.replace_all("two\r\nlines\r");
    assert_eq!(composer.text(), "two\nlines\n");
    composer.edit(KeyAction::Undo, 80);
    composer.attach_image(ImageReference::Held(7));
    let text = composer.expanded();
    assert_eq!(text, "a [Image #1]");
    composer.replace_all("first [Image #1] and more\n");
    let image = SubmissionPart::Image(ImageReference::Held(7));
    assert_eq!(composer.submission().parts[1], image);
    composer.edit(KeyAction::Undo, 80);
    assert_eq!(composer.submission().parts, [SubmissionPart::Text("a ".to_owned()), image]);
}

#[test]
fn a_saved_prompt_survives_json() {
    let mut composer = composer("a ");
    composer.paste(&"pasted é\n".repeat(30));
    composer.paste("/tmp/日.png");
    let saved = composer.saved();
    let json = serde_json::to_string(&saved).unwrap();
    assert_eq!(serde_json::from_str::<SavedPrompt>(&json).unwrap(), saved);
    // Ranges that do not fit are text.
    for range in ["{\"start\":0,\"end\":99}", "{\"start\":1,\"end\":2}", "{\"start\":3,\"end\":1}"] {
        let json = format!("{{\"text\":\"é[x]\",\"pastes\":[[{range},\"y\"]]}}");
        assert_eq!(serde_json::from_str::<SavedPrompt>(&json).unwrap().expanded(), "é[x]", "{range}");
    }
    let image =
        SavedPrompt::of(Fragment::element("[Image #1]".to_owned(), ElementContent::Image(ImageReference::Held(1))));
    let json = serde_json::to_string(&image).unwrap();
    assert_eq!(json, r#"{"text":"[Image #1]"}"#);
}

#[test]
fn rows_and_caret_are_as_wide_as_they_are_drawn() {
    for (text, columns, rows, caret) in [
        ("", 10, &[""] as &[_], (0, 0)),
        ("abc", 10, &["abc"], (0, 3)),
        ("abcdefghi", 10, &["abcdefghi"], (0, 9)),
        ("abcdefghij", 10, &["abcdefghi", "j"], (1, 1)),
        ("日本語日本語", 8, &["日本語", "日本語"], (1, 6)),
        ("a日本語", 8, &["a日本語"], (0, 7)),
        ("ab日本語", 8, &["ab日本", "語"], (1, 2)),
        ("👨‍👩‍👧👍🏽", 10, &["👨‍👩‍👧👍🏽"], (0, 4)),
        ("e\u{301}e\u{301}", 10, &["e\u{301}e\u{301}"], (0, 2)),
        ("क्षि", 10, &["क्षि"], (0, 2)),
        ("شلام\u{200c}ها", 20, &["شلام\u{200c}ها"], (0, 6)),
        ("a\tb", 10, &["a    b"], (0, 6)),
        ("a\u{202e}b", 20, &["a\\u{202e}b"], (0, 10)),
        ("a\n\nb", 10, &["a", "", "b"], (2, 1)),
        ("ab\n", 10, &["ab", ""], (1, 0)),
        ("日", 1, &["日"], (0, 2)),
    ] {
        let mut composer = Composer::new(ComposerOptions::default());
        composer.paste(text);
        let view = composer.view(columns, 100);
        let shown: Vec<&str> = view.rows.iter().map(|row| row.text.as_str()).collect();
        assert_eq!(shown, rows, "{text:?} in {columns}");
        assert_eq!((view.caret_row, view.caret_column), caret, "{text:?} in {columns}");
        for row in &view.rows {
            assert_eq!(row.width, crate::text::width(&row.text), "{text:?} in {columns}");
        }
    }
}

#[test]
fn up_and_down_keep_the_column() {
    let mut composer = composer("abcdef\nab\nabcdef");
    composer.edit(KeyAction::Left, 80);
    for expected in ["abcdef\nab|\nabcdef", "abcde|f\nab\nabcdef"] {
        assert!(composer.edit(KeyAction::Up, 80));
        assert_eq!(with_caret(&composer), expected);
    }
    assert!(!composer.edit(KeyAction::Up, 80));
    // Rows of one wrapped line are rows as well.
    let mut wrapped = Composer::new(ComposerOptions::default());
    wrapped.paste("abcdefghijkl");
    assert!(wrapped.edit(KeyAction::Up, 6));
    assert_eq!(with_caret(&wrapped), "abcdefg|hijkl");
    assert!(wrapped.edit(KeyAction::Down, 6) && !wrapped.edit(KeyAction::Down, 6));
}

#[test]
fn a_window_of_rows_holds_the_caret() {
    let composer = composer(&"x\n".repeat(50));
    let view = composer.view(80, 5);
    assert_eq!((view.rows.len(), view.caret_row, view.has_more_above, view.has_more_below), (5, 4, true, false));
    let mut top = composer;
    top.edit(KeyAction::TextStart, 80);
    let view = top.view(80, 5);
    assert_eq!((view.rows.len(), view.caret_row, view.has_more_above, view.has_more_below), (5, 0, false, true));
}

#[test]
fn a_megabyte_is_pasted_and_kept_at_once() {
    let text = "0123456789abcde\n".repeat(64 * 1024);
    let mut composer = composer("");
    composer.paste(&text);
    for _ in 0..100 {
        composer.type_char('x');
        assert!(composer.view(80, 10).rows.len() <= 2);
    }
    assert_eq!(composer.text().len(), "[Pasted text #1, 65536 lines]".len() + 100);
    assert!(composer.expanded().starts_with(&text));
}

#[derive(Debug, Clone)]
enum Step {
    Type(char),
    Paste(String),
    Edit(KeyAction),
    Caret(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let character = prop::sample::select(vec![
        'a', 'Z', ' ', '\n', '\t', '\\', 'é', '日', '\u{301}', '\u{200d}', '👨', '👩', '🏽', '🇩', 'क', '\u{94d}', 'ش',
        '\u{202e}', '\u{fe0f}',
    ]);
    prop_oneof![
        4 => character.prop_map(Step::Type),
        1 => prop_oneof!["[a-z \n]{0,12}", Just("long\n".repeat(12)), Just("/x/y.png".to_owned())].prop_map(Step::Paste),
        5 => prop::sample::select(KeyAction::ALL.to_vec()).prop_map(Step::Edit),
        1 => (0_usize..200).prop_map(Step::Caret),
    ]
}

fn check_sound(composer: &Composer, columns: usize) {
    let text = composer.text();
    assert!(text.is_char_boundary(composer.caret()));
    assert_eq!(composer.draft.boundary(composer.caret()), composer.caret(), "{text:?}");
    let mut end = 0;
    for element in &composer.draft.content().elements {
        assert!(element.range.start >= end && element.range.end <= text.len());
        let label = text.get(element.range.clone()).unwrap();
        assert!(label.starts_with('[') && label.ends_with(']'), "{label:?}");
        end = element.range.end;
    }
    let view = composer.view(columns, 1000);
    let caret = &view.rows[view.caret_row];
    assert!(view.caret_column <= caret.width);
    for row in &view.rows {
        assert!(row.width < columns.max(3), "{row:?} in {columns}");
    }
}

proptest! {
    #[test]
    fn no_keys_break_the_text(steps in prop::collection::vec(step(), 0..80), columns in 1_usize..30) {
        let mut composer = Composer::new(ComposerOptions::default());
        for step in steps {
            match step {
                Step::Type(c) => composer.type_char(c),
                Step::Paste(text) => composer.paste(&text),
                Step::Edit(action) => { composer.edit(action, columns); }
                Step::Caret(at) => composer.set_caret(at),
            }
            check_sound(&composer, columns);
        }
    }

    #[test]
    fn undo_goes_back_to_the_beginning_and_redo_to_the_end(steps in prop::collection::vec(step(), 0..40)) {
        let mut composer = Composer::new(ComposerOptions::default());
        for step in steps {
            match step {
                Step::Type(c) => composer.type_char(c),
                Step::Paste(text) => composer.paste(&text),
                Step::Edit(KeyAction::Undo | KeyAction::Redo) => {}
                Step::Edit(action) => { composer.edit(action, 20); }
                Step::Caret(at) => composer.set_caret(at),
            }
        }
        let text = composer.expanded();
        while composer.edit(KeyAction::Undo, 20) {}
        prop_assert!(composer.is_empty());
        while composer.edit(KeyAction::Redo, 20) {}
        prop_assert_eq!(composer.expanded(), text);
    }
}

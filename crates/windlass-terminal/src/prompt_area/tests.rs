use super::*;
use crate::input::{InputModeOptions, TerminalInput};
use crate::keys::{Key, KeyCode};
use crate::layout::Glyphs;
use crate::picker::PickerItem;
use crate::theme::Theme;
use proptest::prelude::*;
use std::time::Duration;
use windlass_conversation::SlashCommand;

const SIZE: Size = Size::new(41, 24);

fn shown(area: &InputArea) -> Vec<String> {
    area.rows.iter().map(Line::text).collect()
}

fn with_layout<T>(size: Size, look: impl FnOnce(&Layout<'_>) -> T) -> T {
    let theme = Theme::default();
    look(&Layout { columns: size.live_columns(), theme: &theme, glyphs: Glyphs::UNICODE })
}

fn typed(text: &str) -> InputMode {
    let mut mode = InputMode::new(InputModeOptions::default());
    mode.set_columns(prompt_columns(SIZE));
    mode.set_commands(&[
        SlashCommand::new("clear", "Continue with an empty conversation"),
        SlashCommand::new("compact", "Summarize").with_argument_hint("<focus>"),
    ]);
    for c in text.chars() {
        mode.handle(TerminalInput::Key(Key::char(c)), Duration::ZERO);
    }
    mode
}

fn area(mode: &InputMode) -> InputArea {
    with_layout(SIZE, |layout| prompt_area(mode, PromptExtras::default(), layout, SIZE))
}

#[test]
fn the_caret_is_behind_what_was_typed() {
    let area = area(&typed("日本 text that is long enough to be wrapped"));
    assert_eq!(shown(&area), ["> 日本 text that is long enough to be w", "  rapped"]);
    assert_eq!(area.caret, Some(Caret { row: 1, column: 8 }));
}

#[test]
fn commands_have_a_menu_and_arguments() {
    let menu = area(&typed("/c"));
    assert_eq!(shown(&menu), ["> /c", "▸ /clear            Continue with an em…", "  /compact <focus>  Summarize"]);
    assert_eq!(menu.caret, Some(Caret { row: 0, column: 4 }));
    assert!(shown(&area(&typed("/compact ")))[0].ends_with("<focus>"));
}

#[test]
fn a_long_paste_is_a_marked_placeholder() {
    let mut mode = typed("see ");
    mode.handle(TerminalInput::Paste("line\n".repeat(200)), Duration::ZERO);
    let area = area(&mode);
    let theme = Theme::default();
    let marked: Vec<&Span> =
        area.rows[0].spans().iter().filter(|span| span.style() == theme.style(Role::Link)).collect();
    assert_eq!(marked.len(), 1);
    assert!(marked[0].text().contains("Pasted text"), "{:?}", marked[0].text());
}

#[test]
fn the_search_shows_its_match() {
    let mut mode = typed("fix the parser");
    mode.handle(TerminalInput::Key(Key::new(KeyCode::Enter)), Duration::ZERO);
    mode.handle(TerminalInput::Key(Key::char('r').ctrl()), Duration::ZERO);
    for c in "parse".chars() {
        mode.handle(TerminalInput::Key(Key::char(c)), Duration::ZERO);
    }
    let area = area(&mode);
    assert_eq!(shown(&area), ["Search this project: parse", "  fix the parser"]);
    assert_eq!(area.caret, Some(Caret { row: 0, column: 26 }));
    mode.handle(TerminalInput::Key(Key::char('x')), Duration::ZERO);
    let without = |mode: &InputMode| shown(&self::area(mode))[1].clone();
    assert!(without(&mode).starts_with("  No earlier prompt with this text in t"), "{}", without(&mode));
    let wide = Size::new(120, 24);
    let shown_wide = |mode: &InputMode| {
        shown(&with_layout(wide, |layout| prompt_area(mode, PromptExtras::default(), layout, wide)))[1].clone()
    };
    let text = "  No earlier prompt with this text in this project. ctrl+s: everywhere.";
    assert_eq!(shown_wide(&mode), text);
    mode.handle(TerminalInput::Key(Key::char('s').ctrl()), Duration::ZERO);
    assert_eq!(shown_wide(&mode), "  No earlier prompt with this text. ctrl+s: this session.");
    let mut empty = typed("");
    empty.handle(TerminalInput::Key(Key::char('r').ctrl()), Duration::ZERO);
    assert_eq!(shown_wide(&empty), "  No earlier prompt in this project. ctrl+s: everywhere.");
}

#[test]
fn a_hint_stands_in_place_of_the_status() {
    let mode = typed("x");
    let extras = PromptExtras { hint: Some("Press again to exit".to_owned()), status: Some(Line::plain("status")) };
    let area = with_layout(SIZE, |layout| prompt_area(&mode, extras, layout, SIZE));
    assert_eq!(area.status.unwrap().text(), "Press again to exit");
}

#[test]
fn a_picker_has_its_search_above() {
    let items = ["opus", "sonnet"].map(|name| PickerItem::new(name, "a model", name));
    let picker = Picker::new(items.into());
    let area = with_layout(SIZE, |layout| picker_area("Model", &picker, layout));
    assert_eq!(shown(&area)[..2], ["Model · 2 of 2", "❯ "]);
    assert!(shown(&area)[2].starts_with("▸ opus"), "{:?}", shown(&area));
    assert_eq!(area.caret, Some(Caret { row: 1, column: 2 }));
}

#[test]
fn the_keys_are_listed() {
    // Every key and every description can be reached whole, on any terminal.
    for (columns, rows) in [(20, 8), (41, 24), (64, 30), (100, 30), (200, 60), (12, 4)] {
        let size = Size::new(columns, rows);
        let mut mode = typed("");
        mode.set_columns(prompt_columns(size));
        mode.set_page(keys_page(size));
        mode.handle(TerminalInput::Key(Key::char('?')), Duration::ZERO);
        let mut seen = String::new();
        for _ in 0..300 {
            let area = with_layout(size, |layout| prompt_area(&mode, PromptExtras::default(), layout, size));
            assert!(area.rows.len() < size.live_rows().max(3), "{} rows on {size:?}", area.rows.len());
            assert!(area.rows.iter().all(|row| row.width() <= size.live_columns()), "{:?}", shown(&area));
            assert!(area.status.unwrap().text().starts_with("Row "));
            seen += &area.rows.iter().skip(1).map(|row| row.text() + " ").collect::<String>();
            mode.handle(TerminalInput::Key(Key::new(KeyCode::Down)), Duration::ZERO);
        }
        let squeezed = |text: &str| text.split_whitespace().collect::<String>();
        for (keys, description) in Keymap::default().help() {
            // Of one-row pages the words follow each other.
            for word in description.split_whitespace().chain(keys.split(", ")).filter(|_| columns >= 40) {
                assert!(squeezed(&seen).contains(&squeezed(word)), "{word} is not in {size:?}");
            }
        }
    }
}

proptest! {
    #[test]
    fn no_row_is_too_wide_and_the_caret_is_inside(text in "[a-z/@! 日é\u{1b}\u{202e}]{0,60}", columns in 6u16..60, rows in 4u16..40) {
        let size = Size::new(columns, rows);
        let mut mode = typed(&text);
        mode.set_columns(prompt_columns(size));
        let area = with_layout(size, |layout| prompt_area(&mode, PromptExtras::default(), layout, size));
        for row in &area.rows {
            prop_assert!(row.width() <= size.live_columns(), "{:?}", row.text());
        }
        let caret = area.caret.unwrap();
        prop_assert!(caret.row < area.rows.len() && caret.column <= size.live_columns());
    }
}

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
}

#[test]
fn a_hint_stands_in_place_of_the_status() {
    let mode = typed("x");
    let extras = PromptExtras {
        hint: Some("Press again to exit".to_owned()),
        status: Some(Line::plain("status")),
        shows_keys: false,
    };
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
    let rows = with_layout(Size::USUAL, |layout| keys_rows(&Keymap::default(), layout));
    assert!(rows.len() > 20);
    assert!(rows.iter().all(|row| row.width() <= 79));
    let extras = PromptExtras { shows_keys: true, ..PromptExtras::default() };
    let area = with_layout(SIZE, |layout| prompt_area(&typed(""), extras, layout, SIZE));
    assert_eq!(area.rows.len(), SIZE.live_rows() - 1);
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

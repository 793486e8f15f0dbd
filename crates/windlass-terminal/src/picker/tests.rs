use super::*;

fn keys(text: &str) -> Vec<TerminalInput> {
    text.split(' ').map(|key| TerminalInput::Key(key.parse().unwrap())).collect()
}

fn picker() -> Picker<usize> {
    let items = ["Fix the parser", "Write the docs", "Fix docs of the parser", "Release"];
    let items = items.iter().enumerate().map(|(at, title)| PickerItem::new(title, &format!("{at} days ago"), at));
    Picker::new(items.collect())
}

#[track_caller]
fn check(text: &str, expected: PickerResult<usize>) {
    let (mut picker, keymap) = (picker(), Keymap::default());
    let last = keys(text).iter().map(|key| picker.handle(key, &keymap)).last();
    assert_eq!(last, Some(expected), "{text}");
}

#[test]
fn keys_search_select_and_choose() {
    check("enter", PickerResult::Chosen(0));
    check("down down enter", PickerResult::Chosen(2));
    check("down up up enter", PickerResult::Chosen(0));
    check("end enter", PickerResult::Chosen(3));
    check("end home enter", PickerResult::Chosen(0));
    check("d o c s space f i x enter", PickerResult::Chosen(2));
    check("r e l backspace backspace backspace down enter", PickerResult::Chosen(1));
    check("3 space d a y s enter", PickerResult::Chosen(3));
    check("x y z enter", PickerResult::Taken);
    check("esc", PickerResult::Closed);
    check("x esc", PickerResult::Taken);
    check("x esc esc", PickerResult::Closed);
}

#[test]
fn the_selected_row_is_among_those_shown() {
    let items = (0..100).map(|at| PickerItem::new(&format!("item {at}"), "", at)).collect();
    let (mut picker, keymap) = (Picker::new(items), Keymap::default());
    picker.set_page(7);
    for key in ["pagedown", "down", "end", "pageup", "up", "home", "1", "down", "enter"] {
        picker.handle(&keys(key)[0], &keymap);
        let rows = picker.rows();
        assert!(rows.len() <= 7 && rows.iter().filter(|row| row.is_selected).count() == 1, "{key}: {rows:?}");
    }
    assert_eq!(PickerItem::new("a\nb\x1b[2J", "", ()).title, "a\\nb\\u{1b}[2J");
}

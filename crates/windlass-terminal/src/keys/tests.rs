use super::*;
use serde_json::json;

fn key(text: &str) -> Key {
    text.parse().unwrap()
}

#[test]
fn keys_are_read_and_written_alike() {
    for (text, expected) in [
        ("a", Key::char('a')),
        ("A", Key::char('A')),
        ("shift+a", Key::char('A')),
        ("Ctrl+R", Key::char('r').ctrl()),
        ("ctrl+shift+r", Key::char('r').ctrl().shift()),
        ("ctrl+r", Key::char('r').ctrl()),
        ("alt+enter", Key::new(KeyCode::Enter).alt()),
        ("shift+tab", Key::new(KeyCode::Tab).shift()),
        ("f12", Key::new(KeyCode::Function(12))),
        ("+", Key::char('+')),
        ("ctrl++", Key::char('+').ctrl()),
        ("space", Key::char(' ')),
        ("é", Key::char('é')),
        ("escape", Key::new(KeyCode::Escape)),
    ] {
        assert_eq!(key(text), expected, "{text}");
        assert_eq!(key(&expected.to_string()), expected, "{text} as {expected}");
    }
}

#[test]
fn wrong_keys_say_what_was_meant() {
    for (text, meant) in [("ctlr+x", Some("ctrl")), ("entre", Some("enter")), ("f99", None), ("", None), ("x+y", None)]
    {
        let error = text.parse::<Key>().unwrap_err();
        assert_eq!(error.meant.as_deref(), meant, "{text}: {error}");
        assert_eq!(error.text, text);
    }
}

#[test]
fn every_default_is_a_key_and_stands_for_one_action() {
    let keymap = Keymap::default();
    for (text, action) in defaults::BINDINGS {
        assert_eq!(keymap.action(key(text)), Some(*action), "{text}");
    }
}

#[test]
fn names_of_actions_are_unique_and_found() {
    for action in KeyAction::ALL {
        assert_eq!(KeyAction::named(action.name()), Some(*action));
    }
    assert_eq!(KeyAction::named("submit "), None);
}

#[test]
fn settings_change_single_keys() {
    let keymap = Keymap::from_settings(&json!({ "ctrl+b": "left", "ctrl+l": null, "ctrl+enter": "submit" })).unwrap();
    assert_eq!(keymap.action(key("ctrl+b")), Some(KeyAction::Left));
    assert_eq!(keymap.action(key("ctrl+l")), None);
    assert_eq!(keymap.action(key("ctrl+e")), Some(KeyAction::LineEnd));
    assert!(keymap.help().iter().any(|(keys, _)| keys == "enter, ctrl+enter"), "{:?}", keymap.help());
}

#[test]
fn wrong_settings_are_refused_by_name() {
    for (settings, expected) in [
        (json!([]), "the keymap is no object"),
        (json!({ "ctrl+b": "lefft" }), "did you mean \"left\"?"),
        (json!({ "ctrl+b": 3 }), "unknown action 3"),
        (json!({ "ctl+b": "left" }), "did you mean \"ctrl\"?"),
        (json!({ "esc": null }), "no key is left for the action \"interrupt\""),
        (json!({ "enter": "new-line" }), "no key is left for the action \"submit\""),
    ] {
        let error = Keymap::from_settings(&settings).unwrap_err().to_string();
        assert!(error.contains(expected), "{settings}: {error}");
    }
}

#[test]
fn the_documented_keys_are_the_default_ones() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/terminal.md")).unwrap();
    let written = page.split("<!-- keys -->\n").nth(1).and_then(|rest| rest.split("<!-- /keys -->").next()).unwrap();
    let keymap = Keymap::default();
    let mut rows = vec!["| keys | action | name |".to_owned(), "|---|---|---|".to_owned()];
    for action in KeyAction::ALL {
        let keys: Vec<String> = keymap.keys(*action).map(|key| format!("`{key}`")).collect();
        if !keys.is_empty() {
            rows.push(format!("| {} | {} | `{}` |", keys.join(", "), action.description(), action.name()));
        }
    }
    assert_eq!(written.trim(), rows.join("\n"), "{}", rows.join("\n"));
}

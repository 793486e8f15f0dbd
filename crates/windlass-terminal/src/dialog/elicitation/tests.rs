use super::*;
use crate::dialog::{DialogResult, Dialogs};
use crate::keys::Key;
use serde_json::json;
use std::time::Duration;

fn form(schema: &Value) -> Result<Dialogs, ElicitationError> {
    form_of(&schema.to_string())
}

fn form_of(schema: &str) -> Result<Dialogs, ElicitationError> {
    let mut dialogs = Dialogs::new(Keymap::default());
    dialogs.resize(60, 40);
    let subject = ElicitationSubject::Form(JsonText::parse(schema).unwrap());
    let question = ElicitationQuestion::new("db", "Which database?", subject);
    dialogs.elicit("e1".into(), &question)?;
    Ok(dialogs)
}

thread_local! {
    /// Time of the last key, which never goes back within a test.
    static NOW: std::cell::Cell<Duration> = const { std::cell::Cell::new(Duration::from_secs(10)) };
}

fn press(dialogs: &mut Dialogs, keys: &[&str]) -> Option<ElicitationReply> {
    let mut reply = None;
    for name in keys {
        assert_eq!(reply, None, "replied before {name}");
        let key: Key = name.parse().unwrap();
        let now = NOW.get() + Duration::from_secs(1);
        NOW.set(now);
        dialogs.drawn(now - Duration::from_millis(500));
        let result = dialogs.handle(TerminalInput::Key(key), now);
        let due = dialogs.deadline();
        if let DialogResult::Replied { reply: given, .. } = due.and_then(|due| dialogs.tick(due)).unwrap_or(result) {
            reply = Some(given);
        }
    }
    reply
}

fn text(dialogs: &Dialogs) -> String {
    dialogs.view().unwrap().rows.iter().map(|row| row.text.clone() + "\n").collect()
}

/// Fields in this order: a `json!` would sort them.
const SCHEMA: &str = r#"{ "type": "object", "required": ["name", "kind"], "properties": {
    "name": { "type": "string", "title": "Name", "minLength": 2 },
    "port": { "type": "integer", "minimum": 1, "maximum": 9 },
    "kind": { "type": "string", "enum": ["pg", "my"], "enumNames": ["Postgres", "MySQL"] },
    "tls": { "type": "boolean", "default": true },
    "tags": { "type": "array", "items": { "anyOf": [{ "const": "a", "title": "First" }, { "const": "b" }] } }
} }"#;

#[test]
fn a_form_gives_values_of_the_types_that_were_asked_for() {
    for (keys, expected) in [
        (
            &["d", "b", "enter", "5", "enter", "down", "enter", "enter", "space", "enter", "enter"] as &[_],
            json!({ "name": "db", "port": 5, "kind": "my", "tls": true, "tags": ["a"] }),
        ),
        (
            &["d", "b", "enter", "enter", "enter", "down", "enter", "down", "space", "tab", "enter"],
            json!({ "name": "db", "kind": "pg", "tls": false, "tags": ["b"] }),
        ),
    ] {
        let mut dialogs = form_of(SCHEMA).unwrap();
        let reply = press(&mut dialogs, keys);
        let Some(ElicitationReply::Accept(Some(values))) = reply else {
            panic!("{keys:?}: {reply:?}\n{}", text(&dialogs))
        };
        assert_eq!(values.to::<Value>().unwrap(), expected, "{keys:?}");
        assert!(dialogs.is_empty());
    }
}

#[test]
fn values_that_do_not_fit_are_not_sent() {
    for (keys, problem) in [
        (&[] as &[_], "Name needs a value."),
        (&["d"], "Name needs at least 2 characters."),
        (&["d", "b", "tab", "x", "shift+tab"], "port needs a whole number."),
        (&["d", "b", "tab", "1", "0", "shift+tab"], "port takes at most 9."),
        (&["d", "b"], "kind needs a value."),
    ] {
        let keys = [keys, &["tab", "tab", "tab", "tab", "tab", "enter"]].concat();
        let keys = keys.as_slice();
        let mut dialogs = form_of(SCHEMA).unwrap();
        assert_eq!(press(&mut dialogs, keys), None, "{keys:?}");
        assert!(text(&dialogs).contains(problem), "{problem} is not in\n{}", text(&dialogs));
    }
}

#[test]
fn a_question_is_declined_or_closed() {
    let mut dialogs = form(&json!({ "properties": { "x": { "type": "string" } } })).unwrap();
    assert_eq!(press(&mut dialogs, &["down", "down", "enter"]), Some(ElicitationReply::Decline));
    let mut dialogs = form_of(SCHEMA).unwrap();
    assert_eq!(press(&mut dialogs, &["x", "esc"]), Some(ElicitationReply::Cancel));
}

#[test]
fn schemas_that_are_no_form_are_refused() {
    let field = |schema: Value| json!({ "type": "object", "properties": { "x": schema } });
    for schema in [field(json!({ "type": "object" })), field(json!({ "type": "array" })), field(json!({}))] {
        let error = form(&schema).unwrap_err();
        assert_eq!(error, ElicitationError::Field { server: "db".to_owned(), field: "x".to_owned() }, "{schema}");
    }
    for schema in [json!({}), json!([]), json!({ "properties": 1 })] {
        let error = form(&schema).unwrap_err();
        assert!(error.to_string().contains("\"db\""), "{schema}: {error}");
    }
}

#[test]
fn a_page_is_opened_only_when_its_whole_address_was_shown() {
    let url = format!("https://example.com/{}", "a/".repeat(600));
    let mut dialogs = Dialogs::new(Keymap::default());
    dialogs.resize(40, 12);
    let question = ElicitationQuestion::new("db", "Log in", ElicitationSubject::Page(url));
    dialogs.elicit("e1".into(), &question).unwrap();
    assert_eq!(press(&mut dialogs, &["y"]), None);
    let mut pages = 1;
    while press(&mut dialogs, &["y"]).is_none() {
        pages += 1;
        assert!(pages < 100, "the address has an end");
    }
    assert!(pages > 3, "{pages}");
    let mut dialogs = Dialogs::new(Keymap::default());
    dialogs.elicit("e2".into(), &question).unwrap();
    assert_eq!(press(&mut dialogs, &["n"]), Some(ElicitationReply::Decline));
}

#[test]
fn texts_of_servers_stay_on_their_rows() {
    let evil = "a\x1b[2J\u{202e}b\nc";
    let schema = json!({ "properties": { evil: { "type": "string", "title": evil, "description": evil, "default": evil },
        "o": { "type": "string", "enum": [evil] } } });
    let mut dialogs = form(&schema).unwrap();
    for keys in [&[] as &[_], &["tab"], &["tab"]] {
        assert_eq!(press(&mut dialogs, keys), None);
        for row in dialogs.view().unwrap().rows {
            assert_eq!(windlass_types::text::visible_line(&row.text), row.text);
            assert!(crate::text::width(&row.text) <= 60);
        }
    }
}

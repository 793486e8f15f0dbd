use super::*;
use serde_json::json;

#[test]
fn what_people_write_is_read() {
    let text = "---\r\n# a comment\ndescription: \"Review: it\"\nargument-hint: [file] [line]\nplain: a, b # c\n\
                single: 'it''s'\nempty:\nfolded: >-\n  one\n  two\nblock: |\n  one\n  two\nnested:\n  key: value\n\
                hint: [file, -x]\nallowed-tools: Bash(git add:*, x), Read\nmore: [Read, \"Edit(a)\"]\nitems:\n  - Read\n  - 'Bash(ls)'\n\
                flat:\n- a\n---\r\nBody\n---\nend\n";
    let (head, body) = split(text);
    assert_eq!((body, head.problem()), ("Body\n---\nend\n", None));
    for (key, expected) in [
        ("description", Some("Review: it")),
        ("argument-hint", Some("[file] [line]")),
        ("hint", Some("[file, -x]")),
        ("plain", Some("a, b")),
        ("single", Some("it's")),
        ("empty", None),
        ("absent", None),
        ("folded", Some("one two")),
        ("block", Some("one\ntwo")),
        ("nested", Some("key: value")),
    ] {
        assert_eq!(head.text(key).as_deref(), expected, "{key}");
    }
    let list = |key: &str| head.list(key).unwrap();
    assert_eq!(list("allowed-tools"), ["Bash(git add:*, x)", "Read"]);
    assert_eq!(list("more"), ["Read", "Edit(a)"]);
    assert_eq!(list("items"), ["Read", "Bash(ls)"]);
    assert_eq!(list("flat"), ["a"]);
    assert!(list("absent").is_empty() && list("empty").is_empty() && head.list("nested").is_err());
    assert_eq!(head.notices().len(), 1, "{:?}", head.notices());
}

#[test]
fn values_have_the_types_of_the_core_schema() {
    let text = "a: true\nb: yes\nc: 'true'\nd: 12\ne: 0x1F\nf: 1e3\ng: ~\nh: on\ni: .5\nj: 012\nk: 99999999999999999999\n\
                l: .inf\nm: 2026-11-23\nn: !!str 5\no: -7\np: 0o17\nq: +3\n";
    let text = format!("---\n{text}---\n");
    let (head, _) = split(&text);
    let expected = json!({
        "a": true, "b": "yes", "c": "true", "d": 12, "e": 31, "f": 1000.0, "g": null, "h": "on", "i": 0.5, "j": 12,
        "k": "99999999999999999999", "l": ".inf", "m": "2026-11-23", "n": "5", "o": -7, "p": 15, "q": 3,
    });
    let read: serde_json::Map<_, _> = head.keys().map(|key| (key.to_owned(), head.value(key).unwrap())).collect();
    assert_eq!((Value::Object(read), head.problem()), (expected, None));
    assert_eq!((head.flag("a"), head.flag("c"), head.flag("g")), (Ok(Some(true)), Ok(Some(true)), Ok(None)));
    assert!(head.flag("b").is_err() && head.flag("d").is_err());
}

#[test]
fn hooks_are_read_as_people_write_them() {
    let expected = json!({ "PreToolUse": [
        { "matcher": "Bash|Write", "hooks": [
            { "type": "command", "command": "./check.sh --x: 1", "timeout": 10 },
            { "type": "command", "command": "a\nb\n", "once": true },
        ] },
    ], "Stop": null });
    let wide = "  PreToolUse:\n    - matcher: \"Bash|Write\"\n      hooks:\n        - type: command\n          command: './check.sh --x: 1'\n          timeout: 10 # seconds\n\n        - type: command\n          command: |\n            a\n            b\n          once: true\n  # none yet\n  Stop:";
    let narrow = "  PreToolUse:\n  - matcher: Bash|Write\n    hooks:\n    - type: command\n      command: \"./check.sh --x: 1\"\n      timeout: 10\n    -\n      type: command\n      command: |\n        a\n        b\n      once: true\n  Stop:";
    for text in [wide, narrow] {
        let text = format!("---\nhooks:\n{text}\n---\n");
        assert_eq!(split(&text).0.value("hooks"), Some(expected.clone()), "{text}");
    }
    for text in ["a: 1\n   b: 2", "a: 1\n  a: 2", "- a\n  b: 1", "a: 1\n  - b"] {
        assert!(split(&format!("---\nhooks:\n  {text}\n---\n")).0.problem().is_some(), "{text}");
    }
}

#[test]
fn without_a_head_everything_is_body() {
    for text in ["", "Body", "---", "---\n", "--- x\nname: y\n---\n", " ---\na: b\n---\n", "----\n---\n"] {
        let (head, body) = split(text);
        assert_eq!(body, text);
        assert!(head.text("name").is_none() && head.keys().next().is_none(), "{text}");
    }
    assert_eq!(split("---\n---\nBody").1, "Body");
    assert_eq!(split("---\n---").1, "");
    assert!(split("---\nname: x\nBody").0.problem().is_some());
}

proptest::proptest! {
    #[test]
    fn any_head_is_read_without_harm(text in "([ ]{0,4}(- |a: |a:|\\| |#|x|\"|\\{|\\[|&a |\\*a|!!|'|%|\\? )?\\PC{0,6}\n){0,12}") {
        let text = format!("---\n{text}---\n");
        let (head, _) = split(&text);
        for key in head.keys() {
            let _ = (head.text(key), head.flag(key), head.list(key), head.rules(key), head.value(key));
        }
    }
}

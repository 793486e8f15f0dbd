use super::*;

#[test]
fn what_people_write_is_read() {
    let text = "---\r\n# a comment\ndescription: \"Review: it\"\nargument-hint: [file] [line]\nplain: a: b # c\n\
                single: 'it''s'\nempty:\nfolded: >-\n  one\n  two\nblock: |\n  one\n  two\nnested:\n  key: value\n\
                allowed-tools: Bash(git add:*, x), Read\nmore: [Read, \"Edit(a)\"]\nitems:\n  - Read\n  - 'Bash(ls)'\n\
                flat:\n- a\ndescription: again\n---\r\nBody\n---\nend\n";
    let (head, body) = split(text);
    assert_eq!(body, "Body\n---\nend\n");
    for (key, expected) in [
        ("description", Some("Review: it")),
        ("argument-hint", Some("[file] [line]")),
        ("plain", Some("a: b # c")),
        ("single", Some("it's")),
        ("empty", None),
        ("absent", None),
        ("folded", Some("one two")),
        ("block", Some("one\ntwo")),
    ] {
        assert_eq!(head.text(key).as_deref(), expected, "{key}");
    }
    assert_eq!(head.list("allowed-tools"), ["Bash(git add:*, x)", "Read"]);
    assert_eq!(head.list("more"), ["Read", "Edit(a)"]);
    assert_eq!(head.list("items"), ["Read", "Bash(ls)"]);
    assert_eq!(head.list("flat"), ["a"]);
    assert!(head.list("absent").is_empty() && head.list("empty").is_empty());
}

#[test]
fn without_a_closed_head_everything_is_body() {
    for text in
        ["", "Body", "---", "---\n", "---\nname: x\n", "--- x\nname: y\n---\n", " ---\na: b\n---\n", "----\n---\n"]
    {
        let (head, body) = split(text);
        assert_eq!(body, text);
        assert!(head.text("name").is_none());
    }
    assert_eq!(split("---\n---\nBody").1, "Body");
    assert_eq!(split("---\n---").1, "");
}

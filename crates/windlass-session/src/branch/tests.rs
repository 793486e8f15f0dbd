use super::*;
use crate::{read_log, repair};

fn line(id: &str, parent: &str, kind: &str, more: &str) -> String {
    let parent = if parent.is_empty() { "null".to_owned() } else { format!("\"{parent}\"") };
    format!(r#"{{"parentUuid":{parent},"type":"{kind}",{more}"uuid":"{id}"}}"#)
}

fn user(id: &str, parent: &str) -> String {
    line(id, parent, "user", &format!(r#""message":{{"role":"user","content":"{id}"}},"#))
}

fn message(id: &str, parent: &str) -> String {
    line(id, parent, "assistant", &format!(r#""message":{{"id":"{id}","content":[{{"type":"text","text":"{id}"}}]}},"#))
}

fn calls(id: &str, parent: &str, message: &str) -> String {
    let block = format!(r#"{{"type":"tool_use","id":"c{id}","name":"T","input":{{}}}}"#);
    line(id, parent, "assistant", &format!(r#""message":{{"id":"{message}","content":[{block}]}},"#))
}

fn result(id: &str, call: &str, is_error: bool) -> String {
    let block = format!(r#"{{"type":"tool_result","tool_use_id":"c{call}","content":"r","is_error":{is_error}}}"#);
    line(id, call, "user", &format!(r#""message":{{"role":"user","content":[{block}]}},"#))
}

fn cut(lines: &[String], at: &str) -> Result<Truncated, UnknownEntry> {
    let log = lines.join("\n");
    truncate(repair(read_log(log.as_bytes()).unwrap().entries).0, &at.into())
}

fn ids(entries: &[Entry]) -> String {
    entries.iter().map(|entry| entry.id.as_str()).collect::<Vec<_>>().join(" ")
}

/// Returns a turn with two calls in one message, and a message of the user between their results.
fn batch() -> Vec<String> {
    vec![
        user("u1", ""),
        message("m0", "u1"),
        calls("a", "m0", "m0"),
        calls("b", "a", "m0"),
        result("rb", "b", false),
        user("s", "rb"),
        result("ra", "a", false),
        message("m1", "ra"),
        user("u2", "m1"),
        message("m2", "u2"),
    ]
}

#[test]
fn a_message_is_kept_with_its_answers_wherever_in_it_the_point_lies() {
    let whole = "u1 b rb s ra";
    for (at, kept) in [
        ("u1", "u1"),
        ("m0", whole),
        ("a", whole),
        ("b", whole),
        ("rb", whole),
        ("s", whole),
        ("ra", whole),
        ("m1", "u1 b rb s ra m1"),
        ("m2", "u1 b rb s ra m1 u2 m2"),
    ] {
        let cut = cut(&batch(), at).unwrap();
        assert_eq!(ids(&cut.entries), kept, "{at}");
        assert_eq!(cut.entries.len() + cut.dropped.len(), 8);
    }
}

#[test]
fn only_lines_of_the_conversation_are_points() {
    let mut lines = batch();
    lines.insert(1, line("t", "u1", "windlass-todos", r#""todos":[],"#));
    lines.insert(1, line("x", "u1", "attachment", r#""attachment":{"type":"date"},"#));
    lines[3] = message("m0", "x");
    lines.push(user("side", "m1"));
    assert_eq!(ids(&cut(&lines, "x").unwrap().entries), "u1 x");
    for at in ["t", "unknown", "", "u2"] {
        assert_eq!(cut(&lines, at).unwrap_err().to_string(), format!("No message found with message.uuid of: {at}"));
    }
}

#[test]
fn a_turn_vouches_for_what_is_dropped() {
    let attachment = |id: &str, parent: &str, kind: &str| {
        line(id, parent, "attachment", &format!(r#""attachment":{{"type":"{kind}"}},"#))
    };
    let turn = |end: Vec<String>| [batch(), end].concat();
    for (lines, at, prompt, refused) in [
        (batch(), "m1", "u2", None),
        (batch(), "m1", "u1", Some("another message of the user (u2)")),
        (batch(), "ra", "u2", Some("an answer of the turn before (m1)")),
        (batch(), "m2", "u2", None),
        (batch(), "m2", "unknown", None),
        (turn(vec![user("u3", "m2")]), "m1", "u2", Some("another message of the user (u3)")),
        (
            turn(vec![attachment("q", "m2", "queued_command"), message("m3", "q")]),
            "m1",
            "u2",
            Some("a queued message (q)"),
        ),
        (turn(vec![attachment("d", "m2", "date"), message("m3", "d")]), "m1", "u2", None),
        (
            turn(vec![attachment("o", "m2", "structured_output"), user("u3", "o")]),
            "m2",
            "u3",
            Some("the output of the turn before (o)"),
        ),
        (turn(vec![attachment("o", "m2", "structured_output"), user("u3", "o")]), "o", "u3", None),
        (
            turn(vec![calls("c", "m2", "m2"), result("rc", "c", false), user("u3", "rc")]),
            "u2",
            "u3",
            Some("an answer of the turn before (c)"),
        ),
        (turn(vec![user("u3", "m2").replace(":\"u3\"}", ":\"[Request interrupted by user]\"}")]), "m1", "u2", None),
    ] {
        let checked = cut(&lines, at).unwrap().check_drops_only(&prompt.into()).map_err(|error| error.to_string());
        match refused {
            None => assert_eq!(checked, Ok(()), "{at} {prompt}"),
            Some(what) => {
                let text = format!("Resume rejected by --resume-drops-turn: it would also drop {what}");
                assert_eq!(checked, Err(text), "{at} {prompt}");
            }
        }
    }
    let checked =
        cut(&[user("u1", ""), message("m", "u1"), message("n", "m")], "m").unwrap().check_drops_only(&"p".into());
    assert!(checked.is_err());
}

#[test]
fn what_stands_beside_is_repeated_when_a_later_line_would_count() {
    let mut lines = batch();
    let cwd = |cwd: &str| line("", "", "windlass-cwd", &format!(r#""cwd":"{cwd}","#)).replace(r#","uuid":"""#, "");
    lines.insert(1, cwd("/one"));
    lines.push(cwd("/two"));
    lines.push(r#"{"type":"mode","mode":"plan"}"#.to_owned());
    let cut = cut(&lines, "m1").unwrap();
    let restated = cut.restated("/begin", Timestamp::from_millis(1), || "new".into());
    let kinds: Vec<_> = restated.iter().map(|entry| entry.kind.clone()).collect();
    assert_eq!(kinds, [EntryKind::Mode(PermissionMode::Default), EntryKind::Cwd("/one".to_owned())]);
}

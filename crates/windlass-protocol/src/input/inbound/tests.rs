use super::*;

fn parse(line: &str) -> Inbound {
    Inbound::parse(line.as_bytes()).unwrap()
}

#[test]
fn known_messages_are_read_and_unknown_fields_tolerated() {
    let Inbound::Request { id, subtype, body } =
        parse(r#"{"x":1,"request_id":"r1","type":"control_request","request":{"new":[1.50],"subtype":"interrupt"}}"#)
    else {
        panic!("not a request")
    };
    assert_eq!((id.as_str(), subtype.as_str()), ("r1", "interrupt"));
    assert_eq!(body.as_str(), r#"{"new":[1.50],"subtype":"interrupt"}"#);

    for (line, expected) in [
        (r#"{"subtype":"success","request_id":"a","response":{"n":1e3}}"#, Ok(Some(r#"{"n":1e3}"#))),
        (r#"{"subtype":"success","request_id":"a"}"#, Ok(None)),
        (r#"{"request_id":"a","response":null}"#, Ok(None)),
        (r#"{"subtype":"error","request_id":"a","error":"no"}"#, Err("no")),
        (r#"{"subtype":"error","request_id":"a"}"#, Err("no reason was given")),
    ] {
        let Inbound::Response { id, answer } = parse(&format!(r#"{{"type":"control_response","response":{line}}}"#))
        else {
            panic!("not a response: {line}")
        };
        assert_eq!(id, "a");
        assert_eq!(
            answer.as_ref().map(|json| json.as_ref().map(JsonText::as_str)).map_err(|refusal| refusal.error.as_str()),
            expected
        );
    }
    assert!(
        matches!(parse(r#"{"type":"control_cancel_request","request_id":"z"}"#), Inbound::Cancel { id } if id == "z")
    );
    assert!(matches!(
        parse(r#"{"type":"update_environment_variables","variables":{"K":"V"}}"#),
        Inbound::Environment(variables) if variables.get("K").map(String::as_str) == Some("V")
    ));
}

#[test]
fn what_is_not_known_is_left_alone() {
    for line in [r#"{"type":"keep_alive"}"#, r#"{"type":"hologram","x":{}}"#, "{}", r#"{"type":null}"#] {
        assert!(matches!(parse(line), Inbound::Other { .. }), "{line}");
    }
}

#[test]
fn what_is_not_a_message_is_an_error() {
    for line in [
        "",
        "hello",
        "1",
        "[]",
        "{",
        r#"{"type":7}"#,
        r#"{"type":"control_request","request":{"subtype":"interrupt"}}"#,
        r#"{"type":"control_request","request_id":"a","request":{}}"#,
        r#"{"type":"control_response"}"#,
        r#"{"type":"update_environment_variables","variables":{"K":1}}"#,
        "{\"type\":\"\u{0}",
    ] {
        assert!(Inbound::parse(line.as_bytes()).is_err(), "{line}");
    }
    assert!(Inbound::parse(b"{\"type\":\"\xff\"}").is_err());
}

#[test]
fn half_a_surrogate_pair_is_replaced_everywhere() {
    for (escaped, expected) in [
        (r"before \ud83d after", "before \u{fffd} after"),
        (r"\uDE00", "\u{fffd}"),
        (r"whole \ud83d\ude00, \\ud83d", "whole \u{1f600}, \\ud83d"),
    ] {
        let message = format!(r#"{{"type":"user","message":{{"content":"{escaped}"}}}}"#);
        let Inbound::User(message) = parse(&message) else { panic!("not a prompt") };
        assert_eq!(message.content, Ok(vec![windlass_types::ContentBlock::text(expected)]));
        let answer = format!(r#"{{"type":"control_response","response":{{"request_id":"a","response":"{escaped}"}}}}"#);
        let Inbound::Response { answer, .. } = parse(&answer) else { panic!("not an answer") };
        assert_eq!(answer.unwrap().unwrap().to::<String>().unwrap(), expected);
    }
}

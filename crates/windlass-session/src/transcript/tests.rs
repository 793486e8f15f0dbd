use super::*;
use windlass_types::{JsonText, TrimmedResult};

fn text(text: &str) -> ContentBlock {
    ContentBlock::text(text)
}

fn call(id: &str) -> ContentBlock {
    ContentBlock::ToolUse(ToolUse::new(id, "Read", JsonText::empty_object()))
}

fn thinking() -> ContentBlock {
    ContentBlock::Thinking { thinking: "hm".to_owned(), signature: "c2ln".to_owned() }
}

/// Returns one line for each message: `u` or `a`, then its blocks in short.
fn shape(transcript: &Transcript) -> Vec<String> {
    let messages = transcript.messages();
    crate::check_messages(messages.iter().map(|message| &**message)).unwrap();
    messages
        .iter()
        .map(|message| {
            let role = if message.role == Role::User { "u" } else { "a" };
            let blocks: Vec<String> = message
                .content
                .iter()
                .map(|block| match block {
                    ContentBlock::Text { text, .. } => text.clone(),
                    ContentBlock::ToolUse(call) => format!("call:{}", call.id),
                    ContentBlock::ToolResult(result) => format!("{}={}", result.tool_use_id, result.content.text()),
                    ContentBlock::Thinking { .. } => "thinking".to_owned(),
                    other => format!("{other:?}"),
                })
                .collect();
            format!("{role} {}", blocks.join("|"))
        })
        .collect()
}

#[test]
fn results_come_back_in_call_order_and_before_messages_that_came_meanwhile() {
    let mut transcript = Transcript::new();
    transcript.push_user(vec![text("go")]);
    transcript.push_assistant(vec![text("ok"), call("1"), call("2"), call("3")], None);
    assert_eq!(shape(&transcript), ["u go"]);
    assert!(transcript.push_result(ToolResult::ok("3", "c")));
    transcript.push_user(vec![text("also this")]);
    assert!(transcript.push_result(ToolResult::ok("1", "a")));
    let open: Vec<&str> = transcript.open_calls().map(|call| call.id.as_str()).collect();
    assert_eq!(open, ["2"]);
    assert!(!transcript.is_ready());
    assert!(!transcript.push_result(ToolResult::ok("1", "again")));
    assert!(!transcript.push_result(ToolResult::ok("9", "never made")));
    assert!(transcript.push_result(ToolResult::ok("2", "b")));
    assert!(transcript.is_ready());
    assert_eq!(shape(&transcript), ["u go", "a ok|call:1|call:2|call:3", "u 1=a|2=b|3=c|also this"]);
}

#[test]
fn open_calls_are_settled_before_the_next_message() {
    let mut transcript = Transcript::new();
    transcript.push_user(vec![text("go")]);
    transcript.push_assistant(vec![call("1"), call("2")], None);
    transcript.mark_started(&"2".into());
    transcript.push_assistant(vec![text("next")], None);
    assert_eq!(
        shape(&transcript),
        ["u go", "a call:1|call:2", &format!("u 1={INTERRUPTED}|2={OUTCOME_UNKNOWN}"), "a next"]
    );
    assert!(!transcript.is_ready());
}

#[test]
fn an_id_that_comes_again_in_a_later_message_is_replaced() {
    let mut transcript = Transcript::new();
    transcript.push_user(vec![text("go")]);
    for n in ["first", "second"] {
        transcript.push_assistant(vec![call("1")], None);
        assert!(transcript.push_result(ToolResult::ok("1", n)));
    }
    assert_eq!(shape(&transcript), ["u go", "a call:1", "u 1=first", "a call:1_2", "u 1_2=second"]);
}

#[test]
fn what_cannot_be_sent_is_left_out() {
    let mut transcript = Transcript::new();
    transcript.push_user(vec![text(" "), ContentBlock::ToolResult(ToolResult::ok("x", "stray"))]);
    assert!(transcript.is_empty());
    transcript.push_assistant(vec![text("early")], None);
    transcript.push_assistant(vec![], None);
    transcript.push_assistant(vec![thinking()], None);
    transcript.push_user(vec![text("a")]);
    transcript.push_user(vec![text("b")]);
    transcript.push_assistant(vec![thinking(), text(""), call("1"), call("1"), thinking()], None);
    transcript.push_result(ToolResult::ok("1", vec![text("")]));
    assert_eq!(shape(&transcript), [&format!("u {BEGINNING_LOST}"), "a early", "u a|b", "a thinking|call:1", "u 1="]);
}

#[test]
fn inputs_become_objects_of_valid_unicode_and_keep_their_text_otherwise() {
    for (input, sent) in [
        (r#"{"b":1.50, "a":"\u00e9\ud83d\ude00"}"#, r#"{"b":1.50, "a":"\u00e9\ud83d\ude00"}"#),
        (r#"{"a":"\ud83d\\ud83d\uDE00"}"#, r#"{"a":"\ufffd\\ud83d\ufffd"}"#),
        (r#"{"a":"\\\udead"}"#, r#"{"a":"\\\ufffd"}"#),
        (r#"{"a":"\uD83D\uD83D\uDE00"}"#, r#"{"a":"\ufffd\uD83D\uDE00"}"#),
        ("[1]", "{}"),
        ("null", "{}"),
    ] {
        let mut transcript = Transcript::new();
        transcript.push_user(vec![text("go")]);
        let block = ContentBlock::ToolUse(ToolUse::new("1", "T", JsonText::parse(input).unwrap()));
        transcript.push_assistant(vec![block], None);
        let open: Vec<&str> = transcript.open_calls().map(|call| call.input.as_str()).collect();
        assert_eq!(open, [sent], "{input}");
    }
}

#[test]
fn each_message_is_made_once() {
    let mut transcript = Transcript::new();
    transcript.push_user(vec![text("go")]);
    let first = transcript.messages();
    let json = first[0].json().as_ptr();
    transcript.push_assistant(vec![call("1")], None);
    transcript.push_result(ToolResult::ok("1", "x"));
    let second = transcript.messages();
    transcript.push_assistant(vec![text("done")], None);
    transcript.push_user(vec![text("more")]);
    let third = transcript.messages();
    assert!(std::ptr::eq(json, third[0].json().as_ptr()));
    assert!(std::ptr::eq(second[2].json(), third[2].json()));
    assert_eq!(third.len(), 5);
}

#[test]
fn no_message_ends_in_reasoning_when_a_call_behind_it_goes() {
    let mut transcript = Transcript::new();
    transcript.push_user(vec![text("go")]);
    transcript.push_assistant(vec![thinking(), call("1"), thinking(), call("1")], None);
    transcript.push_result(ToolResult::ok("1", "x"));
    assert_eq!(shape(&transcript).len(), 3);
}

#[test]
fn notes_take_the_place_of_results_and_of_nothing_else() {
    let mut transcript = Transcript::new();
    transcript.push_user(vec![text("go")]);
    for id in ["1", "2"] {
        transcript.push_assistant(vec![thinking(), call(id)], None);
        transcript.push_result(ToolResult::error(id, "a long text"));
    }
    let before = transcript.messages();
    let trimmed = |id: &str| TrimmedResult::new(ToolUseId::from(id), "a note");
    transcript.trim(&[trimmed("2"), trimmed("9")]);
    assert_eq!(shape(&transcript), ["u go", "a thinking|call:1", "u 1=a long text", "a thinking|call:2", "u 2=a note"]);
    let after = transcript.messages();
    let is_same = |at: usize| std::ptr::eq(&*before[at], &*after[at]);
    assert!((0..4).all(is_same) && !is_same(4), "what stands before the first of them is not made anew");
    let ContentBlock::ToolResult(last) = &after[4].content[0] else { panic!("{after:?}") };
    assert!(last.is_error, "whether the call failed is kept");
    transcript.push_user(vec![text("more")]);
    assert_eq!(shape(&transcript).last().unwrap(), "u 2=a note|more");
    transcript.push_assistant(vec![call("3")], None);
    transcript.trim(&[trimmed("1"), trimmed("3")]);
    transcript.push_result(ToolResult::ok("3", "later"));
    assert_eq!(shape(&transcript)[2], "u 1=a note");
    assert_eq!(shape(&transcript)[6], "u 3=later", "a result that comes later is not replaced");
}

#[test]
fn names_of_calls_that_no_provider_takes_are_repaired() {
    let command = "cd /srv/app && ".repeat(14);
    for (name, sent) in [
        ("Read", "Read"),
        ("mcp__a__b-1", "mcp__a__b-1"),
        ("Read\" file_path=\"src/a.rs\" offset=\"27", "Read_file_path_src_a_rs_offset_27"),
        (command.as_str(), "cd_srv_app_cd_srv_app_cd_srv_app_cd_srv_app_cd_srv_app_cd_srv_ap"),
        ("", "_"),
        ("ünï", "n"),
        ("7 up", "_7_up"),
    ] {
        let mut transcript = Transcript::new();
        transcript.push_user(vec![text("go")]);
        let mut call = call("t1");
        if let ContentBlock::ToolUse(call) = &mut call {
            call.name = name.to_owned();
        }
        transcript.push_assistant(vec![call], None);
        assert!(transcript.push_result(ToolResult::error("t1", "no such tool")));
        let messages = transcript.messages();
        assert_eq!(messages[1].content[0].as_tool_use().unwrap().name, sent, "{name}");
        let is_fit =
            |name: &str| name.len() <= 64 && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
        assert!(is_fit(sent));
    }
}

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};
use windlass_types::{
    AddedTools, ImageSource, JsonText, ResponseFormat, SectionScope, SystemSection, ToolSpec, ToolUse,
};

use super::*;

fn request(messages: Vec<Message>) -> ModelRequest {
    ModelRequest::new("claude-opus-5-5", messages.into_iter().map(SharedMessage::from).collect(), 1000)
}

fn text_of(request: &ModelRequest) -> String {
    let catalogue = Catalogue::new();
    let binds = catalogue.binds_thinking(&request.model);
    let form = MessagesForm { controls: binds, ..MessagesForm::default() };
    String::from_utf8(call(request, &catalogue.info(&request.model), &form).to_vec()).unwrap()
}

fn json_of(request: &ModelRequest) -> Value {
    serde_json::from_str(&text_of(request)).unwrap()
}

fn calls(count: usize) -> Vec<Message> {
    let id = |at: usize| format!("toolu_{at}");
    let uses = (0..count).map(|at| {
        ContentBlock::ToolUse(ToolUse::new(id(at).as_str(), "Read", JsonText::parse("{\"n\": 1.0}").unwrap()))
    });
    let results = (0..count).map(|at| ContentBlock::ToolResult(ToolResult::ok(id(at).as_str(), "x")));
    vec![Message::user_text("go"), Message::assistant(uses.collect()), Message::user(results.collect())]
}

/// Returns the positions (message, block) that carry a breakpoint.
fn breakpoints(body: &Value) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    for (at, message) in body["messages"].as_array().unwrap().iter().enumerate() {
        for (block_at, block) in message["content"].as_array().unwrap().iter().enumerate() {
            if block.get("cache_control").is_some() {
                found.push((at, block_at));
            }
        }
    }
    found
}

#[test]
fn a_small_request_is_what_the_api_documents() {
    let mut request = request(vec![Message::user_text("hi")]);
    request.user_id = Some("u\"1".to_owned());
    assert_eq!(
        json_of(&request),
        json!({
            "model": "claude-opus-5-5",
            "messages": [{"role": "user", "content": [
                {"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}},
            ]}],
            "max_tokens": 1000,
            "stream": true,
            "metadata": {"user_id": "u\"1"},
        })
    );
    let counted: Value = serde_json::from_slice(&count(
        &request,
        &Catalogue::new().info("claude-opus-5-5"),
        &MessagesForm { controls: true, ..MessagesForm::default() },
    ))
    .unwrap();
    let keys: Vec<&String> = counted.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["messages", "model"]);
}

#[test]
fn tools_keep_their_order_and_inputs_their_text() {
    let mut request = request(calls(1));
    let tool = |name: &str| {
        Arc::new(ToolSpec::new(name, "d", JsonText::parse("{\"type\":\"object\", \"z\":1e0,\"a\":{}}").unwrap()))
    };
    request.tools = Arc::from([tool("Write"), tool("Edit")]);
    let body = text_of(&request);
    assert!(
        body.contains("{\"name\":\"Write\",\"description\":\"d\",\"input_schema\":{\"type\":\"object\", \"z\":1e0")
    );
    assert!(body.find("\"Write\"") < body.find("\"Edit\""));
    assert!(body.contains("\"input\":{\"n\": 1.0}"));
}

#[test]
fn breakpoints_follow_scopes_the_last_message_and_the_user_message_before() {
    let mut request = request(calls(10));
    let section = |text: &str, scope| SystemSection::new(text, scope);
    request.system = vec![
        section("one", SectionScope::Global),
        section("two", SectionScope::Global),
        section("three", SectionScope::Session),
        section("  ", SectionScope::Session),
    ];
    let body = json_of(&request);
    let marked: Vec<bool> =
        body["system"].as_array().unwrap().iter().map(|section| section.get("cache_control").is_some()).collect();
    assert_eq!(marked, [false, true, true]);
    assert_eq!(breakpoints(&body), [(0, 0), (2, 9)]);

    request.cache = Some(CacheTtl::OneHour);
    assert_eq!(json_of(&request)["system"][1]["cache_control"], json!({"type": "ephemeral", "ttl": "1h"}));
    request.cache = None;
    assert!(!text_of(&request).contains("cache_control"));
}

#[test]
fn blocks_that_take_no_breakpoint_get_none() {
    let unknown = JsonText::parse("{\"type\":\"later\",\"cache_control\":{\"type\":\"ephemeral\"}}").unwrap();
    for last in [
        ContentBlock::Thinking { thinking: "t".into(), signature: "s".into() },
        ContentBlock::RedactedThinking { data: "d".into() },
        ContentBlock::Unknown(unknown),
    ] {
        let request = request(vec![Message::user_text("go"), Message::assistant(vec![last.clone()])]);
        let body = text_of(&request);
        assert!(body.contains(&serde_json::to_string(&last).unwrap()), "{body}");
    }
}

#[test]
fn what_the_api_would_refuse_is_not_sent() {
    let unsigned = ContentBlock::Thinking { thinking: "mine".into(), signature: String::new() };
    let signed = ContentBlock::Thinking { thinking: String::new(), signature: "s".into() };
    let request = request(vec![
        Message::user_text("go"),
        Message::assistant(vec![unsigned.clone(), signed, ContentBlock::text("ok"), ContentBlock::text(" \n")]),
        Message::user_text("go"),
        Message::assistant(vec![unsigned]),
        Message::user(vec![]),
    ]);
    let body = json_of(&request);
    let kinds: Vec<Vec<&str>> = body["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["content"].as_array().unwrap().iter().map(|b| b["type"].as_str().unwrap()).collect())
        .collect();
    assert_eq!(kinds, [vec!["text"], vec!["thinking", "text"], vec!["text"], vec!["text"], vec!["text"]]);
    assert_eq!(body["messages"][3]["content"][0]["text"], NO_CONTENT);
}

#[test]
fn effort_is_sent_when_it_is_asked_for() {
    let mut request = request(vec![Message::user_text("hi")]);
    assert_eq!(json_of(&request)["output_config"], Value::Null);
    request.effort = Some(windlass_types::Effort::XHigh);
    assert_eq!(json_of(&request)["output_config"], json!({"effort": "xhigh"}));
}

#[test]
fn thinking_takes_the_form_that_the_model_knows() {
    let adaptive = json!({"type": "adaptive", "display": "summarized"});
    let drop = json!({"prefix_mismatch_behavior": "drop_block"});
    let bound = json!({"type": "adaptive", "display": "summarized", "block_binding": drop});
    let budget = |tokens: u32| json!({"type": "enabled", "budget_tokens": tokens});
    for (model, thinking, limit, expected) in [
        ("claude-opus-5-5", Thinking::Off, 9000, Value::Null),
        ("claude-opus-5-5", Thinking::Adaptive, 9000, bound.clone()),
        ("claude-opus-5-5", Thinking::Budget(4000), 9000, bound),
        ("claude-opus-4-6", Thinking::Adaptive, 9000, adaptive.clone()),
        ("claude-sonnet-4-5", Thinking::Adaptive, 9000, budget(8999)),
        ("claude-sonnet-4-5", Thinking::Budget(4000), 9000, budget(4000)),
        ("claude-sonnet-4-5", Thinking::Budget(1), 9000, budget(1024)),
        ("claude-sonnet-4-5", Thinking::Budget(4000), 3000, budget(2999)),
        ("claude-sonnet-4-5", Thinking::Budget(4000), 1024, Value::Null),
        ("unheard-of", Thinking::Adaptive, 9000, adaptive),
        ("unheard-of", Thinking::Budget(4000), 9000, budget(4000)),
    ] {
        let mut request = request(vec![Message::user_text("hi")]);
        request.model = model.to_owned();
        request.thinking = thinking;
        request.max_output_tokens = limit;
        assert_eq!(json_of(&request)["thinking"], expected, "{model} {thinking:?} {limit}");
    }
}

#[test]
fn ids_of_other_vendors_become_the_same_alias_in_calls_and_results() {
    let long = format!("call_1|fc_{}", "x".repeat(450));
    let call = |id: &str| ContentBlock::ToolUse(ToolUse::new(id, "Read", JsonText::empty_object()));
    let result = |id: &str| ContentBlock::ToolResult(ToolResult::ok(id, "x"));
    let request = request(vec![
        Message::user_text("go"),
        Message::assistant(vec![call(&long), call("toolu_1")]),
        Message::user(vec![result(&long), result("toolu_1")]),
    ]);
    let body = json_of(&request);
    let ids = |at: usize, name: &str| {
        let blocks = body["messages"][at]["content"].as_array().unwrap();
        blocks.iter().map(|block| block[name].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let calls = ids(1, "id");
    assert_eq!(calls, ids(2, "tool_use_id"));
    assert!(calls[0].len() <= 64 && calls[0].starts_with("call_") && !calls[0].contains('|'), "{calls:?}");
    assert_eq!(calls[1], "toolu_1");
}

/// A3: the API refuses images in the result of a failed call.
#[test]
fn a_failed_call_returns_text_alone() {
    let image =
        ContentBlock::Image { source: ImageSource::Base64 { media_type: "image/png".into(), data: "AA==".into() } };
    let mut result = ToolResult::ok("t", vec![ContentBlock::text("broken"), image]);
    result.is_error = true;
    let body = json_of(&request(vec![Message::user(vec![ContentBlock::ToolResult(result)])]));
    assert_eq!(body["messages"][0]["content"][0]["content"], "broken");
}

#[test]
fn forms_choices_and_members_of_the_user_are_sent() {
    let mut request = request(vec![Message::user_text("hi")]);
    request.response_format = Some(ResponseFormat::json_schema("r", JsonText::parse(r#"{"type":"object"}"#).unwrap()));
    request.tool_choice = ToolChoice::Tool("Read".to_owned());
    assert_eq!(json_of(&request)["tool_choice"], Value::Null, "there are no tools");
    let spec = ToolSpec::new("Read", "Reads.", JsonText::parse(r#"{"type":"object"}"#).unwrap());
    request.tools = [Arc::new(spec)].into();
    request.effort = Some(windlass_types::Effort::Low);
    request.extra = JsonText::parse(r#"{"service_tier":"auto","output_config":{"effort":"high"}}"#).ok();
    let body = json_of(&request);
    assert_eq!(body["tool_choice"], json!({"type": "tool", "name": "Read"}));
    for (thinking, choice) in
        [(Thinking::Adaptive, ToolChoice::Any), (Thinking::Budget(2_000), ToolChoice::Tool("Read".to_owned()))]
    {
        (request.thinking, request.tool_choice) = (thinking, choice);
        assert_eq!(json_of(&request)["thinking"], Value::Null, "a forced call and reasoning exclude each other");
    }
    let format = json!({"type": "json_schema", "schema": {"type": "object"}});
    assert_eq!(body["output_config"], json!({"effort": "high", "format": format}));
    assert_eq!(body["service_tier"], "auto");
    assert_eq!(body["tools"][0].get("strict"), None);
}

#[test]
fn tools_that_came_later_stand_where_they_came() {
    let spec = |name: &str| Arc::new(ToolSpec::new(name, "x", JsonText::parse(r#"{"type":"object"}"#).unwrap()));
    let mut request = request(vec![
        Message::user_text("one"),
        Message::assistant(vec![ContentBlock::text("two")]),
        Message::user_text("three"),
    ]);
    request.tools = [spec("Read")].into();
    request.added_tools = vec![AddedTools::new(1, vec![spec("A"), spec("B")]), AddedTools::new(3, vec![spec("C")])];
    let body = json_of(&request);
    let roles: Vec<&str> =
        body["messages"].as_array().unwrap().iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "system", "assistant", "user", "system"]);
    let tool = &body["messages"][1]["content"][1];
    let definition = json!({"name": "B", "description": "x", "input_schema": {"type": "object"}});
    assert_eq!(*tool, json!({"type": "tool_addition", "tool": {"type": "tool_definition", "definition": definition}}));
    assert_eq!(body["tools"].as_array().unwrap().len(), 1);
    // Other models get the tools in front.
    request.model = "claude-opus-4-6".to_owned();
    let body = json_of(&request);
    assert_eq!((body["tools"].as_array().unwrap().len(), body["messages"].as_array().unwrap().len()), (4, 3));
}

#[test]
fn the_mark_of_the_long_context_stays_here() {
    let mut request = request(vec![Message::user_text("hi")]);
    request.model = "claude-sonnet-4-5[1m]".to_owned();
    assert_eq!(json_of(&request)["model"], "claude-sonnet-4-5");
}

proptest! {
    /// Without breakpoints, a request is a byte prefix of the next one.
    #[test]
    fn a_request_extends_the_one_before(texts in prop::collection::vec("\\PC{0,20}", 1..8), limit in 1u32..9) {
        let messages: Vec<Message> = texts.iter().enumerate().map(|(at, text)| match at % 2 {
            0 => Message::user_text(text.clone()),
            _ => Message::assistant(vec![ContentBlock::text(text.clone())]),
        }).collect();
        let body = |count: usize, limit: u32| {
            let mut request = request(messages[..count].to_vec());
            request.system = vec![SystemSection::new("s", SectionScope::Global)];
            request.max_output_tokens = limit;
            text_of(&request).replace(",\"cache_control\":{\"type\":\"ephemeral\"}", "")
        };
        let long = body(messages.len(), 1000);
        for count in 1..messages.len() {
            let short = body(count, limit);
            let (kept, _) = short.split_once("],\"max_tokens\"").unwrap();
            prop_assert!(long.starts_with(kept));
        }
        prop_assert!(serde_json::from_str::<Value>(&long).is_ok());
    }
}

#[test]
fn compositions_at_the_top_are_said_in_words() {
    let schema = r#"{"type":"object","anyOf":[{"properties":{"a":{}},"required":["a"]},{"properties":{"b":{}}}]}"#;
    let mut request = request(vec![Message::user_text("hi")]);
    request.tools = Arc::from([Arc::new(ToolSpec::new("t", "Does.", JsonText::parse(schema).unwrap()))]);
    let body = text_of(&request);
    assert!(body.contains(r#""input_schema":{"properties":{"a":{},"b":{}},"type":"object"}"#), "{body}");
    assert!(body.contains("The input must also fit: "), "{body}");
}

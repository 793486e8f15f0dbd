//! C6: requests on the wire, and their changes by profiles.

use super::*;
use windlass_openai::{EmptyContent, Strict, ToolImages, ToolSupport};
use windlass_types::{
    CacheTtl, DocumentSource, ImageSource, ModelErrorKind, ResponseFormat, SectionScope, SystemSection, ToolChoice,
    ToolResult, ToolResultContent, ToolSpec,
};

fn text(text: &str) -> ContentBlock {
    ContentBlock::text(text)
}

fn call(id: &str) -> ContentBlock {
    ContentBlock::ToolUse(ToolUse::new(id, "Read", JsonText::parse(r#"{ "path":"/x" }"#).unwrap()))
}

fn result(id: &str, content: impl Into<ToolResultContent>) -> ContentBlock {
    ContentBlock::ToolResult(ToolResult::ok(id, content))
}

fn image() -> ContentBlock {
    ContentBlock::Image { source: ImageSource::Base64 { media_type: "image/png".into(), data: "iVBORw0=".into() } }
}

fn pdf() -> ContentBlock {
    let source = DocumentSource::Base64 { media_type: "application/pdf".into(), data: "JVBERi0=".into() };
    ContentBlock::Document { source, title: Some("a.pdf".into()) }
}

fn tool(name: &str, is_strict: bool) -> Arc<ToolSpec> {
    let schema =
        r#"{"type":"object","properties":{"path":{"type":"string"}},"required":["path"],"additionalProperties":false}"#;
    let mut tool = ToolSpec::new(name, "Does it.", JsonText::parse(schema).unwrap());
    tool.strict = is_strict;
    Arc::new(tool)
}

/// Returns a request with a history: a call, its result, and blocks beside them.
fn history(results: Vec<ContentBlock>) -> ModelRequest {
    let mut request = request();
    request.messages.push(Message::assistant(vec![call("call_1")]).into());
    request.messages.push(Message::user(results).into());
    request
}

async fn messages(builder: ChatCompletionsBuilder, request: ModelRequest) -> Vec<Value> {
    sent(builder, request).await["messages"].as_array().unwrap().clone()
}

#[tokio::test]
async fn a_conversation_is_written_in_the_dialect() {
    let mut request = history(vec![result("call_1", "found"), text("go on")]);
    request.system =
        vec![SystemSection::new("one", SectionScope::Global), SystemSection::new(" ", SectionScope::Session)];
    request.tools = vec![tool("Read", false)].into();
    let body = sent(preset("together"), request).await;
    let schema: Value = serde_json::from_str(tool("Read", false).input_schema.as_str()).unwrap();
    let expected = json!({
        "model": "model-1",
        "tools": [{"type": "function", "function": {"name": "Read", "description": "Does it.", "parameters": schema}}],
        "messages": [
            {"role": "system", "content": "one"},
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": "", "tool_calls": [
                {"id": "call_1", "type": "function", "function": {"name": "Read", "arguments": "{ \"path\":\"/x\" }"}}]},
            {"role": "tool", "tool_call_id": "call_1", "content": "found"},
            {"role": "user", "content": "go on"},
        ],
        "stream": true,
        "stream_options": {"include_usage": true},
        "max_tokens": 1000,
    });
    assert_eq!(body, expected);
}

#[tokio::test]
async fn c6_the_limit_and_the_role_have_the_names_of_the_endpoint() {
    let mut request = request();
    request.system =
        vec![SystemSection::new("a", SectionScope::Global), SystemSection::new("b", SectionScope::Session)];
    let openai = sent(preset("openai"), request.clone()).await;
    assert_eq!((&openai["max_completion_tokens"], openai.get("max_tokens")), (&json!(1000), None));
    assert_eq!(openai["messages"][0], json!({"role": "developer", "content": "a"}));
    assert_eq!(openai["messages"][1], json!({"role": "developer", "content": "b"}));
    let vllm = sent(preset("vllm"), request).await;
    assert_eq!((&vllm["max_tokens"], vllm.get("max_completion_tokens")), (&json!(1000), None));
    assert_eq!(vllm["messages"][0], json!({"role": "system", "content": "a\n\nb"}));
}

#[tokio::test]
async fn c6_strict_is_never_sent_per_tool_or_for_all() {
    let mut request = request();
    request.tools = vec![tool("A", true), tool("B", false)].into();
    let strict = |body: &Value| -> Vec<Option<bool>> {
        let tools = body["tools"].as_array().unwrap();
        tools.iter().map(|tool| tool["function"].get("strict").and_then(Value::as_bool)).collect()
    };
    assert_eq!(strict(&sent(preset("vllm"), request.clone()).await), [None, None]);
    assert_eq!(strict(&sent(preset("openai"), request.clone()).await), [Some(true), None]);
    let all = || preset("openai").compat(|compat| compat.tools.strict = Strict::AllOrNone);
    assert_eq!(strict(&sent(all(), request.clone()).await), [None, None]);
    request.tools = vec![tool("A", true), tool("B", true)].into();
    assert_eq!(strict(&sent(all(), request).await), [Some(true), Some(true)]);
}

#[tokio::test]
async fn c6_an_empty_list_of_tools_is_sent_only_where_it_is_needed() {
    let with_calls = || history(vec![result("call_1", "x")]);
    assert_eq!(sent(preset("vllm"), with_calls()).await.get("tools"), None);
    assert_eq!(sent(preset("litellm"), with_calls()).await["tools"], json!([]));
    assert_eq!(sent(preset("litellm"), request()).await.get("tools"), None);
}

#[tokio::test]
async fn c6_content_without_text_is_null_or_blank_or_absent() {
    let of = |without| preset("vllm").compat(move |compat| compat.messages.without_text = without);
    let content = |messages: Vec<Value>| messages[1].get("content").cloned();
    let request = || history(vec![result("call_1", "x")]);
    assert_eq!(content(messages(of(EmptyContent::Blank), request()).await), Some(json!("")));
    assert_eq!(content(messages(of(EmptyContent::Null), request()).await), Some(Value::Null));
    assert_eq!(content(messages(of(EmptyContent::Omit), request()).await), None);
    assert_eq!(content(messages(preset("openai"), request()).await), Some(Value::Null));
}

#[tokio::test]
async fn c6_a_blank_output_has_a_word_in_its_place() {
    let request = || history(vec![result("call_1", " \n")]);
    assert_eq!(messages(preset("vllm"), request()).await[2]["content"], "(no output)");
    let as_it_is = preset("vllm").compat(|compat| compat.messages.blank_output = "".into());
    assert_eq!(messages(as_it_is, request()).await[2]["content"], " \n");
}

#[tokio::test]
async fn c6_required_is_not_sent_where_it_is_refused() {
    let with = |choice: ToolChoice| {
        let mut request = request();
        (request.tools, request.tool_choice) = (vec![tool("A", false)].into(), choice);
        request
    };
    let named = json!({"type": "function", "function": {"name": "A"}});
    assert_eq!(sent(preset("openai"), with(ToolChoice::Any)).await["tool_choice"], "required");
    assert_eq!(sent(preset("openai"), with(ToolChoice::Tool("A".into()))).await["tool_choice"], named);
    assert_eq!(sent(preset("openai"), with(ToolChoice::None)).await["tool_choice"], "none");
    assert_eq!(sent(preset("openai"), with(ToolChoice::Auto)).await.get("tool_choice"), None);
    assert_eq!(sent(preset("moonshot"), with(ToolChoice::Any)).await.get("tool_choice"), None);
    assert_eq!(sent(preset("moonshot"), with(ToolChoice::None)).await["tool_choice"], "none");
    assert_eq!(sent(preset("zai"), with(ToolChoice::Tool("A".into()))).await.get("tool_choice"), None);
    let auto_only = preset("openai").compat(|compat| compat.tools.choice = ToolSupport::AutoOnly);
    let none = sent(auto_only, with(ToolChoice::None)).await;
    assert_eq!((none.get("tool_choice"), none.get("tools")), (None, None));
}

#[tokio::test]
async fn parallel_calls_and_streamed_arguments_are_asked_for_where_the_profile_says_so() {
    let mut request = request();
    request.tools = vec![tool("A", false)].into();
    let one = preset("openai").compat(|compat| compat.tools.parallel = Some(false));
    assert_eq!(sent(one, request.clone()).await["parallel_tool_calls"], false);
    let plain = sent(preset("openai"), request.clone()).await;
    assert_eq!((plain.get("parallel_tool_calls"), plain.get("tool_stream")), (None, None));
    assert_eq!(sent(preset("zai"), request).await["tool_stream"], true);
}

#[tokio::test]
async fn images_go_into_parts_and_those_of_tools_into_a_message_after_them() {
    let url = json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0="}});
    let request = || {
        history(vec![
            result("call_1", vec![text("a picture"), image()]),
            result("call_2", vec![image()]),
            text("what is it?"),
        ])
    };
    let sent = messages(preset("openai"), request()).await;
    assert_eq!(sent[2], json!({"role": "tool", "tool_call_id": "call_1", "content": "a picture"}));
    assert_eq!(sent[3]["content"], "(the result follows)");
    let parts = sent[4]["content"].as_array().unwrap();
    assert_eq!((&sent[4]["role"], parts.len()), (&json!("user"), 5));
    assert_eq!((&parts[1], &parts[4]["text"]), (&url, &json!("what is it?")));
    assert!(parts[0]["text"].as_str().unwrap().contains("call_1"));
    let inside = preset("openai").compat(|compat| compat.messages.tool_images = ToolImages::InResult);
    let sent = messages(inside, request()).await;
    assert_eq!(sent[2]["content"], json!([{"type": "text", "text": "a picture"}, url]));
    assert_eq!(sent[4]["content"], "what is it?");
    let blind = messages(preset("deepseek"), request()).await;
    assert!(blind[2]["content"].as_str().unwrap().contains("an image was left out"));
}

#[tokio::test]
async fn documents_go_as_files_where_they_are_read_and_have_a_note_elsewhere() {
    let mut request = request();
    let plain = DocumentSource::Text { media_type: "text/plain".into(), data: "words".into() };
    request.messages = vec![Message::user(vec![pdf(), ContentBlock::Document { source: plain, title: None }]).into()];
    let sent = messages(preset("openai"), request.clone()).await;
    let file =
        json!({"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBERi0="}});
    assert_eq!(sent[0]["content"], json!([file, {"type": "text", "text": "words"}]));
    let note = messages(preset("groq"), request).await[0]["content"].as_str().unwrap().to_owned();
    assert!(note.contains("a.pdf was left out") && note.ends_with("words"), "{note}");
}

#[tokio::test]
async fn ids_of_other_vendors_fit_and_meet_their_results() {
    let long = format!("toolu|{}", "x".repeat(450));
    for name in ["openai", "mistral"] {
        let mut request = request();
        let ids = [long.as_str(), "call_ok", "aB3dE6gH9", ""];
        request.messages.push(Message::assistant(ids.map(call).to_vec()).into());
        request.messages.push(Message::user(ids.map(|id| result(id, "r")).to_vec()).into());
        let sent = messages(preset(name), request.clone()).await;
        let of_calls: Vec<String> =
            (0..4).map(|at| sent[1]["tool_calls"][at]["id"].as_str().unwrap().to_owned()).collect();
        let of_results: Vec<String> = (2..6).map(|at| sent[at]["tool_call_id"].as_str().unwrap().to_owned()).collect();
        assert_eq!(of_calls, of_results);
        assert_eq!(of_calls.iter().collect::<std::collections::HashSet<_>>().len(), 4);
        let fits = |id: &String| match name {
            "mistral" => id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()),
            _ => !id.is_empty() && id.len() <= 40 && !id.contains('|'),
        };
        assert!(of_calls.iter().all(fits), "{of_calls:?}");
        assert_eq!(of_calls[2], "aB3dE6gH9");
        assert_eq!(sent[2].get("name").is_some(), name == "mistral");
        assert_eq!(sent, messages(preset(name), request).await);
    }
}

#[tokio::test]
async fn an_assistant_message_stands_between_results_and_user_where_it_must() {
    let builder = || preset("vllm").compat(|compat| compat.messages.assistant_after_results = true);
    let roles = |messages: Vec<Value>| -> Vec<String> {
        messages.iter().map(|message| message["role"].as_str().unwrap().to_owned()).collect()
    };
    let with_text = messages(builder(), history(vec![result("call_1", "x"), text("and?")])).await;
    assert_eq!(roles(with_text), ["user", "assistant", "tool", "assistant", "user"]);
    let without = messages(builder(), history(vec![result("call_1", "x")])).await;
    assert_eq!(roles(without), ["user", "assistant", "tool"]);
}

#[tokio::test]
async fn content_that_cannot_be_sent_leaves_a_message_that_can() {
    let mut request = request();
    let unknown = ContentBlock::Unknown(JsonText::parse(r#"{"type":"server_tool_use","id":"s"}"#).unwrap());
    let redacted = ContentBlock::RedactedThinking { data: "x".into() };
    request.messages = vec![
        Message::user(vec![text(" ")]).into(),
        Message::assistant(vec![redacted, unknown.clone(), text("")]).into(),
        Message::user(vec![unknown]).into(),
        Message::assistant(vec![text("a"), text("b")]).into(),
        Message::user(vec![]).into(),
    ];
    let contents: Vec<Value> =
        messages(preset("openai"), request).await.iter().map(|message| message["content"].clone()).collect();
    assert_eq!(
        (&contents[0], &contents[1], &contents[4]),
        (&json!("(no content)"), &json!("(no content)"), &json!("(no content)"))
    );
    assert!(contents[2].as_str().unwrap().contains("left out"));
    assert_eq!(contents[3], "a\n\nb");
}

#[tokio::test]
async fn caches_are_hinted_at_in_the_way_of_the_endpoint_and_not_at_all_when_switched_off() {
    let mut request = request();
    request.messages.push(Message::assistant(vec![text("look"), call("call_1")]).into());
    request.messages.push(Message::user(vec![result("call_1", "x")]).into());
    request.system = vec![SystemSection::new("system", SectionScope::Global)];
    request.session_key = Some("session".into());
    assert_eq!(sent(preset("openai"), request.clone()).await["prompt_cache_key"], "session");
    request.session_key = Some("s".repeat(65).into());
    assert!(sent(preset("openai"), request.clone()).await["prompt_cache_key"].as_str().unwrap().len() <= 64);
    assert_eq!(sent(preset("vllm"), request.clone()).await.get("prompt_cache_key"), None);
    request.model = "anthropic/claude-opus-5-5".to_owned();
    let marked = messages(preset("openrouter"), request.clone()).await;
    let part = |text: &str| json!([{"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}]);
    assert_eq!(
        (&marked[0]["content"], &marked[1]["content"], &marked[2]["content"]),
        (&part("system"), &part("hi"), &part("look"))
    );
    // Tool results take no cache breakpoint.
    assert_eq!(marked[3]["content"], "x");
    assert_eq!(messages(preset("vllm"), request.clone()).await[0]["content"], "system");
    request.cache = Some(CacheTtl::OneHour);
    assert_eq!(messages(preset("openrouter"), request.clone()).await[0]["content"][0]["cache_control"]["ttl"], "1h");
    request.model = "gpt-5.5".to_owned();
    assert_eq!(sent(preset("openai"), request.clone()).await["prompt_cache_retention"], "24h");
    assert_eq!(sent(preset("vllm"), request.clone()).await.get("prompt_cache_retention"), None);
    request.model = "anthropic/claude-opus-5-5".to_owned();
    request.cache = None;
    assert_eq!(messages(preset("openrouter"), request.clone()).await[0]["content"], "system");
    assert_eq!(sent(preset("openai"), request).await.get("prompt_cache_key"), None);
}

#[tokio::test]
async fn a_session_is_routed_by_a_header_where_the_vendor_has_one() {
    let server = WireServer::start().await.unwrap();
    server.push(reply(&[content("ok"), finish("stop")]));
    let provider = preset("xai").base_url(server.url()).build().unwrap();
    let mut request = request();
    request.session_key = Some("session-1".into());
    ask(&provider, request).await;
    assert_eq!(server.requests()[0].header("x-grok-conv-id"), Some("session-1"));
}

#[tokio::test]
async fn an_answer_in_a_form_is_asked_for_by_schema_or_in_words() {
    let mut request = request();
    let schema =
        r#"{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}"#;
    request.response_format = Some(ResponseFormat::json_schema("answer", JsonText::parse(schema).unwrap()));
    let value: Value = serde_json::from_str(schema).unwrap();
    let strict = sent(preset("openai"), request.clone()).await;
    let expected = json!({"type": "json_schema", "json_schema": {"name": "answer", "schema": value, "strict": true}});
    assert_eq!(strict["response_format"], expected);
    let loose = sent(preset("groq"), request.clone()).await;
    assert_eq!(loose["response_format"]["json_schema"].get("strict"), None);
    let object = sent(preset("deepseek"), request.clone()).await;
    assert_eq!(object["response_format"], json!({"type": "json_object"}));
    assert!(object["messages"][0]["content"].as_str().unwrap().contains("JSON Schema: {\"type\""));
    let careful = ChatCompletions::builder().key_optional();
    let words = sent(careful, request).await;
    assert_eq!((words.get("response_format"), &words["messages"][0]["role"]), (None, &json!("system")));
}

#[tokio::test]
async fn extra_members_win_over_those_of_the_same_name() {
    let mut request = request();
    request.extra = Some(
        JsonText::parse(r#"{"temperature":0.25,"max_tokens":7,"provider":{"order":["x"]},"stream_options":null}"#)
            .unwrap(),
    );
    request.user_id = Some("u-1".into());
    let server = WireServer::start().await.unwrap();
    server.push(reply(&[content("ok"), finish("stop")]));
    let provider = preset("openrouter").base_url(server.url()).build().unwrap();
    ask(&provider, request.clone()).await;
    let raw = server.requests().remove(0);
    let body = raw.json().unwrap();
    assert_eq!(
        (&body["temperature"], &body["max_tokens"], &body["provider"]["order"][0]),
        (&json!(0.25), &json!(7), &json!("x"))
    );
    assert_eq!((&body["stream_options"], &body["user"]), (&Value::Null, &json!("u-1")));
    let text = String::from_utf8(raw.body.to_vec()).unwrap();
    assert_eq!(text.matches("\"max_tokens\"").count(), 1);
    request.extra = Some(JsonText::parse("[]").unwrap());
    assert_eq!(ask(&provider, request).await.1.unwrap().kind, ModelErrorKind::Configuration);
}

#[tokio::test]
async fn the_prefix_of_a_request_stays_the_same_from_turn_to_turn() {
    let server = WireServer::start().await.unwrap();
    server.on_request(|_| reply(&[content("ok"), finish("stop")]));
    let provider = preset("deepseek").base_url(server.url()).build().unwrap();
    let mut request = history(vec![result("call_1", "x")]);
    request.tools = vec![tool("A", false)].into();
    ask(&provider, request.clone()).await;
    request.messages.push(Message::assistant(vec![call("call_9")]).into());
    request.messages.push(Message::user(vec![result("call_9", "y")]).into());
    ask(&provider, request).await;
    let bodies: Vec<String> =
        server.requests().iter().map(|sent| String::from_utf8(sent.body.to_vec()).unwrap()).collect();
    let (before, _) = bodies[0].rsplit_once("],\"stream\"").unwrap();
    assert!(bodies[1].starts_with(before));
}

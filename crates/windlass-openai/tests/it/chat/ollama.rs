//! C7: Ollama, over its own API, so that no prompt is cut silently.

use super::*;
use windlass_types::{CacheTtl, Effort, ModelErrorKind, SectionScope, SystemSection, Thinking, ToolResult, ToolSpec};

/// Returns a stream of these lines.
pub(super) fn reply(lines: &[Value]) -> Reply {
    Reply::stream_bytes(lines.iter().map(|line| format!("{line}\n")).collect::<String>())
}

fn text(text: &str) -> Value {
    json!({"model": "qwen3", "message": {"role": "assistant", "content": text}, "done": false})
}

fn done(read: u64, wrote: u64) -> Value {
    json!({"model": "qwen3", "message": {"role": "assistant", "content": ""}, "done": true, "done_reason": "stop",
           "prompt_eval_count": read, "eval_count": wrote})
}

async fn body_of(builder: ChatCompletionsBuilder, request: ModelRequest) -> Value {
    let server = WireServer::start().await.unwrap();
    server.push(reply(&[text("ok"), done(0, 1)]));
    let (_, error) = ask(&builder.base_url(server.url()).build().unwrap(), request).await;
    assert!(error.is_none(), "{error:?}");
    let sent = server.requests().remove(0);
    assert_eq!((sent.path.as_str(), sent.header("accept")), ("/api/chat", Some("application/x-ndjson")));
    sent.json().unwrap()
}

#[tokio::test]
async fn c7_the_context_is_sized_and_the_server_may_not_cut() {
    let body = body_of(preset("ollama"), request()).await;
    assert_eq!(body["options"], json!({"num_ctx": 32_768, "num_predict": 1_000}));
    assert_eq!((&body["truncate"], &body["shift"], &body["stream"]), (&json!(false), &json!(false), &json!(true)));
    let small = preset("ollama").context_size(8_192);
    assert_eq!(small.clone().build().unwrap().model_info("x").context_window, 8_192);
    assert_eq!(body_of(small, request()).await["options"]["num_ctx"], 8_192);
}

/// The cache is lost when the model is unloaded, five minutes after its last request.
#[tokio::test]
async fn a_session_that_caches_for_an_hour_keeps_the_model_loaded() {
    let mut request = request();
    for (ttl, expected) in
        [(Some(CacheTtl::OneHour), json!("1h")), (Some(CacheTtl::FiveMinutes), Value::Null), (None, Value::Null)]
    {
        request.cache = ttl;
        assert_eq!(body_of(preset("ollama"), request.clone()).await["keep_alive"], expected, "{ttl:?}");
    }
}

#[tokio::test]
async fn c7_a_prompt_that_was_cut_all_the_same_is_a_loud_error() {
    let server = WireServer::start().await.unwrap();
    let provider = preset("ollama").context_size(4_096).base_url(server.url()).build().unwrap();
    let mut long = request();
    long.system = vec![SystemSection::new("word ".repeat(6_400), SectionScope::Session)];
    // 32,000 bytes are about 8,000 tokens. The server has read 4,096, 1,040 and, cut to whole messages, 3,900.
    for read in [4_096, 1_040, 3_900] {
        server.push(reply(&[text("half an answer"), done(read, 10)]));
        let (answer, error) = ask(&provider, long.clone()).await;
        let error = error.unwrap();
        assert_eq!((error.kind, answer.is_complete), (ModelErrorKind::PromptTooLong, false));
        assert!(error.message.contains(&format!("{read} tokens")) && error.message.contains("OLLAMA_CONTEXT_LENGTH"));
    }
    let roomy = preset("ollama").base_url(server.url()).build().unwrap();
    for read in [6_500, 8_000, 0] {
        server.push(reply(&[text("an answer"), done(read, 10)]));
        let (answer, error) = ask(&roomy, long.clone()).await;
        assert!(error.is_none() && answer.is_complete, "{error:?}");
    }
}

#[tokio::test]
async fn c7_a_prompt_without_its_user_is_one_that_was_cut() {
    let body = json!({"error": "no user query found in messages"}).to_string();
    let (_, error) = read("ollama", Reply::status(500, body)).await;
    assert_eq!(error.unwrap().kind, ModelErrorKind::PromptTooLong);
}

#[tokio::test]
async fn c7_an_answer_is_read_with_reasoning_and_calls() {
    let thinking =
        json!({"model": "qwen3", "message": {"role": "assistant", "content": "", "thinking": "hm"}, "done": false});
    let call = |path: &str| {
        json!({"model": "qwen3", "message": {"role": "assistant", "content": "", "tool_calls":
            [{"function": {"index": 0, "name": "Read", "arguments": {"path": path, "n": 1.50}}}]}, "done": false})
    };
    let answer = whole("ollama", reply(&[thinking, text("a"), call("/x"), call("/y"), done(12, 7)])).await;
    assert_eq!(answer.kinds(), ["thinking", "text", "call", "call"]);
    assert_eq!(answer.calls(), [("Read", r#"{"n":1.5,"path":"/x"}"#), ("Read", r#"{"n":1.5,"path":"/y"}"#)]);
    assert_ne!(answer.ids()[0], answer.ids()[1]);
    assert_eq!((answer.stop, answer.usage), (Some(StopReason::ToolUse), Usage::new(12, 7)));
}

#[tokio::test]
async fn c7_an_end_without_done_is_a_cut_and_an_error_inside_is_one() {
    let (_, error) = read("ollama", reply(&[text("a")])).await;
    assert_eq!(error.unwrap().kind, ModelErrorKind::Cut);
    let (_, error) =
        read("ollama", reply(&[text("a"), json!({"error": "model runner has unexpectedly stopped"})])).await;
    let error = error.unwrap();
    assert_eq!(error.kind, ModelErrorKind::Server);
    assert!(error.message.contains("unexpectedly stopped"));
    let (_, error) = read("ollama", Reply::stream_bytes("nonsense\n")).await;
    assert_eq!(error.unwrap().kind, ModelErrorKind::Protocol);
}

#[tokio::test]
async fn c7_a_history_is_written_as_ollama_reads_it() {
    let mut request = request();
    request.system =
        vec![SystemSection::new("be brief", SectionScope::Global), SystemSection::new("cwd", SectionScope::Session)];
    request.tools =
        vec![Arc::new(ToolSpec::new("Read", "Reads.", JsonText::parse(r#"{"type":"object"}"#).unwrap()))].into();
    let call = ToolUse::new("call_1", "Read", JsonText::parse(r#"{"path":"/x"}"#).unwrap());
    let thinking = ContentBlock::Thinking { thinking: "hm".to_owned(), signature: "thinking".to_owned() };
    request.messages.push(Message::assistant(vec![thinking, ContentBlock::ToolUse(call)]).into());
    let image = windlass_types::ImageSource::Base64 { media_type: "image/png".into(), data: "AAAA".into() };
    let content = vec![ContentBlock::text("seen"), ContentBlock::Image { source: image }];
    let result = ContentBlock::ToolResult(ToolResult::ok("call_1", content));
    request.messages.push(Message::user(vec![result, ContentBlock::text("and now?")]).into());
    let body = body_of(preset("ollama"), request).await;
    let expected = json!([
        {"role": "system", "content": "be brief\n\ncwd"},
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "", "thinking": "hm",
         "tool_calls": [{"id": "call_1", "function": {"name": "Read", "arguments": {"path": "/x"}}}]},
        {"role": "tool", "content": "seen", "images": ["AAAA"], "tool_call_id": "call_1", "tool_name": "Read"},
        {"role": "user", "content": "and now?"},
    ]);
    assert_eq!(body["messages"], expected);
    assert_eq!(body["tools"][0]["function"]["name"], "Read");
}

#[tokio::test]
async fn c7_thinking_is_asked_for_only_where_the_profile_has_it() {
    let mut request = request();
    (request.thinking, request.effort) = (Thinking::Adaptive, Some(Effort::High));
    assert_eq!(body_of(preset("ollama"), request.clone()).await.get("think"), None);
    let settings =
        JsonText::parse(r#"{"reasoning":{"switch":"effort","efforts":[["low","low"],["high","high"]]}}"#).unwrap();
    assert_eq!(body_of(preset("ollama").compat_settings(settings), request.clone()).await["think"], "high");
    let thinks =
        preset("ollama").compat(|compat| compat.reasoning.switch = windlass_openai::ThinkingSwitch::ThinkingType);
    assert_eq!(body_of(thinks, request).await["think"], true);
}

#[tokio::test]
async fn c7_the_variables_of_ollama_are_read_as_its_own_client_does() {
    let server = WireServer::start().await.unwrap();
    server.push(reply(&[text("ok"), done(1, 1)]));
    let host = server.address().to_string();
    let lookup = |name: &str| match name {
        "OLLAMA_HOST" => Some(host.clone()),
        "OLLAMA_CONTEXT_LENGTH" => Some("16384".to_owned()),
        _ => None,
    };
    let provider = ChatCompletions::from_lookup("ollama", lookup).unwrap();
    assert!(ask(&provider, request()).await.1.is_none());
    let sent = server.requests().remove(0);
    assert_eq!(sent.header("authorization"), None);
    assert_eq!(sent.json().unwrap()["options"]["num_ctx"], 16_384);
    let wrong = |name: &str| (name == "OLLAMA_CONTEXT_LENGTH").then(|| "much".to_owned());
    assert_eq!(ChatCompletions::from_lookup("ollama", wrong).unwrap_err().kind, ModelErrorKind::Configuration);
}

#[tokio::test]
async fn the_server_lists_its_models() {
    let server = WireServer::start().await.unwrap();
    let provider = preset("ollama").base_url(server.url()).build().unwrap();
    server.push(Reply::status(200, r#"{"models":[{"name":"qwen3:8b"},{"name":"llama3.1:latest"}]}"#));
    let models = provider.server_models().await.unwrap();
    let names: Vec<&str> = models.iter().map(|known| known.id.as_str()).collect();
    assert_eq!(names, ["qwen3:8b", "llama3.1:latest"]);
    assert_eq!(server.requests().remove(0).path, "/api/tags");
    server.push(Reply::status(200, "<html>"));
    assert!(provider.server_models().await.unwrap_err().message.contains("the list of models cannot be read"));
    server.push(Reply::status(500, "no"));
    assert!(provider.server_models().await.is_err());
}

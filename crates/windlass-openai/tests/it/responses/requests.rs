//! Requests on the wire, and the setup of a provider.

use std::collections::HashMap;
use std::sync::Arc;

use super::wire::{Answer, KEY, provider, read, request};
use serde_json::{Value, json};
use windlass_model::{ModelError, ModelProvider};
use windlass_openai::OpenAi;
use windlass_testkit::wire::{RecordedRequest, Reply, WireServer};
use windlass_types::{
    AddedTools, Api, CacheTtl, ContentBlock, DocumentSource, Effort, ImageSource, JsonText, Message, ModelErrorKind,
    ModelInfo, ModelRequest, SectionScope, SystemSection, Thinking, ToolChoice, ToolResult, ToolSpec,
};

async fn recorded(request: ModelRequest, set: impl FnOnce(&WireServer) -> OpenAi) -> RecordedRequest {
    let server = WireServer::start().await.unwrap();
    server.push(Answer::new().text("msg_1", &["ok"]).reply());
    let (_, error) = read(&set(&server), &request).await;
    assert!(error.is_none(), "{error:?}");
    server.requests().remove(0)
}

async fn body(request: ModelRequest) -> Value {
    recorded(request, provider).await.json().unwrap()
}

fn from(variables: &[(&str, &str)]) -> Result<OpenAi, ModelError> {
    let variables: HashMap<_, _> = variables.iter().copied().collect();
    OpenAi::from_lookup(|name| variables.get(name).map(|value| (*value).to_owned()))
}

/// Only the server knows how large the window of a model is that it has loaded.
#[tokio::test]
async fn a_server_of_the_user_is_asked_for_its_window() {
    let server = WireServer::start().await.unwrap();
    let url = format!("{}/v1", server.url());
    let provider = || from(&[("OPENAI_API_KEY", "sk-1"), ("OPENAI_BASE_URL", &url)]).unwrap();
    let asked = provider();
    let before = asked.model_info("gemma");
    assert!(!before.window_from_server);
    server.push(Reply::status(200, r#"{"object":"list","data":[{"id":"gemma","meta":{"n_ctx":12288}}]}"#));
    for _ in 0..2 {
        asked.prepare("gemma").await;
    }
    let sent = server.requests();
    assert_eq!(sent.len(), 1, "it is asked once");
    assert_eq!((sent[0].path.as_str(), sent[0].header("authorization")), ("/v1/models", Some("Bearer sk-1")));
    let info = asked.model_info("gemma");
    assert_eq!((info.context_window, info.window_from_server), (12_288, true));
    assert!(info.max_output_tokens <= 6_144 && info.default_output_tokens <= info.max_output_tokens);
    // A model of the table has the window of the table.
    asked.prepare("gpt-5.5").await;
    assert!(server.request_count() == 1 && !asked.model_info("gpt-5.5").window_from_server);
    // Servers that do not say it change nothing.
    for reply in
        [Reply::status(500, "no"), Reply::status(200, "<html>"), Reply::status(200, r#"{"data":[{"id":"m"}]}"#)]
    {
        let silent = provider();
        server.push(reply);
        silent.prepare("gemma").await;
        assert_eq!(silent.model_info("gemma"), before);
    }
    assert_eq!(server.request_count(), 4);
}

#[tokio::test]
async fn posts_to_the_responses_endpoint_with_the_headers_of_the_api() {
    let mut request = request();
    request.session_key = Some("session-1".into());
    let sent = recorded(request, |server| {
        from(&[
            ("OPENAI_API_KEY", "sk-1\n"),
            ("OPENAI_BASE_URL", &format!("{}/v1/", server.url())),
            ("OPENAI_ORG_ID", "org-1"),
            ("OPENAI_PROJECT_ID", "proj-1"),
        ])
        .unwrap()
    })
    .await;
    assert_eq!((sent.method.as_str(), sent.path.as_str()), ("POST", "/v1/responses"));
    for (name, value) in [
        ("authorization", Some("Bearer sk-1")),
        ("api-key", None),
        ("openai-organization", Some("org-1")),
        ("openai-project", Some("proj-1")),
        ("session-id", Some("session-1")),
        ("content-type", Some("application/json")),
        ("accept", Some("text/event-stream")),
        ("accept-encoding", Some("identity")),
    ] {
        assert_eq!(sent.header(name), value, "{name}");
    }
}

#[tokio::test]
async fn azure_takes_its_own_header_and_path() {
    let sent = recorded(request(), |server| {
        let base = format!("{}/openai/v1", server.url());
        OpenAi::builder().base_url(base).header("api-key", "azure-key").header("X-Team", "one").build().unwrap()
    })
    .await;
    assert_eq!(sent.path, "/openai/v1/responses");
    assert_eq!((sent.header("api-key"), sent.header("authorization")), (Some("azure-key"), None));
    assert_eq!(sent.header("x-team"), Some("one"));
}

#[tokio::test]
async fn b1_nothing_is_stored_and_reasoning_comes_encrypted() {
    let plain = body(request()).await;
    assert_eq!((&plain["store"], &plain["stream"]), (&json!(false), &json!(true)));
    assert_eq!(plain["include"], json!(["reasoning.encrypted_content"]));
    let mut old = request();
    old.model = "gpt-4.1".to_owned();
    old.effort = Some(Effort::High);
    let old = body(old).await;
    assert_eq!((old.get("include"), &old["reasoning"]), (None, &json!({"effort": "high"})));
}

#[tokio::test]
async fn a_whole_request_is_written_as_the_api_has_it() {
    let mut request = request();
    request.system = vec![
        SystemSection::new("You are.", SectionScope::Global),
        SystemSection::new(" ", SectionScope::Global),
        SystemSection::new("Say \"hi\".", SectionScope::Session),
    ];
    request.tools = Arc::from([Arc::new(ToolSpec::new("Look", "", JsonText::parse(r#"{"type":"object"}"#).unwrap()))]);
    request.tool_choice = ToolChoice::Tool("Look".into());
    request.max_output_tokens = 3;
    request.effort = Some(Effort::XHigh);
    request.user_id = Some("user-1".into());
    request.session_key = Some("k".repeat(65).into());
    let body = body(request).await;
    let key = body["prompt_cache_key"].as_str().unwrap();
    assert_eq!(key.len(), 32);
    assert_eq!(
        body,
        json!({
            "model": "gpt-6.2-sol",
            "instructions": "You are.\n\nSay \"hi\".",
            "tools": [{"type": "function", "name": "Look", "parameters": {"type": "object", "properties": {}}, "strict": false}],
            "tool_choice": {"type": "function", "name": "Look"},
            "input": [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]}],
            "reasoning": {"effort": "xhigh", "summary": "auto"},
            "max_output_tokens": 16,
            "stream": true,
            "store": false,
            "include": ["reasoning.encrypted_content"],
            "prompt_cache_key": key,
            "safety_identifier": "user-1",
        })
    );
}

#[tokio::test]
async fn b5_no_sampling_parameter_is_sent_and_efforts_are_those_of_the_model() {
    let mut request = request();
    for (model, effort, thinking, expected) in [
        ("gpt-6.2-sol", None, Thinking::Adaptive, json!({"summary": "auto"})),
        ("gpt-6.2-sol", None, Thinking::Off, json!({"summary": "auto"})),
        ("gpt-6-sol", None, Thinking::Off, json!({"effort": "none"})),
        ("gpt-6-sol", Some(Effort::Low), Thinking::Off, json!({"effort": "low", "summary": "auto"})),
        ("gpt-5.5", Some(Effort::Max), Thinking::Adaptive, json!({"effort": "xhigh", "summary": "auto"})),
        ("gpt-5-nano", Some(Effort::Max), Thinking::Budget(2_000), json!({"effort": "high", "summary": "auto"})),
        ("my-deployment", None, Thinking::Off, Value::Null),
    ] {
        (request.model, request.effort, request.thinking) = (model.to_owned(), effort, thinking);
        let body = body(request.clone()).await;
        assert_eq!(body["reasoning"], expected, "{model} {effort:?} {thinking:?}");
        assert!(["temperature", "top_p", "logprobs"].iter().all(|name| body.get(name).is_none()));
    }
}

#[tokio::test]
async fn summaries_can_be_switched_off_and_models_described() {
    let mut info = ModelInfo::new(50_000, 1_000);
    info.adaptive_thinking = true;
    let mut request = request();
    request.model = "my-deployment".to_owned();
    let sent = recorded(request, |server| {
        let builder = OpenAi::builder().api_key(KEY).base_url(server.url()).reasoning_summaries(false);
        let provider = builder.model("my-deployment", info).build().unwrap();
        assert_eq!(provider.model_info("my-deployment").context_window, 50_000);
        provider
    })
    .await;
    let body = sent.json().unwrap();
    assert_eq!((body.get("reasoning"), &body["include"][0]), (None, &json!("reasoning.encrypted_content")));
}

#[tokio::test]
async fn b6_requests_of_a_session_go_to_where_it_is_cached() {
    let mut request = request();
    request.session_key = Some("s".repeat(64).into());
    let sent = recorded(request.clone(), provider).await;
    assert_eq!(sent.json().unwrap()["prompt_cache_key"], json!("s".repeat(64)));
    assert_eq!(sent.header("session-id"), Some("s".repeat(64).as_str()));
    request.cache = None;
    let sent = recorded(request, provider).await;
    assert_eq!((sent.json().unwrap().get("prompt_cache_key"), sent.header("session-id")), (None, None));
}

#[tokio::test]
async fn a_session_that_caches_for_an_hour_asks_for_the_longest_retention_of_its_model() {
    let mut request = request();
    let mut of = async |model: &str, cache| {
        (request.model, request.cache) = (model.to_owned(), cache);
        let body = body(request.clone()).await;
        [body["prompt_cache_retention"].clone(), body["prompt_cache_options"].clone()]
    };
    let none = [Value::Null, Value::Null];
    assert_eq!(of("gpt-5.5", Some(CacheTtl::OneHour)).await, [json!("24h"), Value::Null]);
    assert_eq!(of("gpt-6.2-sol", Some(CacheTtl::OneHour)).await, [Value::Null, json!({"ttl": "30m"})]);
    assert_eq!(of("gpt-5.5", Some(CacheTtl::FiveMinutes)).await, none);
    assert_eq!(of("gpt-5.5", None).await, none);
}

#[tokio::test]
async fn choices_of_tools() {
    let mut request = request();
    request.tool_choice = ToolChoice::Any;
    assert_eq!(body(request.clone()).await.get("tool_choice"), None, "there are no tools");
    request.tools = Arc::from([Arc::new(ToolSpec::new("Look", "Looks.", JsonText::empty_object()))]);
    for (choice, expected) in [
        (ToolChoice::Auto, Value::Null),
        (ToolChoice::Any, json!("required")),
        (ToolChoice::None, json!("none")),
        (ToolChoice::Tool("Look".into()), json!({"type": "function", "name": "Look"})),
    ] {
        request.tool_choice = choice;
        assert_eq!(body(request.clone()).await["tool_choice"], expected);
    }
}

#[tokio::test]
async fn b6_tools_that_come_later_stand_where_they_came() {
    let spec = |name: &str| {
        let mut tool = ToolSpec::new(name, "", JsonText::parse(r#"{"type":"object","properties":{}}"#).unwrap());
        tool.strict = name == "C";
        Arc::new(tool)
    };
    let written = |name: &str, strict: bool| {
        let mut parameters = json!({"type": "object", "properties": {}});
        if strict {
            parameters["required"] = json!([]);
            parameters["additionalProperties"] = json!(false);
        }
        json!({"type": "function", "name": name, "parameters": parameters, "strict": strict})
    };
    let mut request = request();
    request.tools = Arc::from([spec("A")]);
    request.messages.push(Message::assistant(vec![ContentBlock::text("ok")]).into());
    request.messages.push(Message::user_text("more").into());
    request.added_tools = vec![AddedTools::new(1, vec![spec("B")]), AddedTools::new(3, vec![spec("C"), spec("D")])];
    request.tool_choice = ToolChoice::Any;
    let sent = body(request.clone()).await;
    assert_eq!(sent["tools"], json!([written("A", false)]));
    let kinds: Vec<&str> =
        sent["input"].as_array().unwrap().iter().map(|item| item["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["message", "additional_tools", "message", "message", "additional_tools"]);
    assert_eq!(
        sent["input"][4],
        json!({"type": "additional_tools", "role": "developer", "tools": [written("C", true), written("D", false)]})
    );
    // A model that does not take them there has them in front.
    request.model = "gpt-5.5".to_owned();
    let sent = body(request.clone()).await;
    assert_eq!(sent["tools"].as_array().unwrap().len(), 4);
    assert_eq!(sent["input"].as_array().unwrap().len(), 3);
    (request.model, request.tools) = ("gpt-6.2-sol".to_owned(), Arc::from([]));
    let sent = body(request).await;
    assert_eq!((sent.get("tools"), &sent["tool_choice"]), (None, &json!("required")));
}

#[tokio::test]
async fn extra_members_win() {
    let mut request = request();
    request.extra = Some(
        JsonText::parse(r#"{"service_tier":"flex","reasoning":{"effort":"low"},"max_output_tokens":7,"a\"b":1}"#)
            .unwrap(),
    );
    let body = body(request.clone()).await;
    assert_eq!(body["reasoning"], json!({"effort": "low"}));
    assert_eq!(
        (&body["service_tier"], &body["max_output_tokens"], &body["a\"b"]),
        (&json!("flex"), &json!(7), &json!(1))
    );
    request.extra = Some(JsonText::parse("[1]").unwrap());
    let server = WireServer::start().await.unwrap();
    let error = read(&provider(&server), &request).await.1.unwrap();
    assert_eq!((error.kind, server.request_count()), (ModelErrorKind::Configuration, 0));
}

fn image(source: ImageSource) -> ContentBlock {
    ContentBlock::Image { source }
}

fn document(source: DocumentSource, title: Option<&str>) -> ContentBlock {
    ContentBlock::Document { source, title: title.map(str::to_owned) }
}

#[tokio::test]
async fn images_and_documents_are_parts_of_messages() {
    let mut request = request();
    let pdf = || DocumentSource::Base64 { media_type: "application/pdf".into(), data: "JVBE".into() };
    request.messages = vec![
        Message::user(vec![
            ContentBlock::text("see"),
            ContentBlock::text(""),
            image(ImageSource::Base64 { media_type: "image/png".into(), data: "AA==".into() }),
            image(ImageSource::Url { url: "https://x/\"a.png".into() }),
            image(ImageSource::File { file_id: "file-1".into() }),
            document(pdf(), None),
            document(pdf(), Some("Report")),
            document(DocumentSource::Text { media_type: "text/plain".into(), data: "text".into() }, Some("Note")),
            document(DocumentSource::Url { url: "https://x/a.pdf".into() }, None),
            document(DocumentSource::File { file_id: "file-2".into() }, None),
        ])
        .into(),
    ];
    assert_eq!(
        body(request).await["input"][0]["content"],
        json!([
            {"type": "input_text", "text": "see"},
            {"type": "input_image", "detail": "auto", "image_url": "data:image/png;base64,AA=="},
            {"type": "input_image", "detail": "auto", "image_url": "https://x/\"a.png"},
            {"type": "input_image", "detail": "auto", "file_id": "file-1"},
            {"type": "input_file", "filename": "document.pdf", "file_data": "data:application/pdf;base64,JVBE"},
            {"type": "input_file", "filename": "Report.pdf", "file_data": "data:application/pdf;base64,JVBE"},
            {"type": "input_text", "text": "Note\n\ntext"},
            {"type": "input_file", "file_url": "https://x/a.pdf"},
            {"type": "input_file", "file_id": "file-2"},
        ])
    );
}

#[tokio::test]
async fn results_are_items_with_text_or_parts() {
    let mut request = request();
    let png = image(ImageSource::Base64 { media_type: "image/png".into(), data: "AA==".into() });
    request.messages = vec![
        Message::user(vec![
            ContentBlock::text("before"),
            ContentBlock::ToolResult(ToolResult::ok("call_1", "plain \"text\"")),
            ContentBlock::ToolResult(ToolResult::error("call_2", "failed")),
            ContentBlock::ToolResult(ToolResult::ok("call_3", vec![ContentBlock::text("a"), ContentBlock::text("b")])),
            ContentBlock::ToolResult(ToolResult::ok("call_4", vec![ContentBlock::text("a"), png])),
            ContentBlock::text("after"),
        ])
        .into(),
        Message::user(vec![]).into(),
    ];
    let message =
        |text: &str| json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]});
    let output = |id: &str, output: Value| json!({"type": "function_call_output", "call_id": id, "output": output});
    assert_eq!(
        body(request).await["input"],
        json!([
            message("before"),
            output("call_1", json!("plain \"text\"")),
            output("call_2", json!("failed")),
            output("call_3", json!("a\nb")),
            output(
                "call_4",
                json!([
                    {"type": "input_text", "text": "a"},
                    {"type": "input_image", "detail": "auto", "image_url": "data:image/png;base64,AA=="},
                ])
            ),
            message("after"),
        ])
    );
}

#[tokio::test]
async fn the_bytes_of_one_request_begin_the_next() {
    let mut request = request();
    request.system = vec![SystemSection::new("You are.", SectionScope::Global)];
    let first = recorded(request.clone(), provider).await;
    request.messages.push(Message::assistant(vec![ContentBlock::text("ok")]).into());
    request.messages.push(Message::user_text("more").into());
    let second = recorded(request, provider).await;
    let text = |sent: &RecordedRequest| String::from_utf8(sent.body.to_vec()).unwrap();
    let (prefix, _) = text(&first).split_once("],\"reasoning\"").map(|(a, b)| (a.to_owned(), b.len())).unwrap();
    assert!(text(&second).starts_with(&prefix) && prefix.contains("You are."));
}

#[test]
fn set_ups_that_cannot_work_say_what_to_do() {
    let key = ("OPENAI_API_KEY", "sk-secret-1");
    for (variables, kind, says) in [
        (vec![], ModelErrorKind::Authentication, "OPENAI_API_KEY"),
        (vec![("OPENAI_API_KEY", " ")], ModelErrorKind::Authentication, "OPENAI_API_KEY"),
        (vec![("OPENAI_API_KEY", "sk\u{1}secret-1")], ModelErrorKind::Configuration, "key"),
        (vec![key, ("OPENAI_BASE_URL", "localhost")], ModelErrorKind::Configuration, "base URL"),
        (vec![key, ("OPENAI_ORG_ID", "a\u{1}b")], ModelErrorKind::Configuration, "openai-organization"),
    ] {
        let error = from(&variables).unwrap_err();
        assert_eq!(error.kind, kind, "{variables:?}");
        assert!(error.message.contains(says), "{error}");
        assert!(!format!("{error} {error:?}").contains("secret-1"));
    }
    for (name, value) in [("a b", "x"), ("host", "x"), ("x", "")] {
        let error = OpenAi::builder().api_key("k").header(name, value).build().unwrap_err();
        assert_eq!(error.kind, ModelErrorKind::Configuration, "{name}");
    }
}

#[test]
fn nothing_shows_the_key() {
    let builder = OpenAi::builder().api_key("sk-secret-1").header("cookie", "sk-secret-2");
    assert!(!format!("{builder:?}").contains("sk-secret"));
    assert!(!format!("{:?}", builder.build().unwrap()).contains("sk-secret"));
}

#[tokio::test]
async fn counts_tokens() {
    let server = WireServer::start().await.unwrap();
    let provider = provider(&server);
    let mut asked = request();
    asked.effort = Some(Effort::Low);
    asked.session_key = Some("s".into());
    asked.extra = Some(JsonText::parse(r#"{"service_tier":"flex","parallel_tool_calls":false}"#).unwrap());
    server.push(Reply::json(&json!({"object": "response.input_tokens", "input_tokens": 2095})));
    assert_eq!(provider.count_tokens(Arc::new(asked)).await.unwrap(), 2095);
    let sent = server.requests().remove(0);
    assert_eq!(sent.path, "/responses/input_tokens");
    let body = sent.json().unwrap();
    let names: Vec<&str> = body.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(names, ["input", "model", "parallel_tool_calls", "reasoning"]);

    let request = Arc::new(request());
    server.push(Reply::json(&json!({"input_tokens": "many"})));
    assert_eq!(provider.count_tokens(Arc::clone(&request)).await.unwrap_err().kind, ModelErrorKind::Protocol);
    server.push(Reply::status(404, "404 page not found"));
    let error = provider.count_tokens(Arc::clone(&request)).await.unwrap_err();
    assert_eq!((error.kind, error.unbilled), (ModelErrorKind::NotFound, true));
    assert!(error.message.contains("cannot count"), "{error}");
    let missing = json!({"error": {"code": "model_not_found", "message": "The model `gpt-9` does not exist."}});
    server.push(Reply::status(404, missing.to_string()));
    let error = provider.count_tokens(request).await.unwrap_err();
    assert!(error.message.contains("gpt-9"), "{error}");
}

#[test]
fn models_have_the_dialect_of_the_provider() {
    let provider = OpenAi::new("k").unwrap();
    assert_eq!(provider.name(), "openai");
    let info = provider.model_info("gpt-6.2-sol");
    assert_eq!(info.api, Api::new("openai", Api::RESPONSES));
    let azure = OpenAi::builder().api_key("k").name("azure").build().unwrap();
    assert_eq!((azure.name(), azure.model_info("x").api), ("azure", Api::new("azure", Api::RESPONSES)));
    assert!(info.price.is_some() && provider.model_info("unheard-of").price.is_none());
    assert_eq!(provider.resolve_model("default"), "gpt-6.2-sol");
    assert_eq!(provider.similar_models("gpt-6.2-soll")[0], "gpt-6.2-sol");
    assert!(provider.similar_models("gpt-6.2-sol").is_empty());
}

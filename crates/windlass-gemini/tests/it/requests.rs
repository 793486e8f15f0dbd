//! Request bodies.

use crate::wire::{MODEL, asking, request, sent, tool};
use serde_json::{Value, json};
use std::sync::Arc;
use windlass_types::{
    CacheTtl, ContentBlock, DocumentSource, Effort, ImageSource, JsonText, Message, ModelRequest, ResponseFormat,
    SectionScope, SystemSection, Thinking, ToolChoice,
};

fn json_text(text: &str) -> JsonText {
    JsonText::parse(text).unwrap()
}

#[tokio::test]
async fn a_small_request_is_what_the_api_documents() {
    let mut request = request();
    (request.user_id, request.session_key) = (Some("u".to_owned()), Some("k".into()));
    request.betas = vec!["b".to_owned()];
    request.thinking = Thinking::Adaptive;
    let expected = json!({
        "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
        "generationConfig": {"maxOutputTokens": 1000, "thinkingConfig": {"includeThoughts": true}},
    });
    assert_eq!(sent(request.clone()).await, expected);
    // The API caches on its own: hints change nothing.
    request.cache = None;
    assert_eq!(sent(request).await, expected);
}

#[tokio::test]
async fn system_and_tools_come_before_the_contents() {
    let mut request = request();
    let section = |text: &str| SystemSection::new(text, SectionScope::Session);
    request.system = vec![section("be \"kind\""), section(" "), section("be short")];
    request.tools = Arc::from([tool("Write", r#"{"type":"object","z":1.0,"a":{}}"#), tool("Edit", "{}")]);
    let body = sent(request).await;
    assert_eq!(body["systemInstruction"], json!({"parts": [{"text": "be \"kind\""}, {"text": "be short"}]}));
    assert_eq!(
        body["tools"],
        json!([{"functionDeclarations": [
            {"name": "Write", "description": "does Write", "parametersJsonSchema": {"type": "object", "z": 1.0, "a": {}}},
            {"name": "Edit", "description": "does Edit", "parametersJsonSchema": {}},
        ]}])
    );
    assert_eq!(body.get("toolConfig"), None);
}

#[tokio::test]
async fn alternatives_at_the_top_stay_and_what_holds_together_is_one_object() {
    let mut request = request();
    let any = json!({"type": "object", "anyOf": [{"required": ["a"]}, {"required": ["b"]}]});
    let all = r#"{"type":"object","allOf":[{"properties":{"a":{}},"required":["a"]},{"properties":{"b":{}}}]}"#;
    request.tools = Arc::from([tool("Any", &any.to_string()), tool("All", all)]);
    let body = sent(request).await;
    let tools = &body["tools"][0]["functionDeclarations"];
    assert_eq!((&tools[0]["parametersJsonSchema"], &tools[0]["description"]), (&any, &json!("does Any")));
    let flat = json!({"type": "object", "properties": {"a": {}, "b": {}}, "required": ["a"]});
    assert_eq!(tools[1]["parametersJsonSchema"], flat);
    assert!(tools[1]["description"].as_str().unwrap().contains("must also fit"));
}

#[tokio::test]
async fn d4_schemas_have_enums_for_constants_and_no_annotations() {
    let mut request = request();
    let schema = r#"{"$schema":"s","$id":"i","title":"T","type":"object",
        "properties":{"title":{"type":"string","title":"A"},"kind":{"const":"x","type":"string"}}}"#;
    request.tools = Arc::from([tool("Write", schema)]);
    request.response_format = Some(ResponseFormat::json_schema("f", json_text(schema)));
    let cleaned = json!({"type": "object",
        "properties": {"title": {"type": "string"}, "kind": {"enum": ["x"], "type": "string"}}});
    let body = sent(request).await;
    assert_eq!(body["tools"][0]["functionDeclarations"][0]["parametersJsonSchema"], cleaned);
    assert_eq!(body["generationConfig"]["responseJsonSchema"], cleaned);
    assert_eq!(body["generationConfig"]["responseMimeType"], "application/json");
}

/// Prompts are cached automatically, for as long as the service decides.
#[tokio::test]
async fn no_lifetime_of_the_cache_can_be_asked_for() {
    let mut bodies = Vec::new();
    for ttl in [Some(CacheTtl::OneHour), Some(CacheTtl::FiveMinutes), None] {
        let mut request = request();
        request.cache = ttl;
        bodies.push(sent(request).await);
    }
    assert!(bodies.iter().all(|body| *body == bodies[0]), "{bodies:?}");
}

#[tokio::test]
async fn tool_choices_are_modes() {
    let config = |choice: ToolChoice, strict: bool| async move {
        let mut request = request();
        let mut spec = tool("Read", "{}");
        Arc::make_mut(&mut spec).strict = strict;
        request.tools = Arc::from([spec]);
        request.tool_choice = choice;
        sent(request).await["toolConfig"]["functionCallingConfig"].clone()
    };
    assert_eq!(config(ToolChoice::Auto, false).await, Value::Null);
    assert_eq!(config(ToolChoice::Auto, true).await, json!({"mode": "VALIDATED"}));
    assert_eq!(config(ToolChoice::Any, true).await, json!({"mode": "ANY"}));
    assert_eq!(config(ToolChoice::None, false).await, json!({"mode": "NONE"}));
    let only = json!({"mode": "ANY", "allowedFunctionNames": ["Read"]});
    assert_eq!(config(ToolChoice::Tool("Read".into()), false).await, only);
    let mut without = request();
    without.tool_choice = ToolChoice::Any;
    assert_eq!(sent(without).await.get("toolConfig"), None);
}

async fn thinking(model: &str, thinking: Thinking, effort: Option<Effort>) -> Value {
    let mut request = asking(model, vec![Message::user_text("hi")]);
    (request.thinking, request.effort) = (thinking, effort);
    sent(request).await["generationConfig"]["thinkingConfig"].clone()
}

#[tokio::test]
async fn d8_models_from_gemini_3_on_are_asked_for_levels() {
    use Thinking::{Adaptive, Budget, Off};
    let level = |level: &str| json!({"includeThoughts": true, "thinkingLevel": level});
    for (model, wanted, effort, expected) in [
        ("gemini-4-argon", Adaptive, None, json!({"includeThoughts": true})),
        ("gemini-4-argon", Adaptive, Some(Effort::Medium), level("MEDIUM")),
        ("gemini-4-argon", Adaptive, Some(Effort::Max), level("HIGH")),
        ("gemini-4-neon", Adaptive, Some(Effort::Max), level("XHIGH")),
        ("gemini-4-hydrogen", Adaptive, Some(Effort::XHigh), level("XHIGH")),
        ("gemini-4-argon", Budget(2_000), None, level("LOW")),
        ("gemini-3.8-flash", Budget(5_000), None, level("MEDIUM")),
        ("gemini-3.8-flash", Budget(30_000), None, level("HIGH")),
        ("gemini-4-argon", Off, None, json!({"thinkingLevel": "LOW"})),
        ("gemini-3.8-flash", Off, Some(Effort::High), json!({"thinkingLevel": "LOW"})),
        ("gemini-3.5-flash", Off, None, json!({"thinkingLevel": "MINIMAL"})),
        ("gemini-flash-latest", Off, None, json!({"thinkingLevel": "LOW"})),
        ("gemini-3-pro-preview", Adaptive, Some(Effort::Medium), level("LOW")),
        ("gemma-4-31b-it", Adaptive, Some(Effort::Low), level("MINIMAL")),
        ("gemma-4-31b-it", Adaptive, Some(Effort::Medium), level("HIGH")),
        ("other", Adaptive, Some(Effort::High), Value::Null),
    ] {
        let sent = thinking(model, wanted, effort).await;
        assert_eq!(sent, expected, "{model} {wanted:?} {effort:?}");
        assert_eq!(sent.get("thinkingBudget"), None);
    }
}

#[tokio::test]
async fn d8_older_models_are_asked_for_budgets() {
    use Thinking::{Adaptive, Budget, Off};
    let budget = |budget: i64| json!({"includeThoughts": true, "thinkingBudget": budget});
    for (model, wanted, expected) in [
        ("gemini-2.5-pro", Adaptive, budget(-1)),
        ("gemini-2.5-pro", Budget(100_000), budget(32_768)),
        ("gemini-2.5-pro", Budget(1), budget(128)),
        ("gemini-2.5-pro", Off, json!({"thinkingBudget": 128})),
        ("gemini-2.5-flash", Budget(2_000), budget(2_000)),
        ("gemini-2.5-flash", Off, json!({"thinkingBudget": 0})),
        ("gemini-2.5-flash-lite", Budget(1), budget(512)),
        ("gemini-2.0-flash", Adaptive, Value::Null),
    ] {
        assert_eq!(thinking(model, wanted, Some(Effort::High)).await, expected, "{model} {wanted:?}");
    }
}

#[tokio::test]
async fn extra_members_win() {
    let mut request = request();
    request.tools = Arc::from([tool("Read", "{}")]);
    request.extra = Some(json_text(
        r#"{"generationConfig":{"temperature":1.0},"safetySettings":[],"tools":[{"googleSearch":{}}],"a\"b":1}"#,
    ));
    assert_eq!(
        sent(request).await,
        json!({
            "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
            "generationConfig": {"temperature": 1.0},
            "safetySettings": [],
            "tools": [{"googleSearch": {}}],
            "a\"b": 1,
        })
    );
}

#[tokio::test]
async fn images_and_documents_are_data_or_addresses() {
    let image = |source| ContentBlock::Image { source };
    let document = |source| ContentBlock::Document { source, title: Some("Plan".to_owned()) };
    let url = |url: &str| image(ImageSource::Url { url: url.to_owned() });
    let own = "https://generativelanguage.googleapis.com/v1beta/files/x";
    let message = Message::user(vec![
        ContentBlock::text(" "),
        image(ImageSource::Base64 { media_type: "image/webp".into(), data: "AA==".into() }),
        url("https://a.example/b.PNG?c=d.pdf"),
        url("https://a.example/b"),
        image(ImageSource::File { file_id: own.to_owned() }),
        image(ImageSource::File { file_id: "files/x".to_owned() }),
        document(DocumentSource::Base64 { media_type: "application/pdf".into(), data: "QQ==".into() }),
        document(DocumentSource::Text { media_type: "text/plain".into(), data: "steps".into() }),
        document(DocumentSource::Url { url: "gs://bucket/plan".into() }),
    ]);
    let file = |kind: &str, uri: &str| json!({"fileData": {"mimeType": kind, "fileUri": uri}});
    assert_eq!(
        sent(asking(MODEL, vec![message])).await["contents"],
        json!([{"role": "user", "parts": [
            {"inlineData": {"mimeType": "image/webp", "data": "AA=="}},
            file("image/png", "https://a.example/b.PNG?c=d.pdf"),
            file("image/jpeg", "https://a.example/b"),
            {"fileData": {"fileUri": own}},
            {"fileData": {"fileUri": own}},
            {"text": "Plan"},
            {"inlineData": {"mimeType": "application/pdf", "data": "QQ=="}},
            {"text": "Plan"},
            {"text": "steps"},
            {"text": "Plan"},
            file("application/pdf", "gs://bucket/plan"),
        ]}])
    );
}

#[tokio::test]
async fn content_that_cannot_be_sent_leaves_a_valid_body() {
    let foreign = ContentBlock::Unknown(json_text(r#"{"type":"server_tool_use","id":"s"}"#));
    let odd = ContentBlock::Unknown(json_text(r#"{"type":"gemini_part","part":7}"#));
    let unsigned = ContentBlock::Thinking { thinking: "hm".to_owned(), signature: String::new() };
    let redacted = ContentBlock::RedactedThinking { data: "x".to_owned() };
    let messages = vec![
        Message::user(vec![foreign.clone()]),
        Message::assistant(vec![foreign, odd, unsigned, redacted, ContentBlock::text(" ")]),
        Message::user_text("go"),
    ];
    let nothing = json!({"role": "user", "parts": [{"text": "(no content)"}]});
    let go = json!({"role": "user", "parts": [{"text": "go"}]});
    assert_eq!(sent(asking(MODEL, messages)).await["contents"], json!([nothing, go]));
    assert_eq!(sent(ModelRequest::new(MODEL, vec![], 5)).await["contents"], json!([nothing]));
}

#[tokio::test]
async fn a_request_is_the_beginning_of_the_next() {
    let history = |turns: usize| -> Vec<Message> {
        let pair = |at: usize| {
            let call = windlass_types::ToolUse::new(format!("call|{at}").as_str(), "Read", json_text("{\"n\": 1.50}"));
            let result = windlass_types::ToolResult::ok(format!("call|{at}").as_str(), "x");
            [
                Message::assistant(vec![ContentBlock::ToolUse(call)]),
                Message::user(vec![ContentBlock::ToolResult(result)]),
            ]
        };
        std::iter::once(Message::user_text("go")).chain((0..turns).flat_map(pair)).collect()
    };
    let contents = |turns: usize| async move {
        sent(asking("gemini-4-argon", history(turns))).await["contents"].as_array().unwrap().clone()
    };
    let (short, long) = (contents(3).await, contents(5).await);
    assert!(long.starts_with(&short) && long.len() == 11);
}

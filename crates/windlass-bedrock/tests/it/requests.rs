//! Request bodies.

use crate::wire::{CLAUDE, LLAMA, NOVA, NOVA_2, OSS, asking, request, sent, tool};
use serde_json::{Value, json};
use std::sync::Arc;
use windlass_types::{
    AddedTools, CacheTtl, ContentBlock, Effort, JsonText, Message, ModelRequest, ResponseFormat, SectionScope,
    SystemSection, Thinking, ToolChoice,
};

fn json_text(text: &str) -> JsonText {
    JsonText::parse(text).unwrap()
}

fn to(model: &str) -> ModelRequest {
    asking(model, vec![Message::user_text("hi")])
}

fn plain(mut request: ModelRequest) -> ModelRequest {
    request.cache = None;
    request
}

#[tokio::test]
async fn a_small_request_is_what_the_api_documents() {
    let mut request = plain(to(LLAMA));
    (request.user_id, request.session_key) = (Some("u".to_owned()), Some("k".into()));
    request.betas = vec!["b".to_owned()];
    assert_eq!(
        sent(request).await,
        json!({
            "messages": [{"role": "user", "content": [{"text": "hi"}]}],
            "inferenceConfig": {"maxTokens": 1000},
        })
    );
}

#[tokio::test]
async fn system_and_tools_stand_apart() {
    let mut request = plain(request());
    let section = |text: &str| SystemSection::new(text, SectionScope::Session);
    request.system = vec![section("be \"kind\""), section(" "), section("be short")];
    let bare = Arc::new(windlass_types::ToolSpec::new("Bare", " ", json_text(r#"{"type":"object"}"#)));
    request.tools = Arc::from([tool("Write", r#"{"type":"object","properties":{"z":{},"a":{}}}"#), bare]);
    request.added_tools = vec![AddedTools::new(1, vec![tool("Late", r#"{"type":"object"}"#)])];
    let body = sent(request).await;
    assert_eq!(body["system"], json!([{"text": "be \"kind\""}, {"text": "be short"}]));
    let schema = json!({"json": {"type": "object", "properties": {"z": {}, "a": {}}}});
    assert_eq!(
        body["toolConfig"],
        json!({"tools": [
            {"toolSpec": {"name": "Write", "description": "does Write", "inputSchema": schema}},
            {"toolSpec": {"name": "Bare", "inputSchema": {"json": {"type": "object"}}}},
            {"toolSpec": {"name": "Late", "description": "does Late", "inputSchema": {"json": {"type": "object"}}}},
        ]})
    );
}

#[tokio::test]
async fn schemas_of_nova_have_three_members_at_the_top() {
    let schema = r#"{"$schema":"s","title":"T","type":"object","additionalProperties":false,"description":"d",
        "properties":{"a":{"type":"object","additionalProperties":false}},"required":["a"]}"#;
    let referring = r##"{"type":"object","$defs":{"A":{}},"title":"T","properties":{"a":{"$ref":"#/$defs/A"}}}"##;
    let schemas = |model: &'static str| async move {
        let mut request = to(model);
        request.tools = Arc::from([tool("A", schema), tool("B", referring)]);
        let tools = sent(plain(request)).await["toolConfig"]["tools"].clone();
        [0, 1].map(|at: usize| tools[at]["toolSpec"]["inputSchema"]["json"].clone())
    };
    let [first, second] = schemas(NOVA).await;
    let inner = json!({"a": {"type": "object", "additionalProperties": false}});
    assert_eq!(first, json!({"type": "object", "properties": inner, "required": ["a"]}));
    assert_eq!(second["$defs"], json!({"A": {}}));
    assert_eq!(second.get("title"), None);
    let unchanged: Value = serde_json::from_str(schema).unwrap();
    assert_eq!(schemas(LLAMA).await[0], unchanged);
}

#[tokio::test]
async fn tool_choices_are_those_that_a_model_takes() {
    let choice = |model: &'static str, choice: ToolChoice| async move {
        let mut request = to(model);
        request.tools = Arc::from([tool("Read", r#"{"type":"object"}"#)]);
        request.tool_choice = choice;
        sent(request).await["toolConfig"]["toolChoice"].clone()
    };
    let one = || ToolChoice::Tool("Read".into());
    let (any, tool) = (json!({"any": {}}), json!({"tool": {"name": "Read"}}));
    for model in [NOVA, CLAUDE] {
        assert_eq!(choice(model, ToolChoice::Any).await, any, "{model}");
        assert_eq!(choice(model, one()).await, tool, "{model}");
    }
    let mistral = "mistral.mistral-large-3-675b-instruct";
    assert_eq!((choice(mistral, ToolChoice::Any).await, choice(mistral, one()).await), (any.clone(), any));
    for choosing in [ToolChoice::Any, one(), ToolChoice::Auto, ToolChoice::None] {
        assert_eq!(choice(LLAMA, choosing).await, Value::Null);
    }
    assert_eq!(choice(NOVA, ToolChoice::None).await, Value::Null);
    let mut without = request();
    without.tool_choice = ToolChoice::Any;
    assert_eq!(sent(without).await.get("toolConfig"), None);
}

#[tokio::test]
async fn strict_tools_are_for_models_that_have_them() {
    let strict = |model: &'static str| async move {
        let mut spec = tool("Read", r#"{"type":"object"}"#);
        Arc::make_mut(&mut spec).strict = true;
        let mut request = to(model);
        request.tools = Arc::from([spec, tool("Write", r#"{"type":"object"}"#)]);
        let tools = sent(request).await["toolConfig"]["tools"].clone();
        assert_eq!(tools[1]["toolSpec"].get("strict"), None);
        tools[0]["toolSpec"]["strict"].clone()
    };
    assert_eq!(strict(CLAUDE).await, true);
    assert_eq!(strict(OSS).await, true);
    assert_eq!(strict(NOVA).await, Value::Null);
    assert_eq!(strict(LLAMA).await, Value::Null);
}

#[tokio::test]
async fn the_form_of_an_answer_is_a_schema_as_text() {
    let mut request = plain(to(OSS));
    request.response_format = Some(ResponseFormat::json_schema("f", json_text(r#"{"type": "object"}"#)));
    let form = json!({"name": "f", "schema": "{\"type\": \"object\"}"});
    let text_format = json!({"type": "json_schema", "structure": {"jsonSchema": form}});
    assert_eq!(sent(request).await["outputConfig"], json!({"textFormat": text_format}));
}

async fn fields(model: &str, thinking: Thinking, effort: Option<Effort>, most: u32) -> (Value, Value) {
    let mut request = to(model);
    (request.thinking, request.effort, request.max_output_tokens) = (thinking, effort, most);
    let body = sent(request).await;
    (body["additionalModelRequestFields"].clone(), body["inferenceConfig"].clone())
}

#[tokio::test]
async fn e3_the_output_limit_is_sent_and_stands_above_the_budget() {
    use Thinking::{Adaptive, Budget, Off};
    let claude = CLAUDE;
    for (thinking, most, expected) in [
        (Off, 4_000, Value::Null),
        (Budget(2_000), 4_000, json!({"thinking": {"type": "enabled", "budget_tokens": 2_000}})),
        (Budget(9_000), 4_000, json!({"thinking": {"type": "enabled", "budget_tokens": 3_999}})),
        (Budget(1), 4_000, json!({"thinking": {"type": "enabled", "budget_tokens": 1_024}})),
        (Adaptive, 4_000, json!({"thinking": {"type": "enabled", "budget_tokens": 3_999}})),
        (Budget(2_000), 1_024, Value::Null),
    ] {
        let sent = fields(claude, thinking, None, most).await;
        assert_eq!(sent, (expected, json!({"maxTokens": most})), "{thinking:?} {most}");
    }
    assert_eq!(fields(LLAMA, Off, None, 0).await.1, json!({"maxTokens": 1}));
}

#[tokio::test]
async fn newer_claude_models_decide_themselves_how_much_to_reason() {
    let model = "global.anthropic.claude-opus-5";
    let adaptive = json!({"type": "adaptive", "display": "summarized"});
    for thinking in [Thinking::Adaptive, Thinking::Budget(5_000)] {
        let (fields, _) = fields(model, thinking, Some(Effort::Max), 9_000).await;
        assert_eq!(fields, json!({"thinking": adaptive, "output_config": {"effort": "max"}}));
    }
    let mut request = to(model);
    request.betas = vec!["context-1m".to_owned()];
    assert_eq!(sent(request).await["additionalModelRequestFields"], json!({"anthropic_beta": ["context-1m"]}));
}

#[tokio::test]
async fn each_family_is_asked_to_reason_in_its_own_way() {
    use Thinking::{Adaptive, Budget, Off};
    let nova = |effort: &str| json!({"reasoningConfig": {"type": "enabled", "maxReasoningEffort": effort}});
    let oss = |effort: &str| json!({"reasoning_effort": effort});
    let gpt = |effort: &str| json!({"reasoning": {"effort": effort}});
    let kimi = "global.moonshotai.kimi-k3";
    let gpt_5 = "global.openai.gpt-5.6-sol";
    for (model, thinking, effort, expected) in [
        (NOVA_2, Off, Some(Effort::High), Value::Null),
        (NOVA_2, Adaptive, None, nova("medium")),
        (NOVA_2, Adaptive, Some(Effort::Low), nova("low")),
        (NOVA_2, Budget(5_000), None, nova("medium")),
        (NOVA, Adaptive, Some(Effort::High), Value::Null),
        (OSS, Off, None, oss("low")),
        (OSS, Adaptive, None, Value::Null),
        (OSS, Adaptive, Some(Effort::Max), oss("high")),
        (OSS, Budget(500), None, oss("low")),
        (kimi, Adaptive, Some(Effort::Medium), oss("low")),
        (kimi, Adaptive, Some(Effort::Max), oss("max")),
        (gpt_5, Off, None, gpt("none")),
        (gpt_5, Adaptive, Some(Effort::XHigh), gpt("xhigh")),
        (LLAMA, Adaptive, Some(Effort::High), Value::Null),
        ("other", Budget(9_000), Some(Effort::High), Value::Null),
    ] {
        let (fields, limit) = fields(model, thinking, effort, 9_000).await;
        assert_eq!(fields, expected, "{model} {thinking:?} {effort:?}");
        assert_eq!(limit, json!({"maxTokens": 9_000}), "{model}");
    }
    // At its highest effort Nova refuses a limit.
    assert_eq!(fields(NOVA_2, Adaptive, Some(Effort::Max), 9_000).await, (nova("high"), Value::Null));
}

/// Returns two scopes of the system prompt, tools, and a conversation of three messages of the user.
fn long(model: &str) -> ModelRequest {
    let answer = |text: &str| {
        let thinking = ContentBlock::Thinking { thinking: "hm".into(), signature: "sig".into() };
        Message::assistant(vec![thinking, ContentBlock::text(text)])
    };
    let user = Message::user_text;
    let mut request = asking(model, vec![user("1"), answer("a"), user("2"), answer("b"), user("3")]);
    let section = |text: &str, scope| SystemSection::new(text, scope);
    request.system = vec![
        section("g", SectionScope::Global),
        section("s", SectionScope::Session),
        section("t", SectionScope::Session),
    ];
    request.tools = Arc::from([tool("Read", r#"{"type":"object"}"#)]);
    request
}

fn points(value: &Value) -> usize {
    value.to_string().matches("cachePoint").count()
}

#[tokio::test]
async fn e4_cache_points_are_at_most_four_and_never_behind_reasoning() {
    let point = json!({"cachePoint": {"type": "default"}});
    let body = sent(long(CLAUDE)).await;
    assert_eq!(points(&body), 4);
    assert_eq!(body["toolConfig"]["tools"][1], point);
    assert_eq!(body["system"], json!([{"text": "g"}, {"text": "s"}, {"text": "t"}, point]));
    let messages = body["messages"].as_array().unwrap();
    assert_eq!(messages[0]["content"], json!([{"text": "1"}]));
    assert_eq!(messages[2]["content"], json!([{"text": "2"}, point]));
    assert_eq!(messages[4]["content"], json!([{"text": "3"}, point]));
    assert!(messages.iter().filter(|message| message["role"] == "assistant").all(|message| points(message) == 0));

    let mut without_tools = long(CLAUDE);
    without_tools.tools = Arc::from([]);
    let body = sent(without_tools).await;
    assert_eq!(body["system"], json!([{"text": "g"}, point, {"text": "s"}, {"text": "t"}, point]));
    assert_eq!(points(&body), 4);
}

#[tokio::test]
async fn e4_only_claude_and_nova_have_cache_points_and_nova_none_for_tools() {
    let body = sent(long(NOVA)).await;
    assert_eq!((points(&body), points(&body["toolConfig"]), points(&body["system"])), (4, 0, 2));
    for model in [LLAMA, OSS, "deepseek.v3.2", "other"] {
        assert_eq!(points(&sent(long(model)).await), 0, "{model}");
    }
    assert_eq!(points(&sent(plain(long(CLAUDE))).await), 0);
}

#[tokio::test]
async fn e4_longer_lifetimes_come_first_because_all_are_the_same() {
    let lifetimes = |model: &'static str| async move {
        let mut request = long(model);
        request.cache = Some(CacheTtl::OneHour);
        let body = sent(request).await.to_string();
        (body.matches("\"ttl\":\"1h\"").count(), body.matches("cachePoint").count())
    };
    assert_eq!(lifetimes(CLAUDE).await, (4, 4));
    // Models without the long lifetime get the short one.
    assert_eq!(lifetimes("us.anthropic.claude-3-7-sonnet-20250219-v1:0").await, (0, 4));
    assert_eq!(lifetimes(NOVA).await, (0, 4));
}

#[tokio::test]
async fn extra_members_win() {
    let mut request = plain(to(LLAMA));
    request.extra = Some(json_text(
        r#"{"inferenceConfig":{"temperature":0.50},"guardrailConfig":{"guardrailIdentifier":"g"},"a\"b":1}"#,
    ));
    assert_eq!(
        sent(request).await,
        json!({
            "messages": [{"role": "user", "content": [{"text": "hi"}]}],
            "inferenceConfig": {"maxTokens": 1000, "temperature": 0.5},
            "guardrailConfig": {"guardrailIdentifier": "g"},
            "a\"b": 1,
        })
    );
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
        sent(plain(asking(NOVA, history(turns)))).await["messages"].as_array().unwrap().clone()
    };
    let (short, long) = (contents(3).await, contents(5).await);
    assert!(long.starts_with(&short) && long.len() == 11);
}

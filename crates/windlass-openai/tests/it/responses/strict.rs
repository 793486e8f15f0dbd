//! Strict schemas: sent if possible, and given up if the server refuses them.

use std::sync::Arc;

use super::wire::{Answer, provider, read, request};
use serde_json::{Value, json};
use windlass_testkit::wire::{Reply, WireServer};
use windlass_types::{JsonText, ModelErrorKind, ModelRequest, ResponseFormat, ToolSpec};

fn schema() -> JsonText {
    JsonText::of(&json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
        "properties": {"path": {"type": "string"}, "limit": {"type": "integer", "minimum": 1}}, "required": ["path"],
    }))
    .unwrap()
}

fn asking(model: &str) -> ModelRequest {
    let mut strict = ToolSpec::new("Read", "Reads.", schema());
    strict.strict = true;
    let mut free =
        ToolSpec::new("Store", "Stores.", JsonText::parse(r#"{"type":"object","additionalProperties":{}}"#).unwrap());
    free.strict = true;
    let loose = ToolSpec::new("Look", "Looks.", schema());
    let mut request = request();
    request.model = model.to_owned();
    request.tools = Arc::from([strict, free, loose].map(Arc::new));
    request
}

fn refusal(code: &str, param: &str, text: &str) -> Reply {
    let body = json!({"error": {"message": text, "type": "invalid_request_error", "param": param, "code": code}});
    Reply::status(400, body.to_string()).header("content-type", "application/json")
}

fn ok() -> Reply {
    Answer::new().text("msg_1", &["ok"]).reply()
}

fn stricts(body: &Value) -> Vec<bool> {
    body["tools"].as_array().unwrap().iter().map(|tool| tool["strict"].as_bool().unwrap()).collect()
}

#[tokio::test]
async fn b8_schemas_are_converted_where_they_can_be() {
    let server = WireServer::start().await.unwrap();
    server.push(ok());
    assert!(read(&provider(&server), &asking("gpt-6.2-sol")).await.1.is_none());
    let body = server.requests()[0].json().unwrap();
    assert_eq!(stricts(&body), [true, false, false]);
    assert_eq!(
        body["tools"][0],
        json!({
            "type": "function", "name": "Read", "description": "Reads.", "strict": true,
            "parameters": {
                "type": "object",
                "properties": {"path": {"type": "string"}, "limit": {"type": ["integer", "null"], "minimum": 1}},
                "required": ["limit", "path"], "additionalProperties": false,
            },
        })
    );
    assert_eq!(body["tools"][2]["parameters"], serde_json::from_str::<Value>(schema().as_str()).unwrap());
}

#[tokio::test]
async fn b8_a_refused_schema_is_sent_once_more_without_strict_and_remembered() {
    let server = WireServer::start().await.unwrap();
    let provider = provider(&server);
    let text = "Invalid schema for function 'Read': In context=(), 'required' is required to be supplied.";
    server.push(refusal("invalid_function_parameters", "tools[0].parameters", text));
    for _ in 0..3 {
        server.push(ok());
    }
    assert!(read(&provider, &asking("gpt-6.2-sol")).await.1.is_none());
    assert!(read(&provider.clone(), &asking("gpt-6.2-sol")).await.1.is_none());
    assert!(read(&provider, &asking("gpt-5.5")).await.1.is_none());
    let sent: Vec<Vec<bool>> = server.requests().iter().map(|request| stricts(&request.json().unwrap())).collect();
    assert_eq!(sent, [[true, false, false], [false; 3], [false; 3], [true, false, false]]);
}

#[tokio::test]
async fn b8_other_refusals_are_not_sent_again() {
    let server = WireServer::start().await.unwrap();
    let provider = provider(&server);
    for reply in [
        refusal("invalid_value", "input[0].content", "Invalid value: 'input_txt'."),
        refusal("context_length_exceeded", "input", "Your input exceeds the context window."),
        Reply::status(500, "strict"),
    ] {
        server.push(reply);
        let before = server.request_count();
        assert!(read(&provider, &asking("gpt-6.2-sol")).await.1.is_some());
        assert_eq!(server.request_count(), before + 1);
    }
    // Without a strict schema there is no other form to try.
    let schemas =
        || refusal("invalid_function_parameters", "tools[0].parameters", "Invalid schema for function 'Look'.");
    server.push(schemas());
    let mut request = asking("gpt-6.2-sol");
    request.tools = Arc::from([Arc::clone(&request.tools[2])]);
    let (_, error) = read(&provider, &request).await;
    assert_eq!((error.unwrap().kind, server.request_count()), (ModelErrorKind::InvalidRequest, 4));
    // A refusal of both forms is not remembered.
    server.push(schemas());
    server.push(schemas());
    assert!(read(&provider, &asking("gpt-6.2-sol")).await.1.is_some());
    server.push(ok());
    assert!(read(&provider, &asking("gpt-6.2-sol")).await.1.is_none());
    assert_eq!(stricts(&server.requests()[6].json().unwrap()), [true, false, false]);
}

#[tokio::test]
async fn answers_have_a_form() {
    let server = WireServer::start().await.unwrap();
    let provider = provider(&server);
    server.push(ok());
    server.push(refusal("invalid_json_schema", "text.format.schema", "Invalid schema for response_format 'a_b'."));
    server.push(ok());
    let mut request = request();
    let free = JsonText::parse(r#"{"type":"object","additionalProperties":true}"#).unwrap();
    for (name, schema) in [("any thing!", free), ("a_b", schema())] {
        request.response_format = Some(ResponseFormat::json_schema(name, schema));
        assert!(read(&provider, &request).await.1.is_none());
    }
    let formats: Vec<Value> =
        server.requests().iter().map(|request| request.json().unwrap()["text"]["format"].clone()).collect();
    let names: Vec<_> = formats.iter().map(|format| (format["name"].clone(), format["strict"].clone())).collect();
    assert_eq!(names, [(json!("anything"), json!(false)), (json!("a_b"), json!(true)), (json!("a_b"), json!(false))]);
    assert_eq!(formats[1]["schema"]["required"], json!(["limit", "path"]));
    assert_eq!(formats[2]["schema"]["required"], json!(["path"]));
}

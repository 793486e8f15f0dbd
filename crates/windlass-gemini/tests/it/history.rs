//! Replay of earlier messages: signatures on their own parts, ids and results.

use crate::wire::{MODEL, answer, asking, chunk, last, provider, read, sent};
use serde_json::{Value, json};
use windlass_gemini::Gemini;
use windlass_testkit::provider::conversation;
use windlass_testkit::wire::WireServer;
use windlass_types::{
    Api, ContentBlock, DocumentSource, ImageSource, JsonText, Message, Origin, ToolResult, ToolResultContent, ToolUse,
};

const FOREIGN: &str = "skip_thought_signature_validator";

/// Returns the parts that are sent back of an answer in these chunks.
async fn sent_back(chunks: &[Vec<Value>]) -> Vec<Value> {
    let server = WireServer::start().await.unwrap();
    let mut whole: Vec<Value> = chunks.iter().map(|parts| chunk(json!(parts))).collect();
    whole.push(last(json!([]), "STOP"));
    server.push(answer(&whole));
    let (events, error) = read(&provider(&server), asking(MODEL, vec![Message::user_text("hi")])).await;
    assert!(error.is_none(), "{error:?}");
    let origin = Origin::new(Api::new("gemini", Api::GEMINI), MODEL, MODEL);
    let body = sent(asking(MODEL, conversation(&events, origin).unwrap())).await;
    let contents = body["contents"].as_array().unwrap();
    assert_eq!((contents.len(), &contents[1]["role"]), (3, &json!("model")));
    contents[1]["parts"].as_array().unwrap().clone()
}

fn text(text: &str) -> Value {
    json!({"text": text})
}

fn signed(text: &str, signature: &str) -> Value {
    json!({"text": text, "thoughtSignature": signature})
}

fn thought(text: &str, signature: Option<&str>) -> Value {
    let mut part = json!({"text": text, "thought": true});
    if let Some(signature) = signature {
        part["thoughtSignature"] = signature.into();
    }
    part
}

fn call(id: &str, signature: Option<&str>) -> Value {
    let mut part = json!({"functionCall": {"id": id, "name": "Read", "args": {"n": 1}}});
    if let Some(signature) = signature {
        part["thoughtSignature"] = signature.into();
    }
    part
}

#[tokio::test]
async fn d1_parts_go_back_as_they_came() {
    for parts in [
        vec![call("a", Some("s1")), call("b", None), call("c", None)],
        vec![call("a", Some("s1")), call("b", Some("s2"))],
        vec![text("I look"), call("a", Some("s1"))],
        vec![signed("I look", "s0"), call("a", Some("s1"))],
        vec![text("wor"), signed("ld", "s1")],
        vec![signed("one", "s1"), signed("two", "s2"), text("three")],
        vec![text("one"), signed("two", "s1"), text("three"), signed("four", "s2")],
        vec![text("all"), signed("", "s1")],
        vec![signed("", "s0"), text("all")],
        vec![signed("", "s0"), signed(" \n", "s1"), signed("all", "s2"), signed("", "s3"), signed("", "s4")],
        vec![signed("", "s0"), call("a", Some("s1")), signed("", "s2"), call("b", None), signed("\n", "s3")],
        vec![thought("hm", Some("s0")), signed("", "s1"), call("a", Some("s2"))],
        vec![thought("hm", Some("s0")), thought("so", Some("s1")), signed("all", "s2")],
        vec![thought("", Some("s0")), text("all")],
        vec![text("wörd 🦀"), signed("日本", "s1"), signed("\t", "s2")],
        vec![
            json!({"executableCode": {"code": "1", "language": "PYTHON"}, "thoughtSignature": "s0"}),
            json!({"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}}),
            text("one"),
        ],
    ] {
        // In one chunk, and each part in a chunk of its own.
        assert_eq!(sent_back(std::slice::from_ref(&parts)).await, parts);
        let apart: Vec<Vec<Value>> = parts.iter().map(|part| vec![part.clone()]).collect();
        assert_eq!(sent_back(&apart).await, parts);
    }
}

#[tokio::test]
async fn d1_deltas_without_signature_are_one_part() {
    let apart = [vec![text("o")], vec![text("ne ")], vec![text("\n")], vec![text("two"), signed("", "s1")]];
    assert_eq!(sent_back(&apart).await, [text("one \ntwo"), signed("", "s1")]);
    let thoughts = [vec![thought("h", None)], vec![thought("m", Some("s0"))], vec![signed("all", "s1")]];
    assert_eq!(sent_back(&thoughts).await, [thought("hm", Some("s0")), signed("all", "s1")]);
    // Reasoning without a signature means nothing to the API.
    assert_eq!(sent_back(&[vec![thought("hm", None), signed("all", "s1")]]).await, [signed("all", "s1")]);
}

fn foreign_history() -> Vec<Message> {
    let read = |id: &str| ContentBlock::ToolUse(ToolUse::new(id, "Read", JsonText::parse("{\"n\": 1.0}").unwrap()));
    let done = |id: &str| ContentBlock::ToolResult(ToolResult::ok(id, "x"));
    vec![
        Message::user_text("go"),
        Message::assistant(vec![ContentBlock::text("Reading"), read("toolu_1"), read("fc|2")]),
        Message::user(vec![done("toolu_1"), done("fc|2")]),
        Message::assistant(vec![read("toolu_3")]),
        Message::user(vec![done("toolu_3")]),
    ]
}

#[tokio::test]
async fn d1_foreign_calls_get_the_documented_signature() {
    for model in ["gemini-3-flash-preview", "gemini-4-argon", "gemini-pro-latest"] {
        let body = sent(asking(model, foreign_history())).await;
        let signatures: Vec<Vec<Option<&str>>> = [1, 3]
            .map(|turn| {
                let parts = body["contents"][turn]["parts"].as_array().unwrap();
                parts.iter().map(|part| part.get("thoughtSignature").and_then(Value::as_str)).collect()
            })
            .to_vec();
        assert_eq!(signatures, [vec![None, Some(FOREIGN), None], vec![Some(FOREIGN)]], "{model}");
    }
    for model in ["gemini-2.5-pro", "gemma-4-31b-it", "other"] {
        assert!(!sent(asking(model, foreign_history())).await.to_string().contains(FOREIGN), "{model}");
    }
    // A step with a signature of its own gets no other.
    let mut own = foreign_history();
    own[1].content[2].set_replay(Some(JsonText::parse(r#"{"thoughtSignature":"c2ln"}"#).unwrap()));
    let body = sent(asking("gemini-4-argon", own)).await;
    assert_eq!(body["contents"][1]["parts"][1].get("thoughtSignature"), None);
    assert_eq!(body["contents"][1]["parts"][2]["thoughtSignature"], "c2ln");
}

#[tokio::test]
async fn d1_a_text_that_is_not_the_signed_one_goes_without_signature() {
    for (kept, parts) in [
        (r#"{"thoughtSignature":"s","unsigned":1}"#, json!([{"text": "日本"}])),
        (r#"{"thoughtSignature":"s","unsigned":100}"#, json!([{"text": "日本"}])),
        (r#"{"thoughtSignature":"s","unsigned":3}"#, json!([{"text": "日"}, {"text": "本", "thoughtSignature": "s"}])),
        (r#"{"thoughtSignature":7}"#, json!([{"text": "日本"}])),
        (r#"["no object"]"#, json!([{"text": "日本"}])),
        (r#"{"later":1,"thoughtSignature":"s"}"#, json!([{"text": "日本", "thoughtSignature": "s"}])),
    ] {
        let mut block = ContentBlock::text("日本");
        block.set_replay(Some(JsonText::parse(kept).unwrap()));
        let messages = vec![Message::user_text("a"), Message::assistant(vec![block]), Message::user_text("b")];
        assert_eq!(sent(asking(MODEL, messages)).await["contents"][1]["parts"], parts, "{kept}");
    }
}

#[tokio::test]
async fn d2_ids_are_echoed_and_made_only_where_they_are_known() {
    let ids = |body: &Value| -> Vec<(Value, Value)> {
        let parts = |turn: usize, member: &str| -> Vec<Value> {
            let parts = body["contents"][turn]["parts"].as_array().unwrap();
            parts.iter().filter_map(|part| part.get(member)).map(|call| call["id"].clone()).collect()
        };
        let results = [parts(2, "functionResponse"), parts(4, "functionResponse")].concat();
        [parts(1, "functionCall"), parts(3, "functionCall")].concat().into_iter().zip(results).collect()
    };
    let made = ids(&sent(asking("gemini-4-argon", foreign_history())).await);
    assert!(made.iter().all(|(call, result)| call == result), "{made:?}");
    assert_eq!((&made[0].0, &made[2].0), (&json!("toolu_1"), &json!("toolu_3")));
    assert!(made[1].0.as_str().unwrap().starts_with("call_"), "{made:?}");
    let none = ids(&sent(asking("gemini-2.5-pro", foreign_history())).await);
    assert_eq!(none, vec![(Value::Null, Value::Null); 3]);

    // For signed calls the API gave the ids, or did without.
    let mut signed = foreign_history();
    signed[1].content[1].set_replay(Some(JsonText::parse(r#"{"thoughtSignature":"c2ln"}"#).unwrap()));
    let without = ids(&sent(asking("gemini-4-argon", signed)).await);
    let none = (Value::Null, Value::Null);
    assert_eq!(without, [none.clone(), none, (json!("toolu_3"), json!("toolu_3"))]);

    // Ids of the API are sent back, regardless of model and service.
    let mut given = foreign_history();
    given[1].content[2].set_replay(Some(JsonText::parse(r#"{"id":"its own|id"}"#).unwrap()));
    let echoed = ids(&sent(asking("gemini-2.5-pro", given.clone())).await);
    assert_eq!(echoed[1], (json!("its own|id"), json!("its own|id")));
    let server = WireServer::start().await.unwrap();
    server.push(answer(&[last(json!([{"text": "ok"}]), "STOP")]));
    let vertex = Gemini::vertex("p", "global").token("t").base_url(server.url()).build().unwrap();
    assert!(read(&vertex, asking("gemini-4-argon", given)).await.1.is_none());
    let echoed = ids(&server.requests()[0].json().unwrap());
    let own = json!("its own|id");
    assert_eq!(echoed, [(Value::Null, Value::Null), (own.clone(), own), (Value::Null, Value::Null)]);
}

fn png() -> ContentBlock {
    ContentBlock::Image { source: ImageSource::Base64 { media_type: "image/png".into(), data: "AA==".into() } }
}

fn pdf() -> ContentBlock {
    let source = DocumentSource::Base64 { media_type: "application/pdf".into(), data: "QQ==".into() };
    ContentBlock::Document { source, title: Some("Plan".into()) }
}

/// Returns a history of two calls, whose results are a text and the given content, with a text of the user after them.
fn with_results(content: ToolResultContent, is_error: bool) -> Vec<Message> {
    let mut messages = foreign_history();
    messages.truncate(3);
    let mut second = ToolResult::ok("fc|2", content);
    second.is_error = is_error;
    messages[2].content[1] = ContentBlock::ToolResult(second);
    messages[2].content.push(ContentBlock::text("and now?"));
    messages
}

#[tokio::test]
async fn d2_all_results_of_a_step_are_in_one_turn() {
    let body = sent(asking("gemini-2.5-pro", with_results("y".into(), false))).await;
    let contents = body["contents"].as_array().unwrap();
    assert_eq!(
        contents[2],
        json!({"role": "user", "parts": [
            {"functionResponse": {"name": "Read", "response": {"output": "x"}}},
            {"functionResponse": {"name": "Read", "response": {"output": "y"}}},
        ]})
    );
    assert_eq!(contents[3], json!({"role": "user", "parts": [{"text": "and now?"}]}));
    assert_eq!(contents.len(), 4);
}

#[tokio::test]
async fn d3_results_are_objects_of_output_or_error() {
    let second = |body: &Value| body["contents"][2]["parts"][1]["functionResponse"]["response"].clone();
    let failed = sent(asking("gemini-4-argon", with_results("no such file".into(), true))).await;
    assert_eq!(second(&failed), json!({"error": "no such file"}));
    let number = sent(asking("gemini-4-argon", with_results("7".into(), false))).await;
    assert_eq!(second(&number), json!({"output": "7"}));
    let blocks = vec![ContentBlock::text("a"), ContentBlock::text("b")];
    let joined = sent(asking("gemini-4-argon", with_results(blocks.into(), false))).await;
    assert_eq!(second(&joined), json!({"output": "a\nb"}));
}

#[tokio::test]
async fn d3_images_are_inside_of_results_from_gemini_3_on() {
    let content = || ToolResultContent::Blocks(vec![ContentBlock::text("two"), png(), pdf()]);
    let (image, document) = (
        json!({"inlineData": {"mimeType": "image/png", "data": "AA=="}}),
        json!({"inlineData": {"mimeType": "application/pdf", "data": "QQ=="}}),
    );
    let new = sent(asking("gemini-3.1-pro-preview", with_results(content(), false))).await;
    let result = &new["contents"][2]["parts"][1]["functionResponse"];
    assert_eq!(result["response"], json!({"output": "two"}));
    assert_eq!(result["parts"], json!([image, document]));
    assert_eq!(new["contents"][3], json!({"role": "user", "parts": [{"text": "and now?"}]}));

    let old = sent(asking("gemini-2.5-pro", with_results(content(), false))).await;
    let results = old["contents"][2]["parts"].as_array().unwrap();
    assert!(results.len() == 2 && results.iter().all(|part| part["functionResponse"].get("parts").is_none()));
    let label = json!({"text": "Media of the result of Read:"});
    assert_eq!(old["contents"][3], json!({"role": "user", "parts": [label, image, document, {"text": "and now?"}]}));
    let alone = sent(asking("gemini-2.5-pro", with_results(vec![png()].into(), false))).await;
    let text = &alone["contents"][2]["parts"][1]["functionResponse"]["response"]["output"];
    assert_eq!(text, "(see the attached media)");
}

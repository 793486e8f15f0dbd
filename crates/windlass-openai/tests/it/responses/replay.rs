//! Content from the API is sent back unchanged.

use std::sync::Arc;

use super::wire::{Answer, message, provider, request};
use futures_util::StreamExt;
use serde_json::{Value, json};
use windlass_model::ModelProvider;
use windlass_testkit::wire::WireServer;
use windlass_types::{ContentBlock, JsonText, Message, ToolResult, ToolUse};

/// Returns the input items of a request with these messages.
async fn input(messages: Vec<Message>) -> Vec<Value> {
    let server = WireServer::start().await.unwrap();
    server.push(Answer::new().text("msg_9", &["ok"]).reply());
    let mut request = request();
    request.messages = messages.into_iter().map(Into::into).collect();
    let stream = provider(&server).stream(Arc::new(request)).await.unwrap();
    assert!(stream.collect::<Vec<_>>().await.iter().all(Result::is_ok));
    server.requests()[0].json().unwrap()["input"].as_array().unwrap().clone()
}

/// Returns the items as which a message of the model is sent back.
async fn sent_back(message: Message) -> Vec<Value> {
    input(vec![message]).await
}

fn kinds(items: &[Value]) -> Vec<&str> {
    items.iter().map(|item| item["type"].as_str().unwrap()).collect()
}

fn reasoning(id: &str, encrypted: &str) -> Value {
    json!({"id": id, "type": "reasoning", "summary": [{"type": "summary_text", "text": "s"}], "encrypted_content": encrypted})
}

#[tokio::test]
async fn b1_reasoning_goes_back_word_by_word_in_its_place() {
    let answer = Answer::new()
        .reasoning("rs_1", &["s"], Some("gAAA"))
        .text("msg_1", &["I look."])
        .reasoning("rs_2", &["s"], Some("gBBB"))
        .call("call_1", "Read", &["{\"a\": 1.50}"]);
    let items = sent_back(message(&answer.completed()).await).await;
    assert_eq!(
        items,
        [
            reasoning("rs_1", "gAAA"),
            json!({
                "type": "message", "role": "assistant", "id": "msg_1", "status": "completed", "phase": "final_answer",
                "content": [{"type": "output_text", "annotations": [], "text": "I look."}],
            }),
            reasoning("rs_2", "gBBB"),
            json!({"type": "function_call", "id": "fc_call_1", "call_id": "call_1", "name": "Read", "arguments": "{\"a\": 1.50}"}),
        ]
    );
}

#[tokio::test]
async fn b1_reasoning_is_encrypted_only_in_the_completed_response_on_azure() {
    let mut answer =
        Answer::new().reasoning("rs_1", &["s"], None).call("call_1", "Read", &["{}"]).call("call_2", "Read", &["{}"]);
    answer.output[0] = reasoning("rs_1", "gAAA");
    let message = message(&answer.completed()).await;
    assert!(
        matches!(&message.content[0], ContentBlock::Thinking { thinking, signature } if thinking == "s" && signature.is_empty())
    );
    let items = sent_back(message).await;
    assert_eq!(kinds(&items), ["reasoning", "function_call", "function_call"]);
    assert_eq!(items[0], reasoning("rs_1", "gAAA"));
    assert_eq!((&items[1]["id"], &items[2]["id"]), (&json!("fc_call_1"), &json!("fc_call_2")));
}

#[tokio::test]
async fn b1_reasoning_that_nothing_can_read_again_is_not_sent_back() {
    let answer = Answer::new().reasoning("rs_1", &["s"], None).call("call_1", "Read", &["{}"]);
    let items = sent_back(message(&answer.completed()).await).await;
    assert_eq!(items, [json!({"type": "function_call", "call_id": "call_1", "name": "Read", "arguments": "{}"})]);
}

#[tokio::test]
async fn b1_plain_reasoning_of_other_servers_goes_back() {
    let item = json!({"id": "rs_1", "type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": "hm"}]});
    let delta = json!({"type": "response.reasoning_text.delta", "content_index": 0, "delta": "hm"});
    let answer = Answer::new().item(item.clone(), vec![delta], item.clone()).text("msg_1", &["a"]);
    let message = message(&answer.completed()).await;
    assert!(matches!(&message.content[0], ContentBlock::Thinking { thinking, .. } if thinking == "hm"));
    assert_eq!(sent_back(message).await[0], item);
}

#[tokio::test]
async fn b2_reasoning_without_the_item_that_follows_it_is_left_out() {
    let answer = Answer::new().reasoning("rs_1", &["s"], Some("gAAA")).call("call_1", "Read", &["{}"]);
    let mut cut = message(&answer.completed()).await;
    cut.content.truncate(1);
    assert_eq!(sent_back(cut).await, [] as [Value; 0]);

    let ignored = json!({"id": "x_1", "type": "later_call"});
    let answer = Answer::new()
        .reasoning("rs_1", &["s"], Some("gAAA"))
        .item(ignored.clone(), vec![], ignored)
        .text("msg_1", &["a"]);
    assert_eq!(kinds(&sent_back(message(&answer.completed()).await).await), ["message"]);
}

#[tokio::test]
async fn b2_a_call_without_its_reasoning_goes_without_its_id() {
    let answer = Answer::new()
        .reasoning("rs_1", &["s"], Some("gAAA"))
        .text("msg_1", &["a"])
        .call("call_1", "Read", &["{}"])
        .call("call_2", "Read", &["{}"]);
    let mut message = message(&answer.completed()).await;
    message.content.remove(0);
    let items = sent_back(message).await;
    assert_eq!(kinds(&items), ["message", "function_call", "function_call"]);
    assert!(items.iter().all(|item| item.get("id").is_none()), "{items:?}");
    assert_eq!((&items[0]["content"], &items[0]["phase"]), (&json!("a"), &json!("final_answer")));
}

#[tokio::test]
async fn b2_a_call_of_another_model_goes_without_id_and_reasoning() {
    let foreign = Message::assistant(vec![
        ContentBlock::Thinking { thinking: "hm".into(), signature: "c2ln".into() },
        ContentBlock::RedactedThinking { data: "x".into() },
        ContentBlock::text("I look."),
        ContentBlock::ToolUse(ToolUse::new("toolu_1", "Read", JsonText::empty_object())),
        ContentBlock::Unknown(JsonText::parse(r#"{"type":"server_tool_use","id":"s"}"#).unwrap()),
    ]);
    assert_eq!(
        sent_back(foreign).await,
        [
            json!({"type": "message", "role": "assistant", "content": "I look."}),
            json!({"type": "function_call", "call_id": "toolu_1", "name": "Read", "arguments": "{}"}),
        ]
    );
}

#[tokio::test]
async fn b2_parallel_calls_and_several_reasonings_stay_together() {
    let answer = Answer::new()
        .reasoning("rs_1", &["s"], Some("g1"))
        .reasoning("rs_2", &["s"], Some("g2"))
        .call("call_1", "Read", &["{}"])
        .call("call_2", "Read", &["{}"]);
    let items = sent_back(message(&answer.completed()).await).await;
    assert_eq!(kinds(&items), ["reasoning", "reasoning", "function_call", "function_call"]);
    assert!(items.iter().all(|item| item["id"].is_string()));
}

#[tokio::test]
async fn b3_ids_fit_and_calls_meet_their_results() {
    let long = format!("call_1|fc_{}", "x".repeat(450));
    let ids = [long.as_str(), "a b", "toolu_1", "call_0"];
    let calls = ids.map(|id| ContentBlock::ToolUse(ToolUse::new(id, "Read", JsonText::empty_object())));
    let results = ids.map(|id| ContentBlock::ToolResult(ToolResult::ok(id, "x")));
    let items = input(vec![Message::assistant(calls.to_vec()), Message::user(results.to_vec())]).await;
    let sent: Vec<&str> = items.iter().map(|item| item["call_id"].as_str().unwrap()).collect();
    assert_eq!(sent[..4], sent[4..]);
    assert!(sent.iter().all(|id| id.len() <= 64 && !id.contains(['|', ' '])), "{sent:?}");
    assert_eq!(sent[2..4], ["toolu_1", "call_0"]);
    assert_ne!(sent[0], sent[1]);
}

#[tokio::test]
async fn b3_long_ids_of_items_are_left_out() {
    let id = "m".repeat(65);
    let items = sent_back(message(&Answer::new().text(&id, &["a"]).completed()).await).await;
    assert_eq!(items, [json!({"type": "message", "role": "assistant", "content": "a", "phase": "final_answer"})]);
}

#[tokio::test]
async fn b5_phases_are_echoed() {
    let mut commentary =
        json!({"id": "msg_1", "type": "message", "role": "assistant", "phase": "commentary", "status": "completed"});
    commentary["content"] = json!([{"type": "output_text", "text": "I look.", "annotations": []}]);
    let answer = Answer::new().item(commentary.clone(), vec![], commentary).text("msg_2", &["Done."]);
    let items = sent_back(message(&answer.completed()).await).await;
    assert_eq!(
        items.iter().map(|item| item["phase"].as_str().unwrap()).collect::<Vec<_>>(),
        ["commentary", "final_answer"]
    );
}

#[tokio::test]
async fn parts_of_one_item_go_back_as_one() {
    let part = |text: &str| json!({"type": "output_text", "text": text, "annotations": []});
    let mut item =
        json!({"id": "msg_1", "type": "message", "role": "assistant", "phase": "final_answer", "content": []});
    let added = item.clone();
    item["content"] = json!([part("one"), part("two"), {"type": "refusal", "refusal": "no"}]);
    let delta =
        |at: usize, text: &str| json!({"type": "response.output_text.delta", "content_index": at, "delta": text});
    let answer =
        Answer::new().reasoning("rs_1", &["s"], Some("gAAA")).item(added, vec![delta(0, "one"), delta(1, "tw")], item);
    let message = message(&answer.completed()).await;
    assert_eq!(message.content.len(), 4);
    let items = sent_back(message).await;
    assert_eq!(kinds(&items), ["reasoning", "message"]);
    assert_eq!(items[1]["content"], json!([part("one"), part("two"), {"type": "refusal", "refusal": "no"}]));
}

#[tokio::test]
async fn items_of_tools_that_the_api_runs_go_back() {
    let search = json!({"id": "ws_1", "type": "web_search_call", "status": "completed", "action": {"type": "search", "query": "q"}});
    let answer = Answer::new()
        .reasoning("rs_1", &["s"], Some("gAAA"))
        .item(json!({"id": "ws_1", "type": "web_search_call"}), vec![], search.clone())
        .text("msg_1", &["a"]);
    let items = sent_back(message(&answer.completed()).await).await;
    assert_eq!(kinds(&items), ["reasoning", "web_search_call", "message"]);
    assert_eq!(items[1], search);
}

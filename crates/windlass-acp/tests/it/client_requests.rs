//! Requests of the owner of the sessions to the client.

use crate::world::{Agent, Client, calls, says};
use serde_json::{Value, json};
use std::path::Path;
use windlass_acp::{AcpClient, AcpElicitation, AcpElicitationAnswer, AcpElicitationKind};
use windlass_types::JsonText;

/// A client with these abilities, and the way to it from its session.
async fn connected(capabilities: Value) -> (Client, String, AcpClient) {
    let agent = Agent::new([says("one"), says("two")]);
    let mut client = Client::new(&agent);
    client.initialize(capabilities).await;
    let session = client.session().await;
    let to_client = agent.begun.lock().unwrap()[0].client.clone();
    (client, session, to_client)
}

fn form() -> AcpElicitation {
    let schema = json!({ "type": "object", "properties": { "name": { "type": "string" } } });
    AcpElicitation::new("srv: Who?", AcpElicitationKind::Form { schema: JsonText::of(&schema).unwrap() })
}

fn page() -> AcpElicitation {
    AcpElicitation::new(
        "srv: Go",
        AcpElicitationKind::Url { url: "https://example.com/".to_owned(), id: "e1".to_owned() },
    )
}

#[tokio::test(start_paused = true)]
async fn a_form_reaches_the_client_and_its_values_come_back() {
    let (mut client, session, to_client) = connected(json!({ "elicitation": { "form": {} } })).await;
    let asking = tokio::spawn(async move { to_client.elicit(form()).await });
    let (_, request) = client.until("elicitation/create").await;
    assert_eq!((&request["params"]["sessionId"], &request["params"]["mode"]), (&json!(session), &json!("form")));
    assert_eq!(request["params"]["requestedSchema"]["properties"]["name"]["type"], "string");
    client.answer(&request, json!({ "action": "accept", "content": { "name": "x" } })).await;
    let AcpElicitationAnswer::Accept(Some(content)) = asking.await.unwrap() else { panic!("not accepted") };
    assert_eq!(content.to::<Value>().unwrap(), json!({ "name": "x" }));
}

#[tokio::test(start_paused = true)]
async fn a_page_is_for_clients_that_open_pages() {
    let (mut client, _, to_client) = connected(json!({ "elicitation": { "url": {} } })).await;
    assert_eq!(to_client.elicit(form()).await, AcpElicitationAnswer::Decline);
    let asking = tokio::spawn(async move { to_client.elicit(page()).await });
    let (before, request) = client.until("elicitation/create").await;
    assert!(before.is_empty(), "the form was not sent: {before:?}");
    assert_eq!((&request["params"]["mode"], &request["params"]["elicitationId"]), (&json!("url"), &json!("e1")));
    client.answer(&request, json!({ "action": "accept" })).await;
    assert_eq!(asking.await.unwrap(), AcpElicitationAnswer::Accept(None));
}

#[tokio::test(start_paused = true)]
async fn a_client_without_abilities_is_asked_nothing() {
    for capabilities in [json!({}), json!({ "fs": { "readTextFile": false }, "elicitation": null })] {
        let (client, _, to_client) = connected(capabilities).await;
        assert_eq!(to_client.elicit(form()).await, AcpElicitationAnswer::Decline);
        assert_eq!(to_client.elicit(page()).await, AcpElicitationAnswer::Decline);
        assert!(!to_client.reads_files() && to_client.read_text_file(Path::new("/w/a")).await.is_err());
        let (rest, served) = client.end().await;
        served.unwrap();
        assert!(rest.is_empty(), "{rest:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_buffer_is_read_and_a_refusal_is_an_error() {
    let (mut client, session, to_client) = connected(json!({ "fs": { "readTextFile": true } })).await;
    for (answer, expected) in
        [(json!({ "content": "unsaved" }), Some("unsaved")), (json!({ "content": 1 }), None), (json!(null), None)]
    {
        let to_client = to_client.clone();
        let reading = tokio::spawn(async move { to_client.read_text_file(Path::new("/w/a")).await });
        let (_, request) = client.until("fs/read_text_file").await;
        assert_eq!(request["params"], json!({ "sessionId": session, "path": "/w/a" }));
        client.answer(&request, answer).await;
        assert_eq!(reading.await.unwrap().ok().as_deref(), expected);
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_that_nobody_waits_for_is_withdrawn() {
    let (mut client, session, to_client) = connected(json!({ "fs": { "readTextFile": true } })).await;
    let waiting = to_client.clone();
    let reading = tokio::spawn(async move { waiting.read_text_file(Path::new("/w/a")).await });
    let (_, request) = client.until("fs/read_text_file").await;
    reading.abort();
    let (_, withdrawn) = client.until("$/cancel_request").await;
    assert_eq!(withdrawn["params"]["requestId"], request["id"]);
    // A late answer has no effect.
    client.answer(&request, json!({ "content": "late" })).await;
    // A session that closes withdraws all, and then there is no client any more.
    let waiting = to_client.clone();
    let reading = tokio::spawn(async move { waiting.read_text_file(Path::new("/w/b")).await });
    client.until("fs/read_text_file").await;
    let (before, answer) = client.ask("session/close", json!({ "sessionId": session })).await;
    assert!(before.iter().any(|message| message["method"] == "$/cancel_request"), "{before:?}");
    assert_eq!(answer["result"], json!({}));
    assert!(reading.await.unwrap().is_err());
    assert!(to_client.read_text_file(Path::new("/w/c")).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn questions_of_the_model_are_a_form_where_the_client_shows_forms() {
    for (capabilities, method) in
        [(json!({ "elicitation": { "form": {} } }), "elicitation/create"), (json!({}), "session/request_permission")]
    {
        let agent = Agent::new([calls("t1", "AskUserQuestion"), says("done")]);
        let mut client = Client::new(&agent);
        client.initialize(capabilities).await;
        let session = client.session().await;
        let id = client.prompt(&session, "a").await;
        let (_, request) = client.until(method).await;
        if method == "elicitation/create" {
            assert_eq!(request["params"]["toolCallId"], "t1");
            client.answer(&request, json!({ "action": "accept", "content": { "question1": "Blue" } })).await;
        } else {
            client.choose(&request, "reject").await;
        }
        let (_, answer) = client.answer_of(id).await;
        assert_eq!(answer["result"]["stopReason"], "end_turn");
        let asked = agent.asked.lock().unwrap().clone();
        let expected = (method == "elicitation/create").then(|| json!({ "Which colour?": "Blue" }));
        assert_eq!(asked, expected.into_iter().collect::<Vec<_>>());
    }
}

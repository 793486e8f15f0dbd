//! Web searches that the API makes, in the forms of its documentation.

use super::wire::{Answer, provider, read, request};
use serde_json::{Value, json};
use windlass_model::ModelProvider;
use windlass_testkit::wire::WireServer;
use windlass_types::{ModelEvent, ModelRequest, NanoUsd, ServerTool, ServerWebSearch, WebPage, WebSearched};

fn searching(allowed: &[&str]) -> ModelRequest {
    let mut search = ServerWebSearch::new(3);
    search.allowed_domains = allowed.iter().map(|domain| (*domain).to_owned()).collect();
    let mut request = request();
    request.server_tools = vec![ServerTool::WebSearch(search)];
    request
}

async fn sent(request: ModelRequest) -> Value {
    let server = WireServer::start().await.unwrap();
    server.push(Answer::new().text("msg_1", &["ok"]).reply());
    let (_, error) = read(&provider(&server), &request).await;
    assert!(error.is_none(), "{error:?}");
    server.requests().remove(0).json().unwrap()
}

#[tokio::test]
async fn the_tool_and_its_sources_are_asked_for_where_the_model_has_them() {
    let body = sent(searching(&[])).await;
    assert_eq!(body["tools"], json!([{"type": "web_search"}]));
    assert_eq!(body["include"], json!(["reasoning.encrypted_content", "web_search_call.action.sources"]));
    let body = sent(searching(&["docs.rs"])).await;
    assert_eq!(body["tools"], json!([{"type": "web_search", "filters": {"allowed_domains": ["docs.rs"]}}]));
    let mut own = searching(&[]);
    own.model = "own-model".to_owned();
    let body = sent(own).await;
    assert_eq!((body.get("tools"), body.get("include")), (None, None));
}

#[tokio::test]
async fn sources_and_citations_are_reported() {
    let server = WireServer::start().await.unwrap();
    let source = |url: &str| json!({"type": "url", "url": url});
    let call = json!({"id": "ws_1", "type": "web_search_call", "status": "completed", "action": {"type": "search",
        "query": "doors", "sources": [source("https://docs.rs/doors"), source("https://docs.rs/keys"), {"type": "later"}]}});
    let open = json!({"id": "ws_2", "type": "web_search_call", "status": "completed",
        "action": {"type": "open_page", "url": "https://docs.rs/doors"}});
    let failed = json!({"id": "ws_3", "type": "web_search_call", "status": "failed", "action": {"type": "search"}});
    let part = json!({"type": "output_text", "text": "Doors open.", "annotations": [
        {"type": "url_citation", "start_index": 0, "end_index": 5, "url": "https://docs.rs/doors", "title": "Doors"},
        {"type": "file_citation", "file_id": "f", "index": 1}]});
    let message = |content: Value| {
        json!({"id": "msg_1", "type": "message", "role": "assistant", "status": "completed",
        "content": content})
    };
    let delta = json!({"type": "response.output_text.delta", "content_index": 0, "delta": "Doors open."});
    let noted = json!({"type": "response.output_text.annotation.added", "content_index": 0, "annotation_index": 0,
        "annotation": part["annotations"][0]});
    let answer = Answer::new()
        .item(call.clone(), vec![json!({"type": "response.web_search_call.searching"})], call)
        .item(open.clone(), vec![], open)
        .item(failed.clone(), vec![], failed)
        .item(message(json!([])), vec![delta, noted], message(json!([part])));
    server.push(answer.reply());
    let (events, error) = read(&provider(&server), &searching(&[])).await;
    assert!(error.is_none(), "{error:?}");
    let searched: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            ModelEvent::WebSearched(searched) => Some((**searched).clone()),
            _ => None,
        })
        .collect();
    let page = |url: &str, title: Option<&str>| WebPage::new(url, title.map(str::to_owned));
    assert_eq!(
        searched,
        [
            WebSearched::found(vec![page("https://docs.rs/doors", None), page("https://docs.rs/keys", None)]),
            WebSearched::failed("the search failed"),
            WebSearched::found(vec![page("https://docs.rs/doors", Some("Doors"))]),
        ]
    );
    let usage = events.iter().find_map(|event| match event {
        ModelEvent::MessageDelta { usage, .. } => Some(*usage),
        _ => None,
    });
    assert_eq!(usage.unwrap().web_search_requests, 3);
    let price = provider(&server).model_info("gpt-6.2-sol").web_search;
    assert_eq!(price, Some(NanoUsd::new(10_000_000)));
}

//! Web searches that the API makes, in the forms of its documentation.

use std::sync::Arc;

use futures_util::StreamExt;
use serde_json::{Value, json};
use windlass_anthropic::Anthropic;
use windlass_http::provider::Credential;
use windlass_model::ModelProvider;
use windlass_testkit::wire::{Message as WireMessage, WireServer};
use windlass_types::{
    BlockStart, ContentBlock, JsonText, Message, ModelEvent, ModelRequest, NanoUsd, ServerTool, ServerWebSearch,
    ToolSpec, Usage, WebPage, WebSearched,
};

fn search() -> ServerWebSearch {
    let mut search = ServerWebSearch::new(3);
    search.allowed_domains = vec!["docs.rs".to_owned()];
    search
}

fn request(model: &str) -> ModelRequest {
    let mut request = ModelRequest::new(model, vec![Message::user_text("hi").into()], 1000);
    request.server_tools = vec![ServerTool::WebSearch(search())];
    request
}

async fn read(provider: &Anthropic, request: ModelRequest) -> Vec<ModelEvent> {
    let stream = provider.stream(Arc::new(request)).await.unwrap();
    stream.map(|item| item.unwrap().event).collect().await
}

async fn body(provider: impl FnOnce(&str) -> Anthropic, request: ModelRequest) -> Value {
    let server = WireServer::start().await.unwrap();
    server.push(WireMessage::new().text("ok"));
    read(&provider(&server.url()), request).await;
    server.requests().remove(0).json().unwrap()
}

fn own(url: &str) -> Anthropic {
    Anthropic::builder().api_key("k").base_url(url).build().unwrap()
}

fn vertex(url: &str) -> Anthropic {
    Anthropic::vertex("p", "global").credentials(Credential::bearer("t")).base_url(url).build().unwrap()
}

#[tokio::test]
async fn the_tool_goes_behind_those_of_the_caller_and_only_to_models_that_have_it() {
    let tool =
        json!({"type": "web_search_20250305", "name": "web_search", "max_uses": 3, "allowed_domains": ["docs.rs"]});
    assert_eq!(body(own, request("claude-sonnet-4-5")).await["tools"], json!([tool]));
    assert_eq!(body(vertex, request("claude-sonnet-4-5")).await["tools"], json!([tool]));
    let mut both = request("claude-sonnet-4-5");
    both.tools = Arc::from([Arc::new(ToolSpec::new("Read", "reads", JsonText::empty_object()))]);
    let sent = body(own, both).await;
    assert_eq!((&sent["tools"][0]["name"], &sent["tools"][1]), (&json!("Read"), &tool));
    // Model of another vendor behind the same API.
    assert_eq!(body(own, request("glm-5")).await.get("tools"), None);
}

#[test]
fn a_search_is_paid_beside_the_tokens() {
    let provider = own("http://127.0.0.1:1");
    let info = provider.model_info("claude-sonnet-4-5");
    let mut usage = Usage::new(1_000, 100);
    usage.web_search_requests = 2;
    assert_eq!(info.cost(&usage), Some(NanoUsd::new(1_000 * 3_000 + 100 * 15_000 + 2 * 10_000_000)));
    assert_eq!(provider.model_info("glm-5").web_search, None);
}

fn found() -> WireMessage {
    let call = json!({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}});
    let input = json!({"type": "input_json_delta", "partial_json": "{\"query\": \"doors\"}"});
    let page = |url: &str, title: &str| {
        json!({"type": "web_search_result", "url": url, "title": title,
        "encrypted_content": "RW5j", "page_age": "April 30, 2025"})
    };
    let results = json!({"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1",
        "content": [page("https://docs.rs/doors", "Doors"), page("https://docs.rs/keys", "Keys"), {"type": "later"}]});
    let cited = json!({"type": "citations_delta", "citation": {"type": "web_search_result_location",
        "url": "https://docs.rs/doors", "title": "Doors", "encrypted_index": "RW8=", "cited_text": "A door opens."}});
    let other = json!({"type": "citations_delta", "citation": {"type": "char_location", "cited_text": "x",
        "document_index": 0, "start_char_index": 0, "end_char_index": 1}});
    let text = json!({"type": "text_delta", "text": "Doors open."});
    WireMessage::new()
        .id("msg_1")
        .block(&call, &[input])
        .block(&results, &[])
        .block(&json!({"type": "text", "text": "", "citations": []}), &[text, cited, other])
        .usage(100, 50)
}

#[tokio::test]
async fn results_and_citations_are_reported_and_the_blocks_stay_as_they_are() {
    let server = WireServer::start().await.unwrap();
    server.push(found());
    let events = read(&own(&server.url()), request("claude-sonnet-4-5")).await;
    let searched: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            ModelEvent::WebSearched(searched) => Some((**searched).clone()),
            _ => None,
        })
        .collect();
    let page = |url: &str, title: &str| WebPage::new(url, Some(title.to_owned()));
    let mut cited = page("https://docs.rs/doors", "Doors");
    cited.cited = Some("A door opens.".to_owned());
    let found = vec![page("https://docs.rs/doors", "Doors"), page("https://docs.rs/keys", "Keys")];
    assert_eq!(searched, [WebSearched::found(found), WebSearched::found(vec![cited])]);
    let whole: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            ModelEvent::BlockStart { block: BlockStart::Whole(ContentBlock::Unknown(json)), .. } => Some(json.as_str()),
            _ => None,
        })
        .collect();
    assert!(whole[0].contains("server_tool_use") && whole[1].contains("encrypted_content"), "{whole:?}");
    assert!(events.contains(&ModelEvent::MessageStop));
}

#[tokio::test]
async fn a_failed_search_says_why_and_odd_results_cost_no_answer() {
    let failed = json!({"type": "web_search_tool_result", "tool_use_id": "s",
        "content": {"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"}});
    let odd = [json!(1), json!(null), json!([1]), json!({"error_code": 1}), json!([{"url": 5}])]
        .map(|content| json!({"type": "web_search_tool_result", "tool_use_id": "s", "content": content}));
    let mut message = WireMessage::new().block(&failed, &[]);
    for block in &odd {
        message = message.block(block, &[]);
    }
    let server = WireServer::start().await.unwrap();
    server.push(message.text("ok"));
    let events = read(&own(&server.url()), request("claude-sonnet-4-5")).await;
    let searched: Vec<_> = events.iter().filter(|event| matches!(event, ModelEvent::WebSearched(_))).cloned().collect();
    assert_eq!(searched, [ModelEvent::WebSearched(Box::new(WebSearched::failed("max_uses_exceeded")))]);
    assert!(events.contains(&ModelEvent::MessageStop));
}

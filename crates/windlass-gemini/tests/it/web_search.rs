//! Web searches that the API makes, in the forms of its documentation.

use crate::wire::{answer, asking, ending, last, provider, read, read_chunks, request, sent, tool};
use serde_json::json;
use std::sync::Arc;
use windlass_testkit::wire::WireServer;
use windlass_types::{Message, ModelEvent, ServerTool, ServerWebSearch, WebPage, WebSearched};

fn search() -> Vec<ServerTool> {
    vec![ServerTool::WebSearch(ServerWebSearch::new(3))]
}

#[tokio::test]
async fn the_tool_is_asked_for_where_the_model_takes_it() {
    let mut one = request();
    one.server_tools = search();
    assert_eq!(sent(one.clone()).await["tools"], json!([{"googleSearch": {}}]));
    one.tools = Arc::from([tool("Write", "{}")]);
    let declared = json!({"functionDeclarations": [
        {"name": "Write", "description": "does Write", "parametersJsonSchema": {}}]});
    assert_eq!(sent(one).await["tools"], json!([declared, {"googleSearch": {}}]));
    // Before Gemini 3 the API takes one or the other.
    let mut old = asking("gemini-2.5-flash", vec![Message::user_text("hi")]);
    old.server_tools = search();
    assert_eq!(sent(old.clone()).await["tools"], json!([{"googleSearch": {}}]));
    old.tools = Arc::from([tool("Write", "{}")]);
    assert_eq!(sent(old).await["tools"], json!([declared]));
    let mut other = asking("gemma-4-27b", vec![Message::user_text("hi")]);
    other.server_tools = search();
    assert_eq!(sent(other).await.get("tools"), None);
}

#[tokio::test]
async fn what_the_answer_is_grounded_in_is_reported() {
    let lead = "https://vertexaisearch.cloud.google.com/grounding-api-redirect/";
    let web = |name: &str| json!({"web": {"uri": format!("{lead}{name}"), "title": format!("{name}.example")}});
    let mut chunk = last(json!([{"text": "Doors open."}]), "STOP");
    chunk["candidates"][0]["groundingMetadata"] = json!({
        "webSearchQueries": ["doors", "how doors open"],
        "searchEntryPoint": {"renderedContent": "<div>"},
        "groundingChunks": [web("a"), {"retrievedContext": {}}, web("b")],
        "groundingSupports": [{"segment": {"startIndex": 0, "endIndex": 11, "text": "Doors open."},
            "groundingChunkIndices": [0], "confidenceScores": [0.9]}],
    });
    let (events, error) = read_chunks(&[chunk]).await;
    assert!(error.is_none(), "{error:?}");
    let searched: Vec<_> = events.iter().filter(|event| matches!(event, ModelEvent::WebSearched(_))).cloned().collect();
    let mut cited = WebPage::new(format!("{lead}a"), Some("a.example".to_owned()));
    cited.cited = Some("Doors open.".to_owned());
    let pages = vec![cited, WebPage::new(format!("{lead}b"), Some("b.example".to_owned()))];
    assert_eq!(searched, [ModelEvent::WebSearched(Box::new(WebSearched::found(pages)))]);
    assert_eq!(ending(&events).unwrap().1.web_search_requests, 2);
}

/// Before Gemini 3 a request with searches is billed once.
#[tokio::test]
async fn searches_of_older_models_are_billed_together() {
    for (model, billed) in [("gemini-2.5-flash", 1), ("gemini-3.8-flash", 3)] {
        let mut chunk = last(json!([{"text": "ok"}]), "STOP");
        chunk["candidates"][0]["groundingMetadata"] = json!({"webSearchQueries": ["a", "b", "c"]});
        let server = WireServer::start().await.unwrap();
        server.push(answer(&[chunk]));
        let (events, error) = read(&provider(&server), asking(model, vec![Message::user_text("hi")])).await;
        assert!(error.is_none(), "{error:?}");
        assert_eq!(ending(&events).unwrap().1.web_search_requests, billed, "{model}");
    }
}

#[tokio::test]
async fn odd_grounding_costs_no_answer() {
    for odd in [json!(1), json!([]), json!({"groundingChunks": 5}), json!({"groundingChunks": [{"web": {"uri": 1}}]})] {
        let mut chunk = last(json!([{"text": "ok"}]), "STOP");
        chunk["candidates"][0]["groundingMetadata"] = odd.clone();
        let (events, error) = read_chunks(&[chunk]).await;
        assert!(error.is_none() && events.contains(&ModelEvent::MessageStop), "{odd}");
        assert!(!events.iter().any(|event| matches!(event, ModelEvent::WebSearched(_))), "{odd}");
    }
}

//! Tool that searches, over servers that answer in the published form of the services. The traffic is handwritten from
//! the published shapes, not recorded.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use windlass_http::HttpOptions;
use windlass_testkit::{ToolBench, tool};
use windlass_types::JsonText;
use windlass_web::search::{BraveSearch, TavilySearch, WebSearch};

use crate::common::server;
use crate::fetch::answer;

const KEY: &str = "key-of-the-test-0123456789";

fn json_answer(status: &str, body: &Value) -> Vec<u8> {
    answer(status, "content-type: application/json\r\n", body.to_string())
}

async fn brave(status: &'static str, body: Value) -> (ToolBench, Arc<Mutex<Vec<String>>>) {
    let (address, seen) = server(move |_| json_answer(status, &body)).await;
    let backend = BraveSearch::at(&format!("http://{address}"), KEY, HttpOptions::default()).unwrap();
    (ToolBench::new(WebSearch::new(backend)), seen)
}

fn pages() -> Value {
    json!({"type": "search", "query": {"original": "doors"}, "web": {"type": "search", "results": [
        {"title": "Doors\u{1b}[31m", "url": "https://example.com/doors", "description": "How doors\nopen.", "age": "1 day"},
        {"title": "Evil", "url": "javascript:alert(1)", "description": "x"},
        {"title": "Others", "url": "https://other.org/", "language": "en"},
    ]}})
}

#[tokio::test]
async fn brave_is_asked_and_answers() {
    let (bench, seen) = brave("200 OK", pages()).await;
    let output = bench.call(json!({"query": "open doors & keys", "blocked_domains": ["other.org"]})).await.unwrap();
    let text = output.content.text();
    assert!(text.contains("\n1. Doors") && text.contains("\n   https://example.com/doors\n   How doors"), "{text}");
    for gone in ["\u{1b}", "javascript", "other.org", "doors\nopen"] {
        assert!(!text.contains(gone), "{gone}: {text}");
    }
    let request = seen.lock().unwrap().join("");
    let path =
        "GET /res/v1/web/search?q=open+doors+%26+keys+-site%3Aother.org&count=10&text_decorations=false HTTP/1.1";
    assert!(request.starts_with(path), "{request}");
    assert!(request.contains(&format!("x-subscription-token: {KEY}\r\n")), "{request}");
    let structured: Value = output.structured.as_ref().map(JsonText::to::<Value>).unwrap().unwrap();
    assert_eq!(structured["query"], "open doors & keys");
    assert_eq!(structured["results"][0]["content"][0]["url"], "https://example.com/doors");
    assert_eq!(structured["searchCount"], 1);
    tool::all(&bench, &[json!({"query": "doors"})]).await.unwrap();
}

#[tokio::test]
async fn tavily_is_asked_and_answers() {
    let body = json!({"query": "doors", "answer": null, "images": [], "response_time": 1.2, "results": [
        {"title": "Doors", "url": "https://docs.rs/doors", "content": "All of it.", "score": 0.9, "raw_content": null},
    ]});
    // Only the head is read here; the rest of the test checks that the body arrives too.
    let (address, seen) = server(move |_| json_answer("200 OK", &body)).await;
    let backend = TavilySearch::at(&format!("http://{address}"), KEY, HttpOptions::default()).unwrap();
    let bench = ToolBench::new(WebSearch::new(backend));
    let output = bench.call(json!({"query": "doors", "allowed_domains": ["docs.rs"]})).await.unwrap();
    assert!(
        output.content.text().contains("1. Doors\n   https://docs.rs/doors\n   All of it.\n"),
        "{:?}",
        output.content
    );
    let request = seen.lock().unwrap().join("");
    assert!(request.starts_with("POST /search HTTP/1.1\r\n"), "{request}");
    assert!(request.contains(&format!("authorization: Bearer {KEY}\r\n")), "{request}");
    let length = json!({"query": "doors", "max_results": 10, "include_domains": ["docs.rs"]}).to_string().len();
    assert!(request.contains(&format!("content-length: {length}\r\n")), "{request}");
}

#[tokio::test]
async fn failures_name_the_service_and_show_no_key() {
    for (status, body, expected) in [
        ("401 Unauthorized", json!({}), "Brave Search refuses the key: check BRAVE_API_KEY."),
        ("429 Too Many Requests", json!({}), "Brave Search takes no more searches at the moment."),
        ("500 Internal Server Error", json!({}), "Brave Search answered with status 500."),
        ("200 OK", json!([1]), "the answer of Brave Search cannot be read."),
        ("200 OK", json!({"web": {"results": [{"title": 1}]}}), "the answer of Brave Search cannot be read."),
    ] {
        let (bench, _) = brave(status, body).await;
        let error = bench.call(json!({"query": "x"})).await.unwrap_err();
        assert_eq!(error.model_text(), expected);
        assert!(!format!("{error:?} {bench:?}").contains(KEY));
    }
    let (bench, _) = brave("200 OK", json!({"type": "search"})).await;
    assert_eq!(bench.call(json!({"query": "x"})).await.unwrap().content.text(), "No page fits the search for x.");
    for (input, expected) in [
        (json!({"query": " "}), "query: write"),
        (json!({"query": "x".repeat(401)}), "query: write"),
        (json!({"query": "x", "allowed_domains": ["x OR y"]}), "allowed_domains: write domains"),
        (json!({"query": "x", "allowed_domains": ["a.com"], "blocked_domains": ["b.com"]}), "not both"),
    ] {
        let error = bench.call(input).await.unwrap_err();
        assert!(error.model_text().contains(expected), "{error}");
    }
}

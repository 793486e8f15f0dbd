//! Answers of endpoints to calls that break the protocol.

use crate::world::{LONG, json, options, status, text};
use serde_json::{Value, json as value};
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use windlass_mcp::{McpError, McpServerConfig, McpServerState, McpServers};

/// Requested methods, in order, and `true` for those with a session.
type Seen = Arc<Mutex<Vec<(String, bool)>>>;

/// Behaviour of an endpoint besides its answer to the first call.
#[derive(Clone, Copy, PartialEq)]
enum Endpoint {
    /// Has no sessions.
    Plain,
    /// Has sessions, and refuses their stream.
    Session,
    /// Has sessions and their stream, over which the answer to an accepted call comes.
    Stream,
}

async fn request(stream: &mut TcpStream) -> Option<(String, Value)> {
    let mut bytes = Vec::new();
    loop {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
        let text = String::from_utf8_lossy(&bytes);
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        match serde_json::from_str(body) {
            Ok(body) => return Some((head.to_lowercase(), body)),
            Err(_) if !head.starts_with("POST") => return Some((head.to_lowercase(), Value::Null)),
            Err(_) => {}
        }
    }
}

fn whole(status: &str, kind: &str, body: &str) -> String {
    // The body ends with the connection.
    format!("HTTP/1.1 {status}\r\ncontent-type: {kind}\r\nconnection: close\r\n\r\n{body}")
}

/// Returns a stream of events that ends with its connection.
fn events(events: &str) -> String {
    format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n{events}")
}

fn result(id: &Value, text: &str) -> String {
    let content = value!({ "content": [{ "type": "text", "text": text }] });
    value!({ "jsonrpc": "2.0", "id": id, "result": content }).to_string()
}

/// Serves a tool whose first call is answered with the given text, in which `ID` is replaced by the id of the request.
async fn serve(endpoint: Endpoint, first: String) -> (String, Seen) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let (seen, mut first) = (Seen::default(), Some(first));
    let log = Arc::clone(&seen);
    tokio::spawn(async move {
        let mut of_session = None::<mpsc::UnboundedSender<String>>;
        while let Ok((mut stream, _)) = listener.accept().await {
            let Some((head, body)) = request(&mut stream).await else { continue };
            let method = body["method"].as_str().unwrap_or_else(|| head.split(' ').next().unwrap()).to_owned();
            let resumes = head.contains("last-event-id");
            log.lock().unwrap().push((method.clone(), head.contains("mcp-session-id: s1")));
            let words = match method.as_str() {
                "get" if endpoint == Endpoint::Stream && !resumes => {
                    let (sender, mut events_of) = mpsc::unbounded_channel::<String>();
                    of_session = Some(sender);
                    tokio::spawn(async move {
                        let _ = stream.write_all(events("").as_bytes()).await;
                        while let Some(event) = events_of.recv().await {
                            let _ = stream.write_all(format!("data: {event}\n\n").as_bytes()).await;
                        }
                    });
                    continue;
                }
                "get" if resumes => whole("404 Not Found", "text/plain", ""),
                "get" => whole("405 Method Not Allowed", "text/plain", ""),
                "initialize" => {
                    let capabilities = value!({ "tools": {} });
                    let info = value!({ "name": "odd", "version": "1" });
                    let greeting = value!({
                        "protocolVersion": "2025-06-18", "capabilities": capabilities, "serverInfo": info,
                    });
                    let answer = value!({ "jsonrpc": "2.0", "id": body["id"], "result": greeting }).to_string();
                    let kind = match endpoint {
                        Endpoint::Plain => "application/json",
                        _ => "application/json\r\nmcp-session-id: s1",
                    };
                    whole("200 OK", kind, &answer)
                }
                "tools/list" => {
                    let tools = value!([{ "name": "go", "inputSchema": { "type": "object" } }]);
                    let answer = value!({ "jsonrpc": "2.0", "id": body["id"], "result": { "tools": tools } });
                    whole("200 OK", "application/json", &answer.to_string())
                }
                "tools/call" => match first.take() {
                    Some(first) => {
                        if let Some(events) = of_session.as_ref().filter(|_| first.contains(" 202 ")) {
                            events.send(result(&body["id"], "over the stream")).unwrap();
                        }
                        first.replace("ID", &body["id"].to_string())
                    }
                    None => whole("200 OK", "application/json", &result(&body["id"], "second")),
                },
                _ if body.get("id").is_none() => whole("202 Accepted", "text/plain", ""),
                _ => whole("400 Bad Request", "text/plain", "no such method"),
            };
            let _ = stream.write_all(words.as_bytes()).await;
        }
    });
    (url, seen)
}

/// Returns the outcome of a call that is answered with the given text. The next call is made over the same connection.
async fn called(endpoint: Endpoint, first: String) -> Result<String, McpError> {
    let (url, seen) = serve(endpoint, first.clone()).await;
    let servers = McpServers::new(options());
    servers.add("web", McpServerConfig::http(url)).unwrap();
    servers.settled(LONG).await;
    assert_eq!(status(&servers).state, McpServerState::Connected, "{:?}", status(&servers).error);
    let none = json("{}");
    let call = || tokio::time::timeout(LONG, servers.call("web", "go", &none, None));
    let outcome = call().await.unwrap();
    let next = call().await.unwrap().unwrap();
    assert_eq!(text(&next), "second", "{first}");
    let seen = seen.lock().unwrap().clone();
    assert_eq!(seen.iter().filter(|(method, _)| method == "initialize").count(), 1, "{first}: {seen:?}");
    let calls: Vec<bool> = seen.iter().filter(|(method, _)| method == "tools/call").map(|(_, held)| *held).collect();
    assert_eq!(calls, [endpoint != Endpoint::Plain; 2], "{first}: {seen:?}");
    servers.close().await;
    outcome.map(|output| text(&output).to_owned())
}

fn unknown(outcome: Result<String, McpError>, about: &str) -> String {
    match outcome {
        Err(error @ McpError::OutcomeUnknown { .. }) => error.to_string(),
        other => panic!("{about}: {other:?}"),
    }
}

#[tokio::test]
async fn the_outcome_of_a_call_that_was_received_and_failed_at_a_gateway_is_unknown() {
    for status in [
        "500 Internal Server Error",
        "501 Not Implemented",
        "502 Bad Gateway",
        "503 Service Unavailable",
        "504 Gateway Timeout",
    ] {
        for endpoint in [Endpoint::Plain, Endpoint::Session] {
            let error = unknown(called(endpoint, whole(status, "text/html", "<p>no</p>")).await, status);
            assert!(error.contains(status) && error.contains("outcome of the call is unknown"), "{error}");
        }
    }
    // An error of the server itself, and a refusal as a whole, are known outcomes.
    let error = r#"{"jsonrpc":"2.0","id":ID,"error":{"code":-32000,"message":"no disk"}}"#;
    let error = called(Endpoint::Session, whole("500 No", "application/json", error)).await.unwrap_err();
    assert!(matches!(&error, McpError::Refused { message, .. } if message == "no disk"), "{error}");
    for status in ["400 Bad Request", "413 Content Too Large", "429 Too Many Requests"] {
        let error = called(Endpoint::Session, whole(status, "text/plain", "")).await.unwrap_err();
        assert!(matches!(&error, McpError::NotConnected { .. }), "{error}");
    }
}

#[tokio::test]
async fn a_call_that_is_accepted_and_not_answered_ends() {
    for status in ["202 Accepted", "204 No Content"] {
        for endpoint in [Endpoint::Plain, Endpoint::Session] {
            let words = format!("HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
            let error = unknown(called(endpoint, words).await, status);
            assert!(error.contains("without an answer"), "{error}");
        }
    }
    let accepted = "HTTP/1.1 202 Accepted\r\nconnection: close\r\ncontent-length: 0\r\n\r\n".to_owned();
    assert_eq!(called(Endpoint::Stream, accepted).await.unwrap(), "over the stream");
}

#[tokio::test]
async fn a_call_whose_answer_is_cut_ends_and_its_session_stays() {
    let note = r#"data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}"#;
    let half = r#"data: {"jsonrpc":"2.0","id":ID,"result":{"content":[{"ty"#;
    for endpoint in [Endpoint::Plain, Endpoint::Session, Endpoint::Stream] {
        for words in [
            events(""),
            events(&format!("{note}\n\n")),
            events(&format!("{note}\n\n{half}")),
            format!(
                "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 5000\r\n\r\n{note}\n\n{half}"
            ),
        ] {
            let error = unknown(called(endpoint, words.clone()).await, &words);
            assert!(error.contains("before the answer"), "{error}");
        }
        // The stream cannot be continued after its event.
        let error = called(endpoint, events(&format!("id: one\nretry: 1\n{note}\n\n"))).await.unwrap_err();
        assert!(matches!(error, McpError::Lost { .. }), "{error}");
    }
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n";
    let body = format!("{head}{{\"jsonrpc\"");
    let error = unknown(called(Endpoint::Session, body).await, "a body that is cut");
    assert!(error.contains("broke the connection"), "{error}");
    let error = unknown(called(Endpoint::Session, whole("200 OK", "text/html", "<p>log in</p>")).await, "html");
    assert!(error.contains("neither JSON nor"), "{error}");
}

#[tokio::test]
async fn an_answer_that_is_no_valid_message_ends_its_call() {
    let bad = r#"{"jsonrpc":"2.0","id":ID,"error":"plain text"}"#;
    let error = called(Endpoint::Session, events(&format!("data: {bad}\n\n"))).await.unwrap_err();
    assert!(matches!(&error, McpError::Refused { message, .. } if message == "plain text"), "{error}");
    let half = r#"{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"a\ud83d b"}]}}"#;
    assert_eq!(called(Endpoint::Session, events(&format!("data: {half}\n\n"))).await.unwrap(), "a\u{fffd} b");
    for broken in [r#"{"jsonrpc":"2.0","id":ID,"result":NaN}"#, r#"{"jsonrpc":"2.0","result":NaN}"#] {
        let error = called(Endpoint::Session, events(&format!("data: {broken}\n\n"))).await.unwrap_err();
        assert!(matches!(&error, McpError::BadAnswer { .. }), "{error}");
    }
    // A whole body is not searched for salvageable parts.
    for body in [bad, half, "", "<p>"] {
        unknown(called(Endpoint::Session, whole("200 OK", "application/json", body)).await, body);
    }
    let large =
        format!("data: {{\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":{{\"a\":\"{}\"}}}}\n\n", "x".repeat(17 << 20));
    let error = called(Endpoint::Session, events(&large)).await.unwrap_err();
    assert!(matches!(&error, McpError::BadAnswer { detail, .. } if detail.contains("16777216")), "{error}");
}

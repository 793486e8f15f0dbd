//! Streams of streamable HTTP that break before they hold the answer.

use crate::world::{LONG, json, options, status, text};
use serde_json::{Value, json as value};
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use windlass_mcp::{McpServerConfig, McpServerState, McpServers};

/// Requests to the server, in order: the method of a posted message, or `after ` and the last event id of a stream
/// request.
type Seen = Arc<Mutex<Vec<String>>>;

/// Reads the head of a request, and its posted message, if any.
async fn request(stream: &mut TcpStream) -> Option<(String, Option<Value>)> {
    let mut bytes = Vec::new();
    loop {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
        let text = String::from_utf8_lossy(&bytes);
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        match serde_json::from_str(body) {
            Ok(body) => return Some((head.to_lowercase(), Some(body))),
            Err(_) if head.starts_with("GET") => return Some((head.to_lowercase(), None)),
            Err(_) => {}
        }
    }
}

fn answer(id: &Value, result: &Value) -> String {
    let body = value!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string();
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nmcp-session-id: s1\r\nconnection: close";
    format!("{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}

/// Returns a stream that ends with its connection.
fn stream_of(events: &str) -> String {
    format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n{events}")
}

/// Serves a tool whose answer comes in the third stream: the first two break after one event each.
async fn serve() -> (String, Seen) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let seen = Seen::default();
    let log = Arc::clone(&seen);
    tokio::spawn(async move {
        let mut call = Value::Null;
        while let Ok((mut stream, _)) = listener.accept().await {
            let Some((head, body)) = request(&mut stream).await else { continue };
            let last = head.lines().find_map(|line| line.strip_prefix("last-event-id: ").map(str::to_owned));
            let note = |progress: u32| {
                let params = value!({ "progressToken": 1, "progress": progress });
                value!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params })
            };
            let words = match (body, last.as_deref()) {
                (Some(body), _) => {
                    let method = body["method"].as_str().unwrap_or("answer").to_owned();
                    log.lock().unwrap().push(method.clone());
                    match method.as_str() {
                        "initialize" => {
                            let capabilities = value!({ "tools": {} });
                            let info = value!({ "name": "broken", "version": "1" });
                            let greeting = value!({
                                "protocolVersion": "2025-06-18", "capabilities": capabilities, "serverInfo": info,
                            });
                            answer(&body["id"], &greeting)
                        }
                        "tools/list" => {
                            let tools = value!([{ "name": "slow", "inputSchema": { "type": "object" } }]);
                            answer(&body["id"], &value!({ "tools": tools }))
                        }
                        "tools/call" => {
                            call = body["id"].clone();
                            stream_of(&format!("id: one\nretry: 5\ndata: {}\n\n", note(1)))
                        }
                        _ if body.get("id").is_none() => {
                            "HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".to_owned()
                        }
                        _ => {
                            let error = value!({ "code": -32601, "message": "no such method" });
                            let body = value!({ "jsonrpc": "2.0", "id": body["id"], "error": error }).to_string();
                            let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close";
                            format!("{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len())
                        }
                    }
                }
                // Stream of the server's own messages.
                (None, None) => "HTTP/1.1 405 No\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".to_owned(),
                (None, Some(last)) => {
                    log.lock().unwrap().push(format!("after {last}"));
                    let result = value!({ "content": [{ "type": "text", "text": "42" }] });
                    let done = value!({ "jsonrpc": "2.0", "id": call, "result": result });
                    stream_of(&match last {
                        "one" => format!("id: two\ndata: {}\n\n", note(2)),
                        _ => format!("id: three\ndata: {done}\n\n"),
                    })
                }
            };
            let _ = stream.write_all(words.as_bytes()).await;
        }
    });
    (url, seen)
}

#[tokio::test]
async fn a_stream_that_breaks_is_continued_behind_its_last_event_and_the_call_is_made_once() {
    let (url, seen) = serve().await;
    let servers = McpServers::new(options());
    servers.add("web", McpServerConfig::http(url)).unwrap();
    servers.settled(LONG).await;
    let known = status(&servers);
    assert_eq!(known.state, McpServerState::Connected, "{:?}", known.error);
    for _ in 0..2 {
        seen.lock().unwrap().clear();
        let done = tokio::time::timeout(LONG, servers.call("web", "slow", &json("{}"), None)).await;
        assert_eq!(text(&done.expect("the answer comes").unwrap()), "42");
        let calls: Vec<String> = seen.lock().unwrap().clone();
        assert_eq!(calls, ["tools/call", "after one", "after two"]);
    }
    servers.close().await;
}

//! Endpoints that lose their session, or answer in odd ways.

use crate::world::{LONG, json, options, status, text};
use serde_json::{Value, json as value};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use windlass_mcp::{McpError, McpServerConfig, McpServerState, McpServers};

/// Behaviour of an endpoint on tool calls.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Behaviour {
    Works,
    /// Every call gets this status, type and body.
    Answers(&'static str, &'static str, &'static str),
    /// Every call gets this stream, and the connection stays open.
    Streams(&'static str),
    /// Sessions opened before the first call are gone.
    Forgets(&'static str, &'static str),
    /// Has no sessions, and accepts calls without an answer.
    Accepts,
}

#[derive(Debug)]
struct Endpoint {
    behaviour: Mutex<Behaviour>,
    greeted: AtomicUsize,
    called: AtomicUsize,
}

impl Endpoint {
    /// Returns the answer to a message: the status, headers and body.
    fn answer(&self, session: Option<&str>, message: &Value) -> (String, String, String) {
        let behaviour = *self.behaviour.lock().unwrap();
        let result = |result: Value| {
            let body = value!({ "jsonrpc": "2.0", "id": message["id"], "result": result }).to_string();
            ("200 OK".to_owned(), "Content-Type: application/json\r\n".to_owned(), body)
        };
        let known = self.greeted.load(Ordering::SeqCst).to_string();
        match message["method"].as_str() {
            Some("initialize") => {
                let count = self.greeted.fetch_add(1, Ordering::SeqCst) + 1;
                let answer = value!({
                    "protocolVersion": "2025-06-18", "capabilities": { "tools": {} },
                    "serverInfo": { "name": "web", "version": "1" },
                });
                let (status, mut headers, body) = result(answer);
                if behaviour != Behaviour::Accepts {
                    headers.push_str(&format!("Mcp-Session-Id: {count}\r\n"));
                }
                (status, headers, body)
            }
            Some("tools/list") => result(value!({ "tools": [{ "name": "go", "inputSchema": { "type": "object" } }] })),
            Some("tools/call") => match behaviour {
                Behaviour::Forgets(status, body) if session == Some("1") || session != Some(known.as_str()) => {
                    (status.to_owned(), "Content-Type: application/json\r\n".to_owned(), body.to_owned())
                }
                Behaviour::Works | Behaviour::Forgets(..) => {
                    self.called.fetch_add(1, Ordering::SeqCst);
                    result(value!({ "content": [{ "type": "text", "text": "done" }] }))
                }
                Behaviour::Answers(status, kind, body) => {
                    (status.to_owned(), format!("Content-Type: {kind}\r\n"), body.to_owned())
                }
                Behaviour::Streams(body) => {
                    ("200 OK".to_owned(), "Content-Type: text/event-stream\r\n".to_owned(), body.to_owned())
                }
                Behaviour::Accepts => ("202 Accepted".to_owned(), String::new(), String::new()),
            },
            _ => ("202 Accepted".to_owned(), String::new(), String::new()),
        }
    }

    async fn serve(self: Arc<Self>, mut stream: TcpStream) -> Option<()> {
        let mut read = Vec::new();
        let (head, length) = loop {
            let mut bytes = [0; 4096];
            let count = stream.read(&mut bytes).await.ok().filter(|count| *count > 0)?;
            read.extend_from_slice(&bytes[..count]);
            let text = String::from_utf8_lossy(&read).into_owned();
            if let Some((head, _)) = text.split_once("\r\n\r\n") {
                let header = |name: &str| {
                    let line = head.lines().find(|line| line.to_ascii_lowercase().starts_with(name))?;
                    Some(line.split_once(':')?.1.trim().to_owned())
                };
                let length: usize = header("content-length").map_or(0, |length| length.parse().unwrap());
                if read.len() >= head.len() + 4 + length {
                    break ((head.to_owned(), header("mcp-session-id")), length);
                }
            }
        };
        let (head, session) = head;
        let body = &read[read.len() - length..];
        let answer = if head.starts_with("POST") {
            let (status, headers, body) = self.answer(session.as_deref(), &serde_json::from_slice(body).unwrap());
            if headers.contains("event-stream") && matches!(*self.behaviour.lock().unwrap(), Behaviour::Streams(_)) {
                let head = format!("HTTP/1.1 {status}\r\n{headers}\r\n{body}");
                stream.write_all(head.as_bytes()).await.ok()?;
                tokio::time::sleep(Duration::from_secs(600)).await;
                return None;
            }
            format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len())
        } else {
            "HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".to_owned()
        };
        stream.write_all(answer.as_bytes()).await.ok()
    }
}

async fn listen(listener: TcpListener, endpoint: Arc<Endpoint>) {
    while let Ok((stream, _)) = listener.accept().await {
        tokio::spawn(Arc::clone(&endpoint).serve(stream));
    }
}

/// Returns a set of one endpoint with this behaviour.
async fn one(behaviour: Behaviour) -> (McpServers, Arc<Endpoint>) {
    let endpoint = Arc::new(Endpoint {
        behaviour: Mutex::new(behaviour),
        greeted: AtomicUsize::new(0),
        called: AtomicUsize::new(0),
    });
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(listen(listener, Arc::clone(&endpoint)));
    let servers = McpServers::new(options());
    servers.add("web", McpServerConfig::http(url)).unwrap();
    servers.settled(LONG).await;
    assert_eq!(status(&servers).state, McpServerState::Connected, "{:?}", status(&servers));
    (servers, endpoint)
}

async fn go(servers: &McpServers) -> Result<String, McpError> {
    let none = json("{}");
    let called = tokio::time::timeout(Duration::from_secs(20), servers.call("web", "go", &none, None));
    called.await.unwrap().map(|output| text(&output).to_owned())
}

const GONE: &str =
    r#"{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID"},"id":null}"#;
const NO_ID: &str = r#"{"jsonrpc":"2.0","error":{"code":-32603,"message":"out of cheese"}}"#;
const ODD_ID: &str = r#"{"jsonrpc":"2.0","error":{"code":-32603,"message":"out of cheese"},"id":"server-error"}"#;
const OTHER: &str = r#"{"jsonrpc":"2.0","id":4711,"result":{"content":[]}}"#;

#[tokio::test]
async fn an_error_that_names_no_request_fails_the_call_at_once() {
    const JSON: &str = "application/json";
    for (behaviour, reason) in [
        (Behaviour::Answers("400 Bad Request", JSON, GONE), "No valid session ID"),
        (Behaviour::Answers("500 Internal Server Error", JSON, NO_ID), "out of cheese"),
        (Behaviour::Answers("200 OK", JSON, NO_ID), "out of cheese"),
        (Behaviour::Answers("400 Bad Request", JSON, ODD_ID), "out of cheese"),
        (Behaviour::Answers("200 OK", JSON, OTHER), "another request"),
        (Behaviour::Answers("400 Bad Request", "text/plain", "no such session"), "no such session"),
        (
            Behaviour::Streams(
                "data: {\"jsonrpc\":\"2.0\",\"error\":{\"code\":-1,\"message\":\"out of cheese\"},\"id\":null}\n\n",
            ),
            "out of cheese",
        ),
        (Behaviour::Accepts, "without an answer"),
    ] {
        let (servers, endpoint) = one(behaviour).await;
        let failed = go(&servers).await.unwrap_err().to_string();
        assert!(failed.contains(reason), "{behaviour:?}: {failed}");
        // A server that recovers works again, with a new session if the old one may be gone.
        *endpoint.behaviour.lock().unwrap() = Behaviour::Works;
        assert_eq!(go(&servers).await.as_deref(), Ok("done"), "{behaviour:?}");
        assert_eq!(endpoint.called.load(Ordering::SeqCst), 1, "{behaviour:?}");
        servers.close().await;
    }
}

#[tokio::test]
async fn a_session_that_is_gone_is_renewed_and_the_call_sent_once_more() {
    for body in [GONE, NO_ID, ""] {
        let (servers, endpoint) = one(Behaviour::Forgets("404 Not Found", body)).await;
        assert_eq!(go(&servers).await.as_deref(), Ok("done"), "{body}");
        let counts = (endpoint.greeted.load(Ordering::SeqCst), endpoint.called.load(Ordering::SeqCst));
        assert_eq!(counts, (2, 1), "{body}");
        servers.close().await;
    }
    // If it is not certain that nothing was executed, the call fails, and the next one has a new session.
    let (servers, endpoint) = one(Behaviour::Forgets("400 Bad Request", GONE)).await;
    assert!(go(&servers).await.is_err());
    assert_eq!(go(&servers).await.as_deref(), Ok("done"));
    assert_eq!((endpoint.greeted.load(Ordering::SeqCst), endpoint.called.load(Ordering::SeqCst)), (2, 1));
    servers.close().await;
}

#[tokio::test]
async fn an_endpoint_that_was_restarted_is_reached_again_by_the_first_call() {
    let endpoint = Arc::new(Endpoint {
        behaviour: Mutex::new(Behaviour::Works),
        greeted: AtomicUsize::new(0),
        called: AtomicUsize::new(0),
    });
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let first = tokio::spawn(listen(listener, Arc::clone(&endpoint)));
    let servers = McpServers::new(options());
    servers.add("web", McpServerConfig::http(format!("http://{address}/mcp"))).unwrap();
    servers.settled(LONG).await;
    assert_eq!(go(&servers).await.as_deref(), Ok("done"));
    first.abort();
    let _ = first.await;
    // Nothing listens, so the call was certainly not executed. A connection that was not accepted before is reset, and
    // then the client cannot be certain.
    let mut failed = go(&servers).await.unwrap_err();
    if failed.to_string().contains("Connection reset") {
        failed = go(&servers).await.unwrap_err();
    }
    assert!(matches!(failed, McpError::NotConnected { .. }), "{failed}");
    tokio::spawn(listen(TcpListener::bind(address).await.unwrap(), Arc::clone(&endpoint)));
    tokio::time::pause();
    tokio::time::advance(Duration::from_millis(1100)).await;
    tokio::time::resume();
    assert_eq!(go(&servers).await.as_deref(), Ok("done"));
    assert_eq!(endpoint.called.load(Ordering::SeqCst), 2);
    servers.close().await;
}

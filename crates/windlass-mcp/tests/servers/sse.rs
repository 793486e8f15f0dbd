//! Older HTTP transport with server-sent events.

use crate::world::{LONG, json, options, status, text};
use serde_json::{Value, json as value};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use windlass_mcp::{McpError, McpServerConfig, McpServerState, McpServers};

/// Reads the head of a request in lower case, its path, and its body.
async fn request(stream: &mut BufReader<TcpStream>) -> Option<(String, String, Vec<u8>)> {
    let mut head = String::new();
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await.ok()? == 0 {
            return None;
        }
        if line == "\r\n" {
            break;
        }
        head.push_str(&line);
    }
    let path = head.split(' ').nth(1)?.to_owned();
    let head = head.to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    Some((head, path, body))
}

fn answer(message: &Value) -> Option<Value> {
    let result = match message["method"].as_str()? {
        "initialize" => {
            value!({ "protocolVersion": "2024-11-05", "capabilities": { "tools": {} }, "serverInfo": { "name": "old", "version": "1" } })
        }
        "tools/list" => {
            value!({ "tools": [{ "name": "add", "inputSchema": { "type": "object" } }, { "name": "huge", "inputSchema": { "type": "object" } }] })
        }
        "tools/call" if message["params"]["name"] == "huge" => {
            value!({ "content": [{ "type": "text", "text": "x".repeat(17 << 20) }] })
        }
        "tools/call" => value!({ "content": [{ "type": "text", "text": "3" }] }),
        _ => return None,
    };
    Some(value!({ "jsonrpc": "2.0", "id": message["id"], "result": result }))
}

/// Serves an old endpoint that announces `address` for posted messages; answers calls with `call_status` if given.
async fn serve(address: &'static str, call_status: Option<&'static str>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/sse", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (mut events, mut posts) = (None::<mpsc::UnboundedSender<Value>>, Vec::new());
        while let Ok((stream, _)) = listener.accept().await {
            let mut stream = BufReader::new(stream);
            let Some((head, path, body)) = request(&mut stream).await else { continue };
            assert!(head.contains("x-token: t\r\n"), "{head}");
            if path == "/sse" {
                let (sender, receiver) = mpsc::unbounded_channel();
                events = Some(sender);
                posts.push(tokio::spawn(stream_of(stream, address, receiver)));
                continue;
            }
            assert_eq!(path, "/messages?s=1");
            let message: Value = serde_json::from_slice(&body).unwrap();
            let status = call_status.filter(|_| message["method"] == "tools/call").unwrap_or("202 Accepted");
            let words = format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
            stream.get_mut().write_all(words.as_bytes()).await.unwrap();
            if let (Some(events), Some(answer), "202 Accepted") = (&events, answer(&message), status) {
                let _ = events.send(answer);
            }
        }
    });
    url
}

async fn stream_of(mut stream: BufReader<TcpStream>, address: &str, mut events: mpsc::UnboundedReceiver<Value>) {
    let words = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nConnection: close\r\n\r\nevent: endpoint\ndata: {address}\n\n"
    );
    let _ = stream.get_mut().write_all(words.as_bytes()).await;
    while let Some(event) = events.recv().await {
        let written = stream.get_mut().write_all(format!("event: message\r\ndata: {event}\r\n\r\n").as_bytes()).await;
        if written.is_err() {
            return;
        }
    }
}

async fn one(url: String) -> McpServers {
    let servers = McpServers::new(options());
    servers.add("old", McpServerConfig::sse(url).header("X-Token", "t")).unwrap();
    servers.settled(LONG).await;
    servers
}

#[tokio::test]
async fn an_old_endpoint_offers_tools_and_carries_out_calls() {
    let servers = one(serve("/messages?s=1", None).await).await;
    let known = status(&servers);
    assert_eq!((known.state, known.error), (McpServerState::Connected, None));
    for _ in 0..3 {
        assert_eq!(text(&servers.call("old", "add", &json("{}"), None).await.unwrap()), "3");
    }
    let large = servers.call("old", "huge", &json("{}"), None).await.unwrap_err().to_string();
    assert!(large.contains("it holds more than 16777216 bytes"), "{large}");
    assert_eq!(text(&servers.call("old", "add", &json("{}"), None).await.unwrap()), "3");
    servers.close().await;
}

#[tokio::test]
async fn a_message_that_is_refused_fails_its_call_at_once() {
    let servers = one(serve("/messages?s=1", Some("404 Not Found")).await).await;
    let error = servers.call("old", "add", &json("{}"), None).await.unwrap_err().to_string();
    assert!(error.contains("404"), "{error}");
    servers.close().await;
}

#[tokio::test]
async fn a_message_that_was_received_may_have_been_carried_out() {
    for status in ["500 Internal Server Error", "502 Bad Gateway", "503 Service Unavailable", "504 Gateway Timeout"] {
        let servers = one(serve("/messages?s=1", Some(status)).await).await;
        let error = servers.call("old", "add", &json("{}"), None).await.unwrap_err();
        let McpError::OutcomeUnknown { detail, .. } = &error else { panic!("{error}") };
        assert!(detail.contains(status), "{error}");
        servers.close().await;
    }
}

#[tokio::test]
async fn messages_go_to_the_same_server_only() {
    for (address, problem) in [("http://127.0.0.1:9/messages", "another server"), ("http://[", "not valid")] {
        let servers = one(serve(address, None).await).await;
        let error = status(&servers).error.unwrap();
        assert!(error.contains(problem), "{error}");
        servers.close().await;
    }
}

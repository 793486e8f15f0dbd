//! Streamable HTTP.

use crate::real::Server;
use crate::world::{LONG, json, options, status, text};
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use windlass_mcp::{McpServerConfig, McpServerState, McpServers};

/// Serves the real server on a free port.
async fn serve() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let manager = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(|| Ok(Server), manager, StreamableHttpServerConfig::default());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let service = TowerToHyperService::new(service.clone());
            tokio::spawn(hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service));
        }
    });
    url
}

/// Answers every request with the same bytes.
async fn serve_words(words: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = vec![0; 64 * 1024];
            let _ = stream.read(&mut request).await;
            let _ = stream.write_all(words.as_bytes()).await;
        }
    });
    url
}

async fn one(config: McpServerConfig) -> McpServers {
    let servers = McpServers::new(options());
    servers.add("web", config).unwrap();
    servers.settled(LONG).await;
    servers
}

#[tokio::test]
async fn an_endpoint_offers_tools_and_carries_out_calls() {
    let servers = one(McpServerConfig::http(serve().await).header("X-Token", "t")).await;
    let known = status(&servers);
    assert_eq!((known.state, known.error), (McpServerState::Connected, None));
    let sum = servers.call("web", "add", &json(r#"{"a":20,"b":22}"#), None).await.unwrap();
    assert_eq!(text(&sum), "42");
    servers.reconnect("web").await.unwrap();
    assert_eq!(servers.tools().len(), 5);
    servers.close().await;
}

#[tokio::test]
async fn endpoints_that_cannot_be_used_say_why() {
    for (words, state, problem) in [
        (
            "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Bearer\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
            McpServerState::NeedsAuth,
            "",
        ),
        (
            "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:9/\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
            McpServerState::Failed,
            "302",
        ),
        ("HTTP/1.1 500 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", McpServerState::Failed, "500"),
        ("SSH-2.0-OpenSSH\r\n", McpServerState::Failed, ""),
    ] {
        let servers = one(McpServerConfig::http(serve_words(words).await)).await;
        let known = status(&servers);
        assert_eq!(known.state, state, "{words}: {:?}", known.error);
        assert!(known.error.as_deref().unwrap_or_default().contains(problem), "{words}: {:?}", known.error);
        servers.close().await;
    }
}

#[tokio::test]
async fn an_address_where_no_server_listens_is_said_to_refuse() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    drop(listener);
    let servers = one(McpServerConfig::http(url)).await;
    let error = status(&servers).error.unwrap();
    assert!(error.to_lowercase().contains("connection refused"), "{error}");
    servers.close().await;
}

/// Reads the posted message of a request.
async fn posted(stream: &mut tokio::net::TcpStream) -> Option<serde_json::Value> {
    let mut request = Vec::new();
    loop {
        if stream.read_buf(&mut request).await.ok()? == 0 {
            return None;
        }
        let text = String::from_utf8_lossy(&request);
        if let Some(Ok(body)) = text.split_once("\r\n\r\n").map(|(_, body)| serde_json::from_str(body)) {
            return Some(body);
        }
    }
}

/// Serves the newest revision alone. Answers `server/discover` only from the second time on.
async fn serve_slowly() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (mut discovered, mut silent) = (false, Vec::new());
        while let Ok((mut stream, _)) = listener.accept().await {
            let Some(body) = posted(&mut stream).await else { continue };
            let answer = match body["method"].as_str().unwrap() {
                "server/discover" if !std::mem::replace(&mut discovered, true) => {
                    silent.push(stream);
                    continue;
                }
                "server/discover" => serde_json::json!({ "result": {
                    "resultType": "complete", "ttlMs": 0, "cacheScope": "private", "supportedVersions": ["2026-07-28"],
                    "capabilities": {}, "serverInfo": { "name": "slow", "version": "1" },
                } }),
                _ => serde_json::json!({ "error": { "code": -32601, "message": "no" } }),
            };
            let mut answer = answer;
            answer["jsonrpc"] = "2.0".into();
            answer["id"] = body["id"].clone();
            let (answer, kind) = (answer.to_string(), "Content-Type: application/json\r\nConnection: close");
            let words = format!("HTTP/1.1 200 OK\r\n{kind}\r\nContent-Length: {}\r\n\r\n{answer}", answer.len());
            let _ = stream.write_all(words.as_bytes()).await;
        }
    });
    url
}

#[tokio::test]
async fn an_endpoint_without_a_handshake_may_be_slow() {
    let servers = one(McpServerConfig::http(serve_slowly().await)).await;
    let known = status(&servers);
    assert_eq!((known.state, known.error), (McpServerState::Connected, None));
    servers.close().await;
}

/// Serves a tool whose answers hold too many values.
async fn serve_too_much() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let Some(body) = posted(&mut stream).await else { continue };
            let result = match body["method"].as_str().unwrap() {
                "initialize" => serde_json::json!({
                    "protocolVersion": "2025-06-18", "capabilities": { "tools": {} },
                    "serverInfo": { "name": "much", "version": "1" },
                }),
                "tools/list" => {
                    serde_json::json!({ "tools": [{ "name": "flood", "inputSchema": { "type": "object" } }] })
                }
                "tools/call" => serde_json::json!({ "content": [], "structuredContent": { "a": vec![1; 600_000] } }),
                _ => serde_json::Value::Null,
            };
            let answer = serde_json::json!({ "jsonrpc": "2.0", "id": body["id"], "result": result });
            let words = match body["id"].is_null() || result.is_null() {
                true => "HTTP/1.1 202 Accepted\r\nConnection: close\r\nContent-Length: 0\r\n\r\n".to_owned(),
                false => format!(
                    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\ndata: {answer}\n\n"
                ),
            };
            let _ = stream.write_all(words.as_bytes()).await;
        }
    });
    url
}

#[tokio::test]
async fn an_answer_with_too_many_values_is_an_error_of_its_call() {
    let servers = one(McpServerConfig::http(serve_too_much().await)).await;
    assert_eq!(status(&servers).state, McpServerState::Connected, "{:?}", status(&servers).error);
    let error = servers.call("web", "flood", &json("{}"), None).await.unwrap_err().to_string();
    assert!(error.contains("more than 500000 values"), "{error}");
    servers.close().await;
}

/// A command prints headers, and no error repeats its output.
#[cfg(unix)]
#[tokio::test]
async fn headers_come_from_a_command() {
    let options = || options().with_env([("PATH", std::env::var_os("PATH").unwrap())]);
    let seen = tokio::sync::mpsc::unbounded_channel::<String>();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = vec![0; 64 * 1024];
            let count = stream.read(&mut request).await.unwrap_or(0);
            let _ = seen.0.send(String::from_utf8_lossy(&request[..count]).into_owned());
            let _ = stream.write_all(b"HTTP/1.1 401 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").await;
        }
    });
    let helper = r#"printf '{"X-Token":"of %s at %s"}' "$CLAUDE_CODE_MCP_SERVER_NAME" "$CLAUDE_CODE_MCP_SERVER_URL""#;
    let config = McpServerConfig::http(&url).header("x-token", "old").header("X-Other", "kept").headers_helper(helper);
    let servers = McpServers::new(options());
    servers.add("web", config).unwrap();
    servers.settled(LONG).await;
    let mut seen = seen.1;
    let request = seen.recv().await.unwrap().to_lowercase();
    assert!(request.contains(&format!("x-token: of web at {url}\r\n")), "{request}");
    assert!(request.contains("x-other: kept\r\n") && !request.contains("old"), "{request}");
    servers.close().await;

    for (helper, problem) in [
        ("echo secret", "JSON object"),
        ("printf '%70000d' 1", "bytes"),
        ("exit 3", "JSON object"),
        ("printf '[1]'", "JSON object"),
    ] {
        let servers = McpServers::new(options());
        servers.add("web", McpServerConfig::http(&url).headers_helper(helper)).unwrap();
        servers.settled(LONG).await;
        let error = status(&servers).error.unwrap();
        assert!(error.contains(problem) && !error.contains("secret"), "{helper}: {error}");
        servers.close().await;
    }
}

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

/// Answers every request with the same words.
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

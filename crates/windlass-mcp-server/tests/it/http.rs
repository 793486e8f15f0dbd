//! Streamable HTTP transport.

use crate::world::User;
use rmcp::ServiceExt;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use tokio::net::TcpListener;
use windlass::{Permissions, session};
use windlass_mcp_server::{AgentTool, BearerToken, HttpOptions, McpServer, ServeError};

const TOKEN: &str = "0123456789abcdef";

fn server() -> McpServer {
    McpServer::new("h", "1").service(AgentTool::new("agent", "Works.", Permissions::new(), session))
}

fn options() -> HttpOptions {
    HttpOptions::new(BearerToken::new(TOKEN).unwrap())
}

/// Starts a server on a free port, and returns its address.
async fn served(options: HttpOptions) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(server().serve_http(listener, options));
    format!("http://{address}/mcp")
}

/// Installs the provider of cryptography that HTTP clients require even if they need none.
fn with_cryptography() {
    // Another test may have been first.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

async fn client(url: &str) -> Result<crate::world::Connected, String> {
    with_cryptography();
    let config = StreamableHttpClientTransportConfig::with_uri(url).auth_header(TOKEN);
    User::default().serve(StreamableHttpClientTransport::from_config(config)).await.map_err(|error| error.to_string())
}

const GREETING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}"#;

/// Returns the status of a greeting with these headers.
async fn greeted(url: &str, headers: &[(&str, &str)]) -> u16 {
    with_cryptography();
    let request = reqwest::Client::builder().no_proxy().build().unwrap().post(url);
    let request = request
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .body(GREETING);
    let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
    request.send().await.unwrap().status().as_u16()
}

#[tokio::test]
async fn a_client_with_the_token_is_served() {
    let url = served(options()).await;
    let client = client(&url).await.unwrap();
    assert_eq!(client.list_all_tools().await.unwrap()[0].name, "agent");
    client.cancel().await.unwrap();
}

#[tokio::test]
async fn no_page_and_no_stranger_is_served() {
    let url = served(options().origin("https://app.example.com:443")).await;
    let bearer = format!("Bearer {TOKEN}");
    let good = ("authorization", bearer.as_str());
    for (headers, status) in [
        (vec![good], 200),
        (vec![], 401),
        (vec![("authorization", "Bearer 0123456789abcdeg")], 401),
        (vec![("authorization", "Bearer 0123456789abcde")], 401),
        (vec![("authorization", TOKEN)], 401),
        (vec![good, ("host", "evil.example")], 403),
        (vec![good, ("origin", "https://evil.example")], 403),
        (vec![good, ("origin", "null")], 403),
        (vec![good, ("origin", "https://app.example.com")], 200),
    ] {
        assert_eq!(greeted(&url, &headers).await, status, "{headers:?}");
    }
    assert_eq!(greeted(&url.replace("/mcp", "/other"), &[good]).await, 404);
}

#[tokio::test]
async fn sessions_are_bounded() {
    let mut options = options();
    options.max_sessions = 2;
    let url = served(options).await;
    let first = client(&url).await.unwrap();
    let _second = client(&url).await.unwrap();
    assert!(client(&url).await.is_err());
    first.cancel().await.unwrap();
    // The place of a disconnected client is free again, as soon as the server has noticed.
    let began = std::time::Instant::now();
    while client(&url).await.is_err() {
        assert!(began.elapsed() < crate::world::LONG, "the session never ended");
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn what_would_be_open_to_all_is_refused() {
    assert!(matches!(BearerToken::new("short"), Err(ServeError::Options(_))));
    assert!(matches!(BearerToken::new("0123456789 abcdef"), Err(ServeError::Options(_))));
    assert!(!format!("{:?}", options()).contains(TOKEN));
    let listener = TcpListener::bind("0.0.0.0:0").await.unwrap();
    assert!(matches!(server().serve_http(listener, options()).await, Err(ServeError::Options(_))));
}

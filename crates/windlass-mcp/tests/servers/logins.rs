//! Servers that require a login, over sockets: each is its own authorisation server.

use crate::world::{LONG, json, options, status, text};
use serde_json::{Value, json as value};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use windlass_mcp::auth::{Browser, LoginPage, OAuthConfig, OAuthGrant, SecretText};
use windlass_mcp::{McpError, McpServerConfig, McpServerState, McpServers};

/// Requirements of a server for a request, by its method: the token, or a refusal.
#[derive(Debug, Default)]
struct Gate {
    /// Accepted tokens. A missing one is refused with 401.
    tokens: Vec<String>,
    /// Status and header with which calls are refused, whatever the token.
    calls: Option<(u16, Option<&'static str>)>,
    /// Number of issued tokens.
    given: usize,
}

type Shared = Arc<Mutex<Gate>>;

async fn serve(gate: Shared) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    let url = format!("{origin}/mcp");
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (gate, origin) = (Arc::clone(&gate), origin.clone());
            tokio::spawn(async move { answer(stream, &gate, &origin).await });
        }
    });
    url
}

/// Answers one request.
async fn answer(mut stream: TcpStream, gate: &Shared, origin: &str) -> Option<()> {
    let mut bytes = Vec::new();
    let (head, length) = loop {
        let mut chunk = [0; 4096];
        let count = stream.read(&mut chunk).await.ok().filter(|count| *count > 0)?;
        bytes.extend_from_slice(&chunk[..count]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, _)) = text.split_once("\r\n\r\n") {
            let length =
                head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
            break (head.to_owned(), length.unwrap_or(0_usize));
        }
    };
    while bytes.len() < head.len() + 4 + length {
        let mut chunk = [0; 4096];
        let count = stream.read(&mut chunk).await.ok().filter(|count| *count > 0)?;
        bytes.extend_from_slice(&chunk[..count]);
    }
    let (status, header, body) = reply(&head, &bytes[head.len() + 4..], gate, origin);
    let body = body.to_string();
    let header = header.map(|value| format!("WWW-Authenticate: {value}\r\n")).unwrap_or_default();
    let text = format!(
        "HTTP/1.1 {status} x\r\ncontent-type: application/json\r\n{header}content-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(text.as_bytes()).await.ok()
}

fn reply(head: &str, body: &[u8], gate: &Shared, origin: &str) -> (u16, Option<String>, Value) {
    let path = head.split(' ').nth(1).unwrap_or_default();
    let mut gate = gate.lock().unwrap();
    match path {
        "/.well-known/oauth-protected-resource/mcp" => {
            (200, None, value!({"resource": format!("{origin}/mcp"), "authorization_servers": [origin]}))
        }
        "/.well-known/oauth-authorization-server" => {
            let described = value!({
                "issuer": origin, "authorization_endpoint": format!("{origin}/authorize"), "token_endpoint": format!("{origin}/token"),
                "registration_endpoint": format!("{origin}/register"), "code_challenge_methods_supported": ["S256"],
            });
            (200, None, described)
        }
        "/register" => (201, None, value!({"client_id": "c"})),
        "/token" => {
            gate.given += 1;
            let token = format!("token-{}", gate.given);
            gate.tokens = vec![token.clone()];
            (200, None, value!({"access_token": token, "token_type": "Bearer"}))
        }
        _ => mcp(head, body, &gate),
    }
}

fn mcp(head: &str, body: &[u8], gate: &Gate) -> (u16, Option<String>, Value) {
    let bearer = head.lines().find_map(|line| line.strip_prefix("authorization: Bearer "));
    if bearer.is_none_or(|token| !gate.tokens.iter().any(|known| known == token)) {
        return (401, Some("Bearer".to_owned()), value!({"error": "no"}));
    }
    let message: BTreeMap<String, Value> = serde_json::from_slice(body).unwrap_or_default();
    let (method, id) = (message.get("method").and_then(Value::as_str).unwrap_or_default(), message.get("id"));
    let result = match method {
        "initialize" => value!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
            "serverInfo": {"name": "guarded", "version": "1"}}),
        "tools/list" => value!({"tools": [{"name": "t", "inputSchema": {"type": "object"}}]}),
        "tools/call" => match gate.calls {
            Some((status, header)) => return (status, header.map(str::to_owned), value!({"error": "no"})),
            None => value!({"content": [{"type": "text", "text": "done"}]}),
        },
        _ => return (202, None, Value::Null),
    };
    (200, None, value!({"jsonrpc": "2.0", "id": id, "result": result}))
}

/// User who agrees.
#[derive(Debug)]
struct Agrees;

#[async_trait::async_trait]
impl Browser for Agrees {
    async fn open(&self, page: &LoginPage) -> Result<Option<String>, String> {
        let state = page.address.split('&').find_map(|pair| pair.strip_prefix("state=")).unwrap();
        Ok(Some(format!("{}?code=x&state={state}", page.redirect_uri)))
    }
}

async fn connected(config: McpServerConfig) -> McpServers {
    let servers = McpServers::new(options().with_login_command("app login"));
    servers.add("web", config).unwrap();
    servers.settled(LONG).await;
    servers
}

#[tokio::test]
async fn a_server_that_wants_a_login_says_what_to_do_and_works_behind_it() {
    let gate = Shared::default();
    let servers = connected(McpServerConfig::http(serve(Arc::clone(&gate)).await)).await;
    let known = status(&servers);
    assert_eq!(known.state, McpServerState::NeedsAuth);
    assert!(known.error.unwrap().ends_with("needs authentication: log in with `app login web`"));
    assert!(servers.missing()[0].reason.contains("app login web"));
    servers.authenticate("web", &Agrees).await.unwrap();
    assert_eq!(status(&servers).state, McpServerState::Connected);
    let called = servers.call("web", "t", &json("{}"), None).await.unwrap();
    assert_eq!(text(&called), "done");
    // The server withdraws the token while it is used.
    gate.lock().unwrap().tokens.clear();
    let error = servers.call("web", "t", &json("{}"), None).await.unwrap_err();
    assert!(matches!(error, McpError::NeedsAuth { .. }), "{error}");
    let known = status(&servers);
    assert_eq!((known.state, known.tools.len()), (McpServerState::NeedsAuth, 1));
    servers.authenticate("web", &Agrees).await.unwrap();
    assert_eq!(text(&servers.call("web", "t", &json("{}"), None).await.unwrap()), "done");
    assert!(servers.forget_login("web").await.unwrap());
    assert_eq!(status(&servers).state, McpServerState::NeedsAuth);
    servers.close().await;
}

#[tokio::test]
async fn every_refusal_for_want_of_rights_is_one_and_no_failure() {
    for (code, header) in [
        (401, None),
        (401, Some("Bearer error=\"invalid_token\"")),
        (403, None),
        (403, Some("Bearer error=\"insufficient_scope\", scope=\"write\"")),
    ] {
        let gate = Shared::default();
        let servers = connected(McpServerConfig::http(serve(Arc::clone(&gate)).await)).await;
        servers.authenticate("web", &Agrees).await.unwrap();
        gate.lock().unwrap().calls = Some((code, header));
        let error = servers.call("web", "t", &json("{}"), None).await.unwrap_err();
        assert!(matches!(error, McpError::NeedsAuth { .. }), "{code} {header:?}: {error}");
        assert_eq!(status(&servers).state, McpServerState::NeedsAuth, "{code} {header:?}");
        // Another call may need fewer rights: it connects anew at once.
        gate.lock().unwrap().calls = None;
        assert_eq!(text(&servers.call("web", "t", &json("{}"), None).await.unwrap()), "done", "{code} {header:?}");
        servers.close().await;
    }
}

#[tokio::test]
async fn a_program_with_a_secret_of_its_own_logs_in_without_being_asked() {
    let gate = Shared::default();
    let mut oauth = OAuthConfig::default();
    (oauth.client_id, oauth.client_secret) = (Some("c".to_owned()), Some(SecretText::new("s")));
    oauth.grant = OAuthGrant::ClientCredentials { private_key: None };
    let servers = connected(McpServerConfig::http(serve(Arc::clone(&gate)).await).oauth(oauth)).await;
    assert_eq!(status(&servers).state, McpServerState::Connected);
    gate.lock().unwrap().tokens.clear();
    assert_eq!(text(&servers.call("web", "t", &json("{}"), None).await.unwrap()), "done");
    assert_eq!(gate.lock().unwrap().given, 2);
    servers.close().await;
}

#[tokio::test]
async fn a_header_of_the_configuration_takes_the_place_of_logins() {
    let gate = Shared::default();
    gate.lock().unwrap().tokens = vec!["mine".to_owned()];
    let url = serve(Arc::clone(&gate)).await;
    let servers = connected(McpServerConfig::http(&url).header("Authorization", "Bearer mine")).await;
    assert_eq!(status(&servers).state, McpServerState::Connected);
    servers.close().await;
    let servers = connected(McpServerConfig::http(&url).header("authorization", "Bearer other")).await;
    let known = status(&servers);
    assert_eq!(known.state, McpServerState::NeedsAuth);
    let problem = known.error.unwrap();
    assert!(
        problem.contains("the header `Authorization` of its configuration") && !problem.contains("app login"),
        "{problem}"
    );
    let refused = servers.authenticate("web", &Agrees).await;
    assert!(matches!(refused, Err(McpError::LoginFailed { .. })));
    assert!(matches!(servers.authenticate("nope", &Agrees).await, Err(McpError::UnknownServer { .. })));
    servers.close().await;
}

//! Logins to MCP servers: `windlass mcp login` and `logout`, and those that a host begins. The server is its own authorisation
//! server, and the test is the user at the browser.

use crate::living::{ended, eventually};
use crate::place::{Place, write};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::process::{ChildStdout, Stdio};
use std::sync::{Arc, Mutex};

/// The tokens that the server takes now.
type Tokens = Arc<Mutex<Vec<String>>>;

/// A server that wants a login, at an address.
fn serve() -> (String, Tokens) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    let (url, tokens) = (format!("{origin}/mcp"), Tokens::default());
    let known = Arc::clone(&tokens);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (known, origin) = (Arc::clone(&known), origin.clone());
            std::thread::spawn(move || answer(stream.unwrap(), &known, &origin));
        }
    });
    (url, tokens)
}

/// Answers one request; `None` for a connection that ends before it is whole.
fn answer(mut stream: TcpStream, tokens: &Tokens, origin: &str) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        reader.read_line(&mut head).ok().filter(|read| *read > 0)?;
    }
    let header = |name: &str| head.lines().find_map(|line| line.to_lowercase().strip_prefix(name).map(str::to_owned));
    let length = header("content-length: ").and_then(|length| length.parse().ok()).unwrap_or(0_usize);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let (status, body) = reply(&head, &body, tokens, origin);
    let body = body.to_string();
    let challenge = if status == 401 { "WWW-Authenticate: Bearer\r\n" } else { "" };
    let text = format!(
        "HTTP/1.1 {status} x\r\ncontent-type: application/json\r\n{challenge}content-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(text.as_bytes()).ok()
}

fn reply(head: &str, body: &[u8], tokens: &Tokens, origin: &str) -> (u16, Value) {
    match head.split(' ').nth(1).unwrap_or_default() {
        "/.well-known/oauth-protected-resource/mcp" => {
            (200, json!({"resource": format!("{origin}/mcp"), "authorization_servers": [origin]}))
        }
        "/.well-known/oauth-authorization-server" => (
            200,
            json!({"issuer": origin, "authorization_endpoint": format!("{origin}/authorize"),
                "token_endpoint": format!("{origin}/token"), "registration_endpoint": format!("{origin}/register"),
                "code_challenge_methods_supported": ["S256"]}),
        ),
        "/register" => (201, json!({"client_id": "c"})),
        "/token" => {
            let mut tokens = tokens.lock().unwrap();
            let token = format!("secret-token-{}", tokens.len());
            tokens.push(token.clone());
            (200, json!({"access_token": token, "token_type": "Bearer"}))
        }
        "/mcp" => mcp(head, body, tokens),
        _ => (404, Value::Null),
    }
}

fn mcp(head: &str, body: &[u8], tokens: &Tokens) -> (u16, Value) {
    let given = head.lines().find_map(|line| line.strip_prefix("authorization: Bearer "));
    if given.is_none_or(|given| !tokens.lock().unwrap().iter().any(|known| known == given)) {
        return (401, json!({"error": "no"}));
    }
    let message: Value = serde_json::from_slice(body).unwrap_or_default();
    let result = match message["method"].as_str() {
        Some("initialize") => json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
            "serverInfo": {"name": "guarded", "version": "1"}}),
        Some("tools/list") => {
            json!({"tools": [{"name": "t", "description": "A tool.", "inputSchema": {"type": "object"}}]})
        }
        _ => return (202, Value::Null),
    };
    (200, json!({"jsonrpc": "2.0", "id": message["id"], "result": result}))
}

/// The user agrees: the browser returns to the address that the page was asked for with.
fn agree(address: &str) {
    let asked = |name: &str| {
        let given = address.split(['?', '&']).find_map(|pair| pair.strip_prefix(&format!("{name}=")));
        given.unwrap().replace("%3A", ":").replace("%2F", "/")
    };
    let back = asked("redirect_uri");
    let (host, path) = back.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let port = host.rsplit(':').next().unwrap();
    let mut stream = TcpStream::connect(format!("127.0.0.1:{port}")).unwrap();
    let request = format!(
        "GET /{path}?code=the-code&state={} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n",
        asked("state")
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut page = String::new();
    stream.read_to_string(&mut page).unwrap();
    assert!(page.starts_with("HTTP/1.1 200"), "{page}");
}

/// A place whose browser writes down the address that it is to open.
fn place(url: &str) -> Place {
    let place = Place::new();
    let browser = place.path("browser");
    let opened = place.path("opened");
    write(&browser, &format!("#!/bin/sh\nprintf '%s\\n' \"$1\" > '{}'\n", opened.display()));
    std::fs::set_permissions(&browser, std::fs::Permissions::from_mode(0o755)).unwrap();
    place.run(&["mcp", "add", "-s", "user", "guarded", url]).with_code(0);
    place
}

/// The address that the browser was to open.
fn opened(place: &Place) -> String {
    eventually("the browser is opened", || {
        let text = std::fs::read_to_string(place.path("opened")).ok()?;
        text.ends_with('\n').then(|| text.trim().to_owned())
    })
}

#[test]
fn a_login_is_kept_for_later_sessions_until_it_is_forgotten() {
    let (url, tokens) = serve();
    let place = place(&url);
    let refused = place.run(&["mcp", "test", "guarded"]).with_code(1);
    assert!(refused.stdout.contains("needs") || refused.stderr.contains("needs"), "{refused:#?}");

    let mut command = place.command(&["mcp", "login", "guarded"]);
    let login = command.env("BROWSER", place.path("browser")).spawn().unwrap();
    agree(&opened(&place));
    let said = crate::place::Ran::from(login.wait_with_output().unwrap()).with_code(0);
    assert_eq!(said.stdout, "logged in to guarded\n");
    assert!(said.stderr.contains("Log in at 127.0.0.1"), "{said:#?}");
    let token = tokens.lock().unwrap()[0].clone();
    assert!(!said.stdout.contains(&token) && !said.stderr.contains(&token), "{said:#?}");

    let works = place.run(&["mcp", "test", "guarded"]).with_code(0);
    assert!(works.stdout.contains("A tool."), "{works:#?}");
    let forgotten = place.run(&["mcp", "logout", "guarded"]).with_code(0);
    assert_eq!(forgotten.stdout, "logged out of guarded\n");
    let again = place.run(&["mcp", "logout", "guarded"]).with_code(0);
    assert_eq!(again.stdout, "there was no login to guarded\n");
    place.run(&["mcp", "test", "guarded"]).with_code(1);
    assert_eq!(tokens.lock().unwrap().len(), 1, "no other token was asked for");
}

#[test]
fn a_login_without_a_browser_prints_the_address() {
    let (url, _) = serve();
    let place = place(&url);
    let mut command = place.command(&["mcp", "login", "--no-browser", "guarded"]);
    let mut login = command.env("BROWSER", place.path("browser")).spawn().unwrap();
    let mut lines = BufReader::new(login.stderr.take().unwrap()).lines();
    let address = lines.find_map(|line| line.unwrap().trim().strip_prefix("http://").map(str::to_owned)).unwrap();
    agree(&format!("http://{address}"));
    assert_eq!(ended(&mut login), Some(0));
    assert!(!place.path("opened").exists(), "no browser was opened");
}

/// The next frame for which `wanted` has an answer.
fn frame<T>(lines: &mut std::io::Lines<BufReader<ChildStdout>>, wanted: impl Fn(&Value) -> Option<T>) -> T {
    let mut frames = lines.map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    frames.find_map(|frame| wanted(&frame)).unwrap()
}

#[test]
fn a_host_reads_when_a_login_that_it_began_has_ended() {
    let (url, _) = serve();
    let place = Place::with_turns(&[crate::place::text("done")]);
    let config = json!({"mcpServers": {"guarded": {"type": "http", "url": url}}}).to_string();
    let args =
        ["--input-format", "stream-json", "--output-format", "stream-json", "--verbose", "--mcp-config", &config];
    let mut child = place.command(&args).stdin(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut order = |id: &str, request: Value| {
        writeln!(input, "{}", json!({"type": "control_request", "request_id": id, "request": request})).unwrap();
    };
    let answer = |id: &'static str| {
        move |frame: &Value| (frame["response"]["request_id"] == id).then(|| frame["response"].clone())
    };
    order("i", json!({"subtype": "initialize"}));
    frame(&mut lines, answer("i"));
    order("a", json!({"subtype": "mcp_authenticate", "serverName": "guarded"}));
    let begun = frame(&mut lines, answer("a"));
    agree(begun["response"]["authUrl"].as_str().unwrap());
    let news =
        frame(&mut lines, |frame| (frame["subtype"] == "mcp_server_status").then(|| frame["mcp_server"].clone()));
    assert_eq!(news, json!({"name": "guarded", "status": "connected"}));
    drop(input);
    assert_eq!(ended(&mut child), Some(0));
}

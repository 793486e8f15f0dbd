//! Secrets that a process was given are in none of its outputs, whatever goes wrong: not in what it prints, not in its logs.

use crate::place::{Place, Ran, call, text, write};
use serde_json::json;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;

/// No vendor's form: only what is known of where it came from says that it is a secret.
const CANARY: &str = "canary-7f3a9b1c-tweet";

/// A server that answers every request with its own words: an error that repeats the whole request.
fn echo(status: &'static str) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let (mut request, mut chunk) = (Vec::new(), [0; 4096]);
            // The head and the beginning of the body are enough.
            while !request.windows(4).any(|end| end == b"\r\n\r\n") {
                let read = stream.read(&mut chunk).unwrap_or(0);
                if read == 0 {
                    break;
                }
                request.extend_from_slice(&chunk[..read]);
            }
            let request = String::from_utf8_lossy(&request).into_owned();
            let body =
                json!({"type": "error", "error": {"type": "invalid_request_error", "message": request}}).to_string();
            let head = format!("HTTP/1.1 {status}\r\nx-should-retry: false\r\ncontent-type: application/json\r\n");
            let rest = format!("content-length: {}\r\nconnection: close\r\n\r\n{body}", body.len());
            let _ = stream.write_all(format!("{head}{rest}").as_bytes());
        }
    });
    port
}

/// All files below a folder.
fn files(folder: &Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files(&path, found),
            false => found.push(String::from_utf8_lossy(&std::fs::read(&path).unwrap_or_default()).into_owned()),
        }
    }
}

#[track_caller]
fn silent(place: &Place, ran: &Ran, case: &str) {
    assert!(!ran.stdout.contains(CANARY), "{case}: {}", ran.stdout);
    assert!(!ran.stderr.contains(CANARY), "{case}: {}", ran.stderr);
    let mut kept = Vec::new();
    files(&place.home().join(".windlass"), &mut kept);
    assert!(kept.iter().all(|text| !text.contains(CANARY)), "{case}: a file of the home has it");
}

#[test]
fn servers_that_repeat_the_request() {
    for status in ["400 Bad Request", "401 Unauthorized", "403 Forbidden", "404 Not Found", "302 Found", "418 Teapot"] {
        let base = format!("http://127.0.0.1:{}", echo(status));
        for (variables, model) in [
            (vec![("ANTHROPIC_API_KEY", CANARY.to_owned()), ("ANTHROPIC_BASE_URL", base.clone())], "sonnet"),
            (vec![("ANTHROPIC_AUTH_TOKEN", CANARY.to_owned()), ("ANTHROPIC_BASE_URL", base.clone())], "sonnet"),
            (
                vec![
                    ("ANTHROPIC_API_KEY", "other-key".to_owned()),
                    ("ANTHROPIC_CUSTOM_HEADERS", format!("X-Team-Token: {CANARY}")),
                    ("ANTHROPIC_BASE_URL", base.clone()),
                ],
                "sonnet",
            ),
            (vec![("OPENAI_API_KEY", CANARY.to_owned()), ("OPENAI_BASE_URL", base.clone())], "openai/gpt-5"),
        ] {
            for format in ["text", "stream-json"] {
                let place = Place::new();
                let args = ["-p", "Go.", "--model", model, "--output-format", format, "--verbose"];
                let mut command = place.command(&args);
                let ran: Ran = command.envs(variables.clone()).output().unwrap().into();
                assert_ne!(ran.code, 0, "{ran:#?}");
                silent(&place, &ran, &format!("{status} {variables:?} {format}"));
            }
        }
    }
}

#[test]
fn addresses_with_passwords() {
    for address in [
        format!("http://user:{CANARY}@127.0.0.1:1"),
        format!("http://user:{CANARY}@127.0.0.1:99999"),
        format!("ftp://user:{CANARY}@host"),
        format!("http://127.0.0.1:1/?api_key={CANARY}"),
        format!("http://[::1/?token={CANARY}"),
    ] {
        let place = Place::new();
        let mut command = place.command(&["-p", "Go.", "--output-format", "json"]);
        command.env("ANTHROPIC_API_KEY", "other-key").env("ANTHROPIC_BASE_URL", &address);
        let ran: Ran =
            command.env("WINDLASS_MAX_RETRIES", "0").env("CLAUDE_CODE_MAX_RETRIES", "0").output().unwrap().into();
        assert_ne!(ran.code, 0, "{address} {ran:#?}");
        silent(&place, &ran, &address);
    }
}

#[test]
fn servers_of_tools() {
    let says = format!("echo token is $MY_TOKEN, key={CANARY} >&2; exit 3");
    for server in [
        json!({"command": "sh", "args": ["-c", says], "env": {"MY_TOKEN": CANARY}}),
        json!({"command": "sh", "args": ["-c", "echo $MY_TOKEN; exit 1"], "env": {"MY_TOKEN": CANARY}}),
        json!({"type": "http", "url": format!("http://u:{CANARY}@127.0.0.1:1/mcp"), "headers": {"X-Api-Key": CANARY}}),
        json!({"type": "http", "url": format!("http://127.0.0.1:{}/?key={CANARY}", echo("400 Bad Request")), "headers": {"Authorization": format!("Bearer {CANARY}")}}),
    ] {
        let place = Place::with_turns(&[text("Done.")]);
        let config = json!({"mcpServers": {"s": server}}).to_string();
        let args = ["-p", "Go.", "--output-format", "stream-json", "--verbose", "--mcp-config", &config];
        let ran = place.run(&args);
        silent(&place, &ran, &config);
    }
}

#[test]
fn settings_that_cannot_be_used() {
    for settings in [
        json!({"env": {"MY_TOKEN": CANARY}, "permissions": 3}).to_string(),
        json!({"env": {"MY_TOKEN": [CANARY]}}).to_string(),
        json!({"env": {"MY_TOKEN": CANARY}, "permissions": {"allow": [7]}}).to_string(),
        format!("{{\"env\": {{\"MY_TOKEN\": \"{CANARY}\""),
    ] {
        let place = Place::with_turns(&[text("Done.")]);
        write(&place.path("home/.windlass/settings.json"), "{}");
        for args in [&["-p", "Go.", "--settings", &settings][..], &["settings", "--settings", &settings]] {
            let ran = place.run(args);
            assert!(!ran.stdout.contains(CANARY) && !ran.stderr.contains(CANARY), "{args:?} {ran:#?}");
        }
    }
}

#[test]
fn exports_for_people() {
    let place = Place::with_turns(&[
        call("Bash", &json!({ "command": format!("curl -H 'Authorization: Bearer {CANARY}' https://u:{CANARY}@h") })),
        text(&format!("The key is {CANARY}.")),
    ]);
    let session = "aaaaaaaa-1111-4111-8111-111111111111";
    place.run(&["-p", "Go.", "--session-id", session]).with_code(0);
    for args in
        [&["sessions", "show", session][..], &["sessions", "audit", session], &["sessions", "audit", session, "--json"]]
    {
        let ran: Ran = place.command(args).env("MY_TOKEN", CANARY).output().unwrap().into();
        let ran = ran.with_code(0);
        assert!(!ran.stdout.contains(CANARY) && ran.stdout.contains("[redacted]"), "{args:?} {}", ran.stdout);
    }
    // The exported request is exact, and not masked.
    let exact: Ran = place.command(&["sessions", "export", session]).env("MY_TOKEN", CANARY).output().unwrap().into();
    assert!(exact.stdout.contains(CANARY));
}

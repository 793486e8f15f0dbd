//! `windlass mcp serve`: a client over the standard streams and over HTTP.
#![allow(clippy::needless_pass_by_value, reason = "inputs are made where they are passed")]

use crate::place::{Place, call, text, write};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

/// A client of a server that is a program.
struct Client {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    count: u64,
    /// Answer to elicitations; `None`: the client cannot be asked.
    answer: Option<Value>,
    asked: Vec<Value>,
}

impl Client {
    fn new(place: &Place, flags: &[&str], answer: Option<Value>) -> Self {
        let args: Vec<&str> = ["mcp", "serve"].iter().chain(flags).copied().collect();
        let mut child = place.command(&args).stdin(Stdio::piped()).stderr(Stdio::inherit()).spawn().unwrap();
        let (input, output) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        let capabilities = answer.as_ref().map_or(json!({}), |_| json!({ "elicitation": {} }));
        let mut client = Self { child, input, output, count: 0, answer, asked: Vec::new() };
        let params = json!({ "protocolVersion": "2025-06-18", "capabilities": capabilities,
            "clientInfo": { "name": "test", "version": "1" } });
        assert_eq!(client.request("initialize", params)["serverInfo"]["name"], "windlass");
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        client
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input.as_mut().unwrap(), "{message}").unwrap();
    }

    fn request(&mut self, method: &str, params: Value) -> Value {
        self.count += 1;
        let id = self.count;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "the server has ended");
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["method"] == "elicitation/create" {
                self.asked.push(message["params"].clone());
                let result = json!({ "action": "accept", "content": self.answer });
                self.send(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }));
            } else if message["id"] == id {
                return message.get("result").unwrap_or(&message["error"]).clone();
            }
        }
    }

    fn call(&mut self, tool: &str, input: Value) -> Value {
        self.request("tools/call", json!({ "name": tool, "arguments": input }))
    }

    /// Leaves, and returns the exit code of the server.
    fn leave(mut self) -> Option<i32> {
        drop(self.input.take());
        self.child.wait().unwrap().code()
    }
}

#[test]
fn tools_pass_the_gate_of_a_session_here() {
    let place = Place::new();
    write(&place.work().join("a.txt"), "hello\n");
    write(&place.path("home/.windlass/settings.json"), r#"{"permissions":{"deny":["Read(secret*)"]}}"#);
    write(&place.work().join("secret.txt"), "s");
    // Permissions of a project do not apply before it is trusted.
    write(&place.work().join(".windlass/settings.json"), r#"{"permissions":{"allow":["Bash(touch *)"]}}"#);
    let file = |name: &str| place.work().canonicalize().unwrap().join(name);

    let mut client = Client::new(&place, &[], None);
    let listed = client.request("tools/list", json!({}));
    let names: Vec<&str> =
        listed["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["Bash", "Edit", "Glob", "Grep", "Read", "TaskStop", "WebFetch", "Write"]);
    let read = client.call("Read", json!({ "file_path": file("a.txt") }));
    assert!(
        read["content"][0]["text"].as_str().unwrap().contains("hello") && read["structuredContent"].is_object(),
        "{read}"
    );
    assert_eq!(client.call("Read", json!({ "file_path": file("secret.txt") }))["isError"], true);
    let denied = client.call("Bash", json!({ "command": "touch made" }));
    assert!(denied["content"][0]["text"].as_str().unwrap().contains("no elicitation"), "{denied}");
    assert!(client.call("Agent", json!({}))["message"].as_str().unwrap().contains("no tool"));
    assert_eq!(client.leave(), Some(0));

    let mut client = Client::new(&place, &["--trust"], None);
    assert_eq!(client.call("Bash", json!({ "command": "touch made" }))["isError"], false);
    assert_eq!((client.leave(), file("made").exists()), (Some(0), true));

    for (allow, exists) in [(false, false), (true, true)] {
        let mut client = Client::new(&place, &["--tools", "Bash"], Some(json!({ "allow": allow })));
        client.call("Bash", json!({ "command": "touch asked" }));
        assert!(client.asked[0]["message"].as_str().unwrap().contains("touch asked"), "{:?}", client.asked);
        assert_eq!((client.leave(), file("asked").exists()), (Some(0), exists));
    }
}

#[test]
fn an_agent_is_one_tool() {
    let place = Place::with_turns(&[call("Bash", &json!({ "command": "touch by-agent" })), text("It is done.")]);
    let mut client =
        Client::new(&place, &["--agent", "--tools", "", "--max-turns", "5"], Some(json!({ "allow": true })));
    let done = client.call("agent", json!({ "prompt": "Do it." }));
    assert_eq!((&done["content"][0]["text"], &done["isError"]), (&json!("It is done."), &json!(false)), "{done}");
    assert!(place.work().join("by-agent").exists() && client.asked.len() == 1);
    assert_eq!(client.leave(), Some(0));
    assert_eq!(place.logs().len(), 1, "the session of the agent is stored");
}

#[test]
fn http_needs_the_token_that_is_said() {
    let place = Place::new();
    let mut command = place.command(&["mcp", "serve", "--http", "127.0.0.1:0", "--tools", "Read"]);
    let mut child = command.env("WINDLASS_MCP_TOKEN", "0123456789abcdef").spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("http://").unwrap().strip_suffix("/mcp").unwrap().to_owned();
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": { "protocolVersion": "2025-06-18",
        "capabilities": {}, "clientInfo": { "name": "x", "version": "1" } } })
    .to_string();
    let status = |token: &str, host: &str| {
        let mut stream = TcpStream::connect(&address).unwrap();
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(body.as_bytes()).unwrap();
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).unwrap();
        String::from_utf8(answer.to_vec()).unwrap()
    };
    assert_eq!(status("0123456789abcdef", &address), "HTTP/1.1 200");
    assert_eq!(status("0123456789abcdeg", &address), "HTTP/1.1 401");
    assert_eq!(status("0123456789abcdef", "evil.example"), "HTTP/1.1 403");
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn what_cannot_be_served_is_refused() {
    let place = Place::new();
    for (flags, part) in [
        (&["--tools", "Nope"][..], "there is no tool \"Nope\""),
        (&["--model", "opus"], "--agent"),
        (&["--host", "h"], "--http"),
        (&["--http", "0.0.0.0:0", "--token-env", "HOME"], "16 visible ASCII"),
        (&["--http", "0.0.0.0:0"], "names by which clients reach it"),
        (&["--allowedTools", "Bash("], "Bash("),
    ] {
        let args: Vec<&str> = ["mcp", "serve"].iter().chain(flags).copied().collect();
        let mut command = place.command(&args);
        let refused = crate::place::Ran::from(command.env("HOME", "/short").output().unwrap()).with_code(2);
        assert!(refused.stderr.contains(part), "{flags:?}: {refused:#?}");
    }
}

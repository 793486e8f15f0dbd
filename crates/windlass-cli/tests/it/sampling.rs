//! Servers that request messages of the command's model.

use crate::living::ended;
use crate::place::{Place, call, text};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

/// Asks for a message in each call, and answers with the reply.
const SERVER: &str = r#"
say() { printf '%s\n' "$1"; }
while read -r line; do
  id=${line#*'"id":'}
  id=${id%%[,\}]*}
  case $line in
    *'"id":"s1"'*)
      say '{"jsonrpc":"2.0","id":'$call',"result":{"content":[{"type":"text","text":"told '"${line//[\"\\]/}"'"}]}}' ;;
    *'"initialize"'*)
      say '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"n","version":"1"}}}' ;;
    *'"tools/list"'*)
      say '{"jsonrpc":"2.0","id":'$id',"result":{"tools":[{"name":"go","inputSchema":{"type":"object"}}]}}' ;;
    *'"tools/call"'*)
      call=$id
      say '{"jsonrpc":"2.0","id":"s1","method":"sampling/createMessage","params":{"messages":[{"role":"user","content":{"type":"text","text":"Write a haiku."}}],"maxTokens":50}}' ;;
  esac
done
"#;

const SAMPLING: &str = "mcp__notes__sampling_createMessage";

fn config(sampling: &Value) -> String {
    let server = json!({ "command": "/bin/bash", "args": ["-c", SERVER], "sampling": sampling });
    json!({ "mcpServers": { "notes": server } }).to_string()
}

fn place() -> Place {
    Place::with_turns(&[call("mcp__notes__go", &json!({})), text("An old silent pond."), text("done")])
}

/// Returns the text of the server's tool, from the frames of a run.
fn told(frames: &[Value]) -> String {
    let results = frames.iter().filter(|frame| frame["type"] == "user");
    results.map(Value::to_string).collect()
}

#[test]
fn a_rule_for_the_server_lets_it_have_a_message() {
    let config = config(&json!({ "maxRequests": 1 }));
    let args = ["-p", "x", "--output-format", "stream-json", "--verbose", "--mcp-config", &config];
    let ran = place().run(&[&args[..], &["--allowedTools", "mcp__notes"]].concat()).with_code(0);
    let frames = ran.lines();
    assert!(told(&frames).contains("old silent pond"), "{frames:#?}");
    let notices: Vec<&Value> = frames.iter().filter(|frame| frame["subtype"] == "informational").collect();
    assert!(
        notices.iter().any(|notice| notice.to_string().contains("wrote a message for the MCP server")),
        "{notices:?}"
    );
}

#[test]
fn without_a_rule_and_without_anyone_to_ask_it_has_none() {
    let config = config(&json!(true));
    let args = ["-p", "x", "--output-format", "stream-json", "--verbose", "--mcp-config", &config];
    // The message that is not written leaves its turn to the run.
    let ran = place().run(&[&args[..], &["--allowedTools", "mcp__notes__go"]].concat()).with_code(0);
    let frames = ran.lines();
    let denied = frames.iter().find(|frame| frame["subtype"] == "permission_denied");
    assert_eq!(denied.map(|frame| &frame["tool_name"]), Some(&json!(SAMPLING)), "{frames:#?}");
    assert!(told(&frames).contains("it is not permitted"), "{frames:#?}");
}

#[test]
fn a_host_is_asked_about_it() {
    let place = place();
    let config = config(&json!(true));
    let args = [
        "--input-format",
        "stream-json",
        "--output-format",
        "stream-json",
        "--verbose",
        "--permission-prompt-tool",
        "stdio",
        "--allowedTools",
        "mcp__notes__go",
        "--mcp-config",
        &config,
    ];
    let mut child = place.command(&args).stdin(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut send = |line: Value| writeln!(input, "{line}").unwrap();
    send(json!({ "type": "control_request", "request_id": "i", "request": { "subtype": "initialize" } }));
    send(json!({ "type": "user", "message": { "role": "user", "content": "x" } }));
    let (mut frames, mut asked) = (Vec::new(), Vec::new());
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        let frame: Value = serde_json::from_str(&line.unwrap()).unwrap();
        if frame["type"] == "control_request" {
            let request = &frame["request"];
            asked.push((request["subtype"].clone(), request["tool_name"].clone()));
            assert_eq!(request["input"]["messages"][0]["content"], json!(["Write a haiku."]), "{request}");
            let allow = json!({ "behavior": "allow", "updatedInput": request["input"] });
            let response = json!({ "subtype": "success", "request_id": frame["request_id"], "response": allow });
            send(json!({ "type": "control_response", "response": response }));
        }
        let is_last = frame["type"] == "result";
        frames.push(frame);
        if is_last {
            break;
        }
    }
    assert_eq!(asked, [(json!("can_use_tool"), json!(SAMPLING))]);
    assert!(told(&frames).contains("old silent pond"), "{frames:#?}");
    drop(input);
    assert_eq!(ended(&mut child), Some(0));
}

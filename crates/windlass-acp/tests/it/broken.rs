//! Broken and hostile messages: each has its error, and the agent lives on.

use crate::world::{Agent, Client, says, text};
use serde_json::{Value, json};

#[tokio::test(start_paused = true)]
async fn nothing_works_before_initialize_and_the_version_is_negotiated() {
    let agent = Agent::new([]);
    let mut client = Client::new(&agent);
    let (_, answer) = client.ask("session/new", json!({ "cwd": "/w", "mcpServers": [] })).await;
    assert_eq!(answer["error"]["code"], -32600);
    let (_, answer) = client.ask("initialize", json!({})).await;
    assert_eq!(answer["error"]["code"], -32602);
    let (_, answer) = client.ask("initialize", json!({ "protocolVersion": 7 })).await;
    assert_eq!(answer["result"]["protocolVersion"], 1);
    let methods = answer["result"]["authMethods"].as_array().unwrap();
    assert_eq!(methods.len(), 1, "this client has no terminal: {methods:?}");
    let result = client.initialize(json!({ "auth": { "terminal": true } })).await;
    assert_eq!(result["authMethods"][1]["type"], "terminal");
    assert_eq!(result["agentCapabilities"]["loadSession"], true);
    let (_, answer) = client.ask("authenticate", json!({ "methodId": "key" })).await;
    assert_eq!(answer["error"]["code"], -32000);
    let (_, answer) = client.ask("authenticate", json!({ "methodId": "magic" })).await;
    assert_eq!(answer["error"]["code"], -32602);
}

#[tokio::test(start_paused = true)]
async fn each_broken_message_has_its_code_and_the_agent_lives_on() {
    let agent = Agent::new([says("alive")]);
    let mut client = Client::ready(&agent).await;
    let session = client.session().await;
    let long = format!("\"{}\"", "x".repeat(200_000));
    let deep = "[".repeat(50_000);
    for (line, code) in [
        ("{", -32700),
        ("\u{0}\u{1}", -32700),
        (long.as_str(), -32700),
        (deep.as_str(), -32700),
        ("[]", -32600),
        (r#"{"jsonrpc":"2.0","id":"q","method":"session/fork","params":{}}"#, -32601),
        (r#"{"jsonrpc":"2.0","id":"q","method":"_own/thing"}"#, -32601),
        (r#"{"jsonrpc":"2.0","id":"q","method":"fs/read_text_file","params":{"path":"/etc/passwd"}}"#, -32601),
        (r#"{"jsonrpc":"2.0","id":"q","method":"terminal/create","params":{"command":"sh"}}"#, -32601),
        (r#"{"jsonrpc":"2.0","id":"q","method":"session/prompt"}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":"q","method":"session/prompt","params":{"sessionId":7,"prompt":[]}}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":"q","method":"session/new","params":{"cwd":"relative","mcpServers":[]}}"#, -32602),
        (
            r#"{"jsonrpc":"2.0","id":"q","method":"session/new","params":{"cwd":"/w","additionalDirectories":["x"],"mcpServers":[]}}"#,
            -32602,
        ),
        (
            r#"{"jsonrpc":"2.0","id":"q","method":"session/new","params":{"cwd":"/w","mcpServers":[{"name":"a"}]}}"#,
            -32602,
        ),
        (
            r#"{"jsonrpc":"2.0","id":"q","method":"session/new","params":{"cwd":"/w","mcpServers":[{"type":"telepathy","name":"a"}]}}"#,
            -32602,
        ),
        (r#"{"jsonrpc":"2.0","id":"q","method":"session/load","params":{"cwd":"/w","mcpServers":[]}}"#, -32602),
    ] {
        client.write(line).await;
        let answer = client.next().await;
        assert_eq!(answer["error"]["code"], code, "{} {answer}", line.get(..80).unwrap_or(line));
        let id = if code == -32602 || code == -32601 { json!("q") } else { Value::Null };
        assert_eq!(answer["id"], id, "{answer}");
    }
    // Notifications have no answer, known or not.
    for line in [
        r#"{"jsonrpc":"2.0","method":"session/cancel"}"#,
        r#"{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"nope"}}"#,
        r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":{}}}"#,
        r#"{"jsonrpc":"2.0","method":"_own/thing","params":[]}"#,
        r#"{"jsonrpc":"2.0","id":"nobody","result":{}}"#,
        "",
        "   ",
    ] {
        client.write(line).await;
    }
    let prompt = json!({ "sessionId": session, "prompt": [{ "type": "audio", "data": "", "mimeType": "audio/wav" }] });
    let (before, answer) = client.ask("session/prompt", prompt).await;
    assert!(before.is_empty(), "{before:?}");
    assert_eq!(answer["error"]["code"], -32602);
    let id = client.prompt(&session, "still there?").await;
    let (before, _) = client.answer_of(id).await;
    assert_eq!(text(&before), "alive");
}

//! What a host does with a session.

use crate::place::{Place, call, text};
use serde_json::json;
use windlass_protocol::client::{Client, ClientOptions, Message, Program, ResultMessage};

/// The command, set up as the place wants it.
fn program(place: &Place) -> Program {
    Program::new(env!("CARGO_BIN_EXE_windlass"))
        .cwd(place.work())
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", place.home())
        .env("WINDLASS_SCRIPT", place.path("script.json"))
}

async fn ask(client: &mut Client, prompt: &str) -> ResultMessage {
    client.prompt(prompt).await.unwrap();
    client.result().await.unwrap()
}

#[tokio::test]
async fn a_prompt_has_messages_and_a_result() {
    let place = Place::with_turns(&[text("Hello."), text("Again.")]);
    let mut client = Client::spawn(program(&place).model("opus"), ClientOptions::new()).await.unwrap();
    assert!(client.initialized().as_str().contains("\"claude_code_version\""));
    client.prompt("hi").await.unwrap();
    let mut said = String::new();
    let result = loop {
        match client.next().await.unwrap().unwrap() {
            Message::System(system) => {
                if let Some(init) = system.init() {
                    assert_eq!(init.cwd, place.work().canonicalize().unwrap().to_str().unwrap());
                }
            }
            Message::Assistant(message) => said.push_str(&message.text()),
            Message::Result(result) => break result,
            _ => {}
        }
    };
    assert_eq!((said.as_str(), result.result.as_deref(), result.is_error), ("Hello.", Some("Hello."), false));
    assert_eq!(ask(&mut client, "and").await.result.as_deref(), Some("Again."));
    client.close().await.unwrap();
}

#[tokio::test]
async fn a_session_is_resumed() {
    let place = Place::with_turns(&[text("First.")]);
    let mut client = Client::spawn(program(&place), ClientOptions::new()).await.unwrap();
    let first = ask(&mut client, "one").await;
    client.close().await.unwrap();
    place.script(&[call("Bash", &json!({ "command": "ls" })), text("Second.")]);
    let resumed = program(&place).resume(&first.session_id);
    let mut client = Client::spawn(resumed, ClientOptions::new()).await.unwrap();
    let second = ask(&mut client, "two").await;
    assert_eq!((second.result.as_deref(), second.session_id), (Some("Second."), first.session_id));
    client.close().await.unwrap();
}

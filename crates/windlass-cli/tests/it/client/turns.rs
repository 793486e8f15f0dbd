//! Operations of a host on a session.

use crate::place::{Place, call, text};
use async_trait::async_trait;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use windlass::ContentBlock;
use windlass::{
    Hook, HookContext, HookError, JsonText, PermissionAnswer, PreToolUseAction, ToolCx,
    hook::{HookEventName, Interest, PreToolUse},
    permission::can_use_tool_fn,
    tool::{DynTool, ToolSet},
    tool_fn,
};
use windlass_protocol::client::{Client, ClientError, ClientOptions, Message, Program, ResultMessage};

/// The command, set up as the place wants it.
pub(crate) fn program(place: &Place) -> Program {
    program_at(&place.path(""))
}

/// The command, set up for the place with this root.
pub(crate) fn program_at(root: &Path) -> Program {
    Program::new(env!("CARGO_BIN_EXE_windlass"))
        .cwd(root.join("work"))
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", root.join("home"))
        .env("WINDLASS_SCRIPT", root.join("script.json"))
}

async fn ask(client: &mut Client, prompt: &str) -> ResultMessage {
    client.prompt(prompt).await.unwrap();
    client.result().await.unwrap()
}

/// The messages of a turn, its result last.
async fn turn(client: &mut Client, prompt: &str) -> Vec<Message> {
    client.prompt(prompt).await.unwrap();
    let mut messages = Vec::new();
    while !matches!(messages.last(), Some(Message::Result(_))) {
        messages.push(client.next().await.unwrap().unwrap());
    }
    messages
}

/// The first tool result of some messages.
fn tool_result(messages: &[Message]) -> (String, bool) {
    let user = messages.iter().find_map(|message| match message {
        Message::User(user) => Some(user),
        _ => None,
    });
    let result = user.unwrap().content.iter().find_map(ContentBlock::as_tool_result).unwrap();
    (result.content.text(), result.is_error)
}

fn write_file(name: &str) -> Value {
    call("Write", &json!({ "file_path": name, "content": "hello\n" }))
}

#[tokio::test]
async fn a_prompt_has_messages_and_a_result() {
    let place = Place::with_turns(&[text("Hello."), text("Again.")]);
    let program = program(&place).model("opus").partial_messages();
    let mut client = Client::spawn(program, ClientOptions::new()).await.unwrap();
    assert!(client.initialized().as_str().contains("\"claude_code_version\""));
    let messages = turn(&mut client, "hi").await;
    let (mut answered, mut streamed) = (String::new(), String::new());
    for message in &messages {
        match message {
            Message::System(system) => {
                let cwd = place.work().canonicalize().unwrap();
                assert!(system.init().is_none_or(|init| init.cwd == cwd.to_str().unwrap()));
            }
            Message::StreamEvent(event) => streamed.push_str(&event.text().unwrap_or_default()),
            Message::Assistant(message) => answered.push_str(&message.text()),
            _ => {}
        }
    }
    assert_eq!((answered.as_str(), streamed.as_str()), ("Hello.", "Hello."));
    assert_eq!(ask(&mut client, "and").await.result.as_deref(), Some("Again."));
    client.close().await.unwrap();
}

#[tokio::test]
async fn a_session_is_an_agent() {
    let place = Place::with_turns(&[text("Hello.")]);
    let agents = r#"{"reader":{"description":"Reads","prompt":"You read.","tools":["Read"],"permissionMode":"plan"}}"#;
    let options = ClientOptions::new().agents(JsonText::parse(agents).unwrap());
    let mut client = Client::spawn(program(&place).agent("reader"), options).await.unwrap();
    let messages = turn(&mut client, "hi").await;
    let init = messages.iter().find_map(|message| match message {
        Message::System(system) => system.init(),
        _ => None,
    });
    let init = init.unwrap();
    assert_eq!((init.tools.as_slice(), init.permission_mode.as_str()), (&["Read".to_owned()][..], "plan"));
    client.close().await.unwrap();
}

#[tokio::test]
async fn a_session_is_resumed() {
    let place = Place::with_turns(&[text("First.")]);
    let mut client = Client::spawn(program(&place), ClientOptions::new()).await.unwrap();
    let first = ask(&mut client, "one").await;
    client.close().await.unwrap();
    place.script(&[text("Second.")]);
    let resumed = program(&place).resume(&first.session_id);
    let mut client = Client::spawn(resumed, ClientOptions::new()).await.unwrap();
    let second = ask(&mut client, "two").await;
    assert_eq!((second.result.as_deref(), second.session_id), (Some("Second."), first.session_id));
    client.close().await.unwrap();
}

#[tokio::test]
async fn a_callback_allows_denies_and_changes() {
    let other = JsonText::parse(r#"{"file_path":"other.txt","content":"changed\n"}"#).unwrap();
    for (answer, expected) in [
        (PermissionAnswer::allow(), [Some("hello\n"), None]),
        (PermissionAnswer::deny("not here"), [None, None]),
        (PermissionAnswer::Allow { updated_input: Some(other), updates: Vec::new() }, [None, Some("changed\n")]),
    ] {
        let place = Place::with_turns(&[write_file("notes.txt"), text("Done.")]);
        let answered = answer.clone();
        let options = ClientOptions::new().can_use_tool(can_use_tool_fn(move |request| {
            assert_eq!(request.tool, "Write");
            let answer = answered.clone();
            async move { answer }
        }));
        let mut client = Client::spawn(program(&place), options).await.unwrap();
        let messages = turn(&mut client, "go").await;
        let found = ["notes.txt", "other.txt"].map(|name| std::fs::read_to_string(place.work().join(name)).ok());
        assert_eq!(found.each_ref().map(Option::as_deref), expected, "{answer:?}");
        let (text, is_error) = tool_result(&messages);
        let denied = answer == PermissionAnswer::deny("not here");
        assert_eq!((is_error, text.contains("not here")), (denied, denied), "{text}");
        client.close().await.unwrap();
    }
}

/// The same type would run in process.
struct Guard;

#[async_trait]
impl Hook for Guard {
    fn name(&self) -> &str {
        "guard"
    }

    fn interests(&self) -> Vec<Interest> {
        vec![Interest::tools(HookEventName::PreToolUse, ["Write"])]
    }

    async fn pre_tool_use(&self, _: &HookContext, event: &PreToolUse) -> Result<PreToolUseAction, HookError> {
        Ok(PreToolUseAction::deny(format!("guarded: {}", event.tool_name)))
    }
}

#[tokio::test]
async fn a_hook_denies() {
    let place = Place::with_turns(&[write_file("notes.txt"), text("Done.")]);
    let program = program(&place).allowed_tools(["Write"]);
    let mut client = Client::spawn(program, ClientOptions::new().hook(Guard)).await.unwrap();
    let (text, is_error) = tool_result(&turn(&mut client, "go").await);
    assert!(is_error && text.contains("guarded: Write"), "{text}");
    assert!(!place.work().join("notes.txt").exists());
    client.close().await.unwrap();
}

#[tokio::test]
async fn a_tool_of_the_host_is_called() {
    let place = Place::with_turns(&[call("mcp__host__add", &json!({ "a": 1, "b": 2 })), text("Done.")]);
    let add = tool_fn("add", "Adds.", |input: std::collections::BTreeMap<String, i64>, _: ToolCx| async move {
        Ok(input.values().sum::<i64>().to_string())
    });
    let tools = ToolSet::new([Arc::new(add) as Arc<dyn DynTool>]).unwrap();
    let program = program(&place).allowed_tools(["mcp__host__add"]);
    let mut client = Client::spawn(program, ClientOptions::new().tools("host", tools)).await.unwrap();
    assert_eq!(tool_result(&turn(&mut client, "go").await), ("3".to_owned(), false));
    let servers = client.handle().mcp_status().await.unwrap();
    assert_eq!(servers.iter().map(|server| server.status.as_str()).collect::<Vec<_>>(), ["connected"]);
    client.close().await.unwrap();
}

#[tokio::test]
async fn a_long_command_is_interrupted_and_another_turn_follows() {
    let place =
        Place::with_turns(&[call("Bash", &json!({ "command": "echo started > marker; sleep 100" })), text("On.")]);
    let options = ClientOptions::new().can_use_tool(can_use_tool_fn(|_| async { PermissionAnswer::allow() }));
    let mut client = Client::spawn(program(&place), options).await.unwrap();
    client.prompt("go").await.unwrap();
    until(|| place.work().join("marker").exists()).await;
    client.interrupt().await.unwrap();
    let result = client.result().await.unwrap();
    assert_eq!((result.is_error, result.terminal_reason.as_deref()), (true, Some("aborted_tools")));
    assert_eq!(ask(&mut client, "on").await.result.as_deref(), Some("On."));
    client.close().await.unwrap();
}

/// Waits for something that another process does. It polls: this process is not notified of it.
pub(crate) async fn until(mut done: impl FnMut() -> bool) {
    for _ in 0..3_000 {
        if done() {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    panic!("it never happened");
}

#[tokio::test]
async fn a_session_that_cannot_be_opened_says_why() {
    let place = Place::with_turns(&[text("Hello.")]);
    let program = program(&place).resume("00000000-0000-4000-8000-000000000000");
    let error = Client::spawn(program, ClientOptions::new()).await.unwrap_err();
    let is_named = |stderr: &str| stderr.contains("00000000-0000-4000-8000-000000000000");
    assert!(matches!(&error, ClientError::Exited { stderr, .. } if is_named(stderr)), "{error}");
    let place = Place::new();
    let program = program_with_bad_flag(&place);
    let error = Client::spawn(program, ClientOptions::new()).await.unwrap_err();
    assert!(matches!(&error, ClientError::Exited { stderr, .. } if stderr.contains("hologram")), "{error}");
}

fn program_with_bad_flag(place: &Place) -> Program {
    program(place).arg("--permission-mode=hologram")
}

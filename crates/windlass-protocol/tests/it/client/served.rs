//! The client and the server of this crate, face to face.

use crate::server::world::{Seen, acts, open, says, script};
use async_trait::async_trait;
use serde_json::json;
use std::sync::{Arc, Mutex};
use tokio::task::JoinHandle;
use windlass_hook::{Hook, HookContext, HookError, Interest, PreToolUse, PreToolUseAction};
use windlass_model::{Gate, ScriptedModel, ScriptedTurn};
use windlass_permission::can_use_tool_fn;
use windlass_protocol::client::{Client, ClientError, ClientOptions, Message, Priority};
use windlass_protocol::{Served, Server, ServerError, ServerOptions};
use windlass_types::{ContentBlock, HookEventName, JsonText, PermissionAnswer, PermissionMode, PermissionRequest};

struct There {
    client: Client,
    served: JoinHandle<Result<Served, ServerError>>,
    seen: Seen,
}

/// A client of a server over pipes of little room.
async fn there(model: ScriptedModel, options: ClientOptions) -> There {
    let mut server = ServerOptions::default();
    server.permissions.prompts = true;
    let (near_input, far_output) = tokio::io::duplex(64);
    let (far_input, near_output) = tokio::io::duplex(64);
    let seen = Seen::default();
    let for_session = seen.clone();
    let served = tokio::spawn(async move {
        let open = |setup| open(model.clone(), for_session.clone(), setup);
        Server::new(open, server).serve(far_input, far_output, std::future::pending()).await
    });
    let client = Client::connect(near_input, near_output, options).await.unwrap();
    There { client, served, seen }
}

impl There {
    async fn end(self) {
        self.client.close().await.unwrap();
        assert!(!self.served.await.unwrap().unwrap().shut_down);
    }
}

/// Answers all questions with the same, and keeps them.
fn answering(answer: PermissionAnswer) -> (ClientOptions, Arc<Mutex<Vec<PermissionRequest>>>) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&asked);
    let options = ClientOptions::new().can_use_tool(can_use_tool_fn(move |request| {
        kept.lock().unwrap().push(request);
        let answer = answer.clone();
        async move { answer }
    }));
    (options, asked)
}

fn tool_results(messages: &[Message]) -> Vec<(String, bool)> {
    let blocks = messages.iter().filter_map(|message| match message {
        Message::User(user) => Some(&user.content),
        _ => None,
    });
    let results = blocks.flatten().filter_map(ContentBlock::as_tool_result);
    results.map(|result| (result.content.text(), result.is_error)).collect()
}

async fn turn(client: &mut Client, prompt: &str) -> Vec<Message> {
    client.prompt(prompt).await.unwrap();
    let mut messages = Vec::new();
    loop {
        let message = client.next().await.unwrap().unwrap();
        let over = matches!(message, Message::Result(_));
        messages.push(message);
        if over {
            return messages;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn turns_follow_each_other() {
    let mut there = there(script([says("one"), says("two")]), ClientOptions::new()).await;
    for expected in ["one", "two"] {
        there.client.prompt("go").await.unwrap();
        let result = there.client.result().await.unwrap();
        assert_eq!((result.result.as_deref(), result.session_id.as_str()), (Some(expected), "s"));
    }
    there.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_prompt_that_is_next_joins_the_turn() {
    let gate = Gate::new();
    let mut there = there(script([says("one").gate(&gate), says("two"), says("three")]), ClientOptions::new()).await;
    let first = there.client.prompt("go").await.unwrap();
    while !matches!(there.client.next().await.unwrap(), Some(Message::System(_))) {}
    let handle = there.client.handle();
    let second = handle.prompt_with_priority("and this", Priority::Next).await.unwrap();
    let gone = handle.prompt_with_priority("not this", Priority::Next).await.unwrap();
    assert!(handle.cancel_prompt(&gone).await.unwrap());
    let third = there.client.prompt("then").await.unwrap();
    gate.open();
    let result = there.client.result().await.unwrap();
    assert_eq!((result.result.as_deref(), result.answers), (Some("two"), vec![first, second]));
    assert_eq!(there.client.result().await.unwrap().answers, [third]);
    there.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_question_is_answered_by_the_callback() {
    let changed = JsonText::parse(r#"{"what":"something else"}"#).unwrap();
    for (answer, acted) in [
        (PermissionAnswer::allow(), 1),
        (PermissionAnswer::deny("not today"), 0),
        (PermissionAnswer::Allow { updated_input: Some(changed), updates: Vec::new() }, 1),
    ] {
        let (options, asked) = answering(answer.clone());
        let mut there = there(script([acts(), says("done")]), options).await;
        let messages = turn(&mut there.client, "go").await;
        assert_eq!(there.seen.acted(), acted, "{answer:?}");
        let asked = asked.lock().unwrap().pop().unwrap();
        assert_eq!((asked.tool.as_str(), asked.tool_use_id.as_str()), ("act", "t1"));
        assert_eq!(asked.input.as_str(), r#"{"what":"it"}"#);
        let (text, is_error) = tool_results(&messages).pop().unwrap();
        assert_eq!(is_error, acted == 0);
        assert!(text.contains(if acted == 0 { "not today" } else { "acted" }), "{text}");
        there.end().await;
    }
}

#[tokio::test(start_paused = true)]
async fn without_a_callback_a_question_is_denied() {
    let mut there = there(script([acts(), says("done")]), ClientOptions::new()).await;
    let messages = turn(&mut there.client, "go").await;
    assert_eq!((there.seen.acted(), tool_results(&messages)[0].1), (0, true));
    there.end().await;
}

/// The same type would run in process.
struct Guard;

#[async_trait]
impl Hook for Guard {
    fn name(&self) -> &str {
        "guard"
    }

    fn interests(&self) -> Vec<Interest> {
        vec![Interest::tools(HookEventName::PreToolUse, ["act"])]
    }

    async fn pre_tool_use(&self, cx: &HookContext, _: &PreToolUse) -> Result<PreToolUseAction, HookError> {
        assert_eq!((cx.session_id.as_str(), cx.cwd.to_str()), ("s", Some("/w")));
        Ok(PreToolUseAction::deny("guarded"))
    }
}

#[tokio::test(start_paused = true)]
async fn a_hook_works_as_in_process() {
    let (options, asked) = answering(PermissionAnswer::allow());
    let mut there = there(script([acts(), says("done")]), options.hook(Guard)).await;
    let messages = turn(&mut there.client, "go").await;
    let (text, is_error) = tool_results(&messages).pop().unwrap();
    assert!(is_error && text.contains("guarded"), "{text}");
    assert_eq!((there.seen.acted(), asked.lock().unwrap().len()), (0, 0));
    there.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_turn_is_interrupted_and_another_one_follows() {
    let waits = ScriptedTurn::new().tool_use_with_id("t1", "wait", json!({}));
    let mut there = there(script([waits, says("on")]), ClientOptions::new()).await;
    there.client.prompt("go").await.unwrap();
    while !matches!(there.client.next().await.unwrap().unwrap(), Message::Assistant(_)) {}
    there.client.interrupt().await.unwrap();
    let result = there.client.result().await.unwrap();
    assert_eq!((result.subtype.as_str(), result.is_error), ("error_during_execution", true));
    there.client.prompt("on").await.unwrap();
    assert_eq!(there.client.result().await.unwrap().result.as_deref(), Some("on"));
    there.end().await;
}

#[tokio::test(start_paused = true)]
async fn orders_are_carried_out_or_refused() {
    let mut there = there(script([says("hi")]), ClientOptions::new()).await;
    let orders = there.client.handle().clone();
    orders.set_model(Some("other")).await.unwrap();
    orders.set_permission_mode(PermissionMode::AcceptEdits).await.unwrap();
    orders.set_thinking(Some(0)).await.unwrap();
    orders.set_thinking(None).await.unwrap();
    assert!(orders.mcp_status().await.unwrap().is_empty());
    let messages = turn(&mut there.client, "go").await;
    let init = messages.iter().find_map(|message| match message {
        Message::System(system) => system.init(),
        _ => None,
    });
    let init = init.unwrap();
    assert_eq!((init.model.as_str(), init.permission_mode.as_str()), ("other", "acceptEdits"));
    assert!(orders.context_usage().await.unwrap().max_tokens > 0);

    let refused = orders.set_permission_mode(PermissionMode::BypassPermissions).await.unwrap_err();
    assert!(matches!(refused, ClientError::Refused { code: Some(code), .. } if code == "bypass_not_launched"));
    let refused = orders.control("fly", &json!({ "to": "the moon" })).await.unwrap_err();
    assert!(matches!(refused, ClientError::Refused { code: Some(code), .. } if code == "unsupported_request"));
    assert!(matches!(orders.control("interrupt", &json!([1])).await, Err(ClientError::Unacceptable(_))));
    there.end().await;
    assert!(matches!(orders.interrupt().await, Err(ClientError::Closed)));
    assert!(matches!(orders.prompt("go").await, Err(ClientError::Closed)));
}

#[tokio::test(start_paused = true)]
async fn a_host_that_reads_nothing_still_answers() {
    let (options, asked) = answering(PermissionAnswer::allow());
    let there = there(script([acts(), says("done")]), options).await;
    there.client.prompt("go").await.unwrap();
    // Time passes only when nothing else can happen.
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    assert_eq!((there.seen.acted(), asked.lock().unwrap().len()), (1, 1));
    there.client.handle().context_usage().await.unwrap();
    there.end().await;
}

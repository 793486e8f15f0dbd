//! Frames about agents below the main one, for hosts.

use crate::client::turns::program;
use crate::place::{Place, call, text, write};
use async_trait::async_trait;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use tokio::sync::Notify;
use windlass::{
    ContentBlock, Hook, HookContext, HookError, JsonText, PermissionAnswer, PreToolUseAction,
    hook::{HookEventName, Interest, PreToolUse, SessionStartAction, StopAction, SubagentStart, SubagentStop},
    permission::can_use_tool_fn,
};
use windlass_protocol::client::{Client, ClientOptions, Message, TaskMessage};

/// Writes down who begins, calls and ends.
#[derive(Clone, Default)]
struct Watch(Arc<Mutex<Vec<String>>>);

impl Watch {
    fn note(&self, text: String) {
        self.0.lock().unwrap().push(text);
    }
}

#[async_trait]
impl Hook for Watch {
    fn name(&self) -> &str {
        "watch"
    }

    fn interests(&self) -> Vec<Interest> {
        [HookEventName::PreToolUse, HookEventName::SubagentStart, HookEventName::SubagentStop]
            .map(Interest::all)
            .to_vec()
    }

    async fn pre_tool_use(&self, cx: &HookContext, event: &PreToolUse) -> Result<PreToolUseAction, HookError> {
        let agent = cx.agent.as_ref().map_or("main", |agent| agent.agent_type.as_str());
        self.note(format!("{agent} calls {}", event.tool_name));
        Ok(PreToolUseAction::Continue)
    }

    async fn subagent_start(&self, _: &HookContext, event: &SubagentStart) -> Result<SessionStartAction, HookError> {
        self.note(format!("{} begins", event.agent.agent_type));
        Ok(SessionStartAction::Continue)
    }

    async fn subagent_stop(&self, _: &HookContext, event: &SubagentStop) -> Result<StopAction, HookError> {
        self.note(format!("{} said {}", event.agent.agent_type, event.last_assistant_message));
        Ok(StopAction::Continue)
    }
}

fn options(watch: &Watch) -> ClientOptions {
    let agents = r#"{"looker":{"description":"Looks","prompt":"You look."}}"#;
    ClientOptions::new().agents(JsonText::parse(agents).unwrap()).hook(watch.clone())
}

fn delegate(background: bool) -> Value {
    let input = json!({
        "description": "Look around", "prompt": "Look.", "subagent_type": "looker", "run_in_background": background,
    });
    call("Agent", &input)
}

fn makes(name: &str) -> Value {
    call("Write", &json!({ "file_path": name, "content": "x" }))
}

#[tokio::test]
async fn hooks_questions_and_messages_name_the_agent() {
    let place = Place::with_turns(&[delegate(false), makes("a.txt"), text("Looked."), text("Done.")]);
    let (watch, asked) = (Watch::default(), Arc::new(Mutex::new(Vec::new())));
    let who = Arc::clone(&asked);
    let options = options(&watch).forward_subagent_text(true).can_use_tool(can_use_tool_fn(move |request| {
        assert!(!request.agent.is_main());
        who.lock().unwrap().push(request.identity.unwrap().id);
        async { PermissionAnswer::allow() }
    }));
    let mut client = Client::spawn(program(&place), options).await.unwrap();
    client.prompt("go").await.unwrap();
    let (mut texts, mut ids, mut results) = (Vec::new(), Vec::new(), 0);
    let result = loop {
        match client.next().await.unwrap().unwrap() {
            Message::Assistant(message) => match message.agent {
                Some(agent) => {
                    assert!(message.parent_tool_use_id.is_some());
                    assert_eq!(agent.agent_type, "looker");
                    ids.push(agent.id);
                    texts.extend(message.content.iter().filter_map(ContentBlock::as_text).map(str::to_owned));
                }
                None => assert_eq!(message.parent_tool_use_id, None),
            },
            Message::User(message) => results += usize::from(message.agent.is_some()),
            Message::Result(result) => break result,
            _ => {}
        }
    };
    assert_eq!((result.result.as_deref(), texts, results), (Some("Done."), vec!["Looked.".to_owned()], 1));
    let expected = ["main calls Agent", "looker begins", "looker calls Write", "looker said Looked."];
    assert_eq!(*watch.0.lock().unwrap(), expected);
    // One agent in all of them.
    ids.append(&mut asked.lock().unwrap());
    assert!(ids.len() >= 3 && ids.iter().all(|id| *id == ids[0]), "{ids:?}");
    assert!(place.work().join("a.txt").exists());
    client.close().await.unwrap();
}

#[tokio::test]
async fn background_work_is_typed_from_its_start_to_its_end() {
    // Which of the two speaks first is not known.
    let place = Place::with_turns(&[delegate(true), text("Either."), text("Either."), text("Thanks.")]);
    let watch = Watch::default();
    let mut client = Client::spawn(program(&place), options(&watch)).await.unwrap();
    client.prompt("go").await.unwrap();
    let (mut started, mut ended, mut last) = (None, None, None);
    while ended.is_none() || last.is_none() {
        match client.next().await.unwrap().unwrap() {
            Message::System(system) => match system.task() {
                Some(TaskMessage::Started(task)) => started = Some(task),
                Some(TaskMessage::Ended(task)) => ended = Some(task),
                _ => {}
            },
            Message::Result(result) => last = Some(result),
            _ => {}
        }
    }
    let (started, ended) = (started.unwrap(), ended.unwrap());
    assert_eq!((started.task_type.as_deref(), started.subagent_type.as_deref()), (Some("local_agent"), Some("looker")));
    assert_eq!(
        (ended.task_id, ended.status.as_str(), ended.tool_use_id),
        (started.task_id, "completed", started.tool_use_id)
    );
    assert!(ended.usage.is_some_and(|usage| usage.total_tokens > 0 && usage.tool_uses == 0));
    client.close().await.unwrap();
}

#[tokio::test]
async fn agents_of_plugins_that_are_loaded_again_can_be_called_at_once() {
    let input = |name: &str| json!({"description": "Look", "prompt": "Look.", "subagent_type": name, "run_in_background": false});
    let place = Place::with_turns(&[
        text("Hello."),
        call("Agent", &input("kit:reader")),
        text("Read it."),
        text("Done."),
        call("Agent", &input("kit:reader")),
        text("Gone."),
    ]);
    write(&place.path("kit/.claude-plugin/plugin.json"), r#"{"name":"kit"}"#);
    let options = ClientOptions::new();
    let program = program(&place).args(["--plugin-dir", "../kit"]);
    let mut client = Client::spawn(program, options).await.unwrap();
    client.prompt("go").await.unwrap();
    client.result().await.unwrap();

    let file = place.path("kit/agents/reader.md");
    write(&file, "---\nname: reader\ndescription: Reads\n---\nYou read.\n");
    let reload = async |hold: bool| -> Value {
        let body = json!({ "hold_on_cache_impact": hold });
        client.handle().control("reload_plugins", &body).await.unwrap().to().unwrap()
    };
    let names = |answer: &Value| -> Vec<String> {
        let agents = answer["agents"].as_array().unwrap().iter();
        agents.map(|agent| agent["name"].as_str().unwrap().to_owned()).collect()
    };
    let held = reload(true).await;
    assert_eq!((&held["held"], &held["cache_impact"]["agents_changed"]), (&json!(true), &json!(["kit:reader"])));
    assert!(!names(&held).contains(&"kit:reader".to_owned()), "{held}");
    let reloaded = reload(false).await;
    assert!(names(&reloaded).contains(&"kit:reader".to_owned()), "{reloaded}");
    // An item that is there already changes nothing.
    assert_eq!(reload(true).await["held"], json!(false));

    client.prompt("go").await.unwrap();
    let (mut listed, mut reports) = (Vec::new(), Vec::new());
    loop {
        match client.next().await.unwrap().unwrap() {
            Message::System(system) if system.raw.as_str().contains(r#""subtype":"init""#) => {
                listed = system.raw.to::<Value>().unwrap()["agents"].as_array().unwrap().clone();
            }
            Message::User(message) if message.agent.is_none() => reports.push(message.raw.as_str().to_owned()),
            Message::Result(result) => {
                assert_eq!(result.result.as_deref(), Some("Done."));
                break;
            }
            _ => {}
        }
    }
    assert!(listed.contains(&json!("kit:reader")), "{listed:?}");
    assert!(reports.iter().any(|report| report.contains("Read it.")), "{reports:?}");

    std::fs::remove_file(&file).unwrap();
    client.handle().control("reload_plugins", &json!({})).await.unwrap();
    client.prompt("go").await.unwrap();
    let mut refused = false;
    loop {
        match client.next().await.unwrap().unwrap() {
            Message::User(message) => refused |= message.raw.as_str().contains("There is no agent of the type"),
            Message::Result(_) => break,
            _ => {}
        }
    }
    assert!(refused);
    client.close().await.unwrap();
}

#[tokio::test]
async fn plugins_are_not_loaded_again_under_an_agent_at_work() {
    // Which of the two speaks first is not known: both ask, and the agent has to wait for its answer.
    let turns = [delegate(true), makes("a.txt"), makes("a.txt"), text("Either."), text("Either."), text("Thanks.")];
    let place = Place::with_turns(&turns);
    let (may_continue, asks) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (waits, asked) = (Arc::clone(&may_continue), Arc::clone(&asks));
    let options = options(&Watch::default()).can_use_tool(can_use_tool_fn(move |request| {
        let (waits, asked, is_main) = (Arc::clone(&waits), Arc::clone(&asked), request.agent.is_main());
        async move {
            if !is_main {
                asked.notify_one();
                waits.notified().await;
            }
            PermissionAnswer::allow()
        }
    }));
    let mut client = Client::spawn(program(&place), options).await.unwrap();
    client.prompt("go").await.unwrap();
    client.result().await.unwrap();
    asks.notified().await;
    let handle = client.handle().clone();
    let body = json!({ "refuse_if_busy": true });
    let busy = handle.control("reload_plugins", &body).await.unwrap_err().to_string();
    assert!(busy.contains("busy"), "{busy}");
    may_continue.notify_one();
    // The end of the agent wakes a turn.
    client.result().await.unwrap();
    handle.control("reload_plugins", &body).await.unwrap();
    client.close().await.unwrap();
}

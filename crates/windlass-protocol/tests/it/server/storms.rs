//! Hosts that do many things at once, in any order: what they sent has its results, and the server ends.

use crate::server::host::{Host, options};
use crate::server::world::{acts, says, script};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::time::Duration;
use windlass_model::{ScriptedModel, ScriptedTurn};

/// One thing that a host does.
#[derive(Debug, Clone)]
enum Deed {
    /// Sends a message: a text, whether the model is asked, and its place.
    Say(&'static str, bool, &'static str),
    /// Orders something.
    Order(&'static str, Value),
    /// Takes back the message that it sent as the so-manieth.
    TakeBack(usize),
    /// Answers all questions that it has seen, this way.
    Answer(Value),
    /// Lets time pass.
    Wait(u64),
}

fn deed() -> impl Strategy<Value = Deed> {
    let text = prop::sample::select(vec![
        "talk", "act", "wait", "delegate", "leave to", "/clear", "/compact", "/cost", "/context", "/greet x", "/none",
        "",
    ]);
    let place = prop::sample::select(vec!["later", "later", "next", "next", "next", "now"]);
    let order = prop::sample::select(vec![
        ("interrupt", json!({})),
        ("interrupt", json!({ "cancel_queued": true })),
        ("set_model", json!({ "model": "other" })),
        ("set_permission_mode", json!({ "mode": "plan" })),
        ("set_permission_mode", json!({ "mode": "default" })),
        ("set_max_thinking_tokens", json!({ "max_thinking_tokens": 2000 })),
        ("get_context_usage", json!({})),
        ("initialize", json!({ "hooks": { "PreToolUse": [{ "hookCallbackIds": ["h"], "timeout": 3 }] } })),
        ("initialize", json!({ "hooks": { "UserPromptSubmit": [{ "hookCallbackIds": ["h"], "timeout": 3 }] } })),
        ("initialize", json!({ "hooks": null })),
        ("apply_flag_settings", json!({ "settings": { "permissions": { "allow": ["act"] } } })),
        ("apply_flag_settings", json!({ "settings": { "permissions": { "deny": ["act"], "allow": null } } })),
        ("rename_session", json!({ "title": "x" })),
        ("rewind_files", json!({ "user_message_id": "m0" })),
        ("stop_task", json!({ "task_id": "none" })),
        ("stop_task", json!({ "task_id": "a0" })),
        ("stop_task", json!({ "task_id": "a2" })),
        ("from_the_future", json!({ "x": 1 })),
    ]);
    let answer = prop::sample::select(vec![
        json!({ "behavior": "allow" }),
        json!({ "behavior": "allow", "updatedPermissions": [{ "type": "setMode", "mode": "plan", "destination": "session" }] }),
        json!({ "behavior": "deny", "message": "no", "interrupt": true }),
        json!({ "decision": "block", "reason": "no" }),
        json!({}),
        json!(7),
    ]);
    prop_oneof![
        5 => (text, prop::bool::weighted(0.8), place).prop_map(|(text, asks, place)| Deed::Say(text, asks, place)),
        4 => order.prop_map(|(subtype, request)| Deed::Order(subtype, request)),
        1 => (0..20_usize).prop_map(Deed::TakeBack),
        3 => answer.prop_map(Deed::Answer),
        3 => (0..5_000_u64).prop_map(Deed::Wait),
    ]
}

fn delegates(at: usize, input: Value) -> ScriptedTurn {
    ScriptedTurn::new().tool_use_with_id(format!("t{at}"), "delegate", input)
}

/// A model that does what the last text of the user says.
fn obedient() -> ScriptedModel {
    ScriptedModel::from_fn(|request, at| {
        let last = request.messages.last();
        let texts: Vec<&str> =
            last.iter().flat_map(|message| &message.content).filter_map(|block| block.as_text()).collect();
        match texts.first().copied().unwrap_or_default() {
            "act" => ScriptedTurn::new().tool_use_with_id(format!("t{at}"), "act", json!({ "what": "it" })),
            // A turn that begins at the end of an agent must not wait, because nobody would stop it. Its message also
            // has a text about that end.
            "wait" if texts.len() == 1 => ScriptedTurn::new().tool_use_with_id(format!("t{at}"), "wait", json!({})),
            "delegate" => delegates(at, json!({ "id": format!("a{at}") })),
            "leave to" => delegates(at, json!({ "id": format!("a{at}"), "later": true })),
            // The orders for agents: their calls have ids that others have, too.
            "Look." => acts(),
            _ => says("ok"),
        }
    })
}

/// Observations of the host so far.
#[derive(Debug, Default)]
struct Seen {
    results: usize,
    /// Messages that share the result of another one.
    joined: usize,
    completed: HashSet<String>,
    answered: HashSet<String>,
    cancelled: HashSet<String>,
    questions: Vec<Value>,
    sessions: HashSet<String>,
    /// State of the session, and number of background tasks, as reported to the host.
    state: String,
    tasks: usize,
}

impl Seen {
    fn line(&mut self, line: &Value) {
        match line["type"].as_str().unwrap() {
            // A turn that the end of an agent began. Messages may have joined it.
            "result" if line.get("origin").is_some() => {
                self.joined += line["user_message_uuids"].as_array().map_or(0, Vec::len);
            }
            "result" => {
                self.results += 1;
                // Beside the message that began the turn.
                let joined = line["user_message_uuids"].as_array().map_or(0, |uuids| uuids.len() - 1);
                self.joined += joined;
                self.sessions.insert(line["session_id"].as_str().unwrap().to_owned());
            }
            "control_response" => {
                let id = line["response"]["request_id"].as_str().unwrap().to_owned();
                assert!(self.answered.insert(id), "answered twice: {line}");
            }
            "control_request" => self.questions.push(line["request_id"].clone()),
            "command_lifecycle" if line["state"] == "cancelled" => {
                assert!(self.cancelled.insert(line["command_uuid"].as_str().unwrap().to_owned()), "twice: {line}");
            }
            "command_lifecycle" if line["state"] == "completed" => {
                assert!(self.completed.insert(line["command_uuid"].as_str().unwrap().to_owned()), "twice: {line}");
            }
            "system" if line["subtype"] == "session_state_changed" => {
                self.state = line["state"].as_str().unwrap().to_owned();
            }
            "system" if line["subtype"] == "background_tasks_changed" => {
                self.tasks = line["tasks"].as_array().unwrap().len();
            }
            _ => {}
        }
    }
}

/// Reads everything that is there now.
async fn catch_up(host: &mut Host, seen: &mut Seen) {
    while let Ok(Some(line)) = tokio::time::timeout(Duration::from_millis(1), host.next()).await {
        seen.line(&line);
    }
}

async fn play(deeds: Vec<Deed>) {
    let mut options = options();
    options.reports.replay_user_messages = true;
    options.reports.session_state = true;
    let mut host = Host::start(obedient(), options);
    let mut seen = Seen::default();
    let (mut sent, mut ordered) = (0, 0);
    for deed in deeds {
        match deed {
            Deed::Say(text, asks, place) => {
                let message = json!({ "role": "user", "content": text });
                let id = format!("m{sent}");
                host.send(
                    json!({ "type": "user", "uuid": id, "priority": place, "shouldQuery": asks, "message": message }),
                )
                .await;
                sent += 1;
            }
            Deed::Order(subtype, request) => {
                host.order(&format!("r{ordered}"), request, subtype).await;
                ordered += 1;
            }
            Deed::TakeBack(at) => {
                host.order(&format!("r{ordered}"), json!({ "message_uuid": format!("m{at}") }), "cancel_async_message")
                    .await;
                ordered += 1;
            }
            Deed::Answer(answer) => {
                for id in std::mem::take(&mut seen.questions) {
                    host.answer(&id, answer.clone()).await;
                }
            }
            Deed::Wait(time) => tokio::time::sleep(Duration::from_millis(time)).await,
        }
        catch_up(&mut host, &mut seen).await;
    }
    // Calls of `wait` end by being stopped only.
    for _ in 0..=sent {
        host.order(&format!("r{ordered}"), json!({}), "interrupt").await;
        ordered += 1;
        tokio::time::sleep(Duration::from_secs(5)).await;
        catch_up(&mut host, &mut seen).await;
    }
    host.hang_up();
    let (served, lines) = host.end().await;
    served.unwrap();
    lines.iter().for_each(|line| seen.line(line));
    assert_eq!(seen.results + seen.joined + seen.cancelled.len(), sent, "{seen:#?}");
    assert_eq!(seen.completed.len() + seen.cancelled.len(), sent, "{seen:#?}");
    assert_eq!(seen.answered.len(), ordered, "{seen:#?}");
    assert!(["", "idle"].contains(&seen.state.as_str()) && seen.tasks == 0, "{seen:#?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 80, ..ProptestConfig::default() })]

    #[test]
    fn every_message_has_its_result_whatever_a_host_does(deeds in prop::collection::vec(deed(), 0..25)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        runtime.block_on(play(deeds));
    }
}

/// The end of an agent that only the end of the host brings about, and the turn that it is owed, come at the very end.
#[tokio::test(start_paused = true)]
async fn a_session_that_ends_with_its_agents_is_idle_then() {
    let say = |text, asks| Deed::Say(text, asks, "later");
    play(vec![say("leave to", false), say("talk", false), say("talk", true), say("leave to", true)]).await;
}

/// The turn that an agent's end begins reads a message that no turn has answered.
#[tokio::test(start_paused = true)]
async fn a_message_without_a_turn_is_read_in_the_one_that_an_agent_begins() {
    let say = |text, asks| Deed::Say(text, asks, "later");
    play(vec![say("leave to", true), say("wait", false)]).await;
    play(vec![say("leave to", true), say("act", false), say("leave to", true), say("wait", false)]).await;
}

#[tokio::test(start_paused = true)]
async fn a_flood_of_orders_to_a_host_that_does_not_read_is_bounded() {
    let mut host = Host::start(script([acts(), says("done")]), options());
    host.say("go").await;
    let long = "x".repeat(100_000);
    let mut taken = 0;
    // Each answer is as long as its question; the server stops reading when too many wait.
    while let Ok(true) = tokio::time::timeout(Duration::from_secs(60), async {
        host.order(&long, json!({}), "mcp_status").await;
        true
    })
    .await
    {
        taken += 1;
        assert!(taken < 200, "20 MB of answers wait for a host that does not read");
    }
    // The request to end still reaches it.
    host.tell_to_end();
    tokio::time::sleep(Duration::from_secs(60)).await;
    host.die();
    assert!(host.end().await.0.unwrap().shut_down);
}

#[tokio::test(start_paused = true)]
async fn a_clear_for_a_host_that_does_not_read_waits_and_ends() {
    let long = "x".repeat(800_000);
    let mut host = Host::start(script((0..10).map(|_| says(&long))), options());
    for _ in 0..10 {
        host.say("go").await;
        host.say("/clear").await;
    }
    tokio::time::sleep(Duration::from_secs(60)).await;
    host.hang_up();
    let (served, lines) = host.end().await;
    assert!(!served.unwrap().is_error);
    assert_eq!(lines.iter().filter(|line| line["type"] == "result").count(), 20);
    assert_eq!(lines.iter().filter(|line| line["type"] == "conversation_reset").count(), 10);
}

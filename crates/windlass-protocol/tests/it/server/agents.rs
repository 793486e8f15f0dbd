//! Agents below the main one: what their runs may not do to the session's own.

use crate::server::host::{Host, options};
use crate::server::world::{acts, says, script};
use serde_json::{Value, json};
use windlass_model::{Gate, ScriptedModel, ScriptedTurn};
use windlass_types::{ModelErrorKind, Usage};

fn delegates(input: Value) -> ScriptedTurn {
    ScriptedTurn::new().tool_use_with_id("t1", "delegate", input)
}

fn of<'a>(lines: &'a [Value], kind: &str) -> Vec<&'a Value> {
    lines.iter().filter(|line| line["type"] == kind || line["subtype"] == kind).collect()
}

/// The lines up to a result, with it. Questions are answered with yes.
async fn turn(host: &mut Host) -> Vec<Value> {
    let mut lines = Vec::new();
    while let Some(line) = host.next().await {
        if line["type"] == "control_request" {
            host.answer(&line["request_id"], json!({ "behavior": "allow" })).await;
        }
        let last = line["type"] == "result";
        lines.push(line);
        if last {
            return lines;
        }
    }
    panic!("no result: {lines:#?}");
}

#[tokio::test(start_paused = true)]
async fn the_end_of_an_agent_is_not_that_of_the_turn() {
    let mut options = options();
    options.reports.session_state = true;
    let mut host =
        Host::start(script([delegates(json!({})), says("From below."), says("Done."), says("Next.")]), options);
    let message = |id: &str, text: &str| json!({ "type": "user", "uuid": id, "message": { "content": text } });
    host.send(message("00000000-0000-4000-8000-000000000001", "go")).await;
    host.send(message("00000000-0000-4000-8000-000000000002", "and?")).await;
    // States of messages: the second one waits for the result of the first.
    for (text, fates) in [("Done.", vec!["queued", "started", "queued"]), ("Next.", vec!["completed", "started"])] {
        let lines = turn(&mut host).await;
        assert_eq!(lines.last().unwrap()["result"], text);
        assert_eq!(of(&lines, "init").len(), 1, "{lines:#?}");
        let mut reported: Vec<&str> =
            of(&lines, "command_lifecycle").iter().map(|line| line["state"].as_str().unwrap()).collect();
        let mut fates = fates;
        reported.sort_unstable();
        fates.sort_unstable();
        assert_eq!(reported, fates, "{lines:#?}");
    }
    host.hang_up();
    let (served, lines) = host.end().await;
    assert!(!served.unwrap().is_error && of(&lines, "result").is_empty());
    assert_eq!(of(&lines, "session_state_changed").last().unwrap()["state"], "idle");
}

#[tokio::test(start_paused = true)]
async fn what_an_agent_reads_does_not_fill_the_context_of_the_session() {
    let own = Usage::new(1_000, 10);
    let below = Usage::new(400_000, 10);
    let turns =
        [delegates(json!({})).usage(own), acts().usage(below), says("Acted.").usage(below), says("Done.").usage(own)];
    let mut host = Host::start(script(turns), options());
    host.say("go").await;
    let (question, _) = host.until("control_request", "can_use_tool").await;
    host.order("q", json!({}), "get_context_usage").await;
    let answer = host.until("control_response", "").await.0["response"]["response"].clone();
    assert_eq!((&answer["totalTokens"], &answer["apiUsage"]["input_tokens"]), (&json!(1_010), &json!(1_000)));
    host.answer(&question["request_id"], json!({ "behavior": "allow" })).await;
    let result = host.result().await;
    assert_eq!(result["usage"]["input_tokens"], 2_000);
    assert_eq!(result["modelUsage"]["m"]["inputTokens"], 802_000);
    host.hang_up();
    host.end().await.0.unwrap();
}

/// The call of the agent has the id of the call that started it.
#[tokio::test(start_paused = true)]
async fn questions_about_calls_of_one_id_follow_the_frames_of_their_own_agents() {
    let turns = [delegates(json!({})), acts(), says("Acted."), says("Done.")];
    let mut host = Host::start(script(turns), options());
    host.say("go").await;
    let lines = turn(&mut host).await;
    let asked = lines.iter().position(|line| line["type"] == "control_request").unwrap();
    let reported = lines.iter().position(|line| line["parent_tool_use_id"] == "t1").unwrap();
    assert!(reported < asked, "{lines:#?}");
    let request = &lines[asked]["request"];
    assert_eq!((&request["agent_id"], &request["tool_use_id"]), (&json!("a1"), &json!("t1")));
    assert_eq!(host.seen.acted(), 1);
    host.hang_up();
    host.end().await.0.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_interrupt_takes_questions_of_agents_back_that_the_run_waits_for() {
    let mut host = Host::start(script([delegates(json!({})), acts(), says("never")]), options());
    host.say("go").await;
    let (question, _) = host.until("control_request", "can_use_tool").await;
    host.order("stop", json!({}), "interrupt").await;
    let (cancel, _) = host.until("control_cancel_request", "").await;
    assert_eq!(cancel["request_id"], question["request_id"]);
    assert_eq!(host.result().await["subtype"], "error_during_execution");
    assert_eq!(host.seen.acted(), 0);
    host.hang_up();
    host.end().await.0.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_interrupt_leaves_questions_of_agents_in_the_background() {
    // The next speaker is unknown: the agent or the session.
    let model = ScriptedModel::from_fn(|request, _| {
        let messages = format!("{:?}", request.messages);
        match (messages.contains("Look."), messages.contains("acted"), messages.contains("task-notification")) {
            (true, false, false) => acts(),
            (true, true, _) => says("Acted."),
            (_, _, true) => says("Thanks."),
            _ if messages.contains("ToolResult") => ScriptedTurn::new().tool_use_with_id("t2", "wait", json!({})),
            _ => delegates(json!({ "later": true })),
        }
    });
    let mut options = options();
    options.reports.session_state = true;
    let mut host = Host::start(model, options);
    host.say("go").await;
    let (question, before) = host.until("control_request", "can_use_tool").await;
    assert_eq!(question["request"]["agent_id"], "a1");
    if !before.iter().any(|line| line["message"]["content"][0]["name"] == "wait") {
        host.until("assistant", "").await;
    }
    host.order("stop", json!({}), "interrupt").await;
    let (stopped, before) = host.until("result", "").await;
    assert_eq!(stopped["subtype"], "error_during_execution");
    assert!(of(&before, "control_cancel_request").is_empty(), "{before:#?}");
    host.answer(&question["request_id"], json!({ "behavior": "allow" })).await;
    let (woken, before) = host.until("result", "").await;
    assert_eq!((&woken["result"], host.seen.acted()), (&json!("Thanks."), 1));
    // The session was at work all the time.
    assert!(of(&before, "session_state_changed").iter().all(|line| line["state"] != "idle"), "{before:#?}");
    host.hang_up();
    let (served, lines) = host.end().await;
    assert!(!served.unwrap().is_error);
    assert_eq!(of(&lines, "session_state_changed").last().unwrap()["state"], "idle");
}

/// News that the model has not read when its turn ends begins another turn.
#[tokio::test(start_paused = true)]
async fn the_session_is_not_idle_while_the_end_of_an_agent_is_owed_a_turn() {
    let gate = Gate::new();
    let held = gate.clone();
    let model = ScriptedModel::from_fn(move |request, _| {
        let messages = format!("{:?}", request.messages);
        match (messages.contains("Look."), messages.contains("task-notification")) {
            (true, _) => says("Looked."),
            (_, true) => says("Thanks."),
            _ if messages.contains("ToolResult") => {
                ScriptedTurn::new().gate(&held).fail(ModelErrorKind::InvalidRequest)
            }
            _ => delegates(json!({ "later": true })),
        }
    });
    let mut options = options();
    options.reports.session_state = true;
    let mut host = Host::start(model, options);
    host.say("go").await;
    host.until("system", "task_notification").await;
    gate.open();
    let mut lines = turn(&mut host).await;
    assert_eq!(lines.last().unwrap()["is_error"], true);
    lines.append(&mut turn(&mut host).await);
    assert_eq!(lines.last().unwrap()["result"], "Thanks.");
    assert!(of(&lines, "session_state_changed").iter().all(|line| line["state"] != "idle"), "{lines:#?}");
    assert_eq!(host.until("system", "session_state_changed").await.0["state"], "idle");
    host.hang_up();
    host.end().await.0.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_stopped_agent_leaves_the_session_idle() {
    let model = ScriptedModel::from_fn(|request, _| {
        let messages = format!("{:?}", request.messages);
        match messages.contains("Look.") {
            true => ScriptedTurn::new().tool_use_with_id("t2", "wait", json!({})),
            false if messages.contains("ToolResult") => says("It looks."),
            false => delegates(json!({ "later": true })),
        }
    });
    let mut options = options();
    options.reports.session_state = true;
    let mut host = Host::start(model, options);
    host.say("go").await;
    let mut lines = turn(&mut host).await;
    while !lines.iter().any(|line| line["parent_tool_use_id"] == "t1") {
        lines.push(host.next().await.unwrap());
    }
    assert!(of(&lines, "session_state_changed").iter().all(|line| line["state"] == "running"), "{lines:#?}");
    host.order("s", json!({ "task_id": "a1" }), "stop_task").await;
    let (idle, before) = host.until("system", "session_state_changed").await;
    assert_eq!(idle["state"], "idle");
    let ended = of(&before, "task_notification");
    assert_eq!((ended.len(), &ended[0]["status"]), (1, &json!("stopped")));
    host.hang_up();
    let (served, lines) = host.end().await;
    assert!(!served.unwrap().is_error && of(&lines, "result").is_empty());
}

#[tokio::test(start_paused = true)]
async fn hooks_hear_of_agents_of_their_type_and_are_listed() {
    let turns = [delegates(json!({ "mode": "plan" })), says("From below."), says("Done.")];
    let mut host = Host::start(script(turns), options());
    let hook = |matcher: &str, id: &str| json!({ "matcher": matcher, "hookCallbackIds": [id] });
    let hooks = json!({
        "SubagentStart": [hook("looker", "start"), hook("other", "never")],
        "SubagentStop": [hook("^look", "stop")],
        "PreToolUse": [hook("delegate", "pre")],
    });
    host.order("i", json!({ "hooks": hooks }), "initialize").await;
    host.until("control_response", "").await;
    host.order("l", json!({}), "get_hooks_listing").await;
    let listing = host.until("control_response", "").await.0["response"]["response"].clone();
    for event in ["SubagentStart", "SubagentStop"] {
        let known = listing["eventCatalog"].as_array().unwrap().iter().find(|known| known["name"] == event).unwrap();
        assert_eq!(known["supportsMatcher"], true);
        assert!(known["summary"].as_str().is_some_and(|summary| !summary.is_empty()));
    }
    host.say("go").await;
    let mut heard = Vec::new();
    loop {
        let line = host.next().await.unwrap();
        if line["type"] == "result" {
            break;
        }
        if line["type"] == "control_request" {
            let request = &line["request"];
            heard.push((request["callback_id"].as_str().unwrap().to_owned(), request["input"].clone()));
            host.answer(&line["request_id"], json!({})).await;
        }
    }
    let ids: Vec<&str> = heard.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(ids, ["pre", "start", "stop"]);
    assert!(heard[0].1.get("agent_id").is_none());
    let identity = |input: &Value| (input["agent_id"].clone(), input["agent_type"].clone());
    assert!(heard[1..].iter().all(|(_, input)| identity(input) == (json!("a1"), json!("looker"))));
    // The agent's mode is its own.
    let modes: Vec<&Value> = heard.iter().map(|(_, input)| &input["permission_mode"]).collect();
    assert_eq!(modes, ["default", "plan", "plan"]);
    let stop = &heard[2].1;
    let reported = (&stop["agent_transcript_path"], &stop["last_assistant_message"], &stop["stop_hook_active"]);
    assert_eq!(reported, (&json!("/t/subagents/agent-a1.jsonl"), &json!("From below."), &json!(false)));
    assert_eq!(stop["transcript_path"], "/t.jsonl");
    host.hang_up();
    host.end().await.0.unwrap();
}

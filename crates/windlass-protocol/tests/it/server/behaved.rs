//! Hosts that keep to the protocol.

use crate::server::host::{Host, options};
use crate::server::world::{acts, says, script};
use serde_json::{Value, json};
use windlass_model::{Gate, ScriptedTurn};

#[tokio::test(start_paused = true)]
async fn prompts_have_a_result_each_and_the_end_of_the_input_ends_all() {
    let mut host = Host::start(script([says("one"), says("two")]), options());
    host.order("r1", json!({ "hooks": null }), "initialize").await;
    let answer = host.next().await.unwrap();
    assert_eq!(answer["response"]["request_id"], "r1");
    assert_eq!(answer["response"]["response"]["claude_code_version"], "2.1.328");
    assert_eq!(answer["response"]["response"]["hooks_applied"], json!(null));
    host.say("1").await;
    host.say("2").await;
    host.hang_up();
    let (served, lines) = host.end().await;
    assert!(!served.unwrap().is_error);
    let kinds: Vec<_> = lines.iter().map(|line| line["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["system", "assistant", "result", "system", "assistant", "result"]);
    assert_eq!((&lines[2]["result"], &lines[5]["result"]), (&json!("one"), &json!("two")));
}

#[tokio::test(start_paused = true)]
async fn a_question_waits_for_its_answer_and_other_answers_do_not_count() {
    let mut host = Host::start(script([acts(), says("done")]), options());
    host.say("go").await;
    let (question, _) = host.until("control_request", "can_use_tool").await;
    assert_eq!(question["request"]["input"], json!({ "what": "it" }));
    host.answer(&json!("unknown"), json!({ "behavior": "allow" })).await;
    // An order in between is answered at once: input is read while the run waits.
    host.order("r9", json!({}), "mcp_status").await;
    let (status, _) = host.until("control_response", "").await;
    assert_eq!(status["response"]["response"], json!({ "mcpServers": [] }));
    assert_eq!(host.seen.acted(), 0);
    host.answer(&question["request_id"], json!({ "behavior": "allow" })).await;
    host.answer(&question["request_id"], json!({ "behavior": "deny", "message": "twice" })).await;
    assert_eq!(host.result().await["result"], "done");
    host.answer(&question["request_id"], json!({ "behavior": "deny", "message": "late" })).await;
    assert_eq!(host.seen.acted(), 1);
    host.hang_up();
    assert!(!host.end().await.0.unwrap().is_error);
}

#[tokio::test(start_paused = true)]
async fn an_interrupt_withdraws_questions_and_the_next_prompt_works() {
    let mut host = Host::start(script([acts(), says("after")]), options());
    host.say("go").await;
    let (question, _) = host.until("control_request", "can_use_tool").await;
    host.order("stop", json!({}), "interrupt").await;
    let (_, before) = host.until("control_response", "success").await;
    assert_eq!(before, [json!({ "type": "control_cancel_request", "request_id": question["request_id"] })]);
    host.answer(&question["request_id"], json!({ "behavior": "allow" })).await;
    let result = host.result().await;
    assert_eq!(
        (&result["subtype"], &result["terminal_reason"]),
        (&json!("error_during_execution"), &json!("aborted_tools"))
    );
    assert_eq!(host.seen.acted(), 0);
    host.say("again").await;
    assert_eq!(host.result().await["result"], "after");
    host.hang_up();
    assert!(!host.end().await.0.unwrap().is_error);
}

#[tokio::test(start_paused = true)]
async fn an_interrupt_without_a_run_does_nothing() {
    let mut host = Host::start(script([says("fine")]), options());
    host.order("stop", json!({}), "interrupt").await;
    assert_eq!(host.next().await.unwrap()["response"]["response"], json!({ "still_queued": [] }));
    host.say("go").await;
    assert_eq!(host.result().await["result"], "fine");
    host.order("stop", json!({}), "interrupt").await;
    host.hang_up();
    assert!(!host.end().await.0.unwrap().is_error);
}

#[tokio::test(start_paused = true)]
async fn prompts_that_wait_can_be_taken_back() {
    let gate = Gate::new();
    let mut host = Host::start(script([says("one").gate(&gate), says("two")]), options());
    for id in ["a", "b", "c"] {
        host.send(json!({ "type": "user", "uuid": id, "message": { "content": id } })).await;
    }
    host.order("r1", json!({ "message_uuid": "b" }), "cancel_async_message").await;
    assert_eq!(host.until("control_response", "success").await.0["response"]["response"], json!({ "cancelled": true }));
    host.order("r2", json!({ "message_uuid": "a" }), "cancel_async_message").await;
    assert_eq!(
        host.until("control_response", "success").await.0["response"]["response"],
        json!({ "cancelled": false })
    );
    host.order("r3", json!({}), "interrupt").await;
    assert_eq!(
        host.until("control_response", "success").await.0["response"]["response"],
        json!({ "still_queued": ["c"] })
    );
    assert_eq!(host.result().await["terminal_reason"], "aborted_streaming");
    gate.open();
    assert_eq!(host.result().await["result"], "two");
    host.hang_up();
    assert!(!host.end().await.0.unwrap().is_error);
}

#[tokio::test(start_paused = true)]
async fn modes_and_models_are_checked_and_kept() {
    let mut host = Host::start(script([acts(), says("done")]), options());
    for (request, code) in [
        (json!({ "mode": "nonsense" }), "invalid_mode"),
        (json!({ "mode": "bypassPermissions" }), "bypass_not_launched"),
    ] {
        host.order("r", request, "set_permission_mode").await;
        assert_eq!(host.next().await.unwrap()["response"]["error_code"], code);
    }
    host.order("r", json!({ "mode": "dontAsk" }), "set_permission_mode").await;
    assert_eq!(host.next().await.unwrap()["response"]["response"], json!({ "mode": "dontAsk" }));
    assert_eq!(host.next().await.unwrap()["permissionMode"], "dontAsk");
    host.order("r", json!({ "model": "other" }), "set_model").await;
    assert_eq!(host.next().await.unwrap()["response"]["response"], json!({ "model": "other" }));
    host.order("r", json!({}), "teleport").await;
    let refused = host.next().await.unwrap();
    assert_eq!(refused["response"]["error"], "Unsupported control request subtype: teleport");
    assert_eq!(refused["response"]["error_code"], "unsupported_request");
    host.say("go").await;
    let (init, _) = host.until("system", "init").await;
    assert_eq!((&init["model"], &init["permissionMode"]), (&json!("other"), &json!("dontAsk")));
    assert_eq!(host.result().await["permission_denials"].as_array().unwrap().len(), 1);
    host.hang_up();
    assert!(!host.end().await.0.unwrap().is_error);
}

#[tokio::test(start_paused = true)]
async fn the_state_of_the_session_is_reported() {
    let mut options = options();
    options.reports.session_state = true;
    let mut host = Host::start(script([acts(), says("done"), says("more")]), options);
    host.say("go").await;
    let (question, _) = host.until("control_request", "can_use_tool").await;
    host.until("system", "session_state_changed").await;
    host.answer(&question["request_id"], json!({ "behavior": "allow" })).await;
    let (_, before) = host.until("result", "").await;
    assert_eq!(before.iter().filter(|line| line["state"] == "idle").count(), 0);
    let idle = host.next().await.unwrap();
    assert_eq!((&idle["state"], &idle["sdk_host_only"]), (&json!("idle"), &json!(true)));
    host.say("continue").await;
    assert_eq!(host.next().await.unwrap()["state"], "running");
    host.result().await;
    host.hang_up();
    assert!(!host.end().await.0.unwrap().is_error);
}

fn hooks(event: &str, more: &Value) -> Value {
    let mut matcher = json!({ "matcher": "act", "hookCallbackIds": ["hook_0"] });
    for (name, value) in more.as_object().unwrap() {
        matcher[name] = value.clone();
    }
    json!({ "hooks": { event: [matcher] } })
}

#[tokio::test(start_paused = true)]
async fn a_hook_is_asked_and_its_word_counts() {
    let mut host = Host::start(script([acts(), says("done")]), options());
    host.order("i", hooks("PreToolUse", &json!({})), "initialize").await;
    assert_eq!(host.next().await.unwrap()["response"]["response"]["hooks_applied"], true);
    host.say("go").await;
    let (asked, _) = host.until("control_request", "hook_callback").await;
    let input = &asked["request"]["input"];
    assert_eq!(asked["request"]["callback_id"], "hook_0");
    assert_eq!(asked["request"]["tool_use_id"], "t1");
    assert_eq!((&input["hook_event_name"], &input["tool_name"]), (&json!("PreToolUse"), &json!("act")));
    assert_eq!((&input["transcript_path"], &input["cwd"]), (&json!("/t.jsonl"), &json!("/w")));
    let output = json!({ "hookSpecificOutput": { "hookEventName": "PreToolUse", "permissionDecision": "allow" } });
    host.answer(&asked["request_id"], output).await;
    assert_eq!(host.result().await["result"], "done");
    assert_eq!(host.seen.acted(), 1);
    host.hang_up();
    assert!(!host.end().await.0.unwrap().is_error);
}

#[tokio::test(start_paused = true)]
async fn a_hook_that_does_not_answer_blocks_the_call_and_is_withdrawn() {
    let mut host = Host::start(script([acts(), says("done")]), options());
    host.order("i", hooks("PreToolUse", &json!({ "timeout": 1.5 })), "initialize").await;
    host.say("go").await;
    let (asked, _) = host.until("control_request", "hook_callback").await;
    let (cancelled, _) = host.until("control_cancel_request", "").await;
    assert_eq!(cancelled["request_id"], asked["request_id"]);
    host.answer(&asked["request_id"], json!({ "decision": "approve" })).await;
    let (result, before) = host.until("result", "").await;
    assert_eq!(result["permission_denials"].as_array().unwrap().len(), 1);
    assert!(before.iter().any(|line| line.to_string().contains("did not answer within 1.5 s")), "{before:#?}");
    assert_eq!(host.seen.acted(), 0);
    host.hang_up();
    assert!(!host.end().await.0.unwrap().is_error);
}

#[tokio::test(start_paused = true)]
async fn a_hook_that_fails_has_no_opinion_unless_it_says_so() {
    for (more, acted) in [(json!({}), 1), (json!({ "onFailure": "block" }), 0)] {
        for nonsense in [json!(7), json!({ "decision": "maybe" })] {
            let mut host = Host::start(script([acts(), says("done")]), options());
            host.order("i", hooks("PreToolUse", &more), "initialize").await;
            host.say("go").await;
            let (asked, _) = host.until("control_request", "hook_callback").await;
            host.answer(&asked["request_id"], nonsense).await;
            if acted == 1 {
                let (question, _) = host.until("control_request", "can_use_tool").await;
                host.answer(&question["request_id"], json!({ "behavior": "allow" })).await;
            }
            host.result().await;
            assert_eq!(host.seen.acted(), acted, "{more}");
            host.hang_up();
            host.end().await.0.unwrap();
        }
    }
}

#[tokio::test(start_paused = true)]
async fn hooks_of_an_open_session_can_be_replaced_and_added() {
    let mut host = Host::start(script([says("one"), acts(), says("two"), acts(), says("three")]), options());
    host.say("go").await;
    host.result().await;
    for (event, answer) in [
        ("PreToolUse", json!({ "decision": "approve" })),
        ("PostToolUse", json!({ "hookSpecificOutput": { "hookEventName": "PostToolUse", "additionalContext": "x" } })),
    ] {
        host.order("i", hooks(event, &json!({})), "initialize").await;
        assert_eq!(host.next().await.unwrap()["response"]["response"]["hooks_applied"], true, "{event}");
        host.say("go").await;
        let mut asked = Vec::new();
        loop {
            let line = host.next().await.unwrap();
            match (line["type"].as_str().unwrap(), line["request"]["subtype"].as_str()) {
                ("control_request", Some("hook_callback")) => {
                    asked.push(line["request"]["input"]["hook_event_name"].clone());
                    host.answer(&line["request_id"], answer.clone()).await;
                }
                ("control_request", _) => host.answer(&line["request_id"], json!({ "behavior": "allow" })).await,
                ("result", _) => break,
                _ => {}
            }
        }
        assert_eq!(asked, [json!(event)]);
    }
    assert_eq!(host.seen.acted(), 2);
    host.order("i", json!({ "hooks": { "Stop": [{ "matcher": "(", "hookCallbackIds": ["x"] }] } }), "initialize").await;
    assert_eq!(host.next().await.unwrap()["response"]["subtype"], "error");
    host.hang_up();
    host.end().await.0.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_runs_is_stopped_when_the_server_is_ordered_to_end() {
    let turn = ScriptedTurn::new().tool_use_with_id("t1", "wait", json!({}));
    let mut host = Host::start(script([turn]), options());
    host.say("go").await;
    host.until("assistant", "").await;
    host.tell_to_end();
    let (served, lines) = host.end().await;
    assert!(served.unwrap().shut_down);
    assert_eq!(lines.iter().filter(|line| line["type"] == "result").count(), 1);
}

//! Hosts that die, stall, flood, or talk nonsense.

use crate::server::host::{Host, options};
use crate::server::world::{acts, says, script};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use windlass_model::{Gate, ScriptedModel};
use windlass_protocol::ServerError;

/// Plays a whole conversation up to its `limit`-th line. Whether it was over before.
async fn play(host: &mut Host, limit: usize) -> bool {
    let matcher = json!([{ "hookCallbackIds": ["h"] }]);
    let hooks = json!({ "hooks": { "PreToolUse": matcher, "PostToolUse": matcher, "UserPromptSubmit": matcher, "Stop": matcher } });
    host.order("i", hooks, "initialize").await;
    host.say("go").await;
    for _ in 0..limit {
        let Some(line) = host.next().await else { return true };
        match (line["type"].as_str(), line["request"]["subtype"].as_str()) {
            (Some("control_request"), Some("can_use_tool")) => {
                host.answer(&line["request_id"], json!({ "behavior": "allow" })).await;
            }
            (Some("control_request"), _) => host.answer(&line["request_id"], json!({})).await,
            (Some("result"), _) => return true,
            _ => {}
        }
    }
    false
}

fn conversation() -> ScriptedModel {
    script([acts(), says("done")])
}

#[tokio::test(start_paused = true)]
async fn a_host_may_die_at_any_line() {
    let mut limit = 0;
    loop {
        let mut host = Host::start(conversation(), options());
        let over = play(&mut host, limit).await;
        host.die();
        // The server ends, regardless of its output, and nothing of the session is left.
        let _ = host.end().await;
        if over {
            break;
        }
        limit += 1;
    }
    assert!(limit > 8, "the conversation has {limit} lines");
}

#[tokio::test(start_paused = true)]
async fn a_host_may_close_its_end_at_any_line_and_still_gets_its_result() {
    for limit in 0.. {
        let mut host = Host::start(conversation(), options());
        let over = play(&mut host, limit).await;
        host.hang_up();
        let acted = Arc::clone(&host.seen.acted);
        let (served, lines) = host.end().await;
        served.unwrap();
        let results = lines.iter().filter(|line| line["type"] == "result").count();
        assert_eq!(results, usize::from(!over), "after {limit} lines: {lines:#?}");
        // A call about which the host could not be asked did not run.
        assert!(limit > 4 || acted.load(Ordering::SeqCst) == 0, "after {limit} lines");
        if over {
            break;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_host_may_stop_reading_and_is_waited_for() {
    let long = "x".repeat(800_000);
    let turns = (0..10).map(|_| says(&long));
    let mut host = Host::start(script(turns), options());
    for _ in 0..10 {
        host.say("go").await;
    }
    // Nothing is read: the runs come to a halt, but orders are still taken.
    tokio::time::sleep(std::time::Duration::from_secs(60)).await;
    host.hang_up();
    let (served, lines) = host.end().await;
    assert!(!served.unwrap().is_error);
    assert_eq!(lines.iter().filter(|line| line["type"] == "result").count(), 10);
}

#[tokio::test(start_paused = true)]
async fn a_host_that_does_not_read_cannot_keep_a_server_that_is_ordered_to_end() {
    let long = "x".repeat(800_000);
    let mut host = Host::start(script((0..10).map(|_| says(&long))), options());
    for _ in 0..10 {
        host.say("go").await;
    }
    tokio::time::sleep(std::time::Duration::from_secs(60)).await;
    host.tell_to_end();
    tokio::time::sleep(std::time::Duration::from_secs(60)).await;
    host.die();
    assert!(host.end().await.0.unwrap().shut_down);
}

#[tokio::test(start_paused = true)]
async fn a_flood_of_prompts_is_bounded_and_each_has_a_result() {
    let gate = Gate::new();
    let held = gate.clone();
    let model = ScriptedModel::from_fn(move |_, _| says("ok").gate(&held));
    let mut host = Host::start(model, options());
    // The queue of frames holds all refusals of the flood, so the host need not read before it is over.
    for _ in 0..1_000 {
        assert!(host.say("go").await);
    }
    gate.open();
    host.hang_up();
    let (served, lines) = host.end().await;
    assert!(!served.unwrap().is_error);
    let results: Vec<_> = lines.iter().filter(|line| line["type"] == "result").collect();
    assert_eq!(results.len(), 1_000);
    let refused = results.iter().filter(|line| line["is_error"] == true).count();
    assert_eq!(refused, 1_000 - 257);
}

#[tokio::test(start_paused = true)]
async fn an_order_to_end_is_the_reason_of_the_result() {
    let mut host = Host::start(script([acts()]), options());
    host.say("go").await;
    host.until("control_request", "can_use_tool").await;
    host.tell_to_end();
    let (_, lines) = host.end().await;
    let result = lines.iter().find(|line| line["type"] == "result").unwrap();
    assert_eq!(result["errors"][0], "The program was told to end, and stopped the run");
    assert!(!lines.iter().any(|line| line.to_string().contains("by user")), "{lines:?}");
}

#[tokio::test(start_paused = true)]
async fn nonsense_ends_the_session_with_a_reason() {
    for line in ["hello", "{", "[]", "{\"type\":\"control_request\"}", "\u{0}"] {
        let mut host = Host::start(script([acts()]), options());
        host.say("go").await;
        host.until("control_request", "can_use_tool").await;
        host.send_text(line).await;
        let (served, lines) = host.end().await;
        assert!(matches!(served, Err(ServerError::Malformed { .. })), "{line}: {served:?}");
        // The run that went on has its result, which does not say that a person stopped it.
        let results: Vec<_> = lines.iter().filter(|line| line["type"] == "result").collect();
        assert_eq!(results.len(), 1, "{line}");
        assert!(
            results[0]["errors"][0].as_str().unwrap().contains("is not a message of the host protocol"),
            "{lines:?}"
        );
        assert!(!lines.iter().any(|line| line.to_string().contains("by user")), "{line}: {lines:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_only_unknown_is_left_alone() {
    let mut host = Host::start(script([says("ok")]), options());
    for line in ["", "  ", "{}", r#"{"type":"keep_alive"}"#, r#"{"type":"from_the_future","x":[1]}"#] {
        host.send_text(line).await;
    }
    host.send(json!({ "type": "update_environment_variables", "variables": { "K": "V" } })).await;
    host.send(json!({ "type": "control_cancel_request", "request_id": "x" })).await;
    host.say("go").await;
    assert_eq!(host.result().await["result"], "ok");
    host.hang_up();
    host.end().await.0.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_line_without_end_is_not_kept() {
    let mut options = options();
    options.max_line = 1_000;
    let mut host = Host::start(script([]), options);
    host.send_text(&"x".repeat(2_000)).await;
    assert!(matches!(host.end().await.0, Err(ServerError::TooLong { limit: 1_000 })));
}

#[tokio::test(start_paused = true)]
async fn a_prompt_that_cannot_be_used_has_a_result_that_says_so() {
    let mut host = Host::start(script([says("ok")]), options());
    for message in [json!({ "type": "user" }), json!({ "type": "user", "message": { "content": [] } })] {
        host.send(message).await;
        let result = host.result().await;
        assert_eq!((&result["subtype"], &result["num_turns"]), (&json!("error_during_execution"), &json!(0)));
    }
    host.say("go").await;
    assert_eq!(host.result().await["result"], "ok");
    host.hang_up();
    assert!(!host.end().await.0.unwrap().is_error);
}

#[tokio::test(start_paused = true)]
async fn a_session_that_cannot_be_opened_is_reported_to_the_host() {
    let (near, far) = tokio::io::duplex(4096);
    let (near_output, mut output) = tokio::io::duplex(4096);
    let open = |_| async { Err("there is no such session".into()) };
    let server = windlass_protocol::Server::new(open, options());
    let served = tokio::spawn(server.serve(near, near_output, std::future::pending()));
    let mut far = far;
    tokio::io::AsyncWriteExt::write_all(&mut far, b"{\"type\":\"user\",\"message\":{\"content\":\"go\"}}\n")
        .await
        .unwrap();
    assert!(matches!(served.await.unwrap(), Err(ServerError::Open(_))));
    let mut text = String::new();
    tokio::io::AsyncReadExt::read_to_string(&mut output, &mut text).await.unwrap();
    assert!(text.contains("there is no such session") && text.contains("error_during_execution"), "{text}");
}

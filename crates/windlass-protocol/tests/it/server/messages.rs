//! Messages: what the host hears of them, and those that ask for no answer.

use crate::server::host::{Host, options};
use crate::server::world::{acts, says, script};
use serde_json::{Value, json};
use windlass_model::Gate;

fn message(uuid: &str, text: &str) -> Value {
    json!({ "type": "user", "uuid": uuid, "message": { "role": "user", "content": text, "extra": 1 } })
}

/// States of messages, as `id state`, and results as `result id`.
fn lives(lines: &[Value]) -> Vec<String> {
    lines
        .iter()
        .filter_map(|line| match line["type"].as_str()? {
            "command_lifecycle" => Some(format!("{} {}", line["command_uuid"].as_str()?, line["state"].as_str()?)),
            "result" => Some(format!("result {}", line["user_message_uuid"].as_str().unwrap_or("-"))),
            _ => None,
        })
        .collect()
}

#[tokio::test(start_paused = true)]
async fn a_note_is_read_with_the_next_prompt() {
    let model = script([says("one"), says("two")]);
    let mut host = Host::start(model.clone(), options());
    host.send(json!({ "type": "user", "shouldQuery": false, "message": { "content": "a note" } })).await;
    let result = host.result().await;
    assert_eq!(
        (&result["subtype"], &result["is_error"], &result["num_turns"], &result["result"]),
        (&json!("success"), &json!(false), &json!(0), &json!(""))
    );
    assert_eq!(model.requests().len(), 0);
    host.say("go").await;
    assert_eq!(host.result().await["result"], "one");
    let messages = serde_json::to_string(&model.requests()[0].messages).unwrap();
    assert!(messages.find("a note").unwrap() < messages.find("go").unwrap(), "{messages}");
    host.hang_up();
    assert!(!host.end().await.0.unwrap().is_error);
}

#[tokio::test(start_paused = true)]
async fn messages_with_an_id_are_followed_to_their_end() {
    let gate = Gate::new();
    let mut host = Host::start(script([says("one").gate(&gate), says("two")]), options());
    host.send(message("a", "1")).await;
    host.until("system", "init").await;
    host.send(message("b", "2")).await;
    host.send(message("c", "/cost")).await;
    host.send(message("d", "4")).await;
    host.order("r", json!({ "message_uuid": "d" }), "cancel_async_message").await;
    let (_, mut lines) = host.until("control_response", "success").await;
    gate.open();
    host.hang_up();
    let (served, rest) = host.end().await;
    assert!(!served.unwrap().is_error);
    lines.extend(rest);
    assert_eq!(
        lives(&lines),
        [
            "b queued",
            "c queued",
            "d queued",
            "d cancelled",
            "result a",
            "a completed",
            "b started",
            "result b",
            "b completed",
            "c started",
            "result c",
            "c completed"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn messages_come_back_when_their_turn_begins_if_the_host_wants_it() {
    let mut options = options();
    options.reports.replay_user_messages = true;
    let mut host = Host::start(script([says("one"), says("two"), says("three")]), options);
    host.send(message("a", "1")).await;
    let (replay, _) = host.until("user", "").await;
    assert_eq!(replay["message"], json!({ "role": "user", "content": "1", "extra": 1 }));
    assert_eq!((&replay["uuid"], &replay["isReplay"], &replay["session_id"]), (&json!("a"), &json!(true), &json!("s")));
    // The message precedes the turn.
    host.until("system", "init").await;
    host.result().await;
    host.say("2").await;
    let (replay, _) = host.until("user", "").await;
    assert_eq!((&replay["message"]["content"], replay["uuid"].as_str().unwrap().len()), (&json!("2"), 36));
    host.result().await;
    host.send(message("c", &"x".repeat(1_000_000))).await;
    let (replay, _) = host.until("user", "").await;
    assert_eq!(replay["uuid"], "c");
    assert!(replay["message"]["content"].as_str().unwrap().contains("too long"));
    host.result().await;
    host.hang_up();
    assert!(!host.end().await.0.unwrap().is_error);
}

#[tokio::test(start_paused = true)]
async fn orders_are_carried_out_while_a_session_opens() {
    let mut host = Host::start(script([says("one"), says("two")]), options());
    let door = host.seen.shut_door();
    host.send(message("a", "1")).await;
    host.send(message("b", "2")).await;
    // Nothing opens before the door does, and yet these are answered.
    host.order("m", json!({ "mode": "plan" }), "set_permission_mode").await;
    assert_eq!(host.until("control_response", "success").await.0["response"]["request_id"], "m");
    host.order("c", json!({}), "get_settings").await;
    assert!(
        host.until("control_response", "error").await.0["response"]["error"].as_str().unwrap().contains("not open")
    );
    // The message whose session opens is no longer one that waits.
    host.order("i", json!({}), "interrupt").await;
    assert_eq!(
        host.until("control_response", "success").await.0["response"]["response"],
        json!({ "still_queued": ["b"] })
    );
    door.open();
    let result = host.result().await;
    assert_eq!((&result["subtype"], &result["user_message_uuid"]), (&json!("error_during_execution"), &json!("a")));
    assert_eq!(host.result().await["user_message_uuid"], "b");
    host.hang_up();
    host.end().await.0.unwrap();
}

#[tokio::test(start_paused = true)]
async fn the_end_of_the_input_while_a_session_opens_loses_nothing() {
    let mut host = Host::start(script([says("one")]), options());
    let door = host.seen.shut_door();
    host.say("1").await;
    host.say("/cost").await;
    host.hang_up();
    // Long enough for the server to see the end of the input.
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    door.open();
    let (served, lines) = host.end().await;
    assert!(!served.unwrap().is_error);
    assert_eq!(lines.iter().filter(|line| line["type"] == "result").count(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_host_may_go_while_a_session_opens() {
    for dies in [true, false] {
        let mut host = Host::start(script([says("one")]), options());
        host.seen.shut_door();
        host.say("1").await;
        if dies {
            host.die();
        } else {
            host.tell_to_end();
        }
        // The door never opens: the server ends all the same.
        let (served, _) = host.end().await;
        assert_ne!(served.is_ok_and(|served| served.shut_down), dies);
    }
}

#[tokio::test(start_paused = true)]
async fn commands_that_wait_at_the_end_of_the_input_are_carried_out_while_a_tool_runs() {
    let mut host = Host::start(script([acts(), says("done")]), options());
    host.say("go").await;
    let (question, _) = host.until("control_request", "can_use_tool").await;
    for command in ["/cost", "/clear", "/context"] {
        host.say(command).await;
    }
    host.answer(&question["request_id"], json!({ "behavior": "allow" })).await;
    host.hang_up();
    let (served, lines) = host.end().await;
    assert!(!served.unwrap().is_error);
    let results: Vec<_> =
        lines.iter().filter(|line| line["type"] == "result").map(|line| &line["session_id"]).collect();
    assert_eq!(results, ["s", "s", "s2", "s2"]);
}

#[tokio::test(start_paused = true)]
async fn the_first_frames_of_an_answer_say_what_they_answer() {
    let mut options = options();
    options.frames.include_partial_messages = true;
    let mut host = Host::start(script([acts(), says("done"), says("more")]), options);
    host.send(message("a", "1")).await;
    let (question, mut lines) = host.until("control_request", "can_use_tool").await;
    host.answer(&question["request_id"], json!({ "behavior": "allow" })).await;
    let (result, rest) = host.until("result", "").await;
    lines.extend(rest);
    lines.push(result);
    let marked: Vec<_> = lines.iter().filter(|line| line.get("user_message_uuid").is_some()).collect();
    let kinds: Vec<_> = marked.iter().map(|line| line["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["stream_event", "assistant", "result"]);
    assert_eq!(marked[0]["event"]["type"], "message_start");
    for line in marked {
        assert_eq!((&line["user_message_uuid"], &line["user_message_uuids"]), (&json!("a"), &json!(["a"])));
    }
    // A message without an id has no marks, also after one that had.
    host.say("2").await;
    let (result, lines) = host.until("result", "").await;
    assert!(lines.iter().chain([&result]).all(|line| line.get("user_message_uuid").is_none()));
    host.hang_up();
    host.end().await.0.unwrap();
}

#[tokio::test(start_paused = true)]
async fn all_messages_that_wait_for_a_session_which_cannot_open_have_a_result() {
    let mut host = Host::start(script([]), options());
    let door = host.seen.shut_door();
    host.seen.refuses.store(true, std::sync::atomic::Ordering::SeqCst);
    for id in ["a", "b", "c"] {
        host.send(message(id, id)).await;
    }
    let mut lines = host.taken_in().await;
    door.open();
    let (served, rest) = host.end().await;
    assert!(matches!(served, Err(windlass_protocol::ServerError::Open(_))));
    lines.extend(rest);
    let results: Vec<_> = lines.iter().filter(|line| line["type"] == "result").collect();
    assert_eq!(results.len(), 3);
    assert!(results.iter().all(|line| line["is_error"] == true), "{results:#?}");
    let completed = lives(&lines).into_iter().filter(|life| life.ends_with("completed")).count();
    assert_eq!(completed, 3);
}

//! Messages that join the turn in progress.

use crate::server::host::{Host, options};
use crate::server::world::{acts, says, script};
use serde_json::{Value, json};
use windlass_model::{Gate, ScriptedModel, ScriptedTurn};

fn message(uuid: &str, priority: &str, text: &str) -> Value {
    json!({ "type": "user", "uuid": uuid, "priority": priority, "message": { "role": "user", "content": text } })
}

const A: &str = "aaaaaaaa-0000-4000-8000-000000000000";
const B: &str = "bbbbbbbb-0000-4000-8000-000000000000";
const C: &str = "cccccccc-0000-4000-8000-000000000000";

/// States of messages, as the first letter of their ids and a state, and results as `result` and letters.
fn lives(lines: &[Value]) -> Vec<String> {
    let letter = |id: &Value| id.as_str().unwrap_or("-").chars().take(1).collect::<String>();
    lines
        .iter()
        .filter_map(|line| match line["type"].as_str()? {
            "command_lifecycle" => Some(format!("{} {}", letter(&line["command_uuid"]), line["state"].as_str()?)),
            "result" => {
                let uuids = line["user_message_uuids"].as_array()?.iter().map(letter);
                Some(format!("result {} of {}", letter(&line["user_message_uuid"]), uuids.collect::<String>()))
            }
            _ => None,
        })
        .collect()
}

/// Texts of the last message of a request.
fn last_of(model: &ScriptedModel, request: usize) -> Vec<String> {
    let requests = model.requests();
    let content = &requests[request].messages.last().unwrap().content;
    content.iter().map(|block| block.as_text().unwrap_or("(result)").to_owned()).collect()
}

/// A turn of the message A that asks whether it may act.
async fn acting(model: &ScriptedModel, replay: bool) -> (Host, Value) {
    let mut options = options();
    options.reports.replay_user_messages = replay;
    let mut host = Host::start(model.clone(), options);
    host.send(message(A, "later", "go")).await;
    let (question, _) = host.until("control_request", "can_use_tool").await;
    (host, question)
}

async fn allow(host: &mut Host, question: &Value) {
    host.answer(&question["request_id"], json!({ "behavior": "allow" })).await;
}

async fn rest(mut host: Host) -> Vec<Value> {
    host.hang_up();
    let (served, lines) = host.end().await;
    served.unwrap();
    lines
}

#[tokio::test(start_paused = true)]
async fn next_joins_the_turn_and_shares_its_result() {
    let model = script([acts(), says("both"), says("more")]);
    let (mut host, question) = acting(&model, true).await;
    host.send(message(C, "later", "after")).await;
    host.send(message(B, "next", "mind this")).await;
    // No message is reported as begun before the model is about to read it.
    let mut lines = host.taken_in().await;
    assert_eq!(lives(&lines), ["c queued", "b queued"]);
    allow(&mut host, &question).await;
    lines.extend(rest(host).await);
    assert_eq!(
        lives(&lines),
        [
            "c queued",
            "b queued",
            "b started",
            "result a of ab",
            "a completed",
            "b completed",
            "c started",
            "result c of c",
            "c completed"
        ]
    );
    assert_eq!(last_of(&model, 1), ["(result)", "mind this"]);
    let replays: Vec<_> = lines.iter().filter(|line| line["isReplay"] == true).collect();
    assert_eq!((replays.len(), &replays[0]["uuid"]), (2, &json!(B)));
    assert_eq!(replays[0]["message"]["content"], "mind this");
    // The message is returned after the results that precede it, and before the model's answer to it.
    let at = |wanted: &dyn Fn(&Value) -> bool| lines.iter().position(wanted).unwrap();
    let (result, replay) = (at(&|l| l["message"]["content"][0]["type"] == "tool_result"), at(&|l| l["uuid"] == B));
    assert!(result < replay && replay < at(&|l| l["message"]["content"][0]["text"] == "both"));
}

#[tokio::test(start_paused = true)]
async fn next_at_the_end_of_a_turn_keeps_it_going() {
    let gate = Gate::new();
    let model = script([says("one").gate(&gate), says("two")]);
    let mut host = Host::start(model.clone(), options());
    host.send(message(A, "later", "1")).await;
    host.until("system", "init").await;
    host.send(message(B, "next", "2")).await;
    host.taken_in().await;
    gate.open();
    let result = host.result().await;
    assert_eq!((&result["result"], &result["num_turns"]), (&json!("two"), &json!(2)));
    assert_eq!(result["user_message_uuids"], json!([A, B]));
    rest(host).await;
}

#[tokio::test(start_paused = true)]
async fn everything_else_has_a_turn_of_its_own() {
    for (other, expected) in [
        (message(B, "later", "2"), "result b of b"),
        (json!({ "type": "user", "uuid": B, "message": { "content": "2" } }), "result b of b"),
        (message(B, "next", "/cost"), "result b of b"),
        (
            json!({ "type": "user", "uuid": B, "priority": "next", "shouldQuery": false, "message": { "content": "n" } }),
            "result b of b",
        ),
        // An unknown command is text.
        (message(B, "next", "/none at all"), "result a of ab"),
    ] {
        let model = script([acts(), says("one"), says("two")]);
        let (mut host, question) = acting(&model, false).await;
        host.send(other.clone()).await;
        host.taken_in().await;
        allow(&mut host, &question).await;
        let lines = rest(host).await;
        assert!(lives(&lines).contains(&expected.to_owned()), "{other}: {:?}", lives(&lines));
    }
}

#[tokio::test(start_paused = true)]
async fn next_does_not_overtake_a_command_that_was_next_before() {
    let model = script([acts(), says("one"), says("two")]);
    let (mut host, question) = acting(&model, false).await;
    host.send(message(B, "next", "/cost")).await;
    host.send(message(C, "next", "2")).await;
    host.taken_in().await;
    allow(&mut host, &question).await;
    let results: Vec<_> = lives(&rest(host).await).into_iter().filter(|life| life.starts_with("result")).collect();
    assert_eq!(results, ["result a of a", "result b of b", "result c of c"]);
}

#[tokio::test(start_paused = true)]
async fn a_stop_before_it_is_read_gives_it_a_turn_of_its_own() {
    for cancels in [false, true] {
        let wait = ScriptedTurn::new().tool_use_with_id("t1", "wait", json!({}));
        let model = script([wait, says("two"), says("three")]);
        let mut host = Host::start(model.clone(), options());
        host.send(message(A, "later", "go")).await;
        host.until("assistant", "").await;
        for (id, text) in [(B, "2"), (C, "3")] {
            host.send(message(id, "next", text)).await;
        }
        host.order("r", json!({ "cancel_queued": cancels }), "interrupt").await;
        let (answer, mut lines) = host.until("control_response", "success").await;
        let expected = match cancels {
            false => json!({ "still_queued": [B, C] }),
            true => json!({ "still_queued": [], "cancelled": [B, C] }),
        };
        assert_eq!(answer["response"]["response"], expected);
        lines.extend(rest(host).await);
        let lives = lives(&lines);
        let of =
            |id: &str| -> Vec<_> { lives.iter().map(String::as_str).filter(|life| life.starts_with(id)).collect() };
        if cancels {
            assert_eq!((of("b "), of("c ")), (vec!["b queued", "b cancelled"], vec!["c queued", "c cancelled"]));
            assert_eq!(model.requests().len(), 1);
        } else {
            assert_eq!(
                lives.iter().filter(|life| life.starts_with("result")).collect::<Vec<_>>(),
                ["result a of a", "result b of b", "result c of c"]
            );
            assert_eq!((last_of(&model, 1).pop(), last_of(&model, 2).pop()), (Some("2".into()), Some("3".into())));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn it_can_be_taken_back_until_it_is_read() {
    let model = script([acts(), says("one")]);
    let (mut host, question) = acting(&model, false).await;
    host.send(message(B, "next", "2")).await;
    host.send(message(C, "next", "3")).await;
    host.order("r", json!({ "message_uuid": B }), "cancel_async_message").await;
    let (answer, mut lines) = host.until("control_response", "success").await;
    assert_eq!(answer["response"]["response"], json!({ "cancelled": true }));
    allow(&mut host, &question).await;
    let (result, before) = host.until("result", "").await;
    lines.extend(before);
    assert_eq!(result["user_message_uuids"], json!([A, C]));
    host.order("s", json!({ "message_uuid": C }), "cancel_async_message").await;
    let (answer, _) = host.until("control_response", "success").await;
    assert_eq!(answer["response"]["response"], json!({ "cancelled": false }));
    assert_eq!(lives(&lines), ["b queued", "c queued", "b cancelled", "c started"]);
    assert_eq!(last_of(&model, 1), ["(result)", "3"]);
    rest(host).await;
}

#[tokio::test(start_paused = true)]
async fn hooks_keep_it_out_and_the_turn_continues() {
    let model = script([acts(), says("one")]);
    let mut host = Host::start(model.clone(), options());
    let hooks = json!({ "hooks": { "UserPromptSubmit": [{ "hookCallbackIds": ["h"] }] } });
    host.order("i", hooks, "initialize").await;
    host.send(message(A, "later", "go")).await;
    let (asked, _) = host.until("control_request", "hook_callback").await;
    host.answer(&asked["request_id"], json!({})).await;
    let (question, _) = host.until("control_request", "can_use_tool").await;
    host.send(message(B, "next", "2")).await;
    // Hooks are called for the message while the call waits for its own answer.
    let (asked, mut lines) = host.until("control_request", "hook_callback").await;
    assert_eq!(asked["request"]["input"]["prompt"], "2");
    host.answer(&asked["request_id"], json!({ "decision": "block", "reason": "not that" })).await;
    let (notice, before) = host.until("system", "informational").await;
    assert!(notice["content"].as_str().unwrap().ends_with("not that"), "{notice}");
    lines.extend(before);
    allow(&mut host, &question).await;
    lines.extend(rest(host).await);
    assert_eq!(lives(&lines), ["b queued", "b cancelled", "result a of a", "a completed"]);
    assert_eq!(last_of(&model, 1), ["(result)"]);
}

#[tokio::test(start_paused = true)]
async fn a_stop_while_hooks_are_asked_loses_nothing() {
    let wait = ScriptedTurn::new().tool_use_with_id("t1", "wait", json!({}));
    let model = script([wait, says("two")]);
    let mut host = Host::start(model.clone(), options());
    let hooks = json!({ "hooks": { "UserPromptSubmit": [{ "hookCallbackIds": ["h"] }] } });
    host.order("i", hooks, "initialize").await;
    host.send(message(A, "later", "go")).await;
    let (asked, _) = host.until("control_request", "hook_callback").await;
    host.answer(&asked["request_id"], json!({})).await;
    host.until("assistant", "").await;
    host.send(message(B, "next", "2")).await;
    host.until("control_request", "hook_callback").await;
    host.order("r", json!({}), "interrupt").await;
    // The hooks are called again, whether they failed because of the stop or did not finish.
    let (asked, lines) = host.until("control_request", "hook_callback").await;
    assert_eq!(lives(&lines).first().map(String::as_str), Some("result a of a"), "{lines:#?}");
    host.answer(&asked["request_id"], json!({})).await;
    assert_eq!(host.result().await["user_message_uuids"], json!([B]));
    assert_eq!(last_of(&model, 1).pop().as_deref(), Some("2"));
    rest(host).await;
}

#[tokio::test(start_paused = true)]
async fn next_joins_a_turn_whose_session_is_being_opened() {
    let model = script([says("one"), says("two")]);
    let mut host = Host::start(model.clone(), options());
    let door = host.seen.shut_door();
    host.send(message(A, "later", "1")).await;
    host.send(message(B, "next", "2")).await;
    host.taken_in().await;
    door.open();
    assert_eq!(host.result().await["user_message_uuids"], json!([A, B]));
    rest(host).await;
}

#[tokio::test(start_paused = true)]
async fn next_joins_a_turn_that_background_work_has_begun() {
    let leaves = ScriptedTurn::new().tool_use_with_id("t1", "leave", json!({}));
    let gate = Gate::new();
    let model = script([leaves, says("It runs."), says("It is done.").gate(&gate), says("both")]);
    let mut host = Host::start(model.clone(), options());
    host.say("go").await;
    host.result().await;
    host.seen.let_go.notify_one();
    host.until("system", "init").await;
    host.send(message(B, "next", "2")).await;
    host.send(message(C, "next", "3")).await;
    host.taken_in().await;
    gate.open();
    let result = host.result().await;
    assert_eq!((&result["result"], &result["origin"]["kind"]), (&json!("both"), &json!("task-notification")));
    // No message began it, so the last one that joined it stands for all.
    assert_eq!((&result["user_message_uuid"], &result["user_message_uuids"]), (&json!(C), &json!([B, C])));
    let lives = lives(&rest(host).await);
    assert_eq!(lives, ["b completed", "c completed"]);
}

#[tokio::test(start_paused = true)]
async fn what_joins_counts_among_those_that_wait() {
    let model = script([acts(), says("one")]);
    let (mut host, question) = acting(&model, false).await;
    for _ in 0..257 {
        host.send(json!({ "type": "user", "priority": "next", "message": { "content": "x" } })).await;
    }
    let result = host.result().await;
    assert!(result["errors"][0].as_str().unwrap().contains("too many messages wait"), "{result}");
    allow(&mut host, &question).await;
    let result = host.result().await;
    assert_eq!((&result["result"], &result["user_message_uuid"]), (&json!("one"), &json!(A)));
    assert_eq!(last_of(&model, 1).len(), 257);
    rest(host).await;
}

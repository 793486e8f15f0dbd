//! Slash commands.

use crate::server::host::{Host, options};
use crate::server::world::{says, script};
use serde_json::{Value, json};
use std::sync::atomic::Ordering;
use windlass_model::{Gate, ScriptedModel};

/// The texts of the user in a request of the model, in order.
fn user_texts(model: &ScriptedModel, request: usize) -> Vec<String> {
    let request = model.requests().get(request).cloned().expect("a request");
    let messages: Value = serde_json::to_value(&request.messages).unwrap();
    let users = messages.as_array().unwrap().iter().filter(|message| message["role"] == "user");
    users
        .flat_map(|message| message["content"].as_array().unwrap())
        .filter_map(|block| block["text"].as_str().map(str::to_owned))
        .collect()
}

#[tokio::test(start_paused = true)]
async fn local_commands_answer_without_the_model() {
    let model = script([says("one")]);
    let mut host = Host::start(model.clone(), options());
    host.say("go").await;
    host.result().await;
    for (command, name, says) in [
        ("/cost", "cost", "Total cost: $"),
        ("/usage now", "cost", "Total cost: $"),
        ("/context", "context", "System prompt: "),
        ("/notes of mine", "notes", "two notes of mine"),
    ] {
        host.say(command).await;
        let (result, before) = host.until("result", "").await;
        assert_eq!(
            (&result["subtype"], &result["is_error"], &result["num_turns"], &result["local_command"]),
            (&json!("success"), &json!(false), &json!(0), &json!(name)),
            "{command}"
        );
        let text = result["result"].as_str().unwrap();
        assert!(text.contains(says), "{command}: {text}");
        let [output, message] = before.as_slice() else { panic!("{command}: {before:#?}") };
        let shown = format!("<local-command-stdout>{text}</local-command-stdout>");
        assert_eq!((&output["type"], &output["message"]["content"]), (&json!("user"), &json!(shown)));
        assert_eq!((&output["isReplay"], &output["session_id"]), (&json!(true), &json!("s")));
        assert_eq!((&message["subtype"], &message["content"]), (&json!("local_command_output"), &json!(text)));
    }
    assert_eq!(model.requests().len(), 1);
    host.hang_up();
    assert!(!host.end().await.0.unwrap().is_error);
}

#[tokio::test(start_paused = true)]
async fn a_local_command_may_come_first_and_alone() {
    let mut options = options();
    options.reports.session_state = true;
    let mut host = Host::start(script([]), options);
    host.say("/cost").await;
    host.hang_up();
    let (served, lines) = host.end().await;
    assert!(!served.unwrap().is_error);
    let kinds: Vec<_> = lines
        .iter()
        .map(|line| line["state"].as_str().or(line["subtype"].as_str()).or(line["type"].as_str()))
        .collect();
    assert_eq!(kinds, ["running", "user", "local_command_output", "success", "idle"].map(Some));
}

#[tokio::test(start_paused = true)]
async fn clear_continues_with_an_empty_session_of_a_new_id() {
    let model = script([says("one"), says("two"), says("three")]);
    let mut host = Host::start(model.clone(), options());
    host.say("first").await;
    assert_eq!(host.result().await["session_id"], "s");
    host.send(json!({ "type": "user", "uuid": "u1", "message": { "content": "/clear" } })).await;
    let (reset, _) = host.until("conversation_reset", "").await;
    assert_eq!((&reset["new_conversation_id"], &reset["session_id"]), (&json!("s2"), &json!("s2")));
    assert_eq!((&reset["trigger"], &reset["user_message_uuid"]), (&json!("clear"), &json!("u1")));
    let result = host.result().await;
    assert_eq!((&result["result"], &result["num_turns"], &result["session_id"]), (&json!(""), &json!(0), &json!("s2")));
    host.say("second").await;
    let (init, _) = host.until("system", "init").await;
    assert_eq!(init["session_id"], "s2");
    assert_eq!(host.result().await["result"], "two");
    host.say("third").await;
    host.result().await;
    assert_eq!(user_texts(&model, 1), ["second"]);
    assert_eq!(user_texts(&model, 2), ["second", "third"]);
    host.hang_up();
    assert!(!host.end().await.0.unwrap().is_error);
}

#[tokio::test(start_paused = true)]
async fn clear_as_the_first_message_opens_one_session() {
    let mut host = Host::start(script([says("one")]), options());
    host.say("/new").await;
    assert_eq!(host.until("conversation_reset", "").await.0["new_conversation_id"], "s");
    host.result().await;
    host.say("go").await;
    assert_eq!(host.result().await["result"], "one");
    assert_eq!(host.seen.opened.load(Ordering::SeqCst), 1);
    host.hang_up();
    assert!(!host.end().await.0.unwrap().is_error);
}

#[tokio::test(start_paused = true)]
async fn clear_during_a_run_waits_for_its_turn() {
    let gate = Gate::new();
    let model = script([says("one").gate(&gate), says("two")]);
    let mut host = Host::start(model.clone(), options());
    host.say("first").await;
    host.say("/clear").await;
    host.say("second").await;
    host.until("system", "init").await;
    gate.open();
    let (result, before) = host.until("result", "").await;
    assert_eq!((&result["result"], &result["session_id"]), (&json!("one"), &json!("s")));
    assert!(before.iter().all(|line| line["type"] != "conversation_reset"));
    host.hang_up();
    let (served, lines) = host.end().await;
    assert!(!served.unwrap().is_error);
    let kinds: Vec<_> = lines.iter().map(|line| line["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["conversation_reset", "result", "system", "assistant", "result"]);
    assert_eq!(user_texts(&model, 1), ["second"]);
}

#[tokio::test(start_paused = true)]
async fn a_clear_that_fails_leaves_the_session_as_it_is() {
    let model = script([says("one"), says("two")]);
    let mut host = Host::start(model.clone(), options());
    host.say("first").await;
    host.result().await;
    host.seen.refuses.store(true, Ordering::SeqCst);
    host.say("/clear").await;
    let (result, before) = host.until("result", "").await;
    assert_eq!((&result["is_error"], &result["num_turns"]), (&json!(true), &json!(0)));
    assert!(result["errors"][0].as_str().unwrap().contains("was not cleared"), "{result}");
    assert!(before.is_empty(), "{before:#?}");
    host.say("second").await;
    assert_eq!(host.result().await["result"], "two");
    assert_eq!(user_texts(&model, 1), ["first", "second"]);
    host.hang_up();
    host.end().await.0.unwrap();
}

#[tokio::test(start_paused = true)]
async fn commands_of_the_session_become_prompts_and_other_text_stays_text() {
    let model = ScriptedModel::from_fn(|_, _| says("ok"));
    let blocks = |texts: &[&str]| texts.iter().map(|text| json!({ "type": "text", "text": text })).collect::<Vec<_>>();
    let plain = |content: Value| json!({ "type": "user", "message": { "content": content } });
    let verbatim = json!({ "type": "user", "client_composed": true, "message": { "content": "/greet Bo" } });
    let cases = [
        (plain(json!("/greet Ada")), "greet: Ada"),
        (plain(json!("/hello\nAda")), "greet: Ada"),
        (plain(json!(blocks(&["/greet Eve"]))), "greet: Eve"),
        (verbatim, "/greet Bo"),
        (plain(json!(blocks(&["/greet", "x"]))), "/greet"),
        (plain(json!("/etc/hosts is a file")), "/etc/hosts is a file"),
        (plain(json!("/unknown x")), "/unknown x"),
        // Command that was added after the list was made.
        (plain(json!("/added x")), "added: x"),
    ];
    let mut host = Host::start(model.clone(), options());
    for (at, (message, expected)) in cases.into_iter().enumerate() {
        host.send(message).await;
        assert_eq!(host.result().await["result"], "ok");
        let texts = user_texts(&model, at);
        assert!(texts.contains(&expected.to_owned()), "{expected}: {texts:?}");
    }
    host.hang_up();
    host.end().await.0.unwrap();

    let mut options = options();
    options.commands.enabled = false;
    let model = ScriptedModel::from_fn(|_, _| says("ok"));
    let mut host = Host::start(model.clone(), options);
    host.say("/clear").await;
    host.result().await;
    assert_eq!(user_texts(&model, 0), ["/clear"]);
    host.hang_up();
    host.end().await.0.unwrap();
}

#[tokio::test(start_paused = true)]
async fn the_commands_are_listed_to_hosts() {
    let mut options = options();
    options.commands.known.clear();
    let mut host = Host::start(script([says("one")]), options);
    host.order("i", json!({}), "initialize").await;
    let listed = host.next().await.unwrap()["response"]["response"]["commands"].clone();
    let names = |commands: &Value| {
        commands
            .as_array()
            .unwrap()
            .iter()
            .map(|command| command["name"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(names(&listed), ["clear", "compact", "context", "cost", "continue-run"]);
    assert_eq!((&listed[0]["builtin"], &listed[0]["argumentHint"]), (&json!(true), &json!("")));
    host.say("go").await;
    let (changed, _) = host.until("system", "commands_changed").await;
    assert_eq!(names(&changed["commands"]), ["clear", "compact", "context", "cost", "continue-run", "greet"]);
    assert_eq!(
        changed["commands"][5],
        json!({ "name": "greet", "description": "Greets a person", "argumentHint": "<name>", "aliases": ["hello"] })
    );
    let (init, _) = host.until("system", "init").await;
    assert_eq!(init["slash_commands"], json!(["clear", "compact", "context", "cost", "continue-run", "greet"]));
    host.hang_up();
    host.end().await.0.unwrap();
}

#[tokio::test(start_paused = true)]
async fn compact_is_a_run_that_replaces_the_conversation() {
    let model = script([says("one"), says("<summary>It began with one.</summary>"), says("two")]);
    let mut host = Host::start(model.clone(), options());
    host.order(
        "i",
        json!({ "hooks": { "PreCompact": [{ "matcher": "manual", "hookCallbackIds": ["h"] }] } }),
        "initialize",
    )
    .await;
    host.say("first").await;
    host.result().await;
    host.say("/compact the tests").await;
    let (asked, before) = host.until("control_request", "hook_callback").await;
    let listed = |lines: &[Value]| -> Vec<String> {
        lines.iter().filter_map(|line| line["subtype"].as_str().map(str::to_owned)).collect()
    };
    // The question does not overtake the frames of what came before it.
    assert_eq!(listed(&before), ["init", "status"], "{before:#?}");
    let input = &asked["request"]["input"];
    assert_eq!(
        (&input["hook_event_name"], &input["trigger"], &input["custom_instructions"]),
        (&json!("PreCompact"), &json!("manual"), &json!("the tests"))
    );
    host.answer(&asked["request_id"], json!({})).await;
    let (result, lines) = host.until("result", "").await;
    assert_eq!((&result["is_error"], &result["num_turns"]), (&json!(false), &json!(0)), "{result}");
    assert_eq!(listed(&lines), ["status", "compact_boundary"], "{lines:#?}");
    assert!(lines.iter().any(|line| line["isSynthetic"] == true), "{lines:#?}");
    assert!(user_texts(&model, 1).last().unwrap().contains("the tests"));
    host.say("second").await;
    assert_eq!(host.result().await["result"], "two");
    let read = user_texts(&model, 2).join("\n");
    assert!(read.contains("It began with one.") && read.lines().all(|line| line != "first"), "{read}");
    host.hang_up();
    assert!(!host.end().await.0.unwrap().is_error);
}

#[tokio::test(start_paused = true)]
async fn a_command_that_may_not_run_is_reported_and_the_session_continues() {
    let model = script([says("one"), says("two")]);
    let mut host = Host::start(model.clone(), options());
    host.say("first").await;
    host.result().await;
    host.say("/greet no").await;
    let result = host.result().await;
    assert_eq!((&result["is_error"], &result["num_turns"]), (&json!(true), &json!(0)), "{result}");
    assert_eq!(result["errors"], json!(["/greet may not run"]));
    assert_eq!(model.requests().len(), 1);
    host.say("second").await;
    assert_eq!(host.result().await["result"], "two");
    host.hang_up();
    host.end().await.0.unwrap();
}

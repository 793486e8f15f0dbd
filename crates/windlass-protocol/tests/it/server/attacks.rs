//! Orders at the worst moment, and orders that make no sense: what was confirmed is in force, what was refused is not.

use crate::server::host::{Host, options};
use crate::server::world::{acts, says, script};
use serde_json::{Value, json};
use windlass_model::{ScriptedModel, ScriptedTurn};
use windlass_testkit::Gate;

/// A host whose session does not open before its door does.
async fn before_the_door(model: ScriptedModel, mut options: windlass_protocol::ServerOptions) -> (Host, Gate) {
    options.permissions.bypass_allowed = true;
    let mut host = Host::start(model, options);
    let door = host.seen.shut_door();
    host.say("go").await;
    door.wait_arrived(1).await;
    (host, door)
}

async fn confirmed(host: &mut Host, subtype: &str, request: Value) {
    host.order("q", request, subtype).await;
    let (answer, _) = host.until("control_response", "").await;
    assert_eq!(answer["response"]["subtype"], "success", "{answer}");
}

async fn ends(mut host: Host) -> Vec<Value> {
    host.hang_up();
    let (served, lines) = host.end().await;
    served.unwrap();
    lines
}

/// A mode that was confirmed while the session opened holds in it.
#[tokio::test(start_paused = true)]
async fn a_mode_that_is_ordered_while_the_session_opens_holds() {
    let mut host_options = options();
    host_options.permissions.mode = windlass_types::PermissionMode::AcceptEdits;
    let (mut host, door) = before_the_door(script([acts(), says("done")]), host_options).await;
    confirmed(&mut host, "set_permission_mode", json!({ "mode": "plan" })).await;
    door.open();
    let (result, before) = host.until("result", "").await;
    assert_eq!(result["permission_denials"].as_array().unwrap().len(), 1, "{before:#?}");
    assert!(!before.iter().any(|line| line["type"] == "control_request"), "it asks in plan mode: {before:#?}");
    assert_eq!(host.seen.acted(), 0);
    ends(host).await;
}

/// A model that the budget refuses is refused to the host, and neither this session nor the next one calls it.
#[tokio::test(start_paused = true)]
async fn a_model_that_the_budget_refuses_is_an_error_response() {
    let model = ScriptedModel::from_fn(|request, _| says(&request.model));
    let mut host = Host::start(model, options());
    host.seen.has_budget.store(true, std::sync::atomic::Ordering::SeqCst);
    host.say("go").await;
    assert_eq!(host.result().await["result"], "m");
    confirmed(&mut host, "set_model", json!({ "model": "dear" })).await;
    let settings = json!({ "model": "free", "permissions": { "deny": ["act"] } });
    for (id, order, body) in [
        ("q1", "set_model", json!({ "model": "free" })),
        ("q2", "apply_flag_settings", json!({ "settings": settings })),
    ] {
        host.order(id, body, order).await;
        let (answer, before) = host.until("control_response", "").await;
        assert_eq!(answer["response"]["subtype"], "error", "{order}: {answer}");
        assert!(answer["response"]["error"].as_str().unwrap().contains("its price is not known"), "{order}: {answer}");
        assert!(!before.iter().any(|line| line.to_string().contains("price")), "{order}: {before:#?}");
    }
    confirmed(&mut host, "apply_flag_settings", json!({ "settings": { "model": "dear" } })).await;
    for prompt in ["go", "/clear", "go"] {
        host.say(prompt).await;
        let result = host.result().await;
        assert!(prompt == "/clear" || result["result"] == "dear", "{result}");
    }
    ends(host).await;
}

/// Orders that come while the session opens hold too: the model, the reasoning, variables and hooks.
#[tokio::test(start_paused = true)]
async fn whatever_is_ordered_while_the_session_opens_holds() {
    let model = ScriptedModel::from_fn(|request, _| says(&format!("{} {:?}", request.model, request.thinking)));
    let (mut host, door) = before_the_door(model, options()).await;
    confirmed(&mut host, "set_model", json!({ "model": "other" })).await;
    confirmed(&mut host, "set_max_thinking_tokens", json!({ "max_thinking_tokens": 2000 })).await;
    host.send(json!({ "type": "update_environment_variables", "variables": { "A": "1" } })).await;
    let hooks = json!({ "UserPromptSubmit": [{ "hookCallbackIds": ["h"] }] });
    confirmed(&mut host, "initialize", json!({ "hooks": hooks })).await;
    door.open();
    let (question, _) = host.until("control_request", "hook_callback").await;
    host.answer(&question["request_id"], json!({})).await;
    assert_eq!(host.result().await["result"], "other Budget(2000)");
    assert_eq!(host.seen.variables.lock().unwrap().get("A").map(String::as_str), Some("1"));
    ends(host).await;
}

/// The mode that the session is in, however it got there, is that of the next one.
#[tokio::test(start_paused = true)]
async fn a_cleared_session_is_in_the_mode_of_the_one_before() {
    let mut options = options();
    options.permissions.bypass_allowed = true;
    let turns =
        [acts(), says("one"), ScriptedTurn::new().tool_use_with_id("t2", "act", json!({ "what": "it" })), says("two")];
    let mut host = Host::start(script(turns), options);
    confirmed(&mut host, "set_permission_mode", json!({ "mode": "acceptEdits" })).await;
    host.say("go").await;
    let (question, _) = host.until("control_request", "can_use_tool").await;
    let mode = json!([{ "type": "setMode", "mode": "plan", "destination": "session" }]);
    host.answer(&question["request_id"], json!({ "behavior": "allow", "updatedPermissions": mode })).await;
    host.result().await;
    host.say("/clear").await;
    host.result().await;
    host.say("go").await;
    let (result, before) = host.until("result", "").await;
    assert!(!before.iter().any(|line| line["type"] == "control_request"), "it is no longer in plan mode: {before:#?}");
    assert_eq!(result["permission_denials"].as_array().unwrap().len(), 1, "{before:#?}");
    ends(host).await;
}

/// The last order counts for the next session, also when news of an earlier mode comes late.
#[tokio::test(start_paused = true)]
async fn the_mode_that_was_ordered_last_is_that_of_the_next_session() {
    let turns = [acts(), says("one"), acts(), says("two")];
    let mut host = Host::start(script(turns), options());
    host.say("go").await;
    let (question, _) = host.until("control_request", "can_use_tool").await;
    let mode = json!([{ "type": "setMode", "mode": "acceptEdits", "destination": "session" }]);
    host.answer(&question["request_id"], json!({ "behavior": "deny", "message": "no", "updatedPermissions": mode }))
        .await;
    confirmed(&mut host, "set_permission_mode", json!({ "mode": "plan" })).await;
    host.say("/clear").await;
    // The result of the run may come on either side of the confirmation.
    host.until("conversation_reset", "").await;
    host.result().await;
    host.say("go").await;
    let (result, before) = host.until("result", "").await;
    assert_eq!(result["permission_denials"].as_array().unwrap().len(), 1, "{before:#?}");
    ends(host).await;
}

/// An `initialize` that is refused changes nothing: the hooks that guard stay.
#[tokio::test(start_paused = true)]
async fn a_refused_initialize_takes_no_hook_away() {
    for wrong in [
        json!({ "sdkMcpServerConfigs": 7 }),
        json!({ "sdkMcpServers": 7 }),
        json!({ "hooks": { "PreToolUse": 7 } }),
        json!({ "hooks": {}, "sdkMcpServerConfigs": [] }),
    ] {
        let mut host = Host::start(script([acts(), says("done")]), options());
        let hooks = json!({ "PreToolUse": [{ "hookCallbackIds": ["h"] }] });
        confirmed(&mut host, "initialize", json!({ "hooks": hooks })).await;
        host.order("w", wrong.clone(), "initialize").await;
        let (answer, _) = host.until("control_response", "").await;
        assert_eq!(answer["response"]["subtype"], "error", "{wrong}");
        host.say("go").await;
        let (question, _) = host.until("control_request", "").await;
        assert_eq!(question["request"]["subtype"], "hook_callback", "{wrong} took the hook away");
        let deny = json!({ "hookSpecificOutput": { "hookEventName": "PreToolUse", "permissionDecision": "deny" } });
        host.answer(&question["request_id"], deny).await;
        host.result().await;
        assert_eq!(host.seen.acted(), 0);
        ends(host).await;
    }
}

/// Every order with every kind of nonsense in every field has exactly one answer, and the session continues.
#[tokio::test(start_paused = true)]
async fn orders_that_make_no_sense_are_answered_once() {
    let fields = [
        ("interrupt", vec!["cancel_queued"]),
        ("set_permission_mode", vec!["mode"]),
        ("set_model", vec!["model"]),
        ("set_max_thinking_tokens", vec!["max_thinking_tokens"]),
        ("get_context_usage", vec!["detail"]),
        ("cancel_async_message", vec!["message_uuid"]),
        ("stop_task", vec!["task_id"]),
        ("get_task_output", vec!["task_id", "block", "timeout"]),
        ("background_tasks", vec!["task_id"]),
        ("rewind_files", vec!["user_message_id", "dry_run"]),
        ("rename_session", vec!["title", "session_id"]),
        ("apply_flag_settings", vec!["settings"]),
        ("get_settings", vec!["x"]),
        ("get_session_cost", vec!["x"]),
        ("get_usage", vec!["x"]),
        ("get_binary_version", vec!["x"]),
        ("get_hooks_listing", vec!["x"]),
        ("list_models", vec!["x"]),
        ("set_has_subscribers", vec!["has_subscribers"]),
        ("mcp_status", vec!["x"]),
        ("mcp_reconnect", vec!["serverName", "server_name"]),
        ("mcp_toggle", vec!["serverName", "server_name", "enabled"]),
        ("mcp_authenticate", vec!["serverName"]),
        ("mcp_oauth_callback_url", vec!["serverName", "callbackUrl"]),
        ("mcp_clear_auth", vec!["serverName"]),
        ("mcp_set_servers", vec!["servers"]),
        ("mcp_call", vec!["server", "server_name", "tool", "arguments"]),
        ("mcp_message", vec!["server_name", "message"]),
        (
            "initialize",
            vec!["hooks", "systemPrompt", "appendSystemPrompt", "jsonSchema", "sdkMcpServers", "agents", "mcpServers"],
        ),
        ("from_the_future", vec!["x"]),
    ];
    let deep = format!("{}{}", "[".repeat(100), "]".repeat(100));
    let nonsense = [
        json!(null),
        json!(true),
        json!(-1),
        json!(1e300),
        json!(u64::MAX),
        json!(""),
        json!("\u{0}\u{202e}../../etc/passwd"),
        json!("x".repeat(100_000)),
        json!([]),
        json!([[], {}, null, 7]),
        json!({}),
        json!({ "": { "": [null] }, "PreToolUse": null, "permissions": { "deny": [7] } }),
        serde_json::from_str(&deep).unwrap(),
    ];
    for is_open in [false, true] {
        let mut host = Host::start(script([says("one"), says("two")]), options());
        if is_open {
            host.say("go").await;
            host.result().await;
        }
        let mut ids = 0;
        for (subtype, names) in &fields {
            for name in names {
                for value in &nonsense {
                    ids += 1;
                    let id = format!("n{ids}");
                    host.order(&id, json!({ *name: value }), subtype).await;
                    let (answer, before) = host.until("control_response", "").await;
                    assert_eq!(answer["response"]["request_id"], *id, "{subtype} {name} {value}");
                    assert!(before.iter().all(|line| line["type"] != "result"), "{before:#?}");
                }
            }
            // Also without any field, and with a body that is none.
            host.order("empty", json!({}), subtype).await;
            assert_eq!(host.until("control_response", "").await.0["response"]["request_id"], "empty");
        }
        host.say("still there?").await;
        let result = host.result().await;
        assert_eq!(result["is_error"], false, "{result}");
        ends(host).await;
    }
}

/// Answers to questions that were never asked, answers for another question, and second answers move nothing.
#[tokio::test(start_paused = true)]
async fn answers_that_are_not_waited_for_allow_no_call() {
    let again = ScriptedTurn::new().tool_use_with_id("t2", "act", json!({ "what": "else" }));
    let mut host = Host::start(script([acts(), again, says("done")]), options());
    host.say("go").await;
    let (first, _) = host.until("control_request", "can_use_tool").await;
    let allow = json!({ "behavior": "allow" });
    for id in [json!("none"), json!(""), json!("t1"), json!("t2")] {
        host.answer(&id, allow.clone()).await;
    }
    host.answer(&first["request_id"], json!({ "behavior": "deny", "message": "no" })).await;
    host.answer(&first["request_id"], allow.clone()).await;
    let (second, _) = host.until("control_request", "can_use_tool").await;
    assert_ne!(second["request_id"], first["request_id"]);
    // The answer to the question of before is none to this one.
    host.answer(&first["request_id"], allow).await;
    confirmed(&mut host, "mcp_status", json!({})).await;
    assert_eq!(host.seen.acted(), 0);
    host.answer(&second["request_id"], json!({ "behavior": "deny", "message": "no" })).await;
    host.result().await;
    assert_eq!(host.seen.acted(), 0);
    ends(host).await;
}

/// However many messages a host sends before it reads, each has its result, if only that it was not taken.
#[tokio::test(start_paused = true)]
async fn a_flood_of_messages_has_as_many_results() {
    const MANY: usize = 1_000;
    let mut host = Host::start(ScriptedModel::from_fn(|_, _| says("ok")), options());
    let mut results = 0;
    for _ in 0..MANY {
        host.say("x").await;
        // One line for each message: what waits grows and grows.
        if let Ok(Some(line)) = tokio::time::timeout(std::time::Duration::from_millis(1), host.next()).await {
            results += usize::from(line["type"] == "result");
        }
    }
    results += ends(host).await.iter().filter(|line| line["type"] == "result").count();
    assert_eq!(results, MANY);
}

/// A stop takes the questions back that are open. What a hook was not let say is no leave to run.
#[tokio::test(start_paused = true)]
async fn a_call_whose_hook_is_interrupted_does_not_run() {
    for order in ["interrupt", "message"] {
        let mut host = Host::start(script([acts(), says("done")]), options());
        let allowed = json!({ "permissions": { "allow": ["act"] } });
        confirmed(&mut host, "apply_flag_settings", json!({ "settings": allowed })).await;
        let hooks = json!({ "PreToolUse": [{ "hookCallbackIds": ["h"] }] });
        confirmed(&mut host, "initialize", json!({ "hooks": hooks })).await;
        host.say("go").await;
        host.until("control_request", "hook_callback").await;
        if order == "interrupt" {
            host.order("i", json!({}), "interrupt").await;
        } else {
            let message = json!({ "role": "user", "content": "stop it" });
            host.send(json!({ "type": "user", "priority": "now", "message": message })).await;
        }
        let result = host.result().await;
        assert_eq!(result["subtype"], "error_during_execution", "{result}");
        assert_eq!(host.seen.acted(), 0, "it ran while its hook was being asked ({order})");
        ends(host).await;
    }
}

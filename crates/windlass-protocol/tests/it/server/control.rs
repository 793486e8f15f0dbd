//! Orders and questions of hosts about the session.

use crate::server::host::{Host, options};
use crate::server::world::{acts, says, script};
use serde_json::{Value, json};
use windlass_model::ScriptedModel;
use windlass_protocol::HostModel;
use windlass_types::{Effort, ModelInfo, Thinking};

async fn ask(host: &mut Host, subtype: &str, request: Value) -> Value {
    host.order("q", request, subtype).await;
    host.until("control_response", "").await.0["response"].clone()
}

#[tokio::test(start_paused = true)]
async fn initialize_lists_styles_and_the_abilities_of_models() {
    let mut options = options();
    let mut info = ModelInfo::new(1_000, 100);
    (info.efforts, info.adaptive_thinking) = (vec![Effort::Low, Effort::XHigh], true);
    options.models = vec![HostModel::new("big", "For hard work").with_info("big-5", &info).with_auto_mode(true)];
    options.output_styles.push("Short".to_owned());
    options.frames.output_style = "Short".to_owned();
    options.frames.api_key_source = "apiKeyHelper".to_owned();
    let mut host = Host::start(script([says("one")]), options);
    let answer = ask(&mut host, "initialize", json!({})).await["response"].clone();
    let model = json!({
        "value": "big", "resolvedModel": "big-5", "displayName": "big", "description": "For hard work",
        "supportsEffort": true, "supportedEffortLevels": ["low", "xhigh"], "supportsAdaptiveThinking": true,
        "supportsAutoMode": true,
    });
    assert_eq!(answer["models"], json!([model]));
    assert_eq!(
        (&answer["output_style"], &answer["available_output_styles"]),
        (&json!("Short"), &json!(["default", "Short"]))
    );
    assert_eq!(answer["account"], json!({ "apiKeySource": "apiKeyHelper", "tokenSource": "apiKeyHelper" }));
    host.say("go").await;
    let (init, _) = host.until("system", "init").await;
    assert_eq!((&init["output_style"], &init["apiKeySource"]), (&json!("Short"), &json!("apiKeyHelper")));
}

/// An option that would do nothing is refused by its name; one that asks for nothing is not.
#[tokio::test(start_paused = true)]
async fn options_of_initialize_that_do_nothing_are_refused() {
    let mut host = Host::start(script([says("one")]), options());
    for (name, value) in [
        ("agentProgressSummaries", json!(true)),
        ("appendSubagentSystemPrompt", json!("Be brief.")),
        ("planModeInstructions", json!("Draw.")),
        ("promptSuggestions", json!(true)),
        ("systemPromptSnapshot", json!(true)),
        ("toolAliases", json!({ "Bash": "mcp__box__bash" })),
    ] {
        let answer = ask(&mut host, "initialize", json!({ name: value })).await;
        assert_eq!(
            (&answer["subtype"], &answer["error_code"]),
            (&json!("error"), &json!("unsupported_option")),
            "{answer}"
        );
        assert!(answer["error"].as_str().unwrap().contains(name), "{answer}");
    }
    let idle = json!({ "agentProgressSummaries": false, "systemPromptSnapshot": false, "toolAliases": {}, "title": "x",
        "perTaskStopAffordance": true, "supportedDialogKinds": [], "sdkMcpServers": ["a"],
        "sdkMcpServerManifests": { "a": { "initializeResult": {} }, "b": { "initializeResult": {} } } });
    let answer = ask(&mut host, "initialize", idle).await;
    assert_eq!(answer["response"]["sdk_mcp_manifests_parked"], json!({ "a": "not_honoured" }), "{answer}");
}

#[tokio::test(start_paused = true)]
async fn questions_have_true_answers() {
    let mut options = options();
    options.models = vec![HostModel::new("opus", "For hard work")];
    options.frames.api_key_source = "ANTHROPIC_API_KEY".to_owned();
    let mut host = Host::start(script([says("one")]), options);
    let answer = ask(&mut host, "initialize", json!({})).await["response"].clone();
    let model = json!({ "value": "opus", "displayName": "opus", "description": "For hard work" });
    assert_eq!((&answer["models"][0], &answer["account"]), (&model, &json!({ "apiKeySource": "ANTHROPIC_API_KEY" })));
    assert_eq!(ask(&mut host, "list_models", json!({})).await["response"], json!({ "models": [model] }));
    host.say("go").await;
    host.result().await;
    let usage = ask(&mut host, "get_usage", json!({})).await["response"].clone();
    let used = &usage["session"]["model_usage"]["m"];
    assert!(used["outputTokens"].as_u64().unwrap() > 0 && used["contextWindow"] == 10_000_000, "{usage}");
    let context = ask(&mut host, "get_context_usage", json!({ "detail": "summary" })).await["response"].clone();
    let rows: Vec<_> = context["categories"].as_array().unwrap().iter().collect();
    let ids: Vec<_> = rows.iter().map(|row| row["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["system_prompt", "system_tools", "messages", "free_space"]);
    let sum: u64 = rows.iter().map(|row| row["tokens"].as_u64().unwrap()).sum();
    assert_eq!((sum, &context["maxTokens"]), (10_000_000, &json!(10_000_000)));
    let text = ask(&mut host, "get_session_cost", json!({})).await["response"]["text"].clone();
    assert!(text.as_str().unwrap().starts_with("Total cost: $"), "{text}");
    assert_eq!(ask(&mut host, "get_binary_version", json!({})).await["response"]["version"], "2.1.328");
    assert_eq!(ask(&mut host, "get_settings", json!({})).await["response"], json!({ "effective": {}, "sources": [] }));
    assert_eq!(ask(&mut host, "set_has_subscribers", json!({ "has_subscribers": false })).await["response"], json!({}));
    // This session does not say what its rules are.
    assert_eq!(ask(&mut host, "list_permission_rules", json!({})).await["error_code"], "unsupported_request");
    host.hang_up();
    host.end().await.0.unwrap();
}

#[tokio::test(start_paused = true)]
async fn hooks_are_listed() {
    let mut host = Host::start(script([]), options());
    let hooks = json!({ "PreToolUse": [{ "matcher": "Bash|Edit", "hookCallbackIds": ["a", "b"], "timeout": 5 }] });
    ask(&mut host, "initialize", json!({ "hooks": hooks })).await;
    let listing = ask(&mut host, "get_hooks_listing", json!({})).await["response"].clone();
    assert_eq!((&listing["events"][0]["name"], &listing["events"][0]["hookCount"]), (&json!("PreToolUse"), &json!(2)));
    assert_eq!(listing["events"].as_array().unwrap().len(), 1);
    let row = &listing["hooks"][1];
    assert_eq!(
        (&row["matcher"], &row["displayText"], &row["timeout"]),
        (&json!("Bash|Edit"), &json!("b"), &json!(5.0))
    );
    host.hang_up();
    host.end().await.0.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_session_is_renamed_when_it_is_open() {
    let mut host = Host::start(script([says("one")]), options());
    assert!(
        ask(&mut host, "rename_session", json!({ "title": "x" })).await["error"].as_str().unwrap().contains("not open")
    );
    host.say("go").await;
    host.result().await;
    for (request, error) in [
        (json!({}), "`title`"),
        (json!({ "title": " " }), "`title`"),
        (json!({ "title": 7 }), "`title`"),
        (json!({ "title": "x", "session_id": "other" }), "other"),
    ] {
        let answer = ask(&mut host, "rename_session", request).await;
        assert!(answer["error"].as_str().unwrap().contains(error), "{answer}");
    }
    host.order("q", json!({ "title": " A name ", "session_id": "s" }), "rename_session").await;
    let (answer, before) = host.until("control_response", "success").await;
    assert_eq!(answer["response"]["response"], json!({}));
    assert_eq!((&before[0]["subtype"], &before[0]["title"]), (&json!("session_title_changed"), &json!("A name")));
    assert_eq!(*host.seen.titles.lock().unwrap(), ["A name"]);
    host.hang_up();
    host.end().await.0.unwrap();
}

/// A disk that does not take the title keeps nothing else waiting.
#[tokio::test(start_paused = true)]
async fn a_title_that_is_being_written_holds_nothing_up() {
    let mut host = Host::start(script([says("one"), says("two")]), options());
    host.say("go").await;
    host.result().await;
    let gate = windlass_testkit::Gate::new();
    *host.seen.titles_wait.lock().unwrap() = Some(gate.clone());
    host.order("slow", json!({ "title": "t" }), "rename_session").await;
    gate.wait_arrived(1).await;
    host.order("fast", json!({}), "get_usage").await;
    assert_eq!(host.until("control_response", "success").await.0["response"]["request_id"], "fast");
    host.say("go").await;
    assert_eq!(host.result().await["result"], "two");
    gate.open();
    let (answer, before) = host.until("control_response", "success").await;
    assert_eq!(answer["response"]["request_id"], "slow");
    assert!(before.iter().any(|line| line["subtype"] == "session_title_changed"), "{before:#?}");
    host.hang_up();
    host.end().await.0.unwrap();
}

#[tokio::test(start_paused = true)]
async fn variables_reach_a_session_that_is_open() {
    let mut host = Host::start(script([says("one"), says("two")]), options());
    let variables = |value: &str| json!({ "type": "update_environment_variables", "variables": { "TOKEN": value } });
    host.send(variables("early")).await;
    host.say("go").await;
    host.result().await;
    assert!(host.seen.variables.lock().unwrap().is_empty(), "what came early is part of the setup");
    host.send(variables("late")).await;
    host.say("go").await;
    host.result().await;
    assert_eq!(host.seen.variables.lock().unwrap()["TOKEN"], "late");
    host.hang_up();
    host.end().await.0.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_host_can_end_the_session_and_keep_its_streams() {
    let mut host = Host::start(script([says("one")]), options());
    host.say("go").await;
    assert_eq!(ask(&mut host, "end_session", json!({})).await["subtype"], "success");
    let (served, lines) = host.end().await;
    assert!(!served.unwrap().is_error);
    assert!(lines.iter().filter(|line| line["type"] == "result").count() <= 1);
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_ordered_is_refused_with_a_code() {
    let mut host = Host::start(script([]), options());
    for subtype in [
        "update_settings",
        "file_suggestions",
        "read_file",
        "seed_read_state",
        "set_color",
        "register_repo_root",
        "reload_plugins",
        "reload_skills",
        "reload_output_styles",
        "side_question",
        "from_the_future",
    ] {
        let answer = ask(&mut host, subtype, json!({})).await;
        assert_eq!(answer["error"], format!("Unsupported control request subtype: {subtype}"));
        assert_eq!(answer["error_code"], "unsupported_request", "{subtype}");
    }
    host.hang_up();
    host.end().await.0.unwrap();
}

/// One turn that calls `act`, allowed by the host if it is asked: whether it was asked, and whether it ran.
async fn act(host: &mut Host) -> (bool, bool) {
    let before = host.seen.acted();
    host.say("go").await;
    let mut asked = false;
    loop {
        let line = host.next().await.unwrap();
        match line["type"].as_str() {
            Some("control_request") => {
                asked = true;
                host.answer(&line["request_id"], json!({ "behavior": "allow" })).await;
            }
            Some("result") => return (asked, host.seen.acted() > before),
            _ => {}
        }
    }
}

#[tokio::test(start_paused = true)]
async fn rules_come_and_go_in_an_open_session() {
    let model = ScriptedModel::from_fn(|request, _| {
        let answered = request
            .messages
            .last()
            .is_some_and(|last| last.content.iter().any(|block| block.as_tool_result().is_some()));
        if answered { says("done") } else { acts() }
    });
    let mut host = Host::start(model, options());
    // The first ones come before the session is open.
    for (settings, expected) in [
        (json!({ "permissions": { "allow": ["act"] } }), (false, true)),
        (json!({ "permissions": { "deny": ["act"] } }), (false, false)),
        (json!({ "permissions": { "deny": null } }), (false, true)),
        (json!({ "permissions": { "allow": [] } }), (true, true)),
        (json!({ "permissions": { "allow": ["act"], "ask": ["act"] } }), (true, true)),
        (json!({ "permissions": null, "effortLevel": "low" }), (true, true)),
    ] {
        let answer = ask(&mut host, "apply_flag_settings", json!({ "settings": settings })).await;
        assert_eq!(answer["response"], json!({}), "{settings}");
        assert_eq!(act(&mut host).await, expected, "{settings}");
    }
    // Settings hold for the next session too.
    ask(&mut host, "apply_flag_settings", json!({ "settings": { "permissions": { "deny": ["act"] } } })).await;
    host.say("/clear").await;
    host.result().await;
    assert_eq!(act(&mut host).await, (false, false));
    host.hang_up();
    host.end().await.0.unwrap();
}

#[tokio::test(start_paused = true)]
async fn settings_change_the_model_and_the_environment_or_nothing() {
    let mut host = Host::start(script([says("one"), says("two")]), options());
    host.say("go").await;
    host.result().await;
    let settings = json!({ "model": "other", "env": { "K": "V" } });
    assert_eq!(ask(&mut host, "apply_flag_settings", json!({ "settings": settings })).await["response"], json!({}));
    let settings = json!({ "model": "third", "outputStyle": "x" });
    let answer = ask(&mut host, "apply_flag_settings", json!({ "settings": settings })).await;
    assert!(answer["error"].as_str().unwrap().contains("`outputStyle` cannot be changed"), "{answer}");
    assert_eq!(ask(&mut host, "apply_flag_settings", json!({})).await["subtype"], "error");
    host.say("go").await;
    assert_eq!(host.until("system", "init").await.0["model"], "other");
    assert_eq!(host.seen.variables.lock().unwrap()["K"], "V");
    host.hang_up();
    host.end().await.0.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_thinking_budget_comes_goes_and_goes_back() {
    let model = ScriptedModel::from_fn(|_, _| says("ok"));
    let mut host = Host::start(model.clone(), options());
    let own = Thinking::Budget(1_500);
    for (at, (request, expected)) in [
        (json!({}), own),
        (json!({ "max_thinking_tokens": 2_000 }), Thinking::Budget(2_000)),
        (json!({ "thinking_display": "omitted" }), Thinking::Budget(2_000)),
        (json!({ "max_thinking_tokens": 0 }), Thinking::Off),
        (json!({ "max_thinking_tokens": null }), own),
    ]
    .into_iter()
    .enumerate()
    {
        assert_eq!(ask(&mut host, "set_max_thinking_tokens", request.clone()).await["subtype"], "success");
        host.say("go").await;
        host.result().await;
        assert_eq!(model.requests()[at].thinking, expected, "{request}");
    }
    host.hang_up();
    host.end().await.0.unwrap();
}

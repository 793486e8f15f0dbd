//! Agents below the main one, through the facade.

use serde_json::{Value, json};
use std::path::Path;
use windlass::options::{ModelOptions, ToolSetOptions};
use windlass::{
    AgentDefinition, AnswerProblem, Error, Event, EventKind, Home, Outcome, PermissionAnswer, PermissionMode,
    Permissions, Prompt, Query, ScriptedModel, ScriptedTurn, Subagents, coding_tools,
    event::{RunOrigin, TaskEnded, TaskStatus, ToolFinished},
    permission::Behavior,
    query, session,
};
use windlass_types::{ModelErrorKind, ModelRequest};

/// System prompt of an agent's model.
fn system(request: &ModelRequest) -> String {
    request.system.iter().map(|section| &*section.text).collect::<Vec<_>>().join("\n")
}

fn tools(request: &ModelRequest) -> Vec<&str> {
    request.tools.iter().map(|tool| tool.name.as_str()).collect()
}

/// The main agent gives this task; `agent` is the model below.
fn model(task: Value, agent: impl Fn(&ModelRequest, bool) -> ScriptedTurn + Send + Sync + 'static) -> ScriptedModel {
    ScriptedModel::from_fn(move |request, _| {
        let is_first = request.messages.len() == 1;
        match (system(request).contains("for a person who will read"), is_first) {
            (true, true) => ScriptedTurn::new().tool_use("Agent", task.clone()),
            (true, false) => ScriptedTurn::new().text("All done."),
            (false, _) => agent(request, is_first),
        }
    })
}

fn task(more: Value) -> Value {
    let mut task = json!({ "description": "Look", "prompt": "Look for it." });
    let Value::Object(more) = more else { panic!("not an object") };
    task.as_object_mut().unwrap().extend(more);
    task
}

fn go(model: &ScriptedModel, cwd: &Path, agents: Subagents) -> Query {
    query("go").provider(model.clone()).tools(coding_tools(cwd)).subagents(agents)
}

async fn events(query: Query) -> Vec<Event> {
    let mut run = query.stream();
    let mut events = Vec::new();
    while let Some(event) = run.try_next().await.unwrap() {
        events.push(*event);
    }
    events
}

/// The results of the main agent's tools, or of those below it.
fn finished(events: &[Event], of_main: bool) -> Vec<&ToolFinished> {
    let of = events.iter().filter(|event| event.agent.is_main() == of_main);
    of.filter_map(|event| match &event.kind {
        EventKind::ToolFinished(finished) => Some(finished),
        _ => None,
    })
    .collect()
}

#[tokio::test]
async fn an_agent_works_by_itself_and_reports() {
    let work = tempfile::tempdir().unwrap();
    std::fs::write(work.path().join("a.rs"), "fn parser() {}\n").unwrap();
    let model = model(task(json!({ "subagent_type": "Explore" })), |_, is_first| match is_first {
        true => ScriptedTurn::new().tool_use("Grep", json!({ "pattern": "parser", "output_mode": "content" })),
        false => ScriptedTurn::new().text("It is in a.rs:1."),
    });
    let events = events(go(&model, work.path(), Subagents::new())).await;

    let [call] = finished(&events, true)[..] else { panic!("{events:#?}") };
    assert!(call.result.content.text().starts_with("It is in a.rs:1.\n\n[End of the report."), "{call:#?}");
    let data: Value = call.structured.as_ref().unwrap().to().unwrap();
    assert_eq!(
        (&data["status"], &data["agentType"], &data["totalToolUseCount"]),
        (&json!("completed"), &json!("Explore"), &json!(1))
    );
    let used = &data["usage"];
    let total: u64 = used.as_object().unwrap().values().filter_map(Value::as_u64).sum();
    assert!(total > 0 && data["totalTokens"] == json!(total), "{data}");
    let [search] = finished(&events, false)[..] else { panic!("{events:#?}") };
    assert!(search.result.content.text().contains("fn parser"), "{search:#?}");

    let requests = model.requests();
    let below: Vec<_> = requests.iter().filter(|request| system(request).contains("You search a code base")).collect();
    assert_eq!(below.len(), 2);
    let cwd = work.path().canonicalize().unwrap();
    assert!(below[0].messages[0].text().contains(&format!("Working directory: {}", cwd.display())));
    assert_eq!(below[0].messages.len(), 1);
    assert!(below[0].messages[0].text().contains("Look for it."));
    for (tool, given) in [("Read", true), ("Bash", true), ("Edit", false), ("Write", false), ("Agent", false)] {
        assert_eq!(tools(below[0]).contains(&tool), given, "{tool}");
    }
    assert!(tools(&requests[0]).contains(&"Agent"));
}

#[tokio::test]
async fn an_agent_may_do_no_more_than_the_one_above_it() {
    for (above, definition, made) in [
        (PermissionMode::BypassPermissions, None, true),
        (PermissionMode::BypassPermissions, Some(PermissionMode::Plan), false),
        (PermissionMode::Default, None, false),
        (PermissionMode::Default, Some(PermissionMode::BypassPermissions), false),
        (PermissionMode::Plan, Some(PermissionMode::AcceptEdits), false),
    ] {
        let work = tempfile::tempdir().unwrap();
        let mut maker = AgentDefinition::new("maker", "Makes.", "You make.");
        maker.permission_mode = definition;
        let model = model(task(json!({ "subagent_type": "maker" })), |_, is_first| match is_first {
            true => ScriptedTurn::new().tool_use("Write", json!({ "file_path": "made", "content": "x" })),
            false => ScriptedTurn::new().text("I tried."),
        });
        let permissions = Permissions::new().allow_bypass().mode(above);
        let query = go(&model, work.path(), Subagents::new().with(maker)).permissions(permissions);
        let events = events(query).await;
        assert_eq!(work.path().join("made").exists(), made, "{above:?} {definition:?}");
        assert!(finished(&events, true)[0].result.content.text().starts_with("I tried."), "{above:?} {definition:?}");
        let denied = finished(&events, false)[0].denied.as_ref().map(|decision| decision.behavior);
        assert_eq!(denied.is_some(), !made, "{above:?} {definition:?}");
        assert_ne!(denied, Some(Behavior::Allow));
    }
}

#[tokio::test]
async fn a_definition_says_what_its_agent_has() {
    let work = tempfile::tempdir().unwrap();
    let reader =
        AgentDefinition::new("reader", "Reads.", "You read.").with_tools(["Read", "Agent"]).with_model("haiku");
    let model = model(task(json!({ "subagent_type": "reader" })), |_, _| ScriptedTurn::new().text("Nothing."));
    for (most, expected) in [(3, &["Agent", "Read"][..]), (1, &["Read"])] {
        events(go(&model, work.path(), Subagents::new().with(reader.clone()).max_depth(most)).model("opus")).await;
        let requests = model.requests();
        let below = requests.iter().rfind(|request| system(request).contains("You read.")).unwrap();
        assert_eq!((tools(below), below.model.as_str()), (expected.to_vec(), "haiku"));
        assert_eq!(requests[0].model, "opus");
    }
}

#[tokio::test]
async fn an_agent_in_the_background_tells_when_it_ends() {
    let (work, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for is_kept in [false, true] {
        let model = model(task(json!({})), |_, _| ScriptedTurn::new().text("It is in a.rs:1."));
        let mut query = go(&model, work.path(), Subagents::new().background_by_default(true));
        if is_kept {
            query = query.persist(Home::new(home.path()));
        }
        let (mut ended, mut origins, mut written): (Option<TaskEnded>, Vec<RunOrigin>, String) = Default::default();
        let mut run = query.stream();
        while let Some(event) = run.try_next().await.unwrap() {
            match event.kind {
                EventKind::TaskEnded(task) => {
                    // A session that is not kept takes its files with it.
                    written = std::fs::read_to_string(task.info.output_file.as_ref().unwrap()).unwrap();
                    ended = Some(task);
                }
                EventKind::RunFinished(result) if event.agent.is_main() => origins.push(result.origin),
                _ => {}
            }
        }
        let ended = ended.unwrap();
        assert_eq!((ended.status, ended.summary.as_str()), (TaskStatus::Completed, "Agent \"Look\" completed"));
        assert!(written.starts_with("It is in a.rs:1.\n\n[End of the report."), "{written}");
        assert_eq!(ended.report.as_deref(), Some("It is in a.rs:1."));
        assert!(origins.first() == Some(&RunOrigin::User) && origins.len() <= 2, "{origins:?}");
        let requests = format!("{:?}", model.requests());
        assert!(requests.contains("<task-notification>") && requests.contains("It is in a.rs:1."), "{requests}");
    }
}

#[tokio::test]
async fn stopping_the_run_stops_the_agent_and_the_session_continues() {
    let work = tempfile::tempdir().unwrap();
    let model = model(task(json!({})), |_, _| ScriptedTurn::new().tool_use("Bash", json!({ "command": "sleep 60" })));
    let mut open = session()
        .provider(model)
        .tools(coding_tools(work.path()))
        .subagents(Subagents::new())
        .permissions(Permissions::new().allow(["Bash(sleep *)"]))
        .open()
        .await
        .unwrap();
    open.handle.prompt(Prompt::text("go")).unwrap();
    let (mut ends, mut reported) = (Vec::new(), String::new());
    while let Some(event) = open.events.try_next().await.unwrap() {
        let is_main = event.agent.is_main();
        match event.kind {
            EventKind::ToolStarted(started) if started.tool == "Bash" => open.handle.interrupt().unwrap(),
            EventKind::ToolFinished(finished) if is_main => reported = finished.result.content.text(),
            EventKind::RunFinished(result) => {
                ends.push((is_main, result.outcome));
                match ends.len() {
                    // The agent below ends first.
                    2 => open.handle.prompt(Prompt::text("And now?")).unwrap(),
                    3 => break,
                    _ => {}
                }
            }
            _ => {}
        }
    }
    open.handle.close().await.unwrap();
    assert!(
        matches!(
            &ends[..],
            [(false, Outcome::Interrupted { .. }), (true, Outcome::Interrupted { .. }), (true, Outcome::Success)]
        ),
        "{ends:?}"
    );
    assert!(reported.contains("stopped"), "{reported}");
}

#[tokio::test]
async fn an_agent_that_fails_is_an_error_that_the_one_above_can_go_on_from() {
    let work = tempfile::tempdir().unwrap();
    let failing = |request: &ModelRequest, _| {
        assert!(!system(request).contains("You panic."), "as it is told to");
        ScriptedTurn::new().fail(ModelErrorKind::InvalidRequest)
    };
    for (agent_type, problem) in [("general-purpose", "The agent did not finish: "), ("panicking", "")] {
        let panicking = AgentDefinition::new("panicking", "Panics.", "You panic.");
        let model = model(task(json!({ "subagent_type": agent_type })), failing);
        let events = events(go(&model, work.path(), Subagents::new().with(panicking))).await;
        let [call] = finished(&events, true)[..] else { panic!("{events:#?}") };
        assert!(call.result.is_error && call.result.content.text().contains(problem), "{call:#?}");
        let ends: Vec<_> = events
            .iter()
            .filter_map(|event| match &event.kind {
                EventKind::RunFinished(result) if event.agent.is_main() => Some(result.text.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(ends, ["All done."], "{agent_type}");
    }
}

#[tokio::test]
async fn without_being_asked_for_there_are_no_agents() {
    let work = tempfile::tempdir().unwrap();
    let model = ScriptedModel::from_fn(|_, _| ScriptedTurn::new().text("Done."));
    let plain = || query("go").provider(model.clone()).tools(coding_tools(work.path()));
    for (query, offered) in [
        (plain(), false),
        (plain().subagents(Subagents::new()), true),
        (plain().subagents(Subagents::without_built_in()), false),
        (plain().subagents(Subagents::new()).tools(ToolSetOptions::new().only(["Read"])), false),
        (plain().subagents(Subagents::new()).permissions(Permissions::new().deny(["Task"])), false),
    ] {
        let _ = query.await.unwrap();
        assert_eq!(tools(model.requests().last().unwrap()).contains(&"Agent"), offered);
    }
}

#[tokio::test]
async fn the_agents_of_an_open_session_can_be_others() {
    let work = tempfile::tempdir().unwrap();
    let model = ScriptedModel::from_fn(|_, _| ScriptedTurn::new().text("Yes."));
    let builder = session().provider(model.clone()).tools(coding_tools(work.path())).subagents(Subagents::new());
    let (mut open, tools) = builder.open_with_tools().await.unwrap();
    let scout = || Subagents::new().with(AgentDefinition::new("scout", "Scouts", "You scout."));
    for agents in [None, Some(scout()), Some(scout()), Some(Subagents::without_built_in())] {
        if let Some(agents) = agents {
            tools.set_subagents(agents).unwrap();
        }
        open.handle.prompt(Prompt::text("Go.")).unwrap();
        while !matches!(open.events.try_next().await.unwrap().unwrap().kind, EventKind::RunFinished(_)) {}
    }
    let requests = model.requests();
    let described = |at: usize| {
        let agent = requests[at].tools.iter().find(|tool| tool.name == "Agent");
        agent.map(|tool| (tool.description.contains("- scout: Scouts"), tool.description.contains("- Explore")))
    };
    let all: Vec<_> = (0..4).map(described).collect();
    // The removed tool stays in the requests, where the cache of the conversation needs it; a call of it is refused.
    assert_eq!(all, [Some((false, true)), Some((true, true)), Some((true, true)), Some((true, true))]);
    assert_eq!(requests[1].tools, requests[2].tools);
    open.handle.close().await.unwrap();
    assert!(tools.set_subagents(Subagents::new()).is_err());
}

/// A question of an agent waits, is listed with who asks, is answered with its token, and the agent continues.
#[tokio::test]
async fn a_question_of_an_agent_waits_and_the_agent_continues() {
    let (home, work) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let home = Home::new(home.path());
    let file = work.path().join("a.txt");
    let writes = json!({ "file_path": file, "content": "x" });
    let model = model(task(json!({ "run_in_background": false })), move |_, is_first| match is_first {
        true => ScriptedTurn::new().tool_use("Write", writes.clone()),
        false => ScriptedTurn::new().text("It is written."),
    });
    let waits = || Permissions::new().wait_for_answers();
    let run = go(&model, work.path(), Subagents::new()).cwd(work.path()).persist(home.clone()).permissions(waits());
    let result = run.await.unwrap();
    assert!(matches!(result.outcome, Outcome::Pending { .. }), "{:?}", result.outcome);
    let (session_id, asked) = (result.session_id.clone(), &result.pending_questions[0]);
    let listed = home.pending_questions(&session_id).await.unwrap();
    assert_eq!((listed.len(), &listed[0].id, &listed[0].agent), (1, &asked.id, &asked.agent));
    assert_eq!(listed[0].identity.as_ref().unwrap().agent_type, "general-purpose");

    let answer = |token: &str| {
        let (home, id, question, token) = (home.clone(), session_id.clone(), asked.id.clone(), token.to_owned());
        async move { home.answer_question(&id, &question, &token, PermissionAnswer::allow()).await }
    };
    let token = asked.token.as_ref().unwrap().reveal();
    assert!(matches!(answer("wrong").await, Err(Error::Answer { problem: AnswerProblem::WrongToken, .. })));
    answer(token).await.unwrap();
    assert!(matches!(answer(token).await, Err(Error::Answer { problem: AnswerProblem::Answered, .. })));
    let result = session()
        .provider(model)
        .tools(coding_tools(work.path()))
        .subagents(Subagents::new())
        .persist(home.clone())
        .cwd(work.path())
        .permissions(waits())
        .resume(session_id.as_str())
        .query(Prompt::continue_run())
        .await
        .unwrap();
    assert_eq!((result.outcome, std::fs::read_to_string(&file).unwrap().as_str()), (Outcome::Success, "x"));
    assert!(matches!(answer(token).await, Err(Error::Answer { problem: AnswerProblem::NotOpen, .. })));
}

/// An alias of the program and its model are one model to rules.
#[tokio::test]
async fn a_rule_on_a_model_holds_for_its_alias() {
    let work = tempfile::tempdir().unwrap();
    for (rule, asked, expected) in [
        ("Agent(model:mine-large)", "quick", true),
        ("Agent(model:quick)", "mine-large", true),
        ("Agent(model:quick)", "mine-small", false),
    ] {
        let model = model(task(json!({ "subagent_type": "Explore", "model": asked })), |_, _| {
            ScriptedTurn::new().text("It is there.")
        });
        let query = go(&model, work.path(), Subagents::new()).model(ModelOptions::new().alias("quick", "mine-large"));
        let events = events(query.permissions(Permissions::new().deny([rule]))).await;
        let [call] = finished(&events, true)[..] else { panic!("{events:#?}") };
        assert_eq!(call.result.is_error, expected, "{rule} {asked}: {call:?}");
    }
}

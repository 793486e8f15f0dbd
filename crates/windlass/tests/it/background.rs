//! Commands in the background, through the facade.

use serde_json::json;
use std::time::{Duration, Instant};
use windlass::options::ToolSetOptions;
use windlass::{
    AgentDefinition, EventKind, Home, Outcome, PermissionMode, Permissions, Query, Script, ScriptedModel, Subagents,
    coding_tools,
    event::{RunOrigin, TaskStatus},
    query,
};
use windlass_builtin_tools::Bash;

fn background(command: &str) -> Script {
    let input = json!({ "command": command, "run_in_background": true });
    Script::new().turn(|turn| turn.tool_use("Bash", input)).turn(|turn| turn.text("It runs."))
}

fn asked(script: Script, cwd: &std::path::Path) -> Query {
    query("go")
        .provider(ScriptedModel::new(script))
        .tools(coding_tools(cwd))
        .permissions(Permissions::new().allow_bypass().mode(PermissionMode::BypassPermissions))
}

#[tokio::test]
async fn a_query_waits_for_what_it_left_behind_and_returns_the_last_result() {
    let work = tempfile::tempdir().unwrap();
    let script = background("sleep 0.2; echo out > made").turn(|turn| turn.text("It is done."));
    let mut run = asked(script, work.path()).stream();
    let mut kinds = Vec::new();
    let mut last = None;
    while let Some(event) = run.try_next().await.unwrap() {
        match event.kind {
            EventKind::TaskStarted(_) => kinds.push("started"),
            EventKind::TaskEnded(ended) => {
                assert_eq!(ended.status, TaskStatus::Completed);
                kinds.push("ended");
            }
            EventKind::RunFinished(result) => {
                kinds.push("result");
                last = Some(result);
            }
            _ => {}
        }
    }
    assert_eq!(kinds, ["started", "result", "ended", "result"]);
    let last = last.unwrap();
    assert_eq!(
        (last.origin, last.outcome, &*last.text),
        (RunOrigin::TaskNotification, Outcome::Success, "It is done.")
    );
    assert_eq!(std::fs::read_to_string(work.path().join("made")).unwrap(), "out\n");
}

#[tokio::test]
async fn what_takes_too_long_is_stopped_and_is_no_success() {
    let work = tempfile::tempdir().unwrap();
    for (limit, tag) in [(Duration::ZERO, "a"), (Duration::from_millis(200), "b")] {
        let began = Instant::now();
        let command = format!("touch begun-{tag}; sleep 600; touch late-{tag}");
        let result = asked(background(&command), work.path()).background_wait(Some(limit)).await.unwrap();
        assert_eq!((result.origin, &*result.text), (RunOrigin::TaskNotification, "It runs."));
        let Outcome::BackgroundStopped { tasks } = &result.outcome else { panic!("{:?}", result.outcome) };
        assert_eq!(tasks.len(), 1);
        assert!(tasks[0].description.contains(&command), "{tasks:?}");
        assert!(result.outcome.to_string().contains(&command), "{}", result.outcome);
        assert_eq!(result.outcome.exit_code(), 9);
        assert_eq!(result.success().unwrap_err().result().text, "It runs.");
        assert!(began.elapsed() < Duration::from_secs(120), "{:?}", began.elapsed());
        assert!(!work.path().join(format!("late-{tag}")).exists());
    }
}

/// The stream shows what is stopped, and its last result is the one that an awaited query gives.
#[tokio::test]
async fn the_stream_ends_with_what_was_stopped() {
    let work = tempfile::tempdir().unwrap();
    let mut run = asked(background("sleep 30"), work.path()).background_wait(Some(Duration::ZERO)).stream();
    let mut seen = Vec::new();
    while let Some(event) = run.try_next().await.unwrap() {
        assert_eq!(event.seq, seen.len() as u64, "events are numbered");
        seen.push(event.kind);
    }
    let [.., EventKind::RunFinished(first), EventKind::TaskEnded(ended), EventKind::RunFinished(last)] = &seen[..]
    else {
        panic!("{seen:#?}")
    };
    assert_eq!((&first.outcome, ended.status), (&Outcome::Success, TaskStatus::Stopped));
    assert_eq!(last.outcome, Outcome::BackgroundStopped { tasks: vec![ended.info.clone()] });
    assert!(run.try_next().await.unwrap().is_none());
}

/// Work stopped by the program itself is the program's own decision.
#[tokio::test]
async fn work_that_the_program_stops_leaves_a_success() {
    let work = tempfile::tempdir().unwrap();
    let mut run = asked(background("sleep 30"), work.path()).stream();
    let mut last = None;
    while let Some(event) = run.try_next().await.unwrap() {
        if let EventKind::RunFinished(result) = event.kind {
            run.handle().await.unwrap().stop_tasks().unwrap();
            last = Some(result.outcome);
        }
    }
    assert_eq!(last, Some(Outcome::Success));
}

#[tokio::test]
async fn who_resumes_the_session_reads_that_it_was_stopped() {
    let (work, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let first = asked(background("sleep 30"), work.path())
        .persist(Home::new(home.path()))
        .background_wait(Some(Duration::ZERO))
        .await
        .unwrap();
    let model = ScriptedModel::from_fn(|request, _| {
        let said = format!("{:?}", request.messages);
        windlass_model::ScriptedTurn::new().text(said)
    });
    let resumed = query("what of it?")
        .provider(model)
        .tools(coding_tools(work.path()))
        .persist(Home::new(home.path()))
        .resume(first.session_id.as_str())
        .await
        .unwrap();
    assert!(resumed.text.contains("<status>stopped</status>"), "{}", resumed.text);
}

/// The results of all calls, of the main agent and those below.
async fn results(query: Query) -> Vec<(String, bool)> {
    let (mut run, mut results) = (query.stream(), Vec::new());
    while let Some(event) = run.try_next().await.unwrap() {
        match event.kind {
            EventKind::ToolFinished(tool) => results.push((tool.result.content.text(), tool.result.is_error)),
            EventKind::TaskStarted(task) => panic!("{task:?}"),
            _ => {}
        }
    }
    results
}

#[tokio::test]
async fn without_the_background_commands_that_ask_for_it_do_not_run() {
    let work = tempfile::tempdir().unwrap();
    let model = ScriptedModel::new(background("touch made"));
    let asked =
        asked(Script::new(), work.path()).provider(model.clone()).tools(ToolSetOptions::new().background(false));
    let results = results(asked).await;
    assert_eq!(results, [("Background work is not available here.".to_owned(), true)]);
    assert!(!work.path().join("made").exists());
    for tool in model.requests().iter().flat_map(|request| request.tools.iter()) {
        let offered = tool.name != "TaskStop" && (tool.description.contains("background"));
        assert!(!offered && !tool.input_schema.as_str().contains("background"), "{tool:?}");
    }
}

#[tokio::test]
async fn without_the_background_agents_are_waited_for() {
    let work = tempfile::tempdir().unwrap();
    let task =
        json!({ "description": "Look", "prompt": "Look.", "subagent_type": "looker", "run_in_background": true });
    let command = json!({ "command": "touch made", "run_in_background": true });
    let script = Script::new()
        .turn(|turn| turn.tool_use("Agent", task))
        .turn(|turn| turn.tool_use("Bash", command))
        .turn(|turn| turn.text("Looked."))
        .turn(|turn| turn.text("Done."));
    let model = ScriptedModel::new(script);
    let looker = AgentDefinition::new("looker", "Looks", "You look.").in_background(true);
    let asked = asked(Script::new(), work.path())
        .provider(model.clone())
        .subagents(Subagents::new().with(looker).background_by_default(true))
        .tools(ToolSetOptions::new().background(false));
    let results = results(asked).await;
    assert_eq!(results[0], ("Background work is not available here.".to_owned(), true));
    assert!(results[1].0.starts_with("Looked.") && !results[1].1, "{results:?}");
    assert!(!work.path().join("made").exists());
    let requests = model.requests();
    let agent = requests[0].tools.iter().find(|tool| tool.name == "Agent").unwrap();
    assert!(agent.description.contains("- looker: Looks"), "{agent:?}");
    assert!(!format!("{} {}", agent.description, agent.input_schema.as_str()).contains("background"), "{agent:?}");
}

/// A host moves a command that is waited for; the run continues, and the model reads the end of it later.
#[tokio::test]
async fn a_host_moves_a_command_to_the_background() {
    let work = tempfile::tempdir().unwrap();
    let command = "until test -e go; do read -r -t 0.05 _ < <(:) || :; done; echo out";
    let script = Script::new().turn(|turn| turn.tool_use("Bash", json!({ "command": command })));
    let script = script.turn(|turn| turn.text("It runs.")).turn(|turn| turn.text("It is done."));
    let tools = coding_tools(work.path()).replacing(Bash::new().with_moves_to_background(true));
    let permissions = Permissions::new().allow_bypass().mode(PermissionMode::BypassPermissions);
    let mut run = query("go").provider(ScriptedModel::new(script)).tools(tools).permissions(permissions).stream();
    let (mut moved, mut ended) = (None, None);
    while let Some(event) = run.try_next().await.unwrap() {
        match event.kind {
            EventKind::ToolStarted { .. } => {
                let handle = run.handle().await.unwrap();
                while !handle.move_to_background(None).await {
                    tokio::task::yield_now().await;
                }
                assert!(!handle.move_to_background(Some("toolu_other".into())).await);
            }
            EventKind::ToolFinished(finished) => moved = finished.structured,
            EventKind::RunFinished(_) => std::fs::write(work.path().join("go"), "").unwrap(),
            EventKind::TaskEnded(task) => ended = Some(task.status),
            _ => {}
        }
    }
    let moved: serde_json::Value = moved.unwrap().to().unwrap();
    assert_eq!((&moved["backgroundedByUser"], ended), (&json!(true), Some(TaskStatus::Completed)), "{moved}");
}

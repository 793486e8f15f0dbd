use serde_json::json;
use std::path::Path;
use std::sync::Arc;
use windlass_subagent::{AgentDefinition, Subagents};
use windlass_tool::ToolError;
use windlass_types::{Outcome, TaskKind, TaskStatus, TaskUsage};

use crate::common::{Act, FakeAgents, FakeBackground, bench, ended, input, report, structured, text};

#[tokio::test]
async fn a_call_decides_then_its_agent_then_the_set() {
    for (given, defined, by_default, expected) in [
        (None, None, false, false),
        (None, None, true, true),
        (None, Some(false), true, false),
        (None, Some(true), false, true),
        (Some(true), Some(false), false, true),
        (Some(false), Some(true), true, false),
    ] {
        let mut agent = AgentDefinition::new("x", "X.", "X.");
        agent.background = defined;
        let (port, background) = (FakeAgents::new(0, []), FakeBackground::new("/nowhere"));
        let agents = Subagents::new().with(agent).background_by_default(by_default);
        let given = input(json!({ "subagent_type": "x", "run_in_background": given }));
        bench(&agents, &port, &background).call(given).await.unwrap();
        assert_eq!(background.has_work(), expected);
        assert_eq!(port.seen.lock().unwrap().is_empty(), expected, "it begins when it is let");
    }
}

#[tokio::test]
async fn the_call_returns_and_the_report_comes_at_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let (port, background) =
        (FakeAgents::new(0, [Act::Report(report("It is in a.rs:1."))]), FakeBackground::new(folder.path().join("new")));
    let bench = bench(&Subagents::new(), &port, &background);
    let output = bench.call(input(json!({ "subagent_type": "Explore", "run_in_background": true }))).await.unwrap();

    let data = structured(&output);
    let (id, file) = (data["agentId"].as_str().unwrap(), data["outputFile"].as_str().unwrap());
    assert_eq!(
        data,
        json!({
            "status": "async_launched", "agentId": id, "description": "Find it", "prompt": "Find the parser.",
            "outputFile": file, "canReadOutputFile": true,
        })
    );
    assert_eq!(Path::new(file), folder.path().join("new").join(format!("agent-{id}.output")));
    let text = text(&output);
    assert!(text.contains(id) && text.contains(file) && text.contains("You are told when it ends"), "{text}");

    let (spec, outcome) = background.finish(false).await;
    assert_eq!((spec.kind, spec.description.as_str()), (TaskKind::LocalAgent, "Find it"));
    assert_eq!(spec.id.unwrap().as_str(), id);
    assert_eq!((spec.agent_type.as_deref(), spec.output_file.as_deref()), (Some("Explore"), Some(Path::new(file))));
    assert_eq!((outcome.status, outcome.summary.as_str()), (TaskStatus::Completed, "Agent \"Find it\" completed"));
    assert_eq!(outcome.usage, Some(TaskUsage::new(900, 3, 4_100)));
    assert_eq!(outcome.report.as_deref(), Some("It is in a.rs:1."));
    let begun = port.last();
    assert_eq!((begun.id.as_str(), begun.task.unwrap().as_str()), (id, id));

    let written = std::fs::read_to_string(file).unwrap();
    assert!(written.starts_with("It is in a.rs:1.\n\n[End of the report.") && written.contains(id), "{written}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(Path::new(file)), mode(&folder.path().join("new"))), (0o600, 0o700));
    }
    let names: Vec<_> =
        std::fs::read_dir(folder.path().join("new")).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(names, [Path::new(file)]);
}

#[tokio::test]
async fn an_end_without_a_report_is_notified_too() {
    for (act, stopped, status, summary, report, in_file) in [
        (
            Act::Report(ended(Outcome::MaxTurns { limit: 3 }, "Half.")),
            false,
            TaskStatus::Failed,
            "Agent \"Find it\" did not finish: the limit of 3 turns was reached",
            Some("Half."),
            Some("The agent did not finish: the limit of 3 turns was reached. The last that it wrote:\n\nHalf."),
        ),
        (
            Act::UntilStopped("Some."),
            true,
            TaskStatus::Stopped,
            "Agent \"Find it\" was stopped",
            Some("Some."),
            Some("The agent did not finish: it was stopped. The last that it wrote:\n\nSome."),
        ),
        (
            Act::Report(ended(Outcome::Success, "")),
            false,
            TaskStatus::Completed,
            "Agent \"Find it\" completed",
            None,
            Some("The agent ended without a report."),
        ),
        (
            Act::Fail(ToolError::rejected("Too many agents run.")),
            false,
            TaskStatus::Failed,
            "Agent \"Find it\" could not begin: Too many agents run.",
            None,
            None,
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let (port, background) = (FakeAgents::new(0, [act]), FakeBackground::new(folder.path()));
        bench(&Subagents::new().background_by_default(true), &port, &background).call(input(json!({}))).await.unwrap();
        let (spec, outcome) = background.finish(stopped).await;
        assert_eq!((outcome.status, outcome.summary.as_str(), outcome.report.as_deref()), (status, summary, report));
        let written = std::fs::read_to_string(spec.output_file.unwrap()).ok();
        assert_eq!(written.is_some(), in_file.is_some());
        assert!(in_file.is_none_or(|expected| written.unwrap().starts_with(expected)), "{summary}");
    }
}

#[tokio::test]
async fn a_report_that_cannot_be_kept_is_not_lost() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("file"), "x").unwrap();
    let port = FakeAgents::new(0, []);
    let background = FakeBackground::new(folder.path().join("file/below"));
    bench(&Subagents::new(), &port, &background).call(input(json!({ "run_in_background": true }))).await.unwrap();
    let (_, outcome) = background.finish(false).await;
    assert_eq!(outcome.status, TaskStatus::Completed);
    assert!(outcome.summary.starts_with("Agent \"Find it\" completed. Its report could not be written"), "{outcome:?}");
    assert_eq!(outcome.report.as_deref(), Some("Done."));
}

#[tokio::test]
#[cfg(unix)]
async fn a_link_in_the_way_is_not_written_through() {
    let folder = tempfile::tempdir().unwrap();
    let (port, background) = (FakeAgents::new(0, []), FakeBackground::new(folder.path().join("out")));
    let output = bench(&Subagents::new(), &port, &background).call(input(json!({ "run_in_background": true }))).await;
    let file = structured(&output.unwrap())["outputFile"].as_str().unwrap().to_owned();
    std::fs::create_dir(folder.path().join("out")).unwrap();
    std::fs::write(folder.path().join("secret"), "secret").unwrap();
    std::os::unix::fs::symlink(folder.path().join("secret"), &file).unwrap();
    let (_, outcome) = background.finish(false).await;
    assert!(outcome.summary.contains("could not be written"), "{outcome:?}");
    assert_eq!(std::fs::read_to_string(folder.path().join("secret")).unwrap(), "secret");
}

#[tokio::test]
async fn without_a_place_for_files_the_report_comes_alone() {
    let (port, background) = (FakeAgents::new(0, []), Arc::new(FakeBackground::default()));
    let output = bench(&Subagents::new(), &port, &background).call(input(json!({ "run_in_background": true }))).await;
    let output = output.unwrap();
    let data = structured(&output);
    assert_eq!((&data["outputFile"], &data["canReadOutputFile"]), (&json!(""), &json!(false)));
    assert!(!text(&output).contains("written to"));
    assert_eq!(background.finish(false).await.1.report.as_deref(), Some("Done."));
}

#[tokio::test]
async fn what_cannot_be_left_behind_does_not_begin() {
    let port = FakeAgents::new(0, []);
    let full = FakeBackground::full();
    let asked = input(json!({ "run_in_background": true }));
    let error = bench(&Subagents::new(), &port, &full).call(&asked).await.unwrap_err();
    assert_eq!(error.model_text(), "Too much runs already.");
    let background = FakeBackground::new("/nowhere");
    let stopped = bench(&Subagents::new(), &port, &background);
    stopped.cancel().cancel();
    assert!(stopped.call(&asked).await.is_err() && !background.has_work());
    assert!(port.seen.lock().unwrap().is_empty());
}

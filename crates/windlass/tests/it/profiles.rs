//! Differences of sessions between model families.

use serde_json::{Value, json};
use std::sync::Arc;
use windlass::options::{ModelOptions, StorageOptions, ToolSetOptions};
use windlass::{
    EventKind, HarnessProfile, Home, PermissionMode, Script, ScriptedModel, Session, SessionBuilder, coding_tools,
    event::Status, session,
};
use windlass_context::{EditTools, ReminderStyle};
use windlass_model::ModelInfo;
use windlass_runtime::Prompt;
use windlass_types::ModelRequest;

fn builder(model: &ScriptedModel, name: &str, folder: &tempfile::TempDir) -> SessionBuilder {
    session().provider(model.clone()).model(name).tools(coding_tools(folder.path()))
}

fn texts(count: usize) -> ScriptedModel {
    let mut info = ModelInfo::new(200_000, 64_000);
    info.appends_tools = true;
    ScriptedModel::new((0..count).fold(Script::new(), |script, _| script.turn(|turn| turn.text("ok")))).with_info(info)
}

/// A run to its end. Returns what broke the cache.
async fn run(session: &mut Session) -> Vec<String> {
    session.handle.prompt(Prompt::text("go")).unwrap();
    let mut broken = Vec::new();
    while let Some(event) = session.events.try_next().await.unwrap() {
        match event.kind {
            EventKind::Status(Status::CacheBroken { cause }) => broken.push(cause),
            EventKind::RunFinished(_) => return broken,
            _ => {}
        }
    }
    panic!("the session ended")
}

fn names(request: &ModelRequest) -> Vec<&str> {
    request.tools.iter().map(|tool| tool.name.as_str()).collect()
}

fn system(request: &ModelRequest) -> String {
    request.system.iter().map(|section| &*section.text).collect::<Vec<_>>().join("\n")
}

async fn first_request(name: &str, change: impl FnOnce(SessionBuilder) -> SessionBuilder) -> Arc<ModelRequest> {
    let (folder, model) = (tempfile::tempdir().unwrap(), texts(1));
    let mut session = change(builder(&model, name, &folder)).open().await.unwrap();
    run(&mut session).await;
    model.requests().remove(0)
}

#[tokio::test]
async fn each_family_gets_the_tools_that_it_was_trained_on() {
    let claude = first_request("claude-opus-5-5", |builder| builder).await;
    let edits = ["Bash", "Edit", "Glob", "Grep", "MultiEdit", "NotebookEdit", "Read", "TaskStop", "TodoWrite", "Write"];
    assert_eq!(names(&claude), edits);
    let other = first_request("llama-4", |builder| builder).await;
    assert_eq!((names(&other), system(&other)), (edits.to_vec(), system(&claude)));
    let gpt = first_request("openai/gpt-5.2", |builder| builder).await;
    assert_eq!(
        names(&gpt),
        ["Bash", "Glob", "Grep", "NotebookEdit", "Read", "TaskStop", "TodoWrite", "Write", "apply_patch"]
    );
    assert!(system(&gpt).ends_with("in one patch where changes belong together."), "{}", system(&gpt));
    assert!(system(&gpt).starts_with(&system(&claude)));
    let gemini = first_request("gemini-3-pro", |builder| builder).await;
    assert_eq!(names(&gemini), edits);
    assert!(system(&gemini).ends_with("send all of them in one message."));
    // A choice of tools counts for more, and so does a prompt of the host alone.
    let only = first_request("gpt-5", |builder| builder.tools(ToolSetOptions::new().only(["Read", "Edit"]))).await;
    assert_eq!(names(&only), ["Edit", "Read"]);
    let custom = windlass::SystemPrompt::Custom("Mine.".to_owned());
    let custom = first_request("gpt-5", |builder| builder.system_prompt(custom)).await;
    assert_eq!(system(&custom), "Mine.");
}

#[tokio::test]
async fn a_profile_of_the_program_counts_for_every_model() {
    let mut profile = HarnessProfile::default();
    profile.edit_tools = EditTools::Patch;
    profile.hint = "Be quick.".into();
    profile.reminders = ReminderStyle::Plain;
    profile.descriptions.push(("Read".into(), "Reads.".into()));
    for name in ["claude-opus-5-5", "gpt-5"] {
        let request = first_request(name, |builder| builder.model(ModelOptions::new().profile(profile.clone()))).await;
        assert!(names(&request).contains(&"apply_patch") && !names(&request).contains(&"Edit"));
        assert!(system(&request).ends_with("Be quick."));
        let sent = format!("{:?}", request.messages);
        assert!(sent.contains("a note of the program") && !sent.contains("<system-reminder>"), "{sent}");
        assert_eq!(request.tools.iter().find(|tool| tool.name == "Read").unwrap().description, "Reads.");
    }
    let plain =
        first_request("gpt-5", |builder| builder.model(ModelOptions::new().profile(HarnessProfile::default()))).await;
    let claude = first_request("claude-opus-5-5", |builder| builder).await;
    assert_eq!((names(&plain), system(&plain)), (names(&claude), system(&claude)));
}

/// Each request has what the one before had, at the same place.
fn assert_appended(requests: &[Arc<ModelRequest>]) {
    for pair in requests.windows(2) {
        assert_eq!((&pair[0].system, &pair[0].tools), (&pair[1].system, &pair[1].tools));
        assert!(pair[1].messages.starts_with(&pair[0].messages));
        assert!(pair[1].added_tools.starts_with(&pair[0].added_tools));
    }
}

#[tokio::test]
async fn a_change_of_the_model_adds_tools_and_edits_nothing() {
    for (first, second, added) in [
        ("claude-opus-5-5", "gpt-5", vec!["apply_patch"]),
        ("gpt-5", "claude-opus-5-5", vec!["Edit", "MultiEdit"]),
        ("claude-opus-5-5", "gemini-3", vec![]),
    ] {
        let (folder, home, model) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), texts(5));
        let kept = |name: &str| builder(&model, name, &folder).persist(Home::new(home.path()));
        let mut session = kept(first).open().await.unwrap();
        run(&mut session).await;
        session.handle.set_model(second).unwrap();
        assert_eq!(run(&mut session).await, ["model"]);
        session.handle.set_model(first).unwrap();
        assert_eq!(run(&mut session).await, ["model"]);
        let id = session.handle.session_id().clone();
        session.handle.close().await.unwrap();
        // Another process continues it, first with the model that it began with.
        let mut session = kept(first).resume(id.to_string()).open().await.unwrap();
        run(&mut session).await;
        session.handle.set_model(second).unwrap();
        run(&mut session).await;
        let requests = model.requests();
        assert_eq!(requests.len(), 5);
        assert_appended(&requests);
        let names = |request: &ModelRequest| {
            let added = request.added_tools.iter().flat_map(|added| &added.tools);
            added.map(|tool| tool.name.clone()).collect::<Vec<_>>()
        };
        assert_eq!(names(&requests[0]), Vec::<String>::new());
        for request in &requests[1..] {
            assert_eq!(names(request), added, "{first} then {second}");
        }
    }
}

#[tokio::test]
async fn a_patch_of_a_model_is_judged_kept_and_rewound() {
    let (folder, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let at = |name: &str| folder.path().join(name);
    for (name, text) in [("a", "one\n"), ("b", "two\n"), ("d", "gone\n")] {
        std::fs::write(at(name), text).unwrap();
    }
    let patch = |body: &str| json!({"input": format!("*** Begin Patch\n{body}\n*** End Patch")});
    let all =
        "*** Add File: n\n+n\n*** Update File: a\n-one\n+1\n*** Update File: b\n*** Move to: c\n*** Delete File: d";
    let script = Script::new()
        .turn(|turn| {
            ["a", "b", "d"].into_iter().fold(turn, |turn, name| turn.tool_use("Read", json!({"file_path": name})))
        })
        .turn(|turn| turn.tool_use("apply_patch", patch(all)))
        .turn(|turn| turn.tool_use("apply_patch", patch("*** Update File: a\n*** Move to: .git/hooks/pre-commit")))
        .turn(|turn| turn.tool_use("apply_patch", patch("*** Update File: a\n*** Move to: /etc/windlass-test")))
        .turn(|turn| turn.text("ok"));
    let model = ScriptedModel::new(script);
    let builder = builder(&model, "gpt-5", &folder).permission_mode(PermissionMode::AcceptEdits);
    let mut session = builder
        .persist(Home::new(home.path()))
        .storage(StorageOptions::new().file_checkpoints(true))
        .open()
        .await
        .unwrap();
    session.handle.prompt(Prompt::text("go")).unwrap();
    let mut results: Vec<(bool, Option<Value>)> = Vec::new();
    while let Some(event) = session.events.try_next().await.unwrap() {
        match event.kind {
            EventKind::ToolFinished(done) if done.tool == "apply_patch" => {
                results.push((done.result.is_error, done.structured.map(|data| data.to().unwrap())));
            }
            EventKind::RunFinished(_) => break,
            _ => {}
        }
    }
    let failed: Vec<bool> = results.iter().map(|(is_error, _)| *is_error).collect();
    assert_eq!(failed, [false, true, true], "where a file is moved to is judged too: {results:?}");
    let tree = || {
        let names = ["a", "b", "c", "d", "n"];
        names.map(|name| std::fs::read_to_string(at(name)).unwrap_or_default())
    };
    assert_eq!(tree(), ["1\n", "", "two\n", "", "n\n"]);
    let points = session.handle.checkpoints().await.unwrap();
    let rewind = session.handle.rewind_files(&points[0].id).await.unwrap();
    assert_eq!(tree(), ["one\n", "two\n", "", "gone\n", ""], "{rewind:?}");
}

//! Whole runs through the facade: real files, real programs, a scripted model.

use std::sync::{Arc, Mutex};
use windlass::session::Resume;
use windlass::{
    Delta, EventKind, Home, Outcome, PermissionAnswer, PermissionMode, Permissions, Script, ScriptedModel,
    ScriptedTurn, coding_tools, query,
};

fn workspace() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("a.txt"), "one\ntwo\n").unwrap();
    directory
}

#[tokio::test]
async fn a_plain_answer_streams_and_ends() {
    let model = ScriptedModel::new(Script::new().turn(|turn| turn.text("Hello there.")));
    let mut run = query("hi").provider(model).stream();
    let (mut text, mut last) = (String::new(), None);
    while let Some(event) = run.try_next().await.unwrap() {
        if let EventKind::BlockDelta { delta: Delta::Text(more), .. } = &event.kind {
            text.push_str(more);
        }
        last = Some(event);
    }
    assert_eq!(text, "Hello there.");
    let Some(EventKind::RunFinished(result)) = last.map(|event| event.kind) else { panic!("no result") };
    assert_eq!(result.outcome, Outcome::Success);
    assert_eq!((result.text.as_str(), result.turns), ("Hello there.", 1));
}

#[tokio::test]
async fn the_coding_tools_work_on_real_files_and_sessions_resume() {
    let directory = workspace();
    let home = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.txt");
    let file = path.to_string_lossy().into_owned();
    let script = Script::new()
        .turn(|turn| turn.tool_use("Read", serde_json::json!({"file_path": file})))
        .turn(|turn| {
            turn.tool_use("Edit", serde_json::json!({"file_path": file, "old_string": "two", "new_string": "three"}))
                .tool_use("Bash", serde_json::json!({"command": "cat a.txt && pwd"}))
        })
        .turn(|turn| turn.text("Done."));
    let asked = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&asked);
    let permissions = Permissions::ask(move |request| {
        seen.lock().unwrap().push(request.tool);
        async { PermissionAnswer::allow() }
    });
    let result = query("change it")
        .provider(ScriptedModel::new(script))
        .tools(coding_tools(directory.path()))
        .permissions(permissions)
        .persist(Home::new(home.path()))
        .await
        .unwrap();
    assert_eq!(result.outcome, Outcome::Success, "{result:?}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "one\nthree\n");
    assert_eq!(*asked.lock().unwrap(), ["Edit"]);

    let model = ScriptedModel::new(Script::new().turn(|turn| turn.text("Again.")));
    let requests = model.clone();
    let again = query("and now?")
        .provider(model)
        .tools(coding_tools(directory.path()))
        .persist(Home::new(home.path()))
        .resume(Resume::latest())
        .await
        .unwrap();
    assert_eq!(again.session_id, result.session_id);
    let request = requests.requests().into_iter().next().unwrap();
    assert_eq!(request.messages.len(), 7);
    let results = request.messages[4].content.iter().filter_map(|block| block.as_tool_result()).collect::<Vec<_>>();
    assert!(results[1].content.text().contains("three"), "{results:?}");
}

#[tokio::test]
async fn without_anybody_to_ask_writing_is_denied() {
    let directory = workspace();
    let script = Script::new()
        .turn(|turn| turn.tool_use("Write", serde_json::json!({"file_path": "new.txt", "content": "x"})))
        .turn(|turn| turn.text("I could not."));
    let result =
        query("write").provider(ScriptedModel::new(script)).tools(coding_tools(directory.path())).await.unwrap();
    assert_eq!(result.permission_denials.len(), 1);
    assert!(!directory.path().join("new.txt").exists());
}

#[tokio::test]
async fn accept_edits_writes_inside_and_nowhere_else() {
    let directory = workspace();
    let outside = tempfile::tempdir().unwrap();
    let there = outside.path().join("x.txt").to_string_lossy().into_owned();
    let script = Script::new()
        .turn(|turn| {
            turn.tool_use("Write", serde_json::json!({"file_path": "new.txt", "content": "x"}))
                .tool_use("Write", serde_json::json!({"file_path": there, "content": "x"}))
                .tool_use("Write", serde_json::json!({"file_path": ".git/config", "content": "x"}))
        })
        .turn(|turn| turn.text("ok"));
    let result = query("write")
        .provider(ScriptedModel::new(script))
        .tools(coding_tools(directory.path()))
        .permission_mode(PermissionMode::AcceptEdits)
        .await
        .unwrap();
    assert!(directory.path().join("new.txt").exists());
    assert!(!outside.path().join("x.txt").exists());
    assert!(!directory.path().join(".git/config").exists());
    assert_eq!(result.permission_denials.len(), 2);
}

#[tokio::test]
async fn a_resumed_session_knows_its_tasks() {
    let directory = workspace();
    let home = tempfile::tempdir().unwrap();
    let task = |content: &str| serde_json::json!([{"content": content, "status": "pending", "activeForm": content}]);
    let mut lists = Vec::new();
    for (first, second) in [("one", "two"), ("three", "four")] {
        let script = Script::new()
            .turn(|turn| turn.tool_use("TodoWrite", serde_json::json!({"todos": task(first)})))
            .turn(|turn| turn.tool_use("TodoWrite", serde_json::json!({"todos": task(second)})))
            .turn(|turn| turn.text("ok"));
        let mut query = query("plan")
            .provider(ScriptedModel::new(script))
            .tools(coding_tools(directory.path()))
            .persist(Home::new(home.path()));
        if first == "three" {
            query = query.resume(Resume::latest());
        }
        let mut run = query.stream();
        while let Some(event) = run.try_next().await.unwrap() {
            if let EventKind::ToolFinished(finished) = event.kind {
                let structured: serde_json::Value = finished.structured.unwrap().to().unwrap();
                lists.push(structured["oldTodos"][0]["content"].as_str().unwrap_or_default().to_owned());
            }
        }
    }
    assert_eq!(lists, ["", "one", "two", "three"]);
}

#[tokio::test]
async fn a_session_is_asked_and_gives_the_result_of_each_prompt() {
    let model = ScriptedModel::from_fn(|_, at| ScriptedTurn::new().text(format!("answer {at}")));
    let mut session = windlass::session().provider(model).open().await.unwrap();
    assert_eq!(session.ask("one").await.unwrap().text, "answer 0");
    // The answer to an earlier prompt is not taken for this one, read or not.
    session.handle.prompt("two").unwrap();
    assert_eq!(session.ask("three").await.unwrap().text, "answer 2");
    session.handle.close().await.unwrap();
    assert_eq!(session.ask("four").await.unwrap_err(), windlass::session::SessionError::Closed);
}

/// The runtime is dropped as soon as the stream has ended: nothing is lost, and the session can be resumed at once.
#[test]
fn a_runtime_that_ends_with_the_stream_loses_nothing() {
    let (directory, home) = (workspace(), tempfile::tempdir().unwrap());
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let session = |text: &str| {
        let model = ScriptedModel::new(Script::new().turn(|turn| turn.text(text)));
        windlass::session().provider(model).cwd(directory.path()).persist(Home::new(home.path()))
    };
    let asked = runtime().block_on(async {
        let mut run = session("One.").query("one").stream();
        let mut id = None;
        while let Some(event) = run.try_next().await.unwrap() {
            id = Some(event.session_id);
        }
        id.unwrap()
    });
    runtime().block_on(async {
        let mut open = session("Two.").resume(asked.as_str()).open().await.unwrap();
        open.handle.prompt("two").unwrap();
        while let Some(event) = open.events.try_next().await.unwrap() {
            if matches!(event.kind, EventKind::RunFinished(_)) {
                let handle = open.handle.clone();
                tokio::spawn(async move { handle.close().await });
            }
        }
    });
    let last = runtime().block_on(async { session("Three.").resume(asked.as_str()).query("three").await.unwrap() });
    assert_eq!((last.session_id, &*last.text), (asked, "Three."));
    let texts: Vec<String> = crate::common::stored_texts(home.path());
    assert_eq!(texts, ["One.", "Two.", "Three."]);
}

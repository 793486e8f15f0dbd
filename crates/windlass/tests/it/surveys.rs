//! When the workspace is looked over: ahead of commands, in their way, and beside the model's next answer.

use async_trait::async_trait;
use serde_json::json;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use tokio::sync::Semaphore;
use windlass::options::StorageOptions;
use windlass::{
    EventKind, Permissions, Script, ScriptedModel, ScriptedTurn, Session, SessionBuilder, coding_tools, session,
    session::{CheckpointError, EntryId, Rewind, RewindOptions},
    store::{Checkpoint, Checkpoints},
    tool::{ToolUseId, tool_fn},
};
use windlass_session::{ChangedBy, Survey};

/// Checkpoints that keep nothing, say what is asked of them, and let each look wait for a permit.
#[derive(Debug)]
struct Watched {
    seen: Mutex<Vec<&'static str>>,
    before: Semaphore,
    behind: Semaphore,
}

impl Watched {
    fn new(before: usize, behind: usize) -> Arc<Self> {
        Arc::new(Self { seen: Mutex::default(), before: Semaphore::new(before), behind: Semaphore::new(behind) })
    }

    fn note(&self, what: &'static str) {
        self.seen.lock().unwrap().push(what);
    }

    fn seen(&self) -> Vec<&'static str> {
        self.seen.lock().unwrap().clone()
    }
}

#[async_trait]
impl Checkpoints for Watched {
    async fn begin(&self, _: &EntryId) -> Result<(), CheckpointError> {
        Ok(())
    }

    async fn keep(&self, _: &EntryId, _: &ToolUseId, _: &[PathBuf]) -> Result<(), CheckpointError> {
        self.note("keep");
        Ok(())
    }

    async fn changed(&self, _: &ToolUseId, _: &[PathBuf]) -> Result<(), CheckpointError> {
        Ok(())
    }

    async fn survey(&self, survey: &Survey) -> Result<(), CheckpointError> {
        let is_before = survey.changed_by == ChangedBy::Others;
        self.note(if is_before { "look before" } else { "look behind" });
        let permits = if is_before { &self.before } else { &self.behind };
        permits.acquire().await.unwrap().forget();
        // The waiting task must not win merely because this ends at once.
        for _ in 0..50 {
            tokio::task::yield_now().await;
        }
        self.note(if is_before { "looked before" } else { "looked behind" });
        Ok(())
    }

    async fn list(&self) -> Result<Vec<Checkpoint>, CheckpointError> {
        Ok(Vec::new())
    }

    async fn changes(&self, _: &EntryId, _: &RewindOptions) -> Result<Rewind, CheckpointError> {
        Ok(Rewind::default())
    }

    async fn rewind(&self, _: &EntryId, _: &RewindOptions) -> Result<Rewind, CheckpointError> {
        Ok(Rewind::default())
    }
}

#[derive(windlass::ToolInput)]
struct Nothing {}

/// A session with a tool that may change anything, and the usual ones.
fn builder(work: &tempfile::TempDir, model: ScriptedModel, checkpoints: &Arc<Watched>) -> SessionBuilder {
    let anything = tool_fn("anything", "May change any file.", |_: Nothing, _| async { Ok("done") });
    let permissions = Permissions::new().allow(["anything", "Write", "Read"]);
    let builder = session().provider(model).tools(coding_tools(work.path())).tools(anything).permissions(permissions);
    builder.storage(StorageOptions::new().checkpoint_store(Arc::clone(checkpoints) as Arc<dyn Checkpoints>))
}

fn call(tool: &str, input: serde_json::Value) -> ScriptedTurn {
    ScriptedTurn::new().tool_use(tool, input)
}

async fn run(session: &mut Session, mut each: impl FnMut(&EventKind)) {
    session.handle.prompt("go").unwrap();
    while let Some(event) = session.events.try_next().await.unwrap() {
        each(&event.kind);
        if let EventKind::RunFinished(_) = event.kind {
            return;
        }
    }
    panic!("the session ended");
}

#[tokio::test]
async fn the_model_is_asked_beside_the_look_behind_a_command() {
    let work = tempfile::tempdir().unwrap();
    let watched = Watched::new(100, 0);
    let (asked, path) = (Arc::clone(&watched), work.path().join("a"));
    let model = ScriptedModel::from_fn(move |request, _| {
        asked.note("request");
        let results = request.messages.len() / 2;
        // Were the request to wait for the look, the look would wait for ever.
        if results > 0 {
            asked.behind.add_permits(1);
        }
        match results {
            0 | 1 => call("anything", json!({})),
            2 => call("Write", json!({"file_path": path, "content": "1"})),
            _ => ScriptedTurn::new().text("ok"),
        }
    });
    let mut session = builder(&work, model, &watched).open().await.unwrap();
    run(&mut session, |_| ()).await;
    watched.note("end");
    let expected = [
        "request",
        // Made ahead, when the call is known, and again when it runs.
        "look before",
        "looked before",
        "look before",
        "looked before",
        "look behind",
        "request",
        "looked behind",
        "look before",
        "looked before",
        "look behind",
        "request",
        "looked behind",
        "keep",
        "request",
        "end",
    ];
    // The look begins on its own, so it and the request may be noted in either order.
    let mut seen = watched.seen();
    for at in 1..seen.len() {
        if (seen[at - 1], seen[at]) == ("request", "look behind") {
            seen.swap(at - 1, at);
        }
    }
    assert_eq!(seen, expected);
}

#[tokio::test]
async fn the_baseline_is_begun_by_the_first_call_that_writes_and_ends_with_the_session() {
    for (tool, begins) in [("Write", true), ("Read", false)] {
        let work = tempfile::tempdir().unwrap();
        std::fs::write(work.path().join("b"), "1").unwrap();
        let watched = Watched::new(0, 0);
        let path = work.path().join(if begins { "a" } else { "b" });
        let script = Script::new().turn(|turn| match begins {
            true => turn.tool_use(tool, json!({"file_path": path, "content": "1"})),
            false => turn.tool_use(tool, json!({"file_path": path})),
        });
        let model = ScriptedModel::new(script.turn(|turn| turn.text("ok")));
        let mut session = builder(&work, model, &watched).open().await.unwrap();
        // The write does not wait for it.
        run(&mut session, |_| ()).await;
        assert_eq!(work.path().join("a").exists(), begins);
        session.handle.close().await.unwrap();
        assert_eq!(watched.seen().contains(&"look before"), begins, "{tool}");
        assert!(!watched.seen().contains(&"looked before"));
    }
}

#[tokio::test(start_paused = true)]
async fn a_command_that_waits_for_the_baseline_says_so() {
    let work = tempfile::tempdir().unwrap();
    let watched = Watched::new(0, 100);
    let script = Script::new().turn(|turn| turn.tool_use("anything", json!({}))).turn(|turn| turn.text("ok"));
    let mut session = builder(&work, ScriptedModel::new(script), &watched).open().await.unwrap();
    let mut said = Vec::new();
    let permits = Arc::clone(&watched);
    run(&mut session, |event| {
        if let EventKind::ToolProgress(progress) = event {
            said.push(progress.message.clone());
            permits.before.add_permits(2);
        }
    })
    .await;
    assert!(said.len() == 1 && said[0].contains("Keeping the workspace"), "{said:?}");
}

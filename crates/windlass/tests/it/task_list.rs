//! The list of tasks by single calls: in one message, over resumed and copied sessions, and in the eyes of hooks.

use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use windlass::hook::FeedbackAction;
use windlass::session::Resume;
use windlass::{
    EventKind, Home, Outcome, PermissionMode, Query, Script, ScriptedModel, ScriptedTurn, coding_tools,
    event::StateChange, hook_fn, query,
};

const ID: &str = "aaaaaaaa-1111-4111-8111-111111111111";
const COPY: &str = "bbbbbbbb-1111-4111-8111-111111111111";

struct World {
    work: tempfile::TempDir,
    home: tempfile::TempDir,
}

/// Output of a run: the text of each result in the order of the calls' ends, and the last list.
#[derive(Debug, Default)]
struct Shown {
    results: Vec<String>,
    list: Option<Value>,
}

impl World {
    fn new() -> Self {
        Self { work: tempfile::tempdir().unwrap(), home: tempfile::tempdir().unwrap() }
    }

    fn query(&self, turns: Vec<ScriptedTurn>) -> Query {
        let script = turns.into_iter().fold(Script::new(), Script::then);
        query("plan")
            .provider(ScriptedModel::new(script.turn(|turn| turn.text("ok"))))
            .tools(coding_tools(self.work.path()).with_task_list())
            .persist(Home::new(self.home.path()))
    }
}

async fn shown(query: Query) -> Shown {
    let (mut run, mut shown) = (query.stream(), Shown::default());
    while let Some(event) = run.try_next().await.unwrap() {
        match event.kind {
            EventKind::ToolFinished(finished) => shown.results.push(finished.result.content.text()),
            EventKind::StateChanged(StateChange::Todos { todos }) => shown.list = Some(todos.to().unwrap()),
            EventKind::RunFinished(result) => assert!(matches!(result.outcome, Outcome::Success), "{result:?}"),
            _ => {}
        }
    }
    shown
}

fn create(turn: ScriptedTurn, subject: &str) -> ScriptedTurn {
    turn.tool_use("TaskCreate", json!({ "subject": subject, "description": "All of it." }))
}

/// Two tasks in one message, of which the second waits for the first, and a look at them.
fn begun() -> Vec<ScriptedTurn> {
    let two = create(create(ScriptedTurn::new(), "Read"), "Write");
    let two = two.tool_use("TaskUpdate", json!({ "taskId": "2", "addBlockedBy": ["#1"] }));
    vec![two.tool_use("TaskList", json!({}))]
}

#[tokio::test]
async fn calls_of_one_message_find_what_those_before_have_left() {
    let world = World::new();
    for mode in [PermissionMode::Default, PermissionMode::Plan, PermissionMode::DontAsk] {
        let shown = shown(world.query(begun()).permission_mode(mode)).await;
        assert_eq!(
            shown.results,
            [
                "Task #1 is on the list: Read",
                "Task #2 is on the list: Write",
                "Task #2 is changed (blockedBy): [pending] Write\nIt waits for #1.",
                "#1 [pending] Read\n#2 [pending] Write waits for #1",
            ],
            "{mode}"
        );
    }
}

#[tokio::test]
async fn resumed_and_copied_sessions_keep_the_list() {
    let world = World::new();
    shown(world.query(begun()).session_id(ID)).await;
    let done = || {
        let done = ScriptedTurn::new().tool_use("TaskUpdate", json!({ "taskId": "1", "status": "completed" }));
        vec![done.tool_use("TaskGet", json!({ "taskId": "2" }))]
    };
    let copied = shown(world.query(done()).resume(Resume::session(ID).fork()).session_id(COPY)).await;
    let resumed = shown(world.query(done()).resume(ID)).await;
    for shown in [&copied, &resumed] {
        let free = "Task #1 is changed (status): [completed] Read\nCan begin now: #2.";
        assert_eq!(shown.results, [free, "#2 [pending] Write\n\nAll of it."]);
    }
    // Changes of the copy do not reach the first session, and TodoWrite replaces the same list.
    let todos = json!({ "todos": [{ "content": "New", "status": "pending", "activeForm": "x" }] });
    let replaced = vec![
        ScriptedTurn::new().tool_use("TodoWrite", todos),
        create(ScriptedTurn::new(), "More").tool_use("TaskList", json!({})),
    ];
    let replaced = shown(world.query(replaced).resume(COPY)).await;
    assert_eq!(replaced.results[1..], ["Task #2 is on the list: More", "#1 [pending] New\n#2 [pending] More"]);
    let first = shown(world.query(vec![ScriptedTurn::new().tool_use("TaskList", json!({}))]).resume(ID)).await;
    assert_eq!(first.results, ["#1 [completed] Read\n#2 [pending] Write"]);
}

#[tokio::test]
async fn a_withdrawn_message_leaves_no_task() {
    let world = World::new();
    let broken = create(ScriptedTurn::new(), "Lost").cut_after(4);
    let turns = vec![broken, create(ScriptedTurn::new(), "Kept").tool_use("TaskList", json!({}))];
    let shown = shown(world.query(turns)).await;
    assert_eq!(shown.results, ["Task #1 is on the list: Kept", "#1 [pending] Kept"]);
    assert_eq!(shown.list.unwrap().as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn hooks_hear_of_each_task_with_its_description() {
    let world = World::new();
    let heard: Arc<Mutex<Vec<String>>> = Arc::default();
    let (created, completed) = (Arc::clone(&heard), Arc::clone(&heard));
    let hook = hook_fn("watch")
        .on_new_task(move |task| {
            created
                .lock()
                .unwrap()
                .push(format!("+{} {} {:?}", task.task_id, task.task_subject, task.task_description));
            async { Ok(FeedbackAction::Continue) }
        })
        .on_completed_task(move |task| {
            completed.lock().unwrap().push(format!("x{}", task.task_id));
            async { Ok(FeedbackAction::Continue) }
        });
    let done = ScriptedTurn::new().tool_use("TaskUpdate", json!({ "taskId": "1", "status": "completed" }));
    shown(world.query(vec![create(ScriptedTurn::new(), "Read"), done]).hook(hook)).await;
    assert_eq!(*heard.lock().unwrap(), ["+1 Read Some(\"All of it.\")", "x1"]);
}

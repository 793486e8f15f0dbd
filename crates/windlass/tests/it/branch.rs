//! Sessions that go on in a copy, or at an earlier point.

use std::path::{Path, PathBuf};
use windlass::session::Resume;
use windlass::{
    Error, Home, Outcome, PermissionMode, Query, Script, ScriptedModel, coding_tools, query, session,
    session::OpenError,
};
use windlass_context::is_reminder;
use windlass_session::ForkError;

const ID: &str = "aaaaaaaa-1111-4111-8111-111111111111";
const COPY: &str = "bbbbbbbb-1111-4111-8111-111111111111";

struct World {
    work: tempfile::TempDir,
    home: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        Self { work: tempfile::tempdir().unwrap(), home: tempfile::tempdir().unwrap() }
    }

    fn with(&self, prompt: &str, model: ScriptedModel) -> Query {
        query(prompt)
            .provider(model)
            .tools(coding_tools(self.work.path()))
            .permission_mode(PermissionMode::AcceptEdits)
            .persist(Home::new(self.home.path()))
    }

    fn ask(&self, prompt: &str) -> Query {
        self.with(prompt, ScriptedModel::new(Script::new().turn(|turn| turn.text("answer"))))
    }

    /// Three prompts in one session.
    async fn three(&self) {
        run(self.ask("one").session_id(ID)).await;
        run(self.ask("two").resume(ID)).await;
        run(self.ask("three").resume(ID)).await;
    }

    fn logs(&self) -> Vec<PathBuf> {
        let projects = self.home.path().join("projects");
        let project = std::fs::read_dir(projects).unwrap().next().unwrap().unwrap().path();
        let mut logs: Vec<_> = std::fs::read_dir(project).unwrap().map(|entry| entry.unwrap().path()).collect();
        logs.retain(|log| log.is_file());
        logs.sort();
        logs
    }

    fn log(&self, id: &str) -> PathBuf {
        self.logs().into_iter().find(|log| log.ends_with(format!("{id}.jsonl"))).unwrap()
    }

    /// The lines of a log that have a message of the user or the model.
    fn chain(&self, id: &str) -> Vec<serde_json::Value> {
        let log = std::fs::read_to_string(self.log(id)).unwrap();
        let lines = log.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        lines.filter(|line| line.get("message").is_some() && line.get("isMeta").is_none()).collect()
    }

    fn uuid(&self, at: usize) -> String {
        self.chain(ID)[at]["uuid"].as_str().unwrap().to_owned()
    }

    /// The prompts that a request has if the session goes on.
    fn prompts(&self, id: &str) -> Vec<String> {
        prompts(&self.log(id))
    }
}

fn prompts(log: &Path) -> Vec<String> {
    let exported = windlass_store::export_file(log).unwrap();
    let messages: Vec<serde_json::Value> = serde_json::from_str(&exported).unwrap();
    let users = messages.iter().filter(|message| message["role"] == "user");
    users
        .flat_map(|message| message["content"].as_array().unwrap())
        .filter_map(|block| block["text"].as_str())
        .filter(|text| !is_reminder(text))
        .map(str::to_owned)
        .collect()
}

/// A query and the error that it must end in.
type Refused = (Query, fn(&Error) -> bool);

/// Runs a query that must succeed.
async fn run(query: Query) {
    assert_eq!(query.await.unwrap().outcome, Outcome::Success);
}

/// The texts of the user in the last request that a model got.
fn heard(model: &ScriptedModel) -> Vec<String> {
    let request = model.requests().pop().unwrap();
    let users = request.messages.iter().filter(|message| message.role == windlass_types::Role::User);
    let texts = users.flat_map(|message| &message.content).filter_map(|block| block.as_text());
    texts.filter(|text| !is_reminder(text)).map(str::to_owned).collect()
}

#[tokio::test]
async fn a_copy_is_written_before_its_first_run_and_the_original_is_left_alone() {
    let world = World::new();
    world.three().await;
    let before = std::fs::read(world.log(ID)).unwrap();
    let options = session().provider(ScriptedModel::new(Script::new())).cwd(world.work.path());
    let options = options.persist(Home::new(world.home.path())).resume(Resume::session(ID).fork()).session_id(COPY);
    let opened = options.open().await.unwrap();
    assert_eq!(opened.handle.session_id().as_str(), COPY);
    assert_eq!(world.prompts(COPY), ["one", "two", "three"]);
    opened.handle.close().await.unwrap();
    run(world.ask("four").resume(COPY)).await;
    assert_eq!(world.prompts(COPY), ["one", "two", "three", "four"]);
    assert_eq!(std::fs::read(world.log(ID)).unwrap(), before);
    // The clock of a file system may stand still for some milliseconds, so the original is made an older one.
    let original = std::fs::File::options().append(true).open(world.log(ID)).unwrap();
    original.set_modified(std::time::UNIX_EPOCH).unwrap();
    let latest = world.ask("five").resume(Resume::latest().fork()).await.unwrap();
    assert_eq!(world.prompts(latest.session_id.as_str()), ["one", "two", "three", "four", "five"]);
    assert_eq!(world.logs().len(), 3);
}

#[tokio::test]
async fn going_on_with_nothing_may_be_a_beginning() {
    let world = World::new();
    let error = world.ask("one").resume(Resume::latest()).await.unwrap_err();
    assert!(matches!(error, Error::NothingToContinue { .. }), "{error}");
    let error = world.ask("one").resume(Resume::latest_or_new().at(COPY)).await.unwrap_err();
    assert!(matches!(error, Error::NothingToContinue { .. }), "{error}");
    run(world.ask("one").resume(Resume::latest_or_new().fork()).session_id(ID)).await;
    run(world.ask("two").resume(Resume::latest_or_new())).await;
    assert_eq!(world.prompts(ID), ["one", "two"]);
}

#[tokio::test]
async fn a_copy_can_be_made_while_the_original_runs() {
    let world = World::new();
    run(world.ask("one").session_id(ID)).await;
    let options = session().provider(ScriptedModel::new(Script::new())).cwd(world.work.path());
    let opened = options.persist(Home::new(world.home.path())).resume(ID).open().await.unwrap();
    run(world.ask("two").resume(Resume::session(ID).fork()).session_id(COPY)).await;
    assert_eq!(
        (world.prompts(ID), world.prompts(COPY)),
        (vec!["one".to_owned()], vec!["one".to_owned(), "two".to_owned()])
    );
    opened.handle.close().await.unwrap();
}

#[tokio::test]
async fn going_back_is_written_with_the_next_prompt_and_holds_from_then_on() {
    let world = World::new();
    world.three().await;
    let before = std::fs::read(world.log(ID)).unwrap();
    let point = world.uuid(1);
    let options = session().provider(ScriptedModel::new(Script::new())).cwd(world.work.path());
    let options = options.persist(Home::new(world.home.path())).resume(Resume::session(ID).at(&point));
    options.open().await.unwrap().handle.close().await.unwrap();
    assert_eq!(std::fs::read(world.log(ID)).unwrap(), before, "nobody said anything");
    let model = ScriptedModel::new(Script::new().turn(|turn| turn.text("answer")));
    run(world.with("four", model.clone()).resume(Resume::session(ID).at(&point))).await;
    assert_eq!(heard(&model), ["one", "four"]);
    assert_eq!(world.prompts(ID), ["one", "four"]);
    let said: Vec<_> = world.chain(ID).iter().map(|line| line["parentUuid"].clone()).collect();
    assert_eq!(said[6], serde_json::Value::from(point), "the next line follows on the point");
    assert_eq!(said.len(), 8, "nothing is gone from the file");
    // To a point that was left: it is no longer part of the conversation.
    let error = world.ask("x").resume(Resume::session(ID).at(world.uuid(3))).await.unwrap_err();
    assert!(matches!(error, Error::Open(OpenError::Fork { source: ForkError::UnknownEntry(_) })), "{error}");
}

#[tokio::test]
async fn what_stood_beside_a_dropped_turn_is_taken_back_but_not_its_cost() {
    let world = World::new();
    run(world.ask("one").session_id(ID)).await;
    let point = world.uuid(1);
    let todos = serde_json::json!({ "todos": [{ "content": "x", "status": "pending", "activeForm": "x" }] });
    let script = Script::new().turn(|turn| turn.tool_use("TodoWrite", todos)).turn(|turn| turn.text("noted"));
    let dropped = world.with("two", ScriptedModel::new(script)).resume(ID).await.unwrap();
    let last = |kind: &str| {
        let log = std::fs::read_to_string(world.log(ID)).unwrap();
        let mut lines = log.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        lines.rfind(|line| line["type"] == kind).unwrap()
    };
    assert_ne!(last("windlass-todos")["todos"], serde_json::json!([]));
    let kept = world.ask("three").resume(Resume::session(ID).at(&point)).await.unwrap();
    assert_eq!(last("windlass-todos")["todos"], serde_json::json!([]));
    assert!(kept.cost >= dropped.cost);
    let again = world.ask("four").resume(ID).await.unwrap();
    assert_eq!(world.prompts(ID), ["one", "three", "four"]);
    assert!(again.cost >= kept.cost);
}

#[tokio::test]
async fn a_point_whose_calls_never_ended_is_settled() {
    let world = World::new();
    run(world.ask("one").session_id(ID)).await;
    let (user, asks) = ("dddddddd-1111-4111-8111-111111111111", "eeeeeeee-1111-4111-8111-111111111111");
    let lines = [
        serde_json::json!({ "parentUuid": world.uuid(1), "type": "user", "uuid": user, "message": { "role": "user", "content": "run" } }),
        serde_json::json!({ "parentUuid": user, "type": "assistant", "uuid": asks, "message": { "id": "m", "role": "assistant", "model": "m",
            "content": [{ "type": "tool_use", "id": "t", "name": "Bash", "input": { "command": "x" } }] } }),
    ];
    let mut log = std::fs::read_to_string(world.log(ID)).unwrap();
    lines.iter().for_each(|line| log.push_str(&format!("{line}\n")));
    std::fs::write(world.log(ID), log).unwrap();
    for fork in [true, false] {
        let model = ScriptedModel::new(Script::new().turn(|turn| turn.text("answer")));
        let point = Resume::session(ID).at(asks);
        let asked = world.with("next", model.clone()).resume(if fork { point.fork() } else { point }).await.unwrap();
        assert_eq!(heard(&model), ["one", "run", "next"]);
        assert_eq!(world.prompts(asked.session_id.as_str()), ["one", "run", "next"]);
    }
}

#[tokio::test]
async fn what_makes_no_sense_is_refused_and_writes_nothing() {
    let world = World::new();
    world.three().await;
    let before = std::fs::read(world.log(ID)).unwrap();
    let point = world.uuid(1);
    let refused: [Refused; 8] = [
        (world.ask("x").resume(Resume::session(ID).at(COPY)), |error| {
            matches!(error, Error::Open(OpenError::Fork { .. }))
        }),
        (world.ask("x").resume(Resume::session(ID).at(COPY).fork()), |error| {
            matches!(error, Error::Open(OpenError::Fork { source: ForkError::UnknownEntry(_) }))
        }),
        (world.ask("x").resume(Resume::session(COPY).fork()), |error| {
            matches!(error, Error::Open(OpenError::NotFound { .. }))
        }),
        (world.ask("x").resume(Resume::new().fork()), |error| matches!(error, Error::NothingToBranchFrom)),
        (world.ask("x").resume(Resume::new().at(&point)), |error| matches!(error, Error::NothingToBranchFrom)),
        (world.ask("x").resume(ID).session_id(COPY), |error| matches!(error, Error::IdOfResumed)),
        (world.ask("x").resume(Resume::session(ID).at(&point).drops_turn(world.uuid(2))), |error| {
            matches!(error, Error::Open(OpenError::Fork { source: ForkError::DropsMore(_) }))
        }),
        (world.ask("x").resume(Resume::session(ID).drops_turn(&point)), |error| {
            matches!(error, Error::TurnGuard { .. })
        }),
    ];
    for (query, expected) in refused {
        let error = query.await.unwrap_err();
        assert!(expected(&error), "{error:?}");
    }
    assert_eq!(world.logs(), [world.log(ID)]);
    assert_eq!(std::fs::read(world.log(ID)).unwrap(), before);
    let Err(error) = world.ask("x").resume(Resume::session(ID).fork()).session_id(ID).await else { panic!() };
    assert!(error.to_string().contains("already"), "{error}");
}

//! Files that are kept before tools change them, through the facade.

use async_trait::async_trait;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use windlass::options::StorageOptions;
use windlass::{
    Error, EventKind, Home, PermissionMode, Permissions, Script, ScriptedModel, ScriptedTurn, Session, SessionBuilder,
    Subagents, coding_tools, session,
    session::{CheckpointError, CheckpointErrorKind, EntryId, Rewind, RewindError, RewindOptions},
    store::{Checkpoint, CheckpointKind, CheckpointLimits, Checkpoints},
    tool::ToolUseId,
};
use windlass_model::Gate;
use windlass_runtime::Prompt;

pub(crate) struct World {
    pub(crate) home: tempfile::TempDir,
    pub(crate) work: tempfile::TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        Self { home: tempfile::tempdir().unwrap(), work: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.work.path().canonicalize().unwrap().join(name)
    }

    fn read(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.path(name)).ok()
    }

    pub(crate) fn builder(&self, script: Script) -> SessionBuilder {
        session()
            .provider(ScriptedModel::new(script))
            .tools(coding_tools(self.work.path()))
            .permission_mode(PermissionMode::AcceptEdits)
            .persist(Home::new(self.home.path()))
    }
}

pub(crate) fn prompt(number: u128) -> EntryId {
    EntryId::from_bits(number)
}

/// A run to its end: the results of its calls.
async fn run(session: &mut Session, number: u128) -> Vec<(bool, String)> {
    session.handle.prompt(Prompt::text("go").with_id(prompt(number))).unwrap();
    let mut results = Vec::new();
    while let Some(event) = session.events.try_next().await.unwrap() {
        match event.kind {
            EventKind::ToolFinished(finished) => {
                results.push((finished.result.is_error, finished.result.content.text()));
            }
            EventKind::RunFinished(_) => return results,
            _ => {}
        }
    }
    panic!("the session ended")
}

fn writes(script: Script, path: &Path, content: &str) -> Script {
    let input = json!({"file_path": path, "content": content});
    script.turn(move |turn| turn.tool_use("Write", input)).turn(|turn| turn.text("ok"))
}

#[tokio::test]
async fn files_are_rewound_to_a_prompt_and_forth_again() {
    let world = World::new();
    let script = writes(Script::new(), &world.path("a"), "1");
    let script = writes(script, &world.path("new/b"), "2");
    let mut session = world.builder(script).storage(StorageOptions::new().file_checkpoints(true)).open().await.unwrap();
    run(&mut session, 1).await;
    run(&mut session, 2).await;
    let handle = session.handle.clone();
    let listed = handle.checkpoints().await.unwrap();
    let listed: Vec<_> = listed.into_iter().map(|one| (one.id, one.kind, one.files)).collect();
    assert_eq!(listed, [(prompt(1), CheckpointKind::Prompt, 1), (prompt(2), CheckpointKind::Prompt, 1)]);
    let would = handle.file_changes(&prompt(1)).await.unwrap();
    assert_eq!((would.files.len(), would.insertions(), would.deletions()), (2, 0, 2));
    let done = handle.rewind_files(&prompt(1)).await.unwrap();
    assert_eq!(done.files, would.files);
    assert!(!world.path("a").exists() && !world.path("new").exists());
    handle.rewind_files(&done.undo.unwrap()).await.unwrap();
    assert_eq!((world.read("a").unwrap(), world.read("new/b").unwrap()), ("1".to_owned(), "2".to_owned()));
    std::fs::write(world.path("a"), "mine").unwrap();
    let done = handle.rewind_own_files(&prompt(1)).await.unwrap();
    assert_eq!((done.changed().count(), done.left().count()), (1, 1));
    assert_eq!((world.read("a").as_deref(), world.read("new/b")), (Some("mine"), None));
    handle.close().await.unwrap();
    assert_eq!(handle.rewind_files(&prompt(1)).await, Err(RewindError::Closed));
    // Nothing of it is in the way of the next one.
    let id = handle.session_id().to_string();
    let again = world
        .builder(Script::new())
        .resume(id)
        .storage(StorageOptions::new().file_checkpoints(true))
        .open()
        .await
        .unwrap();
    again.handle.rewind_files(&prompt(1)).await.unwrap();
    assert_eq!(world.read("a"), None);
}

#[tokio::test]
async fn nothing_is_rewound_while_a_run_continues() {
    let world = World::new();
    let gate = Gate::new();
    let script = writes(Script::new(), &world.path("a"), "1");
    let script = script.turn(|turn| turn.text("late").gate(&gate));
    let mut session = world.builder(script).storage(StorageOptions::new().file_checkpoints(true)).open().await.unwrap();
    run(&mut session, 1).await;
    session.handle.prompt(Prompt::text("go").with_id(prompt(2))).unwrap();
    assert_eq!(session.handle.rewind_files(&prompt(1)).await, Err(RewindError::Running));
    // To ask is fine.
    assert_eq!(session.handle.file_changes(&prompt(1)).await.unwrap().files.len(), 1);
    gate.open();
    while let Some(event) = session.events.try_next().await.unwrap() {
        if let EventKind::RunFinished(_) = event.kind {
            break;
        }
    }
    session.handle.rewind_files(&prompt(1)).await.unwrap();
    assert_eq!(world.read("a"), None);
}

#[tokio::test]
async fn nothing_is_rewound_while_an_agent_continues_in_the_background() {
    let (world, gate) = (World::new(), Gate::new());
    let (path, held) = (world.path("a"), gate.clone());
    let model = ScriptedModel::from_fn(move |request, _| {
        let said: Vec<String> = request.messages.iter().map(|message| message.text()).collect();
        match (said.first().is_some_and(|first| first.contains("Make it.")), said.len()) {
            (true, 1) => ScriptedTurn::new().tool_use("Write", json!({"file_path": path, "content": "1"})).gate(&held),
            (false, 1) => ScriptedTurn::new().tool_use("Agent", json!({"description": "Make", "prompt": "Make it."})),
            _ => ScriptedTurn::new().text("ok"),
        }
    });
    let agents = Subagents::new().background_by_default(true);
    let builder = world
        .builder(Script::new())
        .provider(model)
        .subagents(agents)
        .storage(StorageOptions::new().file_checkpoints(true));
    let mut session = builder.open().await.unwrap();
    session.handle.prompt(Prompt::text("go").with_id(prompt(1))).unwrap();
    let mut begun = false;
    while let Some(event) = session.events.try_next().await.unwrap() {
        match event.kind {
            EventKind::RunFinished(_) if event.agent.is_main() => {
                begun |= session.handle.rewind_files(&prompt(1)).await == Err(RewindError::Running);
                gate.open();
            }
            EventKind::TaskEnded(_) => break,
            _ => {}
        }
    }
    assert!(begun);
    session.handle.quiet().await;
    assert_eq!(world.read("a").as_deref(), Some("1"));
    session.handle.rewind_files(&prompt(1)).await.unwrap();
    assert_eq!(world.read("a"), None);
}

#[tokio::test]
async fn a_prompt_that_is_given_during_a_rewind_waits() {
    let world = World::new();
    let script = writes(Script::new(), &world.path("a"), "1");
    let script = writes(script, &world.path("a"), "2");
    let mut session = world.builder(script).storage(StorageOptions::new().file_checkpoints(true)).open().await.unwrap();
    run(&mut session, 1).await;
    let done = session.handle.rewind_files(&prompt(1));
    run(&mut session, 2).await;
    assert_eq!(done.await.unwrap().changed().count(), 1);
    assert_eq!(world.read("a").as_deref(), Some("2"));
}

#[tokio::test]
async fn without_checkpoints_there_is_nothing_to_rewind() {
    let world = World::new();
    let session = world.builder(Script::new()).open().await.unwrap();
    assert_eq!(session.handle.rewind_files(&prompt(1)).await, Err(RewindError::Off));
    let unkept = windlass::session().provider(ScriptedModel::new(Script::new())).cwd(world.work.path());
    let error = unkept.storage(StorageOptions::new().file_checkpoints(true)).open().await.unwrap_err();
    assert!(matches!(error, Error::Checkpoints { .. }) && error.to_string().contains("persist"), "{error}");
}

/// A store that cannot take anything.
#[derive(Debug)]
struct Full;

fn full<T>() -> Result<T, CheckpointError> {
    Err(CheckpointError::new(CheckpointErrorKind::Full, "there is no room"))
}

#[async_trait]
impl Checkpoints for Full {
    async fn begin(&self, _: &EntryId) -> Result<(), CheckpointError> {
        full()
    }

    async fn keep(&self, _: &EntryId, _: &ToolUseId, _: &[PathBuf]) -> Result<(), CheckpointError> {
        full()
    }

    async fn changed(&self, _: &ToolUseId, _: &[PathBuf]) -> Result<(), CheckpointError> {
        panic!("no call ran")
    }

    async fn list(&self) -> Result<Vec<Checkpoint>, CheckpointError> {
        full()
    }

    async fn changes(&self, _: &EntryId, _: &RewindOptions) -> Result<Rewind, CheckpointError> {
        full()
    }

    async fn rewind(&self, _: &EntryId, _: &RewindOptions) -> Result<Rewind, CheckpointError> {
        panic!("a store that panics")
    }
}

#[tokio::test]
async fn a_call_whose_files_cannot_be_kept_does_not_run() {
    let world = World::new();
    let script = writes(Script::new(), &world.path("a"), "1");
    let mut session =
        world.builder(script).storage(StorageOptions::new().checkpoint_store(Arc::new(Full))).open().await.unwrap();
    let results = run(&mut session, 1).await;
    assert!(results.len() == 1 && results[0].0 && results[0].1.contains("there is no room"), "{results:?}");
    assert_eq!(world.read("a"), None);
    assert!(matches!(session.handle.checkpoints().await, Err(RewindError::Checkpoint(_))));
    // A store that panics takes nothing else with it.
    assert!(session.handle.rewind_files(&prompt(1)).await.is_err());
    assert!(session.handle.checkpoints().await.is_err());
}

fn commands(script: Script, commands: &[&str]) -> Script {
    let script = commands.iter().fold(script, |script, command| {
        let input = json!({"command": command});
        script.turn(move |turn| turn.tool_use("Bash", input))
    });
    script.turn(|turn| turn.text("ok"))
}

#[tokio::test]
async fn what_commands_change_is_rewound_and_what_people_change_is_not() {
    let world = World::new();
    for name in ["a", "mine", "gone"] {
        std::fs::write(world.path(name), "0").unwrap();
    }
    let script = commands(Script::new(), &["ls", "echo 1 > a && rm gone && mkdir -p new/deep && echo 2 > new/deep/b"]);
    let script = commands(script, &["echo 3 >> a"]);
    let builder = world.builder(script).permissions(Permissions::new().allow(["Bash"]));
    let mut session = builder.storage(StorageOptions::new().file_checkpoints(true)).open().await.unwrap();
    assert!(run(&mut session, 1).await.iter().all(|(failed, _)| !failed));
    std::fs::write(world.path("mine"), "mine").unwrap();
    run(&mut session, 2).await;
    let handle = session.handle.clone();
    let listed: Vec<_> = handle.checkpoints().await.unwrap().into_iter().map(|one| one.files).collect();
    assert_eq!(listed, [3, 1]);
    let done = handle.rewind_own_files(&prompt(2)).await.unwrap();
    assert_eq!((done.changed().count(), done.left().count()), (1, 0));
    assert_eq!(world.read("a").as_deref(), Some("1\n"));
    let done = handle.rewind_own_files(&prompt(1)).await.unwrap();
    assert_eq!((done.changed().count(), done.left().count()), (3, 0), "{done:?}");
    assert_eq!([world.read("a"), world.read("gone")], [Some("0".to_owned()), Some("0".to_owned())]);
    assert_eq!(world.read("mine").as_deref(), Some("mine"));
    assert!(!world.path("new").exists());
}

#[tokio::test]
async fn what_background_commands_change_is_theirs() {
    let world = World::new();
    std::fs::write(world.path("a"), "0").unwrap();
    let input = json!({
        "command": "until [ -e go ]; do sleep 0.05; done; echo 1 > a; until [ -e end ]; do sleep 0.05; done; echo 1 > b",
        "run_in_background": true,
    });
    let script = Script::new().turn(move |turn| turn.tool_use("Bash", input)).turn(|turn| turn.text("ok"));
    let script = script.turn(|turn| turn.text("second")).turn(|turn| turn.text("it has ended"));
    let builder = world.builder(script).permissions(Permissions::new().allow(["Bash"]));
    let mut session = builder.storage(StorageOptions::new().file_checkpoints(true)).open().await.unwrap();
    run(&mut session, 1).await;
    std::fs::write(world.path("go"), "").unwrap();
    while world.read("a").as_deref() != Some("1\n") {
        tokio::task::yield_now().await;
    }
    // Found before the next prompt begins: it belongs to the first one.
    run(&mut session, 2).await;
    std::fs::write(world.path("end"), "").unwrap();
    let handle = session.handle.clone();
    handle.quiet().await;
    let second = handle.file_changes(&prompt(2)).await.unwrap();
    let names = |rewind: &Rewind| -> Vec<String> {
        rewind.files.iter().map(|file| file.path.file_name().unwrap().to_string_lossy().into_owned()).collect()
    };
    assert_eq!(names(&second), ["b", "end"]);
    // Changes that people make while such a command runs cannot be told apart. They are named like all others, and the
    // rewind keeps them.
    assert_eq!(names(&handle.file_changes(&prompt(1)).await.unwrap()), ["a", "b", "end", "go"]);
    let done = handle.rewind_files(&prompt(1)).await.unwrap();
    assert_eq!((world.read("a").as_deref(), world.read("b")), (Some("0"), None));
    handle.rewind_files(&done.undo.unwrap()).await.unwrap();
    assert_eq!((world.read("a").as_deref(), world.read("b").as_deref()), (Some("1\n"), Some("1\n")));
}

#[tokio::test]
async fn the_limits_of_checkpoints_are_options() {
    let world = World::new();
    std::fs::write(world.path("large"), [b'x'; 2000]).unwrap();
    let script = commands(Script::new(), &["echo 1 > large"]);
    let builder = world.builder(script).permissions(Permissions::new().allow(["Bash"]));
    let limits = CheckpointLimits::new(1000, 1000);
    let mut session =
        builder.storage(StorageOptions::new().file_checkpoints(true).checkpoint_limits(limits)).open().await.unwrap();
    run(&mut session, 1).await;
    let listed = session.handle.checkpoints().await.unwrap();
    assert_eq!(listed[0].left_out.iter().map(|left| left.path.clone()).collect::<Vec<_>>(), [world.path("large")]);
    let done = session.handle.rewind_files(&prompt(1)).await.unwrap();
    assert_eq!(done.left().count(), 1);
}

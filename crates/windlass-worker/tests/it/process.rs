//! Worker processes: this test program, started again.

use crate::server::{Database, TENANT};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use windlass::session::SessionBuilder;
use windlass::store::{EntryKind, SessionKey, SessionStore as _};
use windlass::testing::{ScriptedModel, ScriptedTurn};
use windlass::{Permissions, SessionId, ToolCx, coding_tools, session, tool_fn};
use windlass_postgres::{InboxMessage, NewSession, PgConfig, PgStore, SessionState};

use windlass_worker::{Profile, Worker};

const ADDRESS: &str = "WINDLASS_WORKER_TEST_ADDRESS";
const WORKSPACE: &str = "WINDLASS_WORKER_TEST_WORKSPACE";
const TERM: &str = "WINDLASS_WORKER_TEST_TERM_MS";
const CAPACITY: &str = "WINDLASS_WORKER_TEST_CAPACITY";

/// Not a test: a worker. It ends when its standard input does.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "run by the tests below"]
async fn worker() {
    let Ok(address) = std::env::var(ADDRESS) else { return };
    let term = Duration::from_millis(std::env::var(TERM).unwrap().parse().unwrap());
    let store = PgStore::connect(&PgConfig::new(&address, TENANT).unwrap().with_lease_term(term)).await.unwrap();
    let worker = Worker::new(store, "test worker")
        .profile("effect", Profile::new(|workspace| Ok(options(workspace, Permissions::new().allow(["Bash"])))))
        .profile("ask", Profile::new(|workspace| Ok(options(workspace, Permissions::new()))))
        .profile("nap", Profile::new(|workspace| Ok(napping(workspace))))
        .workspace("w", std::env::var(WORKSPACE).unwrap())
        .capacity(std::env::var(CAPACITY).unwrap().parse().unwrap())
        .poll_interval(Duration::from_millis(50))
        .grace(Duration::from_millis(300));
    let end = async {
        tokio::task::spawn_blocking(|| std::io::copy(&mut std::io::stdin(), &mut std::io::sink()))
            .await
            .unwrap()
            .unwrap();
    };
    worker.run(end).await.unwrap();
}

/// A model that makes one call of Bash for each prompt, then answers. The prompt is the command.
fn options(workspace: &Path, permissions: Permissions) -> SessionBuilder {
    let model = ScriptedModel::from_fn(|request, _| {
        let blocks = || request.messages.iter().flat_map(|message| message.content.iter());
        let commands: Vec<&str> =
            blocks().filter_map(|block| block.as_text()).filter(|text| text.starts_with("echo begin")).collect();
        let results = blocks().filter(|block| block.as_tool_result().is_some()).count();
        match commands.last() {
            Some(command) if results < commands.len() => {
                ScriptedTurn::new().tool_use("Bash", serde_json::json!({"command": command, "description": "Acts"}))
            }
            _ => ScriptedTurn::new().text("Done."),
        }
    });
    let options = session().cwd(workspace).tools(coding_tools(workspace)).provider(model).model("m");
    options.permissions(permissions.wait_for_answers())
}

/// A model that makes one call of a tool without an end, then answers.
fn napping(workspace: &Path) -> SessionBuilder {
    let model = ScriptedModel::from_fn(|request, _| {
        let mut blocks = request.messages.iter().flat_map(|message| message.content.iter());
        match blocks.any(|block| block.as_tool_result().is_some()) {
            true => ScriptedTurn::new().text("Done."),
            false => ScriptedTurn::new().tool_use("nap", serde_json::json!({})),
        }
    });
    let nap = tool_fn("nap", "Rests.", |_: BTreeMap<String, u32>, _: ToolCx| async move {
        std::future::pending::<()>().await;
        Ok("rested")
    });
    let options = session().cwd(workspace).tools(nap).provider(model.without_recording()).model("m");
    options.permissions(Permissions::new().allow(["nap"]).wait_for_answers())
}

/// Options of a worker process.
#[derive(Debug)]
pub(crate) struct WorkerSetup<'a> {
    pub(crate) address: String,
    pub(crate) workspace: &'a Path,
    pub(crate) term: Duration,
    pub(crate) capacity: u32,
    /// Words before the program.
    pub(crate) wrapper: &'a [&'a str],
}

impl<'a> WorkerSetup<'a> {
    pub(crate) fn new(database: &Database<'_>, workspace: &'a Path, term: Duration) -> Self {
        let address = database.server.address("worker", &database.name);
        Self { address, workspace, term, capacity: 50, wrapper: &[] }
    }
}

/// A worker of its own process, killed when it is dropped.
pub(crate) struct WorkerProcess(pub(crate) Child);

impl WorkerProcess {
    pub(crate) fn start(database: &Database<'_>, workspace: &Path, term: Duration) -> Self {
        Self::with(&WorkerSetup::new(database, workspace, term))
    }

    pub(crate) fn with(setup: &WorkerSetup<'_>) -> Self {
        let this = std::env::current_exe().unwrap();
        let mut words = setup.wrapper.iter().map(std::ffi::OsStr::new).chain([this.as_os_str()]);
        let logs = std::env::var_os("WINDLASS_WORKER_TEST_LOG").is_some();
        let child = Command::new(words.next().unwrap())
            .args(words)
            .args(["process::worker", "--exact", "--ignored", "--nocapture"])
            .env(ADDRESS, &setup.address)
            .env(WORKSPACE, setup.workspace)
            .env(TERM, setup.term.as_millis().to_string())
            .env(CAPACITY, setup.capacity.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(if logs { Stdio::inherit() } else { Stdio::null() })
            .spawn()
            .unwrap();
        Self(child)
    }

    pub(crate) fn pid(&self) -> u32 {
        self.0.id()
    }

    /// Ends it as SIGTERM ends a service, and waits.
    pub(crate) fn drain(mut self) {
        drop(self.0.stdin.take());
        self.0.wait().unwrap();
    }
}

impl Drop for WorkerProcess {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A session whose prompts are commands, as a service sees it.
pub(crate) struct Client {
    pub(crate) store: PgStore,
    pub(crate) key: SessionKey,
    pub(crate) effects: PathBuf,
}

impl Client {
    /// Registers a session whose calls are allowed.
    pub(crate) async fn begin(database: &Database<'_>, workspace: &Path, number: u32) -> Self {
        Self::of_profile(database, workspace, (number, "effect")).await
    }

    /// Registers a session whose calls are asked about.
    pub(crate) async fn begin_asking(database: &Database<'_>, workspace: &Path, number: u32) -> Self {
        Self::of_profile(database, workspace, (number, "ask")).await
    }

    pub(crate) async fn of_profile(database: &Database<'_>, workspace: &Path, (number, profile): (u32, &str)) -> Self {
        let store = PgStore::connect(&database.config("worker")).await.unwrap();
        let new = NewSession::new(profile, "w");
        let key = new.key(SessionId::from_bits(u128::from(number) + 1));
        store.begin(&key, &new).await.unwrap();
        Self { store, key, effects: workspace.join(format!("effects-{number}")) }
    }

    /// Sends a command that leaves a line in the file of effects, works for a while, and leaves another one.
    pub(crate) async fn send(&self, name: &str, seconds: f64) {
        let file = self.effects.file_name().unwrap().to_str().unwrap();
        let command = format!("echo begin {name} >> {file}; sleep {seconds}; echo end {name} >> {file}");
        self.store.send(&self.key, name, &InboxMessage::prompt(command)).await.unwrap();
    }

    pub(crate) fn effects(&self) -> Vec<String> {
        std::fs::read_to_string(&self.effects).unwrap_or_default().lines().map(str::to_owned).collect()
    }

    /// Waits until the file of effects has a line.
    pub(crate) async fn until_effect(&self, line: &str) {
        until(|| self.effects().iter().any(|known| known == line)).await;
    }

    /// Waits until nothing is left to do.
    pub(crate) async fn until_idle(&self) {
        self.until_state(SessionState::Idle).await;
    }

    pub(crate) async fn until_state(&self, wanted: SessionState) {
        for _ in 0..6_000 {
            let state = self.store.state(&self.key).await.unwrap().unwrap();
            assert_ne!(state.0, SessionState::Poisoned, "{}", state.1);
            if state.0 == wanted {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("the session is never {wanted:?}");
    }

    /// The numbers of runs that the log says have ended, by their outcome, and of its prompts.
    pub(crate) async fn runs(&self) -> (Vec<String>, usize) {
        let entries = self.store.load(&self.key).await.unwrap().entries;
        let outcomes = entries.iter().filter_map(|entry| match &entry.kind {
            EntryKind::RunFinished(record) => Some(record.outcome.clone()),
            _ => None,
        });
        let prompts = entries.iter().filter(|entry| match &entry.kind {
            EntryKind::User(user) => {
                user.content.iter().any(|block| block.as_text().is_some_and(|text| text.starts_with("echo begin")))
            }
            _ => false,
        });
        (outcomes.collect(), prompts.count())
    }
}

/// Waits for what must happen soon.
pub(crate) async fn until(is_so: impl Fn() -> bool) {
    for _ in 0..3_000 {
        if is_so() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("it never happened");
}

//! Steps of the worker with a store, and the required state of the store afterwards.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use windlass_local::LocalWorkspace;
use windlass_session::{
    AgentHeader, Annotation, Checkpoints, Durability, ForkRequest, Lease, Owner, RewindOptions, SessionKey,
    SessionStore, StoreError, StoreErrorKind, fork_session, repair,
};
use windlass_store::{FileCheckpoints, JsonlStore, check_file};
use windlass_testkit::fake::ManualClock;
use windlass_testkit::store::{header, key};
use windlass_tool::Ids;
use windlass_types::{ContentBlock, Entry, EntryId, EntryKind, Timestamp, UserEntry};

/// Line that the worker writes before it waits for its start.
pub(crate) const READY: &str = "ready\n";
const HOME: &str = "WINDLASS_FAULTS_HOME";

/// Number of entries appended to each log.
const ENTRIES: u32 = 4;

/// Number of steps of the worker, each of which may fail: four entries and two more in the session, the same in an
/// agent of it and in a session of another home, a copy, a title, two files kept, a rewind, and a deletion.
pub(crate) const STEPS: usize = 4 + 2 + 4 + 4 + 6;

/// File size limit in blocks of a kibibyte: enough for each file.
pub(crate) const MOST_BLOCKS: u32 = 5;

/// Folder of a worker.
pub(crate) struct World {
    folder: PathBuf,
    /// Removes the folder at the end; a worker does not.
    _made: Option<tempfile::TempDir>,
}

fn number(entry: &Entry) -> Option<u32> {
    let EntryKind::User(user) = &entry.kind else { return None };
    user.content.first()?.as_text()?.split(' ').next()?.parse().ok()
}

fn entry(number: u32, salt: u128) -> Entry {
    let content = vec![ContentBlock::text(format!("{number} {}", "x".repeat(300)))];
    let id = |number: u32| EntryId::from_bits(salt << 64 | (u128::from(number) + 1));
    let parent = number.checked_sub(1).map(id);
    Entry::new(id(number), parent, Timestamp::from_millis(0), EntryKind::User(UserEntry::new(content)))
}

fn owner() -> Owner {
    Owner::new(std::process::id(), "test")
}

fn session() -> SessionKey {
    key("faults", 1)
}

fn copy() -> SessionKey {
    key("faults", 2)
}

fn imported() -> SessionKey {
    key("faults", 3)
}

fn old() -> SessionKey {
    key("faults", 4)
}

fn agent() -> SessionKey {
    session().of_agent("a1".into())
}

fn prompt(number: u32) -> EntryId {
    EntryId::from_bits(u128::from(number))
}

#[derive(Debug)]
struct CountedIds(std::sync::atomic::AtomicU64);

impl Ids for CountedIds {
    fn bits(&self) -> u128 {
        let count = self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        u128::from(std::process::id()) << 64 | u128::from(count)
    }
}

fn blocking<T>(work: impl Future<Output = T>) -> T {
    // One thread for all blocking work: calls are counted by thread.
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.max_blocking_threads(1).thread_keep_alive(std::time::Duration::from_secs(3_600));
    builder.build().unwrap().block_on(work)
}

impl World {
    pub(crate) fn new() -> Self {
        let made = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        let world = Self { folder: made.path().to_owned(), _made: Some(made) };
        fs::create_dir(world.files()).unwrap();
        for name in ["one", "two"] {
            fs::write(world.files().join(name), name).unwrap();
        }
        blocking(async {
            for (home, key) in [(world.other(), imported()), (world.home(), old())] {
                let store = JsonlStore::new(home);
                let lease = store.open(&key, &owner(), header()).await.unwrap();
                store.append(&lease, 0, vec![entry(0, 9)], Durability::Durable).await.unwrap();
                store.close(lease).await.unwrap();
            }
        });
        world
    }

    /// Removes the home, as if no session had been there.
    pub(crate) fn without_home(self) -> Self {
        fs::remove_dir_all(self.folder.join("deep")).unwrap();
        self
    }

    fn home(&self) -> PathBuf {
        self.folder.join("deep/home")
    }

    fn other(&self) -> PathBuf {
        self.folder.join("other")
    }

    fn files(&self) -> PathBuf {
        self.folder.join("files")
    }

    pub(crate) fn trace(&self) -> PathBuf {
        self.folder.join("trace")
    }

    fn store(&self) -> JsonlStore {
        JsonlStore::with_imports(self.home(), vec![self.other()])
    }

    fn checkpoints(&self) -> FileCheckpoints {
        let ids = Arc::new(CountedIds(Default::default()));
        let clock = Arc::new(ManualClock::new());
        FileCheckpoints::new(self.home().join("checkpoints"), Arc::new(LocalWorkspace::new()), clock, ids)
    }

    /// Configures a command to run the worker here.
    pub(crate) fn worker(&self, mut command: Command) -> Command {
        command.args(["faults::work::worker", "--exact", "--ignored", "--nocapture"]);
        command.env(HOME, &self.folder).stdout(Stdio::piped()).stderr(Stdio::null());
        command
    }

    /// Checks that everything acknowledged by the worker exists, and that every session can be continued.
    pub(crate) fn check(&self, report: &[String], what: &str) {
        let did: BTreeSet<&str> = report.iter().filter_map(|line| line.strip_prefix("did ")).collect();
        let unclear = report.iter().find(|line| line.starts_with("unclear "));
        assert_eq!(unclear, None, "{what}");
        let deleted = did.contains("delete");
        blocking(async {
            for (name, key, salt) in [("session", session(), 1), ("agent", agent(), 2), ("imported", imported(), 9)] {
                let acknowledged =
                    did.iter().filter_map(|line| line.strip_prefix(name)?.trim().parse::<u32>().ok()).max();
                self.check_log(&key, acknowledged, salt, &format!("{what}: {name}")).await;
            }
            let copied = self.store().load(&copy()).await;
            assert!(copied.is_ok() || !did.contains("copy"), "{what}: the copy is lost");
            let kept = self.store().load(&old()).await;
            match kept {
                Ok(kept) => assert!(!deleted && numbers(&kept.entries) == [0], "{what}: deleted by half"),
                // A part of its report may have been lost.
                Err(error) => assert_eq!(error.kind, StoreErrorKind::NotFound, "{what}: {error}"),
            }
            self.store().delete(&old()).await.unwrap();
            if did.contains("title") {
                let listed = self.store().list(&session().project).await.unwrap();
                let titled = listed.iter().find(|one| one.session_id == session().session).unwrap();
                assert_eq!(titled.custom_title.as_deref(), Some("a title"), "{what}");
            }
            self.check_files(&did, what).await;
        });
    }

    async fn check_log(&self, key: &SessionKey, acknowledged: Option<u32>, salt: u128, what: &str) {
        let store = self.store();
        let lease = store.open(key, &owner(), header()).await.unwrap_or_else(|error| panic!("{what}: {error}"));
        let loaded = match store.load(key).await {
            Ok(loaded) => loaded,
            Err(error) if acknowledged.is_none() && error.kind == StoreErrorKind::NotFound => return,
            Err(error) => panic!("{what}: {error}"),
        };
        let found = numbers(&loaded.entries);
        let next = found.len() as u32;
        assert_eq!(found, (0..next).collect::<Vec<_>>(), "{what}: a gapless beginning");
        assert!(acknowledged.is_none_or(|last| last < next), "{what}: {acknowledged:?} of {next} is lost");
        store.append(&lease, loaded.seq, vec![entry(next, salt)], Durability::Durable).await.unwrap();
        store.close(lease).await.unwrap();
        let again = store.load(key).await.unwrap();
        assert_eq!(again.report.skipped_total, 0, "{what}: {:?}", again.report);
        assert_eq!(again.report.lost_parents, 0, "{what}: {:?}", again.report);
        let (entries, repairs) = repair(again.entries);
        assert!(repairs.is_clean(), "{what}: {repairs:?}");
        assert_eq!(numbers(&entries), (0..=next).collect::<Vec<_>>(), "{what}");
        assert!(check_file(&store.log_path(key)).unwrap().valid, "{what}");
    }

    /// Checks that files that were acknowledged as kept are restored.
    async fn check_files(&self, did: &BTreeSet<&str>, what: &str) {
        let checkpoints = self.checkpoints();
        let options = RewindOptions::within(vec![self.files().canonicalize().unwrap()]);
        for (name, at) in [("one", 1), ("two", 2)] {
            if did.contains(format!("keep {name}").as_str()) {
                let done = checkpoints.rewind(&prompt(at), &options).await.unwrap_or_else(|e| panic!("{what}: {e}"));
                assert_eq!(done.left().count(), 0, "{what}: {done:?}");
                assert_eq!(fs::read_to_string(self.files().join(name)).unwrap(), name, "{what}");
            }
        }
    }
}

fn numbers(entries: &[Entry]) -> Vec<u32> {
    entries.iter().filter_map(number).collect()
}

/// Writes a line to the test that started this process; the test need not read it.
fn say(line: &str) {
    let mut out = std::io::stdout();
    let _ = out.write_all(format!("\n{line}\n").as_bytes()).and_then(|()| out.flush());
}

fn report<T>(step: &str, done: Result<T, impl std::fmt::Display>) -> Option<T> {
    match done {
        Ok(done) => {
            say(&format!("did {step}"));
            Some(done)
        }
        Err(error) => {
            say(&format!("error {step}: {}", error.to_string().replace('\n', " ")));
            None
        }
    }
}

/// Not a test: the process whose calls fail. It reports its steps.
#[test]
#[ignore = "run by the tests"]
fn worker() {
    let Some(folder) = std::env::var_os(HOME) else { return };
    let world = World { folder: PathBuf::from(folder), _made: None };
    print!("{READY}");
    std::io::stdout().flush().unwrap();
    let mut line = String::new();
    let _ = std::io::stdin().lock().read_line(&mut line);
    blocking(async {
        let store = world.store();
        append(&store, "session", &session(), ENTRIES, 1).await;
        append(&store, "session", &session(), 2, 1).await;
        append(&store, "agent", &agent(), ENTRIES, 2).await;
        append(&store, "imported", &imported(), ENTRIES, 9).await;
        let mut bits = 0;
        let new_id = || {
            bits += 1;
            EntryId::from_bits(bits << 96)
        };
        let request = ForkRequest::new(owner(), header(), Timestamp::default());
        report("copy", fork_session(&store, &session(), &copy(), request, new_id).await);
        let title = Annotation::title("a title").unwrap();
        report("title", store.annotate(&session(), &owner(), &title).await);
        change_files(&world).await;
        report("delete", store.delete(&old()).await);
    });
    // Before the harness writes something, which could fail.
    std::process::exit(0);
}

async fn change_files(world: &World) {
    let checkpoints = world.checkpoints();
    let root = world.files().canonicalize().unwrap();
    for (name, at) in [("one", 1), ("two", 2)] {
        let path = root.join(name);
        let kept = checkpoints.keep(&prompt(at), &name.into(), std::slice::from_ref(&path)).await;
        if report(&format!("keep {name}"), kept).is_some() {
            let _ = fs::write(&path, "changed");
            let _ = checkpoints.changed(&name.into(), &[path]).await;
        }
    }
    report("rewind", checkpoints.rewind(&prompt(2), &RewindOptions::within(vec![root])).await);
}

/// Appends entries one by one and reports which are durable. After the first error every append must give the same one.
async fn append(store: &JsonlStore, name: &str, key: &SessionKey, count: u32, salt: u128) {
    let header = header().with_agent(AgentHeader::new("explore", "Look", "toolu_1".into()));
    let lease = match store.open(key, &owner(), header).await {
        Ok(lease) => lease,
        Err(error) => return say(&format!("error {name} open: {error}")),
    };
    let (mut seq, first) = match store.load(key).await {
        Ok(loaded) => (loaded.seq, numbers(&loaded.entries).len() as u32),
        Err(error) if error.kind == StoreErrorKind::NotFound => (lease.seq(), 0),
        Err(error) => return say(&format!("error {name} load: {error}")),
    };
    for number in first..first + count {
        match store.append(&lease, seq, vec![entry(number, salt)], Durability::Durable).await {
            Ok(next) => {
                seq = next;
                say(&format!("did {name} {number}"));
            }
            Err(error) => {
                say(&format!("error {name} {number}: {error}"));
                return ends_with(store, lease, seq, entry(number, salt), &error).await;
            }
        }
    }
    if let Err(error) = store.close(lease).await {
        say(&format!("error {name} close: {error}"));
    }
}

/// Checks that an error is permanent.
async fn ends_with(store: &JsonlStore, lease: Lease, seq: u64, entry: Entry, error: &StoreError) {
    for durability in [Durability::Buffered, Durability::Durable] {
        let again = store.append(&lease, seq, vec![entry.clone()], durability).await;
        if again.as_ref().err() != Some(error) {
            say(&format!("unclear append: {again:?} after {error}"));
        }
    }
    let closed = store.close(lease).await;
    if closed.as_ref().err() != Some(error) {
        say(&format!("unclear close: {closed:?} after {error}"));
    }
}

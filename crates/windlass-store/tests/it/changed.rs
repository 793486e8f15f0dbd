//! Logs that another program changes while they are open.

#![cfg(unix)]

use std::io::{BufRead, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use windlass_session::{Annotation, Durability, Owner, SessionKey, SessionStore, StoreErrorKind};
use windlass_store::JsonlStore;
use windlass_testkit::store::{header, key};
use windlass_types::{ContentBlock, Entry, EntryId, EntryKind, Timestamp, UserEntry};

const HOME: &str = "WINDLASS_CHANGED_TEST_HOME";

fn prompt(number: u128) -> Entry {
    let content = vec![ContentBlock::text(format!("prompt-{number}-"))];
    let id = EntryId::from_bits(number + 1);
    let parent = number.checked_sub(1).map(|before| EntryId::from_bits(before + 1));
    Entry::new(id, parent, Timestamp::from_millis(0), EntryKind::User(UserEntry::new(content)))
}

/// A change of a log, and its description.
type Tamper = (&'static str, fn(&Path));

const TAMPERS: [Tamper; 8] = [
    ("was replaced", |log| {
        std::fs::copy(log, log.with_extension("copy")).unwrap();
        std::fs::rename(log.with_extension("copy"), log).unwrap();
    }),
    ("was replaced", |log| {
        std::fs::remove_file(log).unwrap();
        std::fs::write(log, "").unwrap();
    }),
    ("was replaced", |log| {
        std::fs::rename(log, log.with_extension("away")).unwrap();
        std::os::unix::fs::symlink(log.with_extension("away"), log).unwrap();
    }),
    ("was moved or removed", |log| std::fs::rename(log, log.with_extension("away")).unwrap()),
    ("was moved or removed", |log| std::fs::remove_file(log).unwrap()),
    ("was cut short", |log| {
        let length = log.metadata().unwrap().len();
        std::fs::OpenOptions::new().write(true).open(log).unwrap().set_len(length - 1).unwrap();
    }),
    ("was cut short", |log| std::fs::write(log, "").unwrap()),
    ("was written anew", |log| {
        let length = usize::try_from(log.metadata().unwrap().len()).unwrap();
        std::fs::write(log, "{}\n".repeat(length)).unwrap();
    }),
];

async fn stops(session: SessionKey) {
    for (at, (how, tamper)) in TAMPERS.into_iter().enumerate() {
        for durability in [Durability::Durable, Durability::Buffered] {
            let home = tempfile::tempdir().unwrap();
            let store = JsonlStore::new(home.path());
            let lease = store.open(&session, &Owner::new(1, "one"), header()).await.unwrap();
            let seq = store.append(&lease, lease.seq(), vec![prompt(0)], Durability::Durable).await.unwrap();
            tamper(&store.log_path(&session));
            let appended = store.append(&lease, seq, vec![prompt(1)], durability).await;
            let error = appended.unwrap_err();
            assert_eq!(error.kind, StoreErrorKind::Changed, "{at}: {error}");
            assert!(error.message.contains(how) && error.message.contains("resume"), "{at}: {error}");
            let again = store.append(&lease, seq, vec![prompt(2)], durability).await.unwrap_err();
            assert_eq!(again.kind, StoreErrorKind::Changed, "{at}: {again}");
            store.close(lease).await.unwrap_err();
        }
    }
}

#[tokio::test]
async fn a_log_that_is_replaced_cut_moved_or_removed_stops_the_session() {
    stops(key("changed", 1)).await;
}

#[tokio::test]
async fn a_log_of_an_agent_that_is_replaced_cut_moved_or_removed_stops_the_agent() {
    stops(key("changed", 2).of_agent("a1".into())).await;
}

#[tokio::test]
async fn a_resumed_log_is_compared_with_what_was_opened() {
    for (how, tamper) in TAMPERS {
        let home = tempfile::tempdir().unwrap();
        let (store, session) = (JsonlStore::new(home.path()), key("resumed", 1));
        let lease = store.open(&session, &Owner::new(1, "one"), header()).await.unwrap();
        store.append(&lease, lease.seq(), vec![prompt(0)], Durability::Durable).await.unwrap();
        store.close(lease).await.unwrap();
        let lease = store.open(&session, &Owner::new(1, "one"), header()).await.unwrap();
        tamper(&store.log_path(&session));
        let error = store.append(&lease, lease.seq(), vec![prompt(1)], Durability::Durable).await.unwrap_err();
        assert!(error.kind == StoreErrorKind::Changed && error.message.contains(how), "{error}");
    }
}

#[tokio::test]
async fn lines_of_others_are_no_change() {
    let home = tempfile::tempdir().unwrap();
    let (store, other, session) = (JsonlStore::new(home.path()), JsonlStore::new(home.path()), key("grows", 1));
    let lease = store.open(&session, &Owner::new(1, "one"), header()).await.unwrap();
    let mut seq = lease.seq();
    for number in 0..20 {
        seq = store.append(&lease, seq, vec![prompt(number)], Durability::Durable).await.unwrap();
        let title = Annotation::title(&format!("title {number} {}", "x".repeat(100))).unwrap();
        other.annotate(&session, &Owner::new(2, "two"), &title).await.unwrap();
        if number == 10 {
            // A program that was killed in the middle of its line.
            let mut log = std::fs::OpenOptions::new().append(true).open(store.log_path(&session)).unwrap();
            log.write_all(b"{\"type\":\"ta").unwrap();
        }
    }
    store.close(lease).await.unwrap();
    let loaded = store.load(&session).await.unwrap();
    assert_eq!(loaded.entries.iter().filter(|entry| matches!(entry.kind, EntryKind::User(_))).count(), 20);
    let folder = store.log_path(&session);
    let names: Vec<_> = std::fs::read_dir(folder.parent().unwrap()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names, [folder.file_name().unwrap()], "the lock of the name is gone");
}

/// Not a test: a process that appends for each line of its input, and reports the result.
#[tokio::test]
#[ignore = "run by the test below"]
async fn appender() {
    let Some(home) = std::env::var_os(HOME) else { return };
    let (store, session) = (JsonlStore::new(home), key("two", 1));
    let lease = store.open(&session, &Owner::new(std::process::id(), "appender"), header()).await.unwrap();
    let mut seq = lease.seq();
    println!("\nopen");
    for (number, _) in std::io::stdin().lines().enumerate() {
        match store.append(&lease, seq, vec![prompt(number as u128)], Durability::Durable).await {
            Ok(now) => {
                seq = now;
                println!("\nappended");
            }
            Err(error) => println!("\nfailed {:?}", error.kind),
        }
    }
}

struct Appender(Child, std::io::Lines<BufReader<std::process::ChildStdout>>);

impl Appender {
    fn start(home: &Path) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["changed::appender", "--exact", "--ignored", "--nocapture"])
            .env(HOME, home)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut appender = Self(child, lines);
        assert_eq!(appender.answer(), "open");
        appender
    }

    fn answer(&mut self) -> String {
        let words = ["open", "appended", "failed "];
        let is_answer = |line: &String| words.iter().any(|word| line.starts_with(word));
        self.1.by_ref().map_while(Result::ok).find(is_answer).unwrap_or_default()
    }

    fn append(&mut self) -> String {
        self.0.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
        self.answer()
    }
}

#[tokio::test]
async fn a_second_process_does_not_open_a_session_whose_log_was_replaced() {
    for (_, tamper) in TAMPERS {
        let home = tempfile::tempdir().unwrap();
        let (store, session) = (JsonlStore::new(home.path()), key("two", 1));
        let mut first = Appender::start(home.path());
        assert_eq!(first.append(), "appended");
        tamper(&store.log_path(&session));
        let owner = Owner::new(2, "second");
        let refused = store.open(&session, &owner, header()).await.unwrap_err();
        assert_eq!(refused.kind, StoreErrorKind::InUse, "{refused}");
        if cfg!(target_os = "linux") {
            assert!(refused.message.contains(&format!("process {}", first.0.id())), "{refused}");
        }
        // A missing log is not deleted.
        if store.log_path(&session).symlink_metadata().is_ok() {
            let refused = store.delete(&session).await.unwrap_err();
            assert_eq!(refused.kind, StoreErrorKind::InUse, "{refused}");
        }
        // The first process notices it before it continues.
        assert_eq!(first.append(), "failed Changed");
        first.0.kill().unwrap();
        first.0.wait().unwrap();
        // The file left by a killed process locks nothing.
        assert!(store.log_path(&session).with_extension("lock").exists());
        let opened = store.open(&session, &owner, header()).await;
        // A link in the place of a log is refused as such.
        if store.log_path(&session).is_symlink() {
            assert_eq!(opened.unwrap_err().kind, StoreErrorKind::Io);
        } else {
            store.close(opened.unwrap()).await.unwrap();
        }
        assert!(!store.log_path(&session).with_extension("lock").exists());
    }
}

#[tokio::test]
async fn what_killed_processes_left_behind_in_a_home_is_removed_and_nothing_else() {
    let home = tempfile::tempdir().unwrap();
    let (store, session) = (JsonlStore::new(home.path()), key("two", 1));
    let mut killed = Appender::start(home.path());
    assert_eq!(killed.append(), "appended");
    let (log, name) = (store.log_path(&session), store.log_path(&session).with_extension("lock"));
    assert_eq!(store.remove_left_behind().await.unwrap(), 0, "it lives");
    killed.0.kill().unwrap();
    killed.0.wait().unwrap();
    // The temporary file of an interrupted fork, and files of others.
    let fork = log.with_file_name(format!(".windlass-{:032x}.tmp", 1));
    let others = [log.with_file_name("mine.lock"), log.with_file_name(".windlass-mine.tmp"), log.with_extension("txt")];
    [&fork].into_iter().chain(&others).for_each(|path| std::fs::write(path, "").unwrap());
    assert!(name.exists());
    assert_eq!(store.remove_left_behind().await.unwrap(), 2);
    assert!(!name.exists() && !fork.exists() && log.exists() && others.iter().all(|path| path.exists()));
    let lease = store.open(&session, &Owner::new(1, "one"), header()).await.unwrap();
    assert_eq!(store.remove_left_behind().await.unwrap(), 0, "it is open here");
    assert!(name.exists());
    store.close(lease).await.unwrap();
}

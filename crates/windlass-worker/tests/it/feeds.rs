//! Readers of sessions: those of a process that is killed, and many of one session.

use crate::server::{Database, Server, TENANT};
use crate::takeover::trials;
use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use windlass::ContentBlock;
use windlass::session::{EntryId, StoredFeed};
use windlass::store::{
    Durability, Entry, EntryKind, Lease, Owner, SessionKey, SessionStore as _, Timestamp, UserEntry,
};
use windlass_postgres::{PgConfig, PgStore};
use windlass_testkit::store::{header, key};

const ADDRESS: &str = "WINDLASS_FEED_TEST_ADDRESS";
const FOLDER: &str = "WINDLASS_FEED_TEST_FOLDER";
const READERS: u32 = 100;
const TERM: Duration = Duration::from_secs(600);

fn entry(number: u32) -> Entry {
    entry_of(number, 0)
}

/// Returns an entry with this many bytes more.
pub(crate) fn entry_of(number: u32, more: usize) -> Entry {
    let parent = (number > 0).then(|| EntryId::from_bits(u128::from(number)));
    let text = format!("prompt {number}{}", "x".repeat(more));
    let kind = EntryKind::User(UserEntry::new(vec![ContentBlock::text(text)]));
    Entry::new(EntryId::from_bits(u128::from(number) + 1), parent, Timestamp::from_millis(u64::from(number)), kind)
}

/// A session that a test writes.
struct Writer {
    store: PgStore,
    lease: Lease,
    seq: u64,
    written: u32,
}

impl Writer {
    async fn open(database: &Database<'_>, key: &SessionKey) -> Self {
        let store = database.store(TERM).await;
        let lease = store.open(key, &Owner::new(1, "writer"), header()).await.unwrap();
        let seq = lease.seq();
        Self { store, lease, seq, written: 0 }
    }

    /// Appends an entry, and returns how long it took.
    async fn append(&mut self) -> Duration {
        let (begun, next) = (Instant::now(), vec![entry(self.written)]);
        self.seq = self.store.append(&self.lease, self.seq, next, Durability::Durable).await.unwrap();
        self.written += 1;
        begun.elapsed()
    }
}

/// Not a test: a process with a hundred readers, each of which notes the entries and positions that it has seen.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "run by the tests below"]
async fn front() {
    let Ok(address) = std::env::var(ADDRESS) else { return };
    let store = Arc::new(PgStore::connect(&PgConfig::new(&address, TENANT).unwrap()).await.unwrap());
    let folder = std::path::PathBuf::from(std::env::var(FOLDER).unwrap());
    let mut readers = tokio::task::JoinSet::new();
    for reader in 0..READERS {
        let path = folder.join(reader.to_string());
        let seen = seen(&path);
        let from = seen.last().map_or(0, |(_, position)| *position);
        let mut feed = StoredFeed::subscribe_from(Arc::clone(&store) as _, key("front", 1), from);
        readers.spawn(async move {
            let mut notes = std::fs::OpenOptions::new().append(true).create(true).open(path).unwrap();
            loop {
                let entry = feed.next().await.unwrap();
                notes.write_all(format!("{} {}\n", entry.id, feed.position()).as_bytes()).unwrap();
            }
        });
    }
    readers.join_all().await;
}

/// Entries that a reader has noted, with the positions behind them.
fn seen(path: &Path) -> Vec<(String, u64)> {
    let notes = std::fs::read_to_string(path).unwrap_or_default();
    let line = |line: &str| line.split_once(' ').map(|(id, position)| (id.to_owned(), position.parse().unwrap()));
    notes.lines().filter_map(line).collect()
}

fn start_front(address: &str, folder: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["feeds::front", "--exact", "--ignored"])
        .env(ADDRESS, address)
        .env(FOLDER, folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Row 10: a process with 100 readers is killed at random times, and each reader goes on behind the position that it has seen.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn row_10_readers_of_a_killed_process_see_each_entry_once_and_in_order() {
    let Some(server) = Server::start() else { return };
    let (database, folder) = (server.database().await, tempfile::tempdir().unwrap());
    let mut writer = Writer::open(&database, &key("front", 1)).await;
    let address = server.address("service", &database.name);
    let (kills, mut random) = (trials(3), 0x2545_f491_4f6c_dd1d_u64);
    for _ in 0..kills {
        let mut front = start_front(&address, folder.path());
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let until = Instant::now() + Duration::from_millis(300 + random % 900);
        while Instant::now() < until {
            writer.append().await;
        }
        front.kill().unwrap();
        front.wait().unwrap();
    }
    let mut front = start_front(&address, folder.path());
    let expected: Vec<String> = (0..writer.written).map(|number| entry(number).id.to_string()).collect();
    for reader in 0..READERS {
        let path = folder.path().join(reader.to_string());
        crate::process::until(|| seen(&path).len() >= expected.len()).await;
        let seen: Vec<String> = seen(&path).into_iter().map(|(id, _)| id).collect();
        assert_eq!(seen, expected, "reader {reader}");
    }
    front.kill().unwrap();
    front.wait().unwrap();
    println!("row 10: {kills} kills, {READERS} readers, {} entries each", expected.len());
}

/// Row 26: a thousand readers of one session, one of which does not read, while its owner writes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn row_26_a_thousand_readers_of_one_session_see_all_of_it() {
    let Some(server) = Server::start() else { return };
    let (database, key, readers) = (server.database().await, key("crowd", 1), 1_000);
    let mut writer = Writer::open(&database, &key).await;
    let mut alone = Vec::new();
    for _ in 0..50 {
        alone.push(writer.append().await);
    }
    let service = Arc::new(PgStore::connect(&database.config("service")).await.unwrap());
    let total = 100;
    let mut idle = StoredFeed::subscribe_from(Arc::clone(&service) as _, key.clone(), 0);
    idle.next().await.unwrap();
    let mut reading = tokio::task::JoinSet::new();
    for _ in 0..readers {
        let mut feed = StoredFeed::subscribe_from(Arc::clone(&service) as _, key.clone(), 0);
        reading.spawn(async move {
            for number in 0..total {
                assert_eq!(feed.next().await.unwrap(), entry(number));
            }
        });
    }
    let mut beside = Vec::new();
    while writer.written < total {
        beside.push(writer.append().await);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    while let Some(read) = reading.join_next().await {
        read.unwrap();
    }
    for number in 1..total {
        assert_eq!(idle.next().await.unwrap(), entry(number));
    }
    alone.sort();
    beside.sort();
    let median = |times: &[Duration]| times[times.len() / 2];
    println!("row 26: {readers} readers; append p50 {:?} alone, {:?} beside them", median(&alone), median(&beside));
}

//! Faults happen when they are planned, and only then.

use std::path::Path;

use futures_util::FutureExt;
use windlass_session::{AgentHeader, Durability, Lease, MemoryStore, Owner, SessionStore, StoreErrorKind};
use windlass_testkit::fake::MemoryWorkspace;
use windlass_testkit::fault::{FaultyStore, FaultyWorkspace, FileOperation, StoreOperation};
use windlass_testkit::store::{Crash, entries, header, key};
use windlass_testkit::{Gate, store, workspace};
use windlass_tool::{JudgedPath, Permit, Workspace, WorkspaceError, WorkspaceErrorKind, WriteOptions};
use windlass_types::{CallDigest, Entry};

fn permit() -> Permit {
    Permit::new(CallDigest::new("0"))
        .with_writes(vec![JudgedPath::new("/work", "/work"), JudgedPath::new("/work/a", "/work/a")])
}

async fn write(disk: &impl Workspace, content: &str) -> Result<(), WorkspaceErrorKind> {
    let written = disk.write(&permit(), Path::new("/work/a"), content.as_bytes(), WriteOptions::default()).await;
    written.map_err(|error| error.kind)
}

async fn read(disk: &impl Workspace) -> Result<(String, usize), WorkspaceError> {
    let mut file = disk.open(&permit(), Path::new("/work/a")).await?;
    let (mut content, mut pieces) = (Vec::new(), 0);
    loop {
        match file.read(100).await? {
            chunk if chunk.is_empty() => return Ok((String::from_utf8_lossy(&content).into_owned(), pieces)),
            chunk => content.extend(chunk),
        }
        pieces += 1;
    }
}

#[tokio::test]
async fn without_faults_the_promises_are_kept() {
    let files = MemoryWorkspace::new();
    let disk = FaultyWorkspace::new(files.clone());
    disk.set_read_size(4_097);
    workspace::all(&disk, &files).await.unwrap();
    store::all(&FaultyStore::new(MemoryStore::new()), Crash::LeavesWholeEntries).await.unwrap();
}

#[tokio::test]
async fn writes_fail_before_or_after_they_are_done() {
    let files = MemoryWorkspace::new();
    let disk = FaultyWorkspace::new(files.clone());
    disk.fail(FileOperation::Write, 2, WorkspaceErrorKind::NoSpace);
    disk.fail_late(FileOperation::Write, 3, WorkspaceErrorKind::Other);
    disk.fail_from(FileOperation::Write, 5, WorkspaceErrorKind::ReadOnly);
    let outcomes = [
        (Ok(()), "1"),
        (Err(WorkspaceErrorKind::NoSpace), "1"),
        (Err(WorkspaceErrorKind::Other), "3"),
        (Ok(()), "4"),
        (Err(WorkspaceErrorKind::ReadOnly), "4"),
        (Err(WorkspaceErrorKind::ReadOnly), "4"),
    ];
    for (at, (outcome, content)) in outcomes.into_iter().enumerate() {
        assert_eq!(write(&disk, &(at + 1).to_string()).await, outcome, "write {}", at + 1);
        assert_eq!(files.text("/work/a").as_deref(), Some(content));
    }
    assert_eq!(disk.clone().count(FileOperation::Write), 6, "clones share the plan");
}

#[tokio::test]
async fn reads_come_short_fail_half_way_and_wait() {
    let disk = FaultyWorkspace::new(MemoryWorkspace::new().with_file("/work/a", "0123456789"));
    disk.set_read_size(3);
    assert_eq!(read(&disk).await.unwrap(), ("0123456789".to_owned(), 4));
    disk.fail(FileOperation::Read, 7, WorkspaceErrorKind::Other);
    assert_eq!(read(&disk).await.unwrap_err().kind, WorkspaceErrorKind::Other);
    assert_eq!(disk.count(FileOperation::Read), 7);

    let gate = Gate::new();
    disk.wait_at(FileOperation::Open, 3, &gate);
    disk.fail(FileOperation::Open, 3, WorkspaceErrorKind::Changed);
    let opened = async {
        gate.wait_arrived(1).await;
        gate.open();
    };
    let (error, ()) = tokio::join!(read(&disk), opened);
    let error = error.unwrap_err();
    assert_eq!(error.kind, WorkspaceErrorKind::Changed);
    assert!(error.message.contains("/work/a"), "{error}");
    for (operation, failed) in [
        (FileOperation::Resolve, disk.resolve(Path::new("/work")).await.map(drop)),
        (FileOperation::List, disk.list(&permit(), Path::new("/work"), 9).await.map(drop)),
    ] {
        assert!(failed.is_ok(), "{operation:?}");
        disk.fail(operation, 2, WorkspaceErrorKind::AccessDenied);
    }
    assert!(disk.resolve(Path::new("/work")).await.is_err());
    assert!(disk.list(&permit(), Path::new("/work"), 9).await.is_err());
}

fn parts() -> (Vec<Entry>, Vec<Entry>, Vec<Entry>) {
    let mut all = entries();
    let (rest, middle) = (all.split_off(5), all.split_off(1));
    (all, middle, rest)
}

async fn opened(store: &FaultyStore<MemoryStore>, number: u32) -> Lease {
    store.open(&key("fault", number), &Owner::new(1, "test"), header()).await.unwrap()
}

#[tokio::test]
async fn a_failed_append_stays_failed_until_the_session_is_opened_again() {
    let store = FaultyStore::new(MemoryStore::new());
    store.fail(StoreOperation::Append, 2, StoreErrorKind::Full);
    let (first, second, third) = parts();
    let lease = opened(&store, 1).await;
    let seq = store.append(&lease, lease.seq(), first.clone(), Durability::Durable).await.unwrap();
    for entries in [second, third] {
        let error = store.append(&lease, seq, entries, Durability::Buffered).await.unwrap_err();
        assert_eq!(error.kind, StoreErrorKind::Full);
    }
    assert_eq!(store.close(lease).await.unwrap_err().kind, StoreErrorKind::Full);
    assert_eq!(store.load(&key("fault", 1)).await.unwrap().entries, first);
    let lease = opened(&store, 1).await;
    let (_, second, _) = parts();
    store.append(&lease, lease.seq(), second, Durability::Durable).await.unwrap();
    store.close(lease).await.unwrap();
}

#[tokio::test]
async fn a_wrong_position_is_no_failed_write() {
    let store = FaultyStore::new(MemoryStore::new());
    let (first, ..) = parts();
    let lease = opened(&store, 1).await;
    let error = store.append(&lease, 77, first.clone(), Durability::Durable).await.unwrap_err();
    assert_eq!(error.kind, StoreErrorKind::Conflict);
    store.append(&lease, lease.seq(), first, Durability::Durable).await.unwrap();
    store.close(lease).await.unwrap();
}

#[tokio::test]
async fn a_late_failure_is_done_all_the_same() {
    let store = FaultyStore::new(MemoryStore::new());
    store.fail_late(StoreOperation::Append, 1, StoreErrorKind::Io);
    let (first, ..) = parts();
    let lease = opened(&store, 1).await;
    assert!(store.append(&lease, lease.seq(), first.clone(), Durability::Durable).await.is_err());
    drop(lease);
    assert_eq!(store.load(&key("fault", 1)).await.unwrap().entries, first);
}

#[tokio::test]
async fn a_crash_loses_what_was_not_synced_and_nothing_else() {
    let store = FaultyStore::new(MemoryStore::new());
    let (first, second, third) = parts();
    let synced = opened(&store, 1).await;
    store.append(&synced, synced.seq(), entries(), Durability::Buffered).await.unwrap();
    store.close(synced).await.unwrap();
    let nothing = opened(&store, 2).await;
    store.append(&nothing, nothing.seq(), first.clone(), Durability::Buffered).await.unwrap();
    let some = opened(&store, 3).await;
    let seq = store.append(&some, some.seq(), first.clone(), Durability::Buffered).await.unwrap();
    let seq = store.append(&some, seq, second.clone(), Durability::Durable).await.unwrap();
    store.crash_at_append(2);
    let seq = store.append(&some, seq, third.clone(), Durability::Buffered).await.unwrap();
    assert!(store.append(&some, seq, Vec::new(), Durability::Durable).await.is_err());
    assert!(store.is_crashed());
    for number in 1..4 {
        assert_eq!(store.load(&key("fault", number)).await.unwrap_err().kind, StoreErrorKind::Io);
    }
    assert!(store.restart().await.is_err(), "a lease is still held");
    drop((nothing, some));
    store.restart().await.unwrap();
    assert_eq!(store.load(&key("fault", 1)).await.unwrap().entries, entries());
    assert_eq!(store.load(&key("fault", 2)).await.unwrap_err().kind, StoreErrorKind::NotFound);
    let left: Vec<Entry> = first.into_iter().chain(second).collect();
    assert_eq!(store.load(&key("fault", 3)).await.unwrap().entries, left);
    let lease = opened(&store, 3).await;
    store.append(&lease, lease.seq(), third, Durability::Durable).await.unwrap();
    store.close(lease).await.unwrap();
    assert_eq!(store.load(&key("fault", 3)).await.unwrap().entries, entries());
}

#[tokio::test]
async fn a_crash_takes_from_each_agent_what_was_not_synced_and_nothing_else() {
    let store = FaultyStore::new(MemoryStore::new());
    let (first, second, _) = parts();
    let session = key("fault", 1);
    let owner = Owner::new(1, "test");
    let described = header().with_agent(AgentHeader::new("explore", "Look", "toolu_1".into()));
    for (id, durability) in [("kept", Durability::Durable), ("cut", Durability::Buffered)] {
        let lease = store.open(&session.of_agent(id.into()), &owner, described.clone()).await.unwrap();
        let seq = store.append(&lease, lease.seq(), first.clone(), Durability::Durable).await.unwrap();
        store.append(&lease, seq, second.clone(), durability).await.unwrap();
    }
    let lease = opened(&store, 1).await;
    store.append(&lease, lease.seq(), first.clone(), Durability::Buffered).await.unwrap();
    drop(lease);
    store.crash();
    store.restart().await.unwrap();
    assert_eq!(store.load(&session).await.unwrap_err().kind, StoreErrorKind::NotFound);
    let whole: Vec<Entry> = first.iter().cloned().chain(second).collect();
    for (id, left) in [("kept", whole), ("cut", first)] {
        assert_eq!(store.load(&session.of_agent(id.into())).await.unwrap().entries, left, "{id}");
    }
    let agents = store.agents(&session).await.unwrap();
    let found: Vec<_> = agents.iter().map(|agent| (agent.id.as_str(), agent.agent_type.as_str())).collect();
    assert_eq!(found, [("cut", "explore"), ("kept", "explore")]);
}

#[tokio::test]
async fn other_operations_fail_and_wait_as_well() {
    let store = FaultyStore::new(MemoryStore::new());
    let project = key("fault", 1).project;
    for operation in [StoreOperation::Open, StoreOperation::Load, StoreOperation::List, StoreOperation::Delete] {
        store.fail(operation, 1, StoreErrorKind::Io);
    }
    let key = key("fault", 1);
    assert!(store.open(&key, &Owner::new(1, "test"), header()).await.is_err());
    assert_eq!(store.load(&key).await.unwrap_err().kind, StoreErrorKind::Io);
    assert!(store.list(&project).await.is_err());
    assert!(store.delete(&key).await.is_err());
    assert!(store.list(&project).await.unwrap().is_empty());

    let gate = Gate::new();
    store.wait_at(StoreOperation::Close, 1, &gate);
    let lease = opened(&store, 1).await;
    assert!(store.close(lease).now_or_never().is_none(), "the gate is shut");
    assert_eq!((gate.arrived(), store.count(StoreOperation::Close)), (1, 1));
}

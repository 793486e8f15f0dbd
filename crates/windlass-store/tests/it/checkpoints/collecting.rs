//! Checkpoints of stored sessions that are dropped, and those that are not.

use super::*;
use std::fs;
use windlass_session::{LogHeader, Owner, ProjectKey, SessionKey, SessionStore};
use windlass_store::{CheckpointRetention, JsonlStore};
use windlass_types::{SessionId, Timestamp};

const SESSIONS: [&str; 3] = [
    "aaaaaaaa-2222-4222-8222-222222222222",
    "bbbbbbbb-2222-4222-8222-222222222222",
    "cccccccc-2222-4222-8222-222222222222",
];

fn key(world: &World, session: &str) -> SessionKey {
    SessionKey::new(ProjectKey::of(&world.root()), SessionId::from(session))
}

fn directory(world: &World, store: &JsonlStore, session: &str) -> PathBuf {
    FileCheckpoints::directory_in(&store.log_path(&key(world, session)).with_extension(""))
}

/// Creates three sessions, each of which keeps a file of 1,000 bytes, used one after the other.
async fn three() -> (World, JsonlStore) {
    let world = World::new();
    let store = JsonlStore::new(world.home.path());
    for (number, session) in (0_u8..).zip(SESSIONS) {
        fs::write(world.path("a"), [number; 1000]).unwrap();
        let checkpoints = at(&directory(&world, &store, session));
        checkpoints.begin(&prompt(1)).await.unwrap();
        change(&checkpoints, 1, &world.path("a"), b"x").await;
        let used = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000 + 1000 * u64::from(number));
        let folder = directory(&world, &store, session);
        for path in [folder.join("index.jsonl"), folder.clone(), folder.join("objects")] {
            fs::File::open(&path).unwrap().set_modified(used).unwrap();
        }
        for object in fs::read_dir(folder.join("objects")).unwrap() {
            fs::File::open(object.unwrap().path()).unwrap().set_modified(used).unwrap();
        }
    }
    (world, store)
}

fn names(collected: &windlass_store::CollectedCheckpoints) -> Vec<&str> {
    collected.dropped.iter().map(|one| one.session.as_str()).collect()
}

#[tokio::test]
async fn the_oldest_go_first_and_a_look_drops_none() {
    let (world, store) = three().await;
    let all = store.collect_checkpoints(CheckpointRetention::default()).await.unwrap();
    assert!(all.dropped.is_empty() && all.left_bytes > 3000, "{all:?}");
    let old = CheckpointRetention::default().used_before(Timestamp::from_millis(1_000_500_000));
    let would = store.collect_checkpoints(old.dry_run()).await.unwrap();
    assert_eq!(names(&would), SESSIONS[..1]);
    assert!(directory(&world, &store, SESSIONS[0]).exists());
    assert_eq!(store.collect_checkpoints(old).await.unwrap(), would);
    assert!(!directory(&world, &store, SESSIONS[0]).exists());
    let half = CheckpointRetention::default().total_bytes(would.left_bytes / 2);
    let done = store.collect_checkpoints(half).await.unwrap();
    assert_eq!(names(&done), SESSIONS[1..2]);
    let checkpoints = at(&directory(&world, &store, SESSIONS[2]));
    assert_eq!(checkpoints.rewind(&prompt(1), &world.options()).await.unwrap().changed().count(), 1);
    assert_eq!(fs::read(world.path("a")).unwrap(), [2; 1000]);
}

#[tokio::test]
async fn what_is_in_use_stays_and_links_are_not_followed() {
    let (world, store) = three().await;
    let all = CheckpointRetention::default().total_bytes(0);
    let checkpoints = at(&directory(&world, &store, SESSIONS[0]));
    checkpoints.list().await.unwrap();
    let owner = Owner::new(std::process::id(), "test");
    let lease = store.open(&key(&world, SESSIONS[1]), &owner, LogHeader::default()).await.unwrap();
    let outside = tempfile::tempdir().unwrap();
    fs::create_dir_all(outside.path().join("dddddddd-2222-4222-8222-222222222222/file-history")).unwrap();
    std::os::unix::fs::symlink(outside.path(), world.home.path().join("projects/linked")).unwrap();
    let done = store.collect_checkpoints(all).await.unwrap();
    assert_eq!(names(&done), SESSIONS[2..]);
    assert_eq!(done.in_use.iter().map(SessionId::as_str).collect::<Vec<_>>(), SESSIONS[..2]);
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
    drop((checkpoints, lease));
    assert_eq!(names(&store.collect_checkpoints(all).await.unwrap()), SESSIONS[..2]);
}

#[tokio::test]
async fn outputs_of_sessions_go_with_their_checkpoints() {
    let world = World::new();
    let store = JsonlStore::new(world.home.path());
    let outputs = |session: &str| directory(&world, &store, session).with_file_name("tool-results");
    for session in &SESSIONS[..2] {
        fs::create_dir_all(outputs(session)).unwrap();
        fs::write(outputs(session).join("bash-1.txt"), [b'x'; 1000]).unwrap();
    }
    let owner = Owner::new(std::process::id(), "test");
    let lease = store.open(&key(&world, SESSIONS[1]), &owner, LogHeader::default()).await.unwrap();
    let all = CheckpointRetention::default().total_bytes(0);
    let done = store.collect_checkpoints(all).await.unwrap();
    assert_eq!((names(&done), done.dropped[0].bytes, done.left_bytes), (SESSIONS[..1].to_vec(), 1000, 1000));
    assert!(!outputs(SESSIONS[0]).exists() && outputs(SESSIONS[1]).exists(), "the other one is open");
    drop(lease);
}

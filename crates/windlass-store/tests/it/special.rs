//! Files that are not logs at all.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc;
use std::time::Duration;
use windlass_session::{Durability, Owner, SessionKey, SessionStore, StoreErrorKind};
use windlass_store::{JsonlStore, check_file, export_file, git_branch};
use windlass_testkit::store::{entries, header, key};

/// Runs code that must not wait for another program. A test that fails is better than one that hangs.
fn at_once<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, waiting) = mpsc::channel();
    std::thread::spawn(move || done.send(work()));
    waiting.recv_timeout(Duration::from_secs(60)).expect("it waits for a pipe")
}

fn fifo(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// Creates every kind of entry that can be in the place of a file, and returns the paths.
fn odd_files(folder: &Path, name: impl Fn(u32) -> String) -> Vec<PathBuf> {
    let path = |number| folder.join(name(number));
    fifo(&path(1));
    drop(UnixListener::bind(path(2)).unwrap());
    fs::create_dir(path(3)).unwrap();
    symlink(path(1), path(4)).unwrap();
    symlink("/dev/zero", path(5)).unwrap();
    symlink(path(6), path(6)).unwrap();
    (1..=6).map(path).collect()
}

#[test]
fn what_has_no_end_is_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let odd = odd_files(folder.path(), |number| number.to_string());
    for path in ["/dev/zero", "/tmp", "/nowhere/at/all.jsonl"].into_iter().map(PathBuf::from).chain(odd) {
        at_once(move || {
            assert!(check_file(&path).is_err(), "{}", path.display());
            assert!(export_file(&path).is_err(), "{}", path.display());
        });
    }
}

#[test]
fn a_file_that_the_user_names_may_be_a_link() {
    let folder = tempfile::tempdir().unwrap();
    let (log, link) = (folder.path().join("log.jsonl"), folder.path().join("link.jsonl"));
    fs::write(&log, "{\"type\":\"tag\",\"tag\":\"x\"}\n").unwrap();
    symlink(&log, &link).unwrap();
    assert_eq!(check_file(&link).unwrap(), check_file(&log).unwrap());
}

fn blocking<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(work)
}

fn store_one(store: &JsonlStore, key: &SessionKey) {
    blocking(async {
        let lease = store.open(key, &Owner::new(1, "test"), header()).await.unwrap();
        store.append(&lease, 0, entries(), Durability::Durable).await.unwrap();
        store.close(lease).await.unwrap();
    });
}

#[test]
fn what_stands_in_the_place_of_a_session_is_named_and_hides_none() {
    let home = tempfile::tempdir().unwrap();
    let store = JsonlStore::new(home.path());
    let session = key("odd", 99);
    store_one(&store, &session);
    let folder = store.log_path(&session).parent().unwrap().to_owned();
    let named = |number: u32| format!("{}.jsonl", key("odd", number).session);
    let mut odd = odd_files(&folder, named);
    let (inner, project) = (store.clone(), session.project.clone());
    let listed = at_once(move || blocking(inner.list_all(&project)).unwrap());
    assert_eq!(listed.sessions.iter().map(|one| &one.session_id).collect::<Vec<_>>(), [&session.session]);
    let mut skipped: Vec<PathBuf> = listed.skipped.iter().map(|skipped| skipped.path.clone()).collect();
    skipped.sort();
    odd.sort();
    assert_eq!(skipped, odd);
    let text = listed.skipped.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    for what in ["a named pipe", "a socket", "a directory", "a link"] {
        assert!(text.contains(what), "{text}");
    }
}

#[test]
fn what_stands_in_the_place_of_a_session_is_neither_written_nor_waited_for() {
    let home = tempfile::tempdir().unwrap();
    let store = JsonlStore::new(home.path());
    store_one(&store, &key("odd", 99));
    let folder = store.log_path(&key("odd", 99)).parent().unwrap().to_owned();
    odd_files(&folder, |number| format!("{}.jsonl", key("odd", number).session));
    for number in 1..=6 {
        let (store, key) = (store.clone(), key("odd", number));
        let path = folder.join(format!("{}.jsonl", key.session));
        at_once(move || {
            blocking(async {
                let refused = store.open(&key, &Owner::new(1, "test"), header()).await.unwrap_err();
                assert_eq!(refused.kind, StoreErrorKind::Io, "{refused}");
                assert!(refused.to_string().contains(key.session.as_str()), "{refused}");
                assert!(store.load(&key).await.is_err());
                assert!(store.delete(&key).await.is_err());
            });
        });
        assert!(path.symlink_metadata().is_ok(), "{}", path.display());
    }
}

#[test]
fn what_stands_in_the_place_of_an_agent_hides_no_other() {
    let home = tempfile::tempdir().unwrap();
    let store = JsonlStore::new(home.path());
    let session = key("agents", 1);
    store_one(&store, &session);
    store_one(&store, &session.of_agent("real".into()));
    let folder = store.log_path(&session.of_agent("real".into())).parent().unwrap().to_owned();
    odd_files(&folder, |number| format!("agent-odd{number}.jsonl"));
    fifo(&folder.join("agent-real.meta.json"));
    let agents = at_once(move || blocking(store.agents(&session)).unwrap());
    assert_eq!(agents.iter().map(|one| one.id.as_str()).collect::<Vec<_>>(), ["real"]);
}

#[test]
fn the_branch_is_not_waited_for() {
    let project = tempfile::tempdir().unwrap();
    fs::create_dir(project.path().join(".git")).unwrap();
    fifo(&project.path().join(".git/HEAD"));
    let directory = project.path().to_owned();
    assert_eq!(at_once(move || git_branch(&directory)), None);
}

#[test]
fn a_session_whose_folder_is_a_link_is_what_it_always_was() {
    let (home, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::set_permissions(other.path(), fs::Permissions::from_mode(0o700)).unwrap();
    symlink(other.path(), home.path().join("projects")).unwrap();
    let store = JsonlStore::new(home.path());
    store_one(&store, &key("moved", 1));
    assert_eq!(blocking(store.list(&key("moved", 1).project)).unwrap().len(), 1);
    blocking(store.delete(&key("moved", 1))).unwrap();
    assert!(blocking(store.list(&key("moved", 1).project)).unwrap().is_empty());
}

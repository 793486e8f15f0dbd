//! Copies, annotations and observers on real files.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use windlass_session::{
    Annotation, Durability, ForkError, ForkRequest, LogHeader, Owner, ProjectKey, ResumePoint, SessionKey,
    SessionStore, StoreErrorKind, fork_session,
};
use windlass_store::{JsonlStore, LogObserver};
use windlass_types::{
    AssistantEntry, ContentBlock, Entry, EntryId, EntryKind, SessionId, StopReason, Timestamp, Usage, UserEntry,
};

fn key(bits: u128) -> SessionKey {
    SessionKey::new(ProjectKey::from_slug("-w"), SessionId::from_bits(bits))
}

fn owner() -> Owner {
    Owner::new(std::process::id(), "test")
}

fn header() -> LogHeader {
    LogHeader::new("/w", "0", "test")
}

fn turns(count: u128) -> Vec<Entry> {
    let mut parent = None;
    let mut entries = Vec::new();
    for at in 0..count {
        let (asked, answered) = (EntryId::from_bits(at << 70 | 1), EntryId::from_bits(at << 70 | 2));
        let user = UserEntry::new(vec![ContentBlock::text(format!("prompt {at}"))]);
        entries.push(Entry::new(asked.clone(), parent, Timestamp::default(), EntryKind::User(user)));
        let content = vec![ContentBlock::text("answer")];
        let (usage, stop) = (Usage::new(1, 1), Some(StopReason::EndTurn));
        let message = AssistantEntry::new(
            format!("m{at}").as_str().into(),
            "m".into(),
            content,
            vec![answered.clone()],
            stop,
            usage,
        );
        entries.push(Entry::new(answered.clone(), Some(asked), Timestamp::default(), EntryKind::Assistant(message)));
        parent = Some(answered);
    }
    entries
}

async fn fork(store: &JsonlStore, point: Option<ResumePoint>) -> Result<(), ForkError> {
    let mut count = 0_u128;
    let request = ForkRequest::new(owner(), header(), Timestamp::default()).at(point);
    fork_session(store, &key(1), &key(2), request, || {
        count += 1;
        EntryId::from_bits(count << 32)
    })
    .await
}

fn files(home: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(home.join("projects/-w")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[tokio::test]
async fn a_session_that_is_open_elsewhere_is_copied_and_left_alone() {
    let home = tempfile::tempdir().unwrap();
    let (theirs, ours) = (JsonlStore::new(home.path()), JsonlStore::new(home.path()));
    let lease = theirs.open(&key(1), &owner(), header()).await.unwrap();
    let seq = theirs.append(&lease, 0, turns(2), Durability::Durable).await.unwrap();
    let before = std::fs::read(theirs.log_path(&key(1))).unwrap();
    fork(&ours, None).await.unwrap();
    assert_eq!(std::fs::read(theirs.log_path(&key(1))).unwrap(), before);
    theirs.append(&lease, seq, turns(1), Durability::Durable).await.unwrap();
    assert_eq!(ours.load(&key(2)).await.unwrap().report.messages, 4);
    let error = fork(&ours, None).await.unwrap_err();
    assert!(matches!(error, ForkError::Store(error) if error.kind == StoreErrorKind::Exists));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(ours.log_path(&key(2))).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[tokio::test]
async fn what_cannot_be_copied_leaves_nothing() {
    let home = tempfile::tempdir().unwrap();
    let store = JsonlStore::new(home.path());
    let error = fork(&store, None).await.unwrap_err();
    assert!(matches!(error, ForkError::Store(error) if error.kind == StoreErrorKind::NotFound));
    store.create(&key(1), &owner(), header(), turns(1)).await.unwrap();
    let error = fork(&store, Some(ResumePoint::new("nothing"))).await.unwrap_err();
    assert!(matches!(error, ForkError::UnknownEntry(_)), "{error}");
    assert_eq!(files(home.path()), [store.log_path(&key(1))]);
    std::fs::write(store.log_path(&key(1)), "{\"type\":\"tag\",\"tag\":\"x\"}\n").unwrap();
    assert!(matches!(fork(&store, None).await.unwrap_err(), ForkError::Empty { .. }));
}

#[tokio::test]
async fn notes_go_behind_whatever_is_there() {
    let home = tempfile::tempdir().unwrap();
    let store = JsonlStore::new(home.path());
    let title = Annotation::title("T").unwrap();
    let error = store.annotate(&key(1), &owner(), &title).await.unwrap_err();
    assert_eq!(error.kind, StoreErrorKind::NotFound);
    let lease = store.open(&key(1), &owner(), header()).await.unwrap();
    let seq = store.append(&lease, 0, turns(1), Durability::Buffered).await.unwrap();
    store.annotate(&key(1), &owner(), &title).await.unwrap();
    store.append(&lease, seq, Vec::new(), Durability::Durable).await.unwrap();
    store.close(lease).await.unwrap();
    let path = store.log_path(&key(1));
    let mut log = std::fs::read_to_string(&path).unwrap();
    log.push_str("{\"type\":\"user\",\"torn");
    std::fs::write(&path, &log).unwrap();
    store.annotate(&key(1), &owner(), &Annotation::tag("t").unwrap()).await.unwrap();
    let [summary] = &*store.list(&key(1).project).await.unwrap() else { panic!() };
    assert_eq!((summary.custom_title.as_deref(), summary.tag.as_deref()), (Some("T"), Some("t")));
    assert_eq!(store.load(&key(1)).await.unwrap().report.messages, 2);
    std::fs::write(store.log_path(&key(3)), "").unwrap();
    let error = store.annotate(&key(3), &owner(), &title).await.unwrap_err();
    assert_eq!(error.kind, StoreErrorKind::NotFound, "an empty file is no session");
}

#[tokio::test]
async fn a_note_on_a_session_of_another_home_stays_in_ours() {
    let (home, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let imported = JsonlStore::new(other.path());
    imported.create(&key(1), &owner(), header(), turns(1)).await.unwrap();
    let before = std::fs::read(imported.log_path(&key(1))).unwrap();
    let store = JsonlStore::with_imports(home.path(), vec![other.path().to_path_buf()]);
    store.annotate(&key(1), &owner(), &Annotation::title("T").unwrap()).await.unwrap();
    assert_eq!(std::fs::read(imported.log_path(&key(1))).unwrap(), before);
    let [summary] = &*store.list(&key(1).project).await.unwrap() else { panic!() };
    assert_eq!(summary.custom_title.as_deref(), Some("T"));
}

/// Reports to an observer: durable length of each file.
#[derive(Debug, Default)]
struct Seen(Mutex<Vec<(&'static str, PathBuf, u64)>>);

impl LogObserver for Seen {
    fn opened(&self, path: &Path, len: u64) {
        self.0.lock().unwrap().push(("opened", path.to_path_buf(), len));
    }

    fn written(&self, path: &Path, len: u64) {
        self.0.lock().unwrap().push(("written", path.to_path_buf(), len));
    }
}

impl Seen {
    fn take(&self) -> Vec<(&'static str, PathBuf, u64)> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

#[tokio::test]
async fn observers_learn_what_is_durable_before_the_writer_does() {
    let home = tempfile::tempdir().unwrap();
    let seen = Arc::new(Seen::default());
    let store = JsonlStore::new(home.path()).observed(Arc::clone(&seen) as Arc<dyn LogObserver>);
    let path = store.log_path(&key(1));
    let size = || std::fs::metadata(&path).unwrap().len();
    let lease = store.open(&key(1), &owner(), header()).await.unwrap();
    assert_eq!(seen.take(), []);
    let seq = store.append(&lease, 0, turns(1), Durability::Durable).await.unwrap();
    assert_eq!(seen.take(), [("opened", path.clone(), 0), ("written", path.clone(), size())]);
    store.append(&lease, seq, turns(1), Durability::Buffered).await.unwrap();
    store.close(lease).await.unwrap();
    assert_eq!(seen.take(), [("written", path.clone(), size())], "what is buffered counts once it is durable");
    let lease = store.open(&key(1), &owner(), header()).await.unwrap();
    assert_eq!(seen.take(), [("opened", path.clone(), size())]);
    store.close(lease).await.unwrap();
    fork(&store, None).await.unwrap();
    let copy = store.log_path(&key(2));
    let len = std::fs::metadata(&copy).unwrap().len();
    assert_eq!(seen.take(), [("opened", copy.clone(), 0), ("written", copy, len)], "a copy is new as a whole");
}

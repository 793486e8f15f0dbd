//! Files on disk, and failures of the disk.

use std::fs;
use std::path::Path;
use windlass_session::{Durability, Lease, Owner, ProjectKey, SessionKey, SessionStore, StoreErrorKind, slug};
use windlass_store::{JsonlStore, check_file, export_file};
use windlass_testkit::store::{entries, header, key};
use windlass_types::{ContentBlock, Entry, EntryId, EntryKind, SessionId, Timestamp, UserEntry};

fn prompt(number: u32, parent: Option<u32>) -> Entry {
    let content = vec![ContentBlock::text(format!("prompt {number} {}", "x".repeat(700)))];
    let id = |number| EntryId::from_bits(u128::from(number) + 1);
    let time = Timestamp::from_millis(u64::from(number));
    Entry::new(id(number), parent.map(id), time, EntryKind::User(UserEntry::new(content)))
}

async fn open(store: &JsonlStore, key: &SessionKey) -> Lease {
    store.open(key, &Owner::new(std::process::id(), "test"), header()).await.unwrap()
}

async fn store_all(store: &JsonlStore, key: &SessionKey, entries: Vec<Entry>) {
    let lease = open(store, key).await;
    store.append(&lease, lease.seq(), entries, Durability::Durable).await.unwrap();
    store.close(lease).await.unwrap();
}

#[cfg(unix)]
#[tokio::test]
async fn files_and_folders_are_for_their_user_only() {
    use std::os::unix::fs::PermissionsExt;
    let home = tempfile::tempdir().unwrap();
    let store = JsonlStore::new(home.path().join("new/home"));
    let key = key("modes", 1);
    store_all(&store, &key, entries()).await;
    let path = store.log_path(&key);
    assert_eq!(path, home.path().join(format!("new/home/projects/-kit-modes/{}.jsonl", key.session)));
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&path), 0o600);
    for folder in ["new", "new/home", "new/home/projects", "new/home/projects/-kit-modes"] {
        assert_eq!(mode(&home.path().join(folder)), 0o700, "{folder}");
    }
}

#[tokio::test]
async fn one_record_a_line_and_a_checksum_after_each_synced_batch() {
    let home = tempfile::tempdir().unwrap();
    let store = JsonlStore::new(home.path());
    let key = key("lines", 1);
    store_all(&store, &key, entries()).await;
    let log = fs::read_to_string(store.log_path(&key)).unwrap();
    assert!(log.ends_with('\n'));
    let types: Vec<String> = log
        .lines()
        .map(|line| {
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            assert_eq!(line["sessionId"], key.session.as_str());
            line["type"].as_str().unwrap().to_owned()
        })
        .collect();
    let expected = "user mode windlass-model windlass-cwd assistant assistant assistant windlass-decision \
                    windlass-question windlass-intent windlass-agent-waits user user windlass-replay-dropped \
                    windlass-model-learned windlass-model-learned windlass-tools-added windlass-tools-withheld windlass-results-trimmed windlass-todos user assistant \
                    windlass-spent windlass-run-resumed windlass-prompt-queued windlass-prompt-unqueued cost-state \
                    windlass-checksum";
    assert_eq!(types.join(" "), expected);
    let assistant: serde_json::Value = serde_json::from_str(log.lines().nth(5).unwrap()).unwrap();
    assert_eq!(assistant["message"]["stop_reason"], "tool_use");
    assert_eq!(assistant["message"]["content"].as_array().unwrap().len(), 1);
    for field in ["parentUuid", "isSidechain", "uuid", "timestamp", "cwd", "gitBranch", "version", "userType"] {
        assert!(!assistant[field].is_null(), "{field}");
    }
}

#[tokio::test]
async fn an_append_that_returns_is_in_the_hands_of_the_system() {
    let home = tempfile::tempdir().unwrap();
    let store = JsonlStore::new(home.path());
    let key = key("written", 1);
    let lease = open(&store, &key).await;
    let mut seq = lease.seq();
    for number in 0..20 {
        let parent = (number > 0).then(|| number - 1);
        seq = store.append(&lease, seq, vec![prompt(number, parent)], Durability::Buffered).await.unwrap();
        // A kill of this process here would lose nothing.
        let lines = fs::read_to_string(store.log_path(&key)).unwrap().lines().count();
        assert_eq!(lines, number as usize + 1);
    }
}

#[tokio::test]
async fn a_torn_last_line_is_ended_and_kept() {
    let home = tempfile::tempdir().unwrap();
    let store = JsonlStore::new(home.path());
    let key = key("torn", 1);
    store_all(&store, &key, vec![prompt(0, None)]).await;
    let path = store.log_path(&key);
    let mut log = fs::read(&path).unwrap();
    log.extend(b"{\"type\":\"user\",\"mess");
    fs::write(&path, &log).unwrap();
    let lease = open(&store, &key).await;
    assert_eq!(fs::read(&path).unwrap(), log, "opening writes nothing");
    store.append(&lease, lease.seq(), vec![prompt(1, Some(0))], Durability::Durable).await.unwrap();
    store.close(lease).await.unwrap();
    assert!(fs::read(&path).unwrap().starts_with(&[log.as_slice(), b"\n"].concat()));
    let loaded = store.load(&key).await.unwrap();
    assert_eq!(loaded.entries, [prompt(0, None), prompt(1, Some(0))]);
    assert_eq!((loaded.report.torn, loaded.report.skipped_total), (1, 0));
    assert_eq!(loaded.report.warnings, Vec::<String>::new(), "the sum covers its own batch only");
}

#[tokio::test]
async fn two_stores_are_two_writers() {
    let home = tempfile::tempdir().unwrap();
    let (one, two) = (JsonlStore::new(home.path()), JsonlStore::new(home.path()));
    let key = key("two", 1);
    let first = open(&one, &key).await;
    // Before anything is stored, and after.
    let seq = first.seq();
    for entries in [Vec::new(), vec![prompt(0, None)]] {
        one.append(&first, seq, entries, Durability::Durable).await.unwrap();
        let refused = two.open(&key, &Owner::new(1, "two"), header()).await.unwrap_err();
        assert_eq!(refused.kind, StoreErrorKind::InUse);
        if cfg!(target_os = "linux") {
            assert!(refused.to_string().contains(&std::process::id().to_string()), "{refused}");
        }
    }
    let seq = one.load(&key).await.unwrap().seq;
    assert_eq!(two.delete(&key).await.unwrap_err().kind, StoreErrorKind::InUse);
    one.append(&first, seq, vec![prompt(1, Some(0))], Durability::Durable).await.unwrap();
    one.close(first).await.unwrap();
    let second = open(&two, &key).await;
    two.close(second).await.unwrap();
    assert_eq!(two.load(&key).await.unwrap().entries, [prompt(0, None), prompt(1, Some(0))]);
}

/// Needs the right to mount; without it there is nothing to fill.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn what_was_acknowledged_before_the_disk_was_full_is_there() {
    struct Mounted<'a>(&'a Path);
    impl Drop for Mounted<'_> {
        fn drop(&mut self) {
            let _ = std::process::Command::new("umount").arg(self.0).status();
        }
    }
    let home = tempfile::tempdir().unwrap();
    let mount = std::process::Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=64k", "tmpfs"])
        .arg(home.path())
        .stderr(std::process::Stdio::null())
        .status();
    if !mount.is_ok_and(|status| status.success()) {
        windlass_testkit::skipped("the right to mount a file system");
        return;
    }
    let _mounted = Mounted(home.path());
    let store = JsonlStore::new(home.path());
    let key = key("full", 2);
    let lease = open(&store, &key).await;
    let (mut seq, mut acknowledged) = (lease.seq(), Vec::new());
    let error = loop {
        let number = acknowledged.len() as u32;
        let entry = prompt(number, number.checked_sub(1));
        match store.append(&lease, seq, vec![entry.clone()], Durability::Durable).await {
            Ok(next) => (seq, _) = (next, acknowledged.push(entry)),
            Err(error) => break error,
        }
        assert!(acknowledged.len() < 1_000, "the disk fills");
    };
    assert_eq!(error.kind, StoreErrorKind::Full, "{error}");
    assert!(acknowledged.len() > 10);
    assert_eq!(store.close(lease).await.unwrap_err(), error);
    let loaded = store.load(&key).await.unwrap().entries;
    assert_eq!(loaded[..acknowledged.len()], acknowledged);
}

#[tokio::test]
async fn a_key_cannot_lead_out_of_the_home() {
    let home = tempfile::tempdir().unwrap();
    let store = JsonlStore::new(home.path());
    let id = SessionId::from_bits(1);
    for (project, session) in [
        ("..", id.clone()),
        ("a/b", id.clone()),
        ("/etc", id.clone()),
        ("", id.clone()),
        ("-p", SessionId::from("../../x")),
        ("-p", SessionId::from("")),
    ] {
        let key = SessionKey::new(ProjectKey::from_slug(project), session);
        assert_eq!(store.load(&key).await.unwrap_err().kind, StoreErrorKind::InvalidKey, "{key}");
        assert_eq!(store.delete(&key).await.unwrap_err().kind, StoreErrorKind::InvalidKey, "{key}");
        let open = store.open(&key, &Owner::new(1, "x"), header()).await;
        assert_eq!(open.unwrap_err().kind, StoreErrorKind::InvalidKey, "{key}");
    }
}

#[tokio::test]
async fn a_session_of_another_home_is_copied_when_it_continues() {
    let (home, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let key = key("import", 1);
    let source = JsonlStore::new(other.path());
    store_all(&source, &key, vec![prompt(0, None)]).await;
    let before = fs::read(source.log_path(&key)).unwrap();
    let store = JsonlStore::with_imports(home.path(), vec![other.path().to_owned()]);
    assert_eq!(store.load(&key).await.unwrap().entries, [prompt(0, None)]);
    assert_eq!(store.list(&key.project).await.unwrap().len(), 1);
    let found = store.find(&key.session).await.unwrap().unwrap();
    assert_eq!((found.key, found.only_read, found.path), (key.clone(), true, source.log_path(&key)));
    let lease = open(&store, &key).await;
    assert!(!store.log_path(&key).exists(), "opening copies nothing");
    store.append(&lease, lease.seq(), vec![prompt(1, Some(0))], Durability::Durable).await.unwrap();
    store.close(lease).await.unwrap();
    assert_eq!(fs::read(source.log_path(&key)).unwrap(), before, "the other home is only read");
    let loaded = store.load(&key).await.unwrap();
    assert_eq!(loaded.entries, [prompt(0, None), prompt(1, Some(0))]);
    assert_eq!(loaded.report.warnings, Vec::<String>::new());
    assert_eq!(store.list(&key.project).await.unwrap().len(), 1, "one session, not two");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_copy_that_fails_hides_nothing() {
    let (home, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let key = key("import", 2);
    store_all(&JsonlStore::new(other.path()), &key, vec![prompt(0, None)]).await;
    let store = JsonlStore::with_imports(home.path(), vec![other.path().to_owned()]);
    // The folder accepts no file from any account.
    let folder = store.log_path(&key).parent().unwrap().to_owned();
    fs::create_dir_all(folder.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink("/sys/kernel", &folder).unwrap();
    let lease = open(&store, &key).await;
    let append = store.append(&lease, lease.seq(), vec![prompt(1, Some(0))], Durability::Durable).await;
    assert_eq!(append.unwrap_err().kind, StoreErrorKind::Io);
    drop(lease);
    assert!(!store.log_path(&key).exists());
    assert_eq!(store.load(&key).await.unwrap().entries, [prompt(0, None)]);
    fs::remove_file(&folder).unwrap();
    store_all(&store, &key, vec![prompt(1, Some(0))]).await;
    assert_eq!(store.load(&key).await.unwrap().entries.len(), 2);
    let names: Vec<_> = fs::read_dir(store.log_path(&key).parent().unwrap()).unwrap().collect();
    assert_eq!(names.len(), 1, "no partial copy stays");
}

#[tokio::test]
async fn folders_whose_hash_another_program_made_are_found() {
    let home = tempfile::tempdir().unwrap();
    let store = JsonlStore::new(home.path());
    let slug = slug(&format!("/{}", "long/".repeat(60)));
    let (stem, _) = slug.rsplit_once('-').unwrap();
    let theirs = SessionKey::new(ProjectKey::from_slug(format!("{stem}-zzz")), SessionId::from_bits(5));
    store_all(&store, &theirs, vec![prompt(0, None)]).await;
    let ours = SessionKey::new(ProjectKey::from_slug(slug), theirs.session.clone());
    assert_eq!(store.list(&ours.project).await.unwrap().len(), 1);
    assert_eq!(store.load(&ours).await.unwrap().entries.len(), 1);
    assert_eq!(store.log_path(&ours), store.log_path(&theirs), "it continues in the same file");
}

#[tokio::test]
async fn a_session_continues_after_the_runtime_that_wrote_it_is_gone() {
    let home = tempfile::tempdir().unwrap();
    let store = JsonlStore::new(home.path());
    let key = key("runtime", 1);
    let (inner, wanted) = (store.clone(), key.clone());
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let lease = runtime.block_on(async {
            let lease = open(&inner, &wanted).await;
            inner.append(&lease, lease.seq(), vec![prompt(0, None)], Durability::Buffered).await.unwrap();
            lease
        });
        // Neither closed nor waited for.
        runtime.shutdown_background();
        drop(lease);
    })
    .join()
    .unwrap();
    let lease = open(&store, &key).await;
    assert_eq!(store.load(&key).await.unwrap().entries, [prompt(0, None)]);
    store.close(lease).await.unwrap();
}

#[tokio::test]
async fn a_file_is_checked_and_exported_without_being_changed() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("log.jsonl");
    let minimal = concat!(
        r#"{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":"hi"},"uuid":"11111111-1111-4111-8111-111111111111","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w","sessionId":"12345678-1234-4234-8234-123456789abc","version":"2.1.328","gitBranch":"main"}"#,
        "\n",
        r#"{"parentUuid":"11111111-1111-4111-8111-111111111111","isSidechain":false,"type":"assistant","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"hello"}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}},"uuid":"22222222-2222-4222-8222-222222222222","timestamp":"2026-01-01T00:00:01.000Z","cwd":"/w","sessionId":"12345678-1234-4234-8234-123456789abc","version":"2.1.328"}"#,
        "\n",
    );
    fs::write(&path, minimal).unwrap();
    let report = serde_json::to_value(check_file(&path).unwrap()).unwrap();
    let expected = serde_json::json!({"entries": 2, "messages": 2, "skipped": [], "torn": 0, "compacted": 0, "lost_parents": 0, "renamed_calls": 0, "synthetic_results": 0,
        "dropped_results": 0, "valid": true, "warnings": []});
    assert_eq!(report, expected);
    let messages = r#"[{"role":"user","content":[{"type":"text","text":"hi"}]},{"role":"assistant","content":[{"type":"text","text":"hello"}]}]"#;
    assert_eq!(export_file(&path).unwrap(), messages);
    fs::write(&path, "what\n").unwrap();
    let report = check_file(&path).unwrap();
    assert!(!report.valid, "nothing but damage is no session");
    assert_eq!(report.skipped[0].line, 1);
    let missing = check_file(&home.path().join("none")).unwrap_err();
    assert_eq!(missing.kind, StoreErrorKind::NotFound);
}

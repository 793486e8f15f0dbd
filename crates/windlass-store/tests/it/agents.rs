//! Files of agents below the main one.

use std::fs;
use std::path::{Path, PathBuf};
use windlass_session::{
    AgentHeader, Durability, ForkRequest, LogHeader, Owner, SessionKey, SessionStore, StoreErrorKind, fork_session,
};
use windlass_store::{JsonlStore, check_file, export_file};
use windlass_testkit::store::{entries, header, key};
use windlass_types::{Entry, EntryId, Timestamp};

fn owner() -> Owner {
    Owner::new(std::process::id(), "test")
}

fn described() -> LogHeader {
    header().with_agent(AgentHeader::new("explore", "Look around", "toolu_1".into()).with_parent(Some("a0".into())))
}

fn agent(session: &SessionKey) -> SessionKey {
    session.of_agent("a1".into())
}

async fn write(store: &JsonlStore, key: &SessionKey, header: LogHeader, entries: Vec<Entry>) {
    let lease = store.open(key, &owner(), header).await.unwrap();
    store.append(&lease, lease.seq(), entries, Durability::Durable).await.unwrap();
    store.close(lease).await.unwrap();
}

fn meta(log: &Path) -> PathBuf {
    log.with_file_name("agent-a1.meta.json")
}

#[tokio::test]
async fn the_files_are_where_other_tools_look_for_them() {
    let home = tempfile::tempdir().unwrap();
    let store = JsonlStore::new(home.path().join("home"));
    let session = key("layout", 1);
    write(&store, &agent(&session), described(), entries()).await;
    let folder = home.path().join(format!("home/projects/-kit-layout/{}/subagents", session.session));
    let log = folder.join("agent-a1.jsonl");
    assert_eq!(store.log_path(&agent(&session)), log);
    assert_eq!(
        fs::read_to_string(meta(&log)).unwrap(),
        r#"{"agentType":"explore","description":"Look around","toolUseId":"toolu_1","parentAgentId":"a0"}"#
    );
    for line in fs::read_to_string(&log).unwrap().lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(line["sessionId"], session.session.as_str());
        if line.get("message").is_some() {
            assert_eq!((&line["isSidechain"], &line["agentId"]), (&true.into(), &"a1".into()), "{line}");
        }
    }
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 2, "nothing else stays");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&log), mode(&meta(&log))), (0o600, 0o600));
        for above in folder.ancestors().take(5) {
            assert_eq!(mode(above), 0o700, "{}", above.display());
        }
    }
}

#[tokio::test]
async fn what_an_agent_is_stays_as_it_was_when_it_began() {
    let home = tempfile::tempdir().unwrap();
    let store = JsonlStore::new(home.path());
    let session = key("once", 1);
    let lease = store.open(&agent(&session), &owner(), described()).await.unwrap();
    let log = store.log_path(&agent(&session));
    assert!(!home.path().join("projects").exists(), "an agent that wrote nothing leaves nothing");
    store.append(&lease, 0, entries(), Durability::Durable).await.unwrap();
    store.close(lease).await.unwrap();
    let before = fs::read(meta(&log)).unwrap();
    let other = header().with_agent(AgentHeader::new("other", "Other", "toolu_9".into()));
    write(&store, &agent(&session), other.clone(), Vec::new()).await;
    let mut more = entries();
    more.truncate(1);
    more.iter_mut().for_each(|entry| (entry.id, entry.parent) = (EntryId::from_bits(99), Some(EntryId::from_bits(30))));
    write(&store, &agent(&session), other.clone(), more).await;
    assert_eq!(fs::read(meta(&log)).unwrap(), before);
    // Metadata left by a kill before the first line describe nothing.
    store.delete(&agent(&session)).await.unwrap();
    assert_eq!(fs::read_dir(log.parent().unwrap()).unwrap().count(), 0);
    fs::write(&log, "").unwrap();
    fs::write(meta(&log), "{\"agentType\":\"stale\"").unwrap();
    assert!(store.agents(&session).await.unwrap().is_empty());
    store.create(&session.of_agent("a2".into()), &owner(), other.clone(), entries()).await.unwrap();
    write(&store, &agent(&session), other, entries()).await;
    let listed: Vec<_> = store.agents(&session).await.unwrap().into_iter().map(|one| one.agent_type).collect();
    assert_eq!(listed, ["other", "other"]);
}

#[tokio::test]
async fn damage_and_foreign_files_hide_no_agent() {
    let home = tempfile::tempdir().unwrap();
    let store = JsonlStore::new(home.path());
    let session = key("damaged", 1);
    write(&store, &agent(&session), described(), entries()).await;
    let log = store.log_path(&agent(&session));
    let folder = log.parent().unwrap();
    for damage in ["", "{", "[1]", "\u{0}"] {
        fs::write(meta(&log), damage).unwrap();
        let listed = store.agents(&session).await.unwrap();
        assert_eq!(
            listed.iter().map(|one| (one.id.as_str(), one.agent_type.as_str())).collect::<Vec<_>>(),
            [("a1", "")]
        );
    }
    fs::remove_file(meta(&log)).unwrap();
    fs::create_dir(meta(&log)).unwrap();
    fs::create_dir(folder.join("agent-folder.jsonl")).unwrap();
    for name in ["agent-.jsonl", "agent-a.b.jsonl", "other.jsonl", "agent-x.txt"] {
        fs::write(folder.join(name), "{}\n").unwrap();
    }
    // Other programs keep agents in folders of their own.
    let nested = folder.join("workflows/run-1");
    fs::create_dir_all(&nested).unwrap();
    fs::copy(&log, nested.join("agent-n1.jsonl")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(folder, nested.join("round")).unwrap();
    let mut listed: Vec<_> = store.agents(&session).await.unwrap().into_iter().map(|one| one.id.to_string()).collect();
    listed.sort();
    assert_eq!(listed, ["a1", "n1"]);
    let deep = session.of_agent("n1".into());
    assert_eq!(store.load(&deep).await.unwrap().entries, entries());
    assert_eq!(store.log_path(&deep), nested.join("agent-n1.jsonl"), "it continues where it is");
}

#[tokio::test]
async fn a_torn_line_of_an_agent_is_ended_and_kept() {
    let home = tempfile::tempdir().unwrap();
    let store = JsonlStore::new(home.path());
    let session = key("torn", 1);
    let (mut first, rest) = (entries(), entries().split_off(1));
    first.truncate(1);
    write(&store, &agent(&session), described(), first).await;
    let log = store.log_path(&agent(&session));
    let torn = [fs::read(&log).unwrap().as_slice(), b"{\"parentUuid\":null,\"isSidech"].concat();
    fs::write(&log, &torn).unwrap();
    write(&store, &agent(&session), described(), rest).await;
    assert!(fs::read(&log).unwrap().starts_with(&torn));
    let loaded = store.load(&agent(&session)).await.unwrap();
    assert_eq!(loaded.entries, entries());
    assert_eq!((loaded.report.torn, loaded.report.skipped_total), (1, 0));
    assert!(check_file(&log).unwrap().valid);
    assert!(export_file(&log).unwrap().contains("Fix it."));
}

#[tokio::test]
async fn agents_of_another_home_are_listed_and_copied_when_they_continue() {
    let (home, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let session = key("import", 1);
    let source = JsonlStore::new(other.path());
    write(&source, &session, header(), entries()).await;
    let mut first = entries();
    let last = first.split_off(1);
    write(&source, &agent(&session), described(), first).await;
    let store = JsonlStore::with_imports(home.path(), vec![other.path().to_owned()]);
    assert_eq!(store.agents(&session).await.unwrap(), source.agents(&session).await.unwrap());
    assert_eq!(store.load(&agent(&session)).await.unwrap().entries.len(), 1);
    let before = fs::read(source.log_path(&agent(&session))).unwrap();
    write(&store, &agent(&session), header(), last).await;
    assert_eq!(fs::read(source.log_path(&agent(&session))).unwrap(), before, "the other home is only read");
    assert_eq!(store.load(&agent(&session)).await.unwrap().entries, entries());
    let copy = store.log_path(&agent(&session));
    assert!(copy.starts_with(home.path()));
    assert_eq!(fs::read(meta(&copy)).unwrap(), fs::read(meta(&source.log_path(&agent(&session)))).unwrap());
    assert_eq!(store.agents(&session).await.unwrap().len(), 1, "one agent, not two");
}

#[tokio::test]
async fn a_session_whose_agent_another_process_writes_is_not_deleted() {
    let home = tempfile::tempdir().unwrap();
    let (ours, theirs) = (JsonlStore::new(home.path()), JsonlStore::new(home.path()));
    let session = key("busy", 1);
    write(&ours, &session, header(), entries()).await;
    let lease = theirs.open(&agent(&session), &owner(), described()).await.unwrap();
    let seq = theirs.append(&lease, 0, entries(), Durability::Durable).await.unwrap();
    assert_eq!(ours.delete(&session).await.unwrap_err().kind, StoreErrorKind::InUse);
    assert_eq!(ours.delete(&agent(&session)).await.unwrap_err().kind, StoreErrorKind::InUse);
    assert_eq!(ours.load(&session).await.unwrap().entries, entries());
    assert!(meta(&ours.log_path(&agent(&session))).exists());
    theirs.append(&lease, seq, Vec::new(), Durability::Durable).await.unwrap();
    theirs.close(lease).await.unwrap();
    ours.delete(&session).await.unwrap();
    assert_eq!(fs::read_dir(home.path().join("projects/-kit-busy")).unwrap().count(), 0);
}

#[tokio::test]
async fn a_fork_has_no_agents_and_an_agent_can_become_a_session() {
    let home = tempfile::tempdir().unwrap();
    let store = JsonlStore::new(home.path());
    let (session, copy, grown) = (key("fork", 1), key("fork", 2), key("fork", 3));
    write(&store, &session, header(), entries()).await;
    write(&store, &agent(&session), described(), entries()).await;
    for (from, to) in [(&session, &copy), (&agent(&session), &grown)] {
        let mut count = 0_u128;
        let request = ForkRequest::new(owner(), header(), Timestamp::default());
        let new_id = || {
            count += 1;
            EntryId::from_bits(count << 64)
        };
        fork_session(&store, from, to, request, new_id).await.unwrap();
        assert!(store.agents(to).await.unwrap().is_empty());
        assert!(store.load(to).await.unwrap().report.messages > 0);
    }
    assert_eq!(store.list(&session.project).await.unwrap().len(), 3);
}

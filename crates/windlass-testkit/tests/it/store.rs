//! The store kit itself: each broken rule is found, by its name.

use async_trait::async_trait;
use std::sync::{Mutex, MutexGuard};
use windlass_session::{
    AgentSummary, Annotation, Durability, END_OF_TORN_LINE, Lease, Loaded, LogEncoder, LogHeader, MemoryStore, Owner,
    ProjectKey, SessionKey, SessionStore, SessionSummary, StoreError, StoreErrorKind, read_log,
};
use windlass_testkit::store::{self, Crash};
use windlass_types::{Entry, EntryKind};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flaw {
    ChangesText,
    LosesWhatIsBuffered,
    TurnsEntriesAround,
    MovesOnNothing,
    InventsSessions,
    HasOneName,
    HidesTheOwner,
    LosesWhatIsDropped,
    IgnoresThePosition,
    StartsAgain,
    WaitsBeforeItTakes,
    MovesWhenLoaded,
    MixesProjects,
    ListsTheFirstFirst,
    MissesWhatIsGone,
    DeletesUnderHands,
    TakesAgentsForTheSession,
    ForgetsWhoAgentsAre,
    ListsTheLastAgentFirst,
    ListsNoAgents,
    LosesAllAgentsWithOne,
    KeepsAgentsOfWhatIsGone,
    ForgetsOpenAgents,
    TakesAnyName,
    NotesOnAgents,
}

/// A store with one flaw.
#[derive(Debug)]
struct Flawed {
    inner: MemoryStore,
    flaw: Flaw,
    loads: std::sync::atomic::AtomicU64,
}

impl Flawed {
    fn has(&self, flaw: Flaw) -> bool {
        self.flaw == flaw
    }

    fn key(&self, key: &SessionKey) -> SessionKey {
        match self.flaw {
            Flaw::MixesProjects if key.project.as_str().starts_with("-kit-apart") => {
                SessionKey::new(ProjectKey::from_slug("-one".to_owned()), key.session.clone())
            }
            Flaw::TakesAgentsForTheSession => key.of_session(),
            Flaw::TakesAnyName if key.check_agent().is_err() => key.of_agent("any".into()),
            _ => key.clone(),
        }
    }
}

#[async_trait]
impl SessionStore for Flawed {
    async fn open(&self, key: &SessionKey, owner: &Owner, mut header: LogHeader) -> Result<Lease, StoreError> {
        if self.has(Flaw::ForgetsWhoAgentsAre) {
            header.agent = None;
        }
        let opened = self.inner.open(&self.key(key), owner, header).await;
        if self.has(Flaw::HidesTheOwner) {
            return opened.map_err(|error| StoreError::new(error.kind, "it is in use"));
        }
        let lease = opened?;
        match self.flaw {
            Flaw::StartsAgain => Ok(Lease::new(lease.key().clone(), lease.epoch(), 0, lease)),
            _ => Ok(lease),
        }
    }

    async fn append(
        &self,
        lease: &Lease,
        expected_seq: u64,
        mut entries: Vec<Entry>,
        durability: Durability,
    ) -> Result<u64, StoreError> {
        let mut expected_seq = expected_seq;
        match self.flaw {
            Flaw::ChangesText => entries.retain(|entry| !matches!(entry.kind, EntryKind::Todos(_))),
            Flaw::LosesWhatIsBuffered | Flaw::LosesWhatIsDropped if durability == Durability::Buffered => {
                let count = entries.len() as u64;
                if self.has(Flaw::LosesWhatIsBuffered) || lease.key().project.as_str() == "-kit-lease" {
                    return Ok(expected_seq + count);
                }
            }
            Flaw::TurnsEntriesAround => entries.reverse(),
            Flaw::IgnoresThePosition => {
                expected_seq = self.inner.load(lease.key()).await.map_or(0, |loaded| loaded.seq)
            }
            Flaw::WaitsBeforeItTakes => tokio::task::yield_now().await,
            Flaw::MovesOnNothing if entries.is_empty() => return Ok(expected_seq + 1),
            _ => {}
        }
        let lease = lease.guard::<Lease>().unwrap_or(lease);
        self.inner.append(lease, expected_seq, entries, durability).await
    }

    async fn load(&self, key: &SessionKey) -> Result<Loaded, StoreError> {
        let found = self.inner.load(&self.key(key)).await;
        if self.has(Flaw::HasOneName) {
            return found.map_err(|error| StoreError::new(error.kind, "there is no such session"));
        }
        let mut loaded = match found {
            Err(error) if self.has(Flaw::InventsSessions) && error.kind == StoreErrorKind::NotFound => {
                return Ok(Loaded::new(Vec::new(), 0, windlass_session::LoadReport::default()));
            }
            found => found?,
        };
        if self.has(Flaw::MovesWhenLoaded) && key.project.as_str() == "-kit-load" {
            loaded.seq += self.loads.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        }
        Ok(loaded)
    }

    async fn list(&self, project: &ProjectKey) -> Result<Vec<SessionSummary>, StoreError> {
        let mut listed = self.inner.list(project).await?;
        if self.has(Flaw::ListsTheFirstFirst) {
            listed.reverse();
        }
        Ok(listed)
    }

    async fn delete(&self, key: &SessionKey) -> Result<(), StoreError> {
        let key = self.key(key);
        if self.has(Flaw::MissesWhatIsGone) {
            self.inner.load(&key).await?;
        }
        if self.has(Flaw::LosesAllAgentsWithOne) {
            return self.inner.delete(&key.of_session()).await;
        }
        let mut kept = Vec::new();
        for agent in self.inner.agents(&key).await?.into_iter().filter(|_| key.agent.is_none()) {
            let agent = key.of_agent(agent.id);
            kept.push((agent.clone(), self.inner.load(&agent).await?.entries));
        }
        if self.has(Flaw::ForgetsOpenAgents) && !kept.is_empty() {
            return Ok(());
        }
        match self.inner.delete(&key).await {
            Err(error) if self.has(Flaw::DeletesUnderHands) && error.kind == StoreErrorKind::InUse => Ok(()),
            Ok(()) if self.has(Flaw::KeepsAgentsOfWhatIsGone) => {
                for (agent, entries) in kept {
                    self.inner.create(&agent, &Owner::new(1, "kept"), LogHeader::default(), entries).await?;
                }
                Ok(())
            }
            deleted => deleted,
        }
    }

    async fn agents(&self, key: &SessionKey) -> Result<Vec<AgentSummary>, StoreError> {
        let mut agents = self.inner.agents(key).await?;
        match self.flaw {
            Flaw::ListsTheLastAgentFirst => agents.reverse(),
            Flaw::ListsNoAgents => agents.clear(),
            _ => {}
        }
        Ok(agents)
    }

    async fn annotate(&self, key: &SessionKey, owner: &Owner, annotation: &Annotation) -> Result<(), StoreError> {
        match self.inner.annotate(key, owner, annotation).await {
            Err(error) if self.has(Flaw::NotesOnAgents) && error.kind == StoreErrorKind::InvalidKey => Ok(()),
            annotated => annotated,
        }
    }

    async fn close(&self, lease: Lease) -> Result<(), StoreError> {
        self.inner.close(lease).await
    }
}

#[tokio::test]
async fn each_broken_rule_is_found_by_its_name() {
    for (flaw, rule) in [
        (Flaw::ChangesText, "entries come back as they were: "),
        (Flaw::LosesWhatIsBuffered, "buffered entries are visible: "),
        (Flaw::TurnsEntriesAround, "entries come back as they were: "),
        (Flaw::MovesOnNothing, "an empty append changes nothing: "),
        (Flaw::InventsSessions, "an empty append changes nothing: "),
        (Flaw::HasOneName, "an unknown session is not found: "),
        (Flaw::HidesTheOwner, "a second opener is refused: "),
        (Flaw::LosesWhatIsDropped, "a lease comes back when closed or dropped: "),
        (Flaw::IgnoresThePosition, "a wrong position is refused: "),
        (Flaw::StartsAgain, "positions continue over leases: "),
        (Flaw::WaitsBeforeItTakes, "an abandoned append is kept: "),
        (Flaw::MovesWhenLoaded, "loading changes nothing: "),
        (Flaw::MixesProjects, "sessions and projects are apart: "),
        (Flaw::ListsTheFirstFirst, "lists show the last changed first: "),
        (Flaw::MissesWhatIsGone, "deleting is idempotent: "),
        (Flaw::DeletesUnderHands, "an open session is not deleted: "),
        (Flaw::TakesAgentsForTheSession, "agents are apart from their session: "),
        (Flaw::ForgetsWhoAgentsAre, "agents are listed with their session: "),
        (Flaw::ListsTheLastAgentFirst, "agents are listed with their session: "),
        (Flaw::ListsNoAgents, "agents are listed with their session: "),
        (Flaw::LosesAllAgentsWithOne, "agents go with their session: "),
        (Flaw::KeepsAgentsOfWhatIsGone, "agents go with their session: "),
        (Flaw::ForgetsOpenAgents, "agents go with their session: "),
        (Flaw::TakesAnyName, "agents are named safely: "),
        (Flaw::NotesOnAgents, "agents are named safely: "),
    ] {
        let store = Flawed { inner: MemoryStore::new(), flaw, loads: 0.into() };
        let found = store::all(&store, Crash::LeavesWholeEntries)
            .await
            .err()
            .map(|found| found.to_string())
            .unwrap_or_default();
        assert!(found.starts_with(rule), "{flaw:?} gives {found:?}");
    }
}

/// Treatment of a line that a crash tore.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TornLine {
    Marked,
    EndedWithoutMark,
    Continued,
    CutOffWithItsNeighbour,
}

/// A store over one text, like a file, for one session.
#[derive(Debug)]
struct TextStore {
    log: Mutex<Vec<u8>>,
    torn: TornLine,
}

impl TextStore {
    fn text(&self) -> MutexGuard<'_, Vec<u8>> {
        self.log.lock().unwrap()
    }

    /// Handles a torn line before the next one is written.
    fn mend(&self, log: &mut Vec<u8>) {
        if log.is_empty() || log.ends_with(b"\n") {
            return;
        }
        match self.torn {
            TornLine::Marked => log.extend(END_OF_TORN_LINE.as_bytes()),
            TornLine::EndedWithoutMark => log.push(b'\n'),
            TornLine::Continued => {}
            TornLine::CutOffWithItsNeighbour => {
                let text = String::from_utf8(log.clone()).unwrap();
                let whole = text.rmatch_indices('\n').nth(1).map_or(0, |(at, _)| at + 1);
                log.truncate(whole);
            }
        }
    }
}

#[async_trait]
impl SessionStore for TextStore {
    async fn open(&self, key: &SessionKey, _: &Owner, header: LogHeader) -> Result<Lease, StoreError> {
        let encoder = Mutex::new(LogEncoder::of(key, header));
        Ok(Lease::new(key.clone(), 1, self.text().len() as u64, encoder))
    }

    async fn append(&self, lease: &Lease, _: u64, entries: Vec<Entry>, _: Durability) -> Result<u64, StoreError> {
        let mut log = self.text();
        self.mend(&mut log);
        let mut encoder = lease.guard::<Mutex<LogEncoder>>().unwrap().lock().unwrap();
        entries.iter().for_each(|entry| encoder.entry(entry, &mut log));
        Ok(log.len() as u64)
    }

    async fn load(&self, _: &SessionKey) -> Result<Loaded, StoreError> {
        let log = self.text().clone();
        let read = read_log(log.as_slice()).unwrap();
        Ok(Loaded::new(read.entries, log.len() as u64, read.report))
    }

    async fn list(&self, _: &ProjectKey) -> Result<Vec<SessionSummary>, StoreError> {
        Ok(Vec::new())
    }

    async fn delete(&self, _: &SessionKey) -> Result<(), StoreError> {
        Ok(())
    }

    async fn agents(&self, _: &SessionKey) -> Result<Vec<AgentSummary>, StoreError> {
        Ok(Vec::new())
    }

    async fn close(&self, _: Lease) -> Result<(), StoreError> {
        Ok(())
    }
}

/// Returns the finding of the kit when a crash cuts this many bytes off.
async fn found_after(torn: TornLine, cut: usize) -> Option<String> {
    let store = TextStore { log: Default::default(), torn };
    let tear = |_: &SessionKey| {
        let mut log = store.text();
        let rest = log.len() - cut;
        log.truncate(rest);
    };
    store::a_torn_line_is_ended(&store, &tear).await.err().map(|found| found.to_string())
}

#[tokio::test]
async fn a_store_that_does_not_mark_a_torn_line_is_found() {
    for cut in [2, 20, 60] {
        assert_eq!(found_after(TornLine::Marked, cut).await, None, "{cut} bytes");
        for torn in [TornLine::EndedWithoutMark, TornLine::Continued] {
            let found = found_after(torn, cut).await.unwrap_or_default();
            assert!(found.starts_with("what was skipped: "), "{torn:?}, {cut} bytes: {found:?}");
        }
        let found = found_after(TornLine::CutOffWithItsNeighbour, cut).await.unwrap_or_default();
        assert!(found.starts_with("the entries: "), "{cut} bytes: {found:?}");
    }
}

#[tokio::test]
async fn a_tear_between_two_lines_is_no_test() {
    for cut in [0, 1] {
        let found = found_after(TornLine::Marked, cut).await;
        assert_eq!(found.as_deref(), Some("the log was not torn within a line"), "{cut} bytes");
    }
}

#[tokio::test]
async fn the_whole_kit_tears_lines_too() {
    // The memory store cannot be torn: the kit finds that, by the name of the rule.
    let found = store::all(&MemoryStore::new(), Crash::TearsLines(&|_| ())).await.err().map(|found| found.to_string());
    assert_eq!(found.as_deref(), Some("a torn line is ended: the log was not torn within a line"));
}

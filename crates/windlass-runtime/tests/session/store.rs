//! A store that fails after some entries: acknowledged entries are there, and nothing is done twice.

use crate::world::{Ran, key, model, soon, world};
use async_trait::async_trait;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use windlass_model::ScriptedTurn;
use windlass_runtime::SessionError;
use windlass_session::{
    AgentSummary, Durability, Lease, Loaded, LogHeader, MemoryStore, Owner, ProjectKey, SessionKey, SessionStore,
    SessionSummary, StoreError, StoreErrorKind,
};
use windlass_types::{Entry, EntryKind, EventKind, Outcome, RunFailureKind};

/// Accepts so many appends, then no more, as if the machine had lost its power: buffered entries are gone.
#[derive(Debug)]
struct Dying {
    store: MemoryStore,
    left: AtomicUsize,
    /// The position of the inner store, and the entries that it was not given yet.
    buffered: Mutex<(u64, Vec<Entry>)>,
}

#[async_trait]
impl SessionStore for Dying {
    async fn open(&self, key: &SessionKey, owner: &Owner, header: LogHeader) -> Result<Lease, StoreError> {
        self.store.open(key, owner, header).await
    }

    async fn append(&self, lease: &Lease, seq: u64, entries: Vec<Entry>, grade: Durability) -> Result<u64, StoreError> {
        let now = seq + entries.len() as u64;
        let is_dead = self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_err();
        let (at, mut all) = {
            let mut buffered = self.buffered.lock().unwrap();
            buffered.1.extend(entries);
            if grade == Durability::Buffered && !is_dead {
                return Ok(now);
            }
            (buffered.0, std::mem::take(&mut buffered.1))
        };
        if is_dead {
            // Part of the batch may still have reached the disk.
            all.truncate(1);
        }
        let at = self.store.append(lease, at, all, grade).await?;
        self.buffered.lock().unwrap().0 = at;
        if is_dead { Err(StoreError::new(StoreErrorKind::Full, "the disk is full: make room")) } else { Ok(now) }
    }

    async fn load(&self, key: &SessionKey) -> Result<Loaded, StoreError> {
        self.store.load(key).await
    }

    async fn list(&self, project: &ProjectKey) -> Result<Vec<SessionSummary>, StoreError> {
        self.store.list(project).await
    }

    async fn delete(&self, key: &SessionKey) -> Result<(), StoreError> {
        self.store.delete(key).await
    }

    async fn agents(&self, key: &SessionKey) -> Result<Vec<AgentSummary>, StoreError> {
        self.store.agents(key).await
    }

    async fn close(&self, lease: Lease) -> Result<(), StoreError> {
        // Closing a session waits for this.
        tokio::time::sleep(Duration::from_secs(1)).await;
        self.store.close(lease).await
    }
}

/// Four turns of two calls each; the ids name the turn, however often it is asked.
fn script() -> windlass_model::ScriptedModel {
    model(|request, _| {
        let results = request.messages.iter().flat_map(|message| message.content.iter());
        let turn = results.filter(|block| block.as_tool_result().is_some()).count() / 2;
        if turn < 4 {
            ScriptedTurn::new()
                .text("So.")
                .tool_use_with_id(format!("t{turn}.0"), "act", serde_json::json!({}))
                .tool_use_with_id(format!("t{turn}.1"), "act", serde_json::json!({}))
        } else {
            ScriptedTurn::new().text("Done.")
        }
    })
}

#[tokio::test(start_paused = true)]
async fn a_session_that_dies_at_any_append_resumes_without_loss_or_repetition() {
    for appends in 0.. {
        let store = MemoryStore::new();
        let ran = Ran::default();
        let dying = Dying { store: store.clone(), left: AtomicUsize::new(appends), buffered: Mutex::default() };
        let mut first = world(script(), [ran.act()]);
        first.store = Some(Arc::new(dying));
        let mut open = first.open().await;
        open.say("go");
        // A session that lives long enough is closed.
        let handle = open.handle.clone();
        let (events, error) = soon(async {
            let mut events = Vec::new();
            loop {
                match open.events.try_next().await {
                    Ok(Some(event)) => {
                        let over = matches!(event.kind, EventKind::RunFinished(_));
                        events.push(event);
                        if over
                            && matches!(&events.last().unwrap().kind,
                            EventKind::RunFinished(result) if result.outcome == Outcome::Success)
                        {
                            return (events, None);
                        }
                    }
                    Ok(None) => return (events, None),
                    Err(error) => return (events, Some(error)),
                }
            }
        })
        .await;
        let closed = soon(handle.close()).await;
        if let Some(error) = &error {
            assert_eq!(closed.as_ref(), Err(error), "after {appends} appends");
            assert!(matches!(error, SessionError::Store { message } if message.contains("make room")), "{error}");
            let Some(EventKind::RunFinished(result)) = events.last().map(|event| &event.kind) else {
                panic!("no result after {appends} appends: {events:?}")
            };
            let Outcome::Failed(failure) = &result.outcome else { panic!("{result:?}") };
            assert_eq!(failure.kind, RunFailureKind::Store);
        }
        let promised: Vec<_> = events
            .iter()
            .filter_map(|event| match &event.kind {
                EventKind::ToolFinished(finished) => Some(finished.result.clone()),
                _ => None,
            })
            .collect();
        let kept = match store.load(&key("s")).await {
            Ok(loaded) => loaded.entries,
            Err(_) => Vec::new(),
        };
        for result in &promised {
            let is_kept = |entry: &Entry| matches!(&entry.kind, EntryKind::ToolResult(kept) if kept.result == *result);
            assert!(kept.iter().any(is_kept), "{result:?} is lost after {appends} appends");
        }
        let model = script();
        let mut open = world(model.clone(), [ran.act()]).stored(&store).open().await;
        soon(open.succeed("go on")).await;
        for request in model.requests() {
            windlass_session::check_messages(request.messages.iter().map(|message| &**message)).unwrap();
        }
        let mut ids = ran.ids();
        let all = ids.len();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), all, "something ran twice after {appends} appends");
        if error.is_none() {
            assert!(appends > 8, "{appends}");
            return;
        }
    }
}

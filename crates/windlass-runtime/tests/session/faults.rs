//! A log that hangs, fails late or is slow; a host that does not read; a clock that jumps. Whatever happens, few
//! calls are made for which nothing is stored, little waits in memory, what was shown is stored, an interrupt is
//! heard, and closing ends.

use crate::world::{Open, act, key, look, model, world};
use async_trait::async_trait;
use std::future::Future;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};
use windlass_model::{ScriptedModel, ScriptedTurn};
use windlass_runtime::SessionError;
use windlass_session::{
    AgentSummary, Durability, Lease, Loaded, LogHeader, MemoryStore, Owner, ProjectKey, SessionKey, SessionStore,
    SessionSummary, StoreError, StoreErrorKind,
};
use windlass_testkit::Gate;
use windlass_testkit::fault::{FaultyStore, StoreOperation};
use windlass_tool::Clock;
use windlass_types::{
    Entry, EntryKind, Event, EventKind, Outcome, RunFailureKind, RunResult, Status, Timestamp, ToolResult,
};

type Disk = FaultyStore<MemoryStore>;

/// A model that calls `look` in so many turns, then is done.
fn turns(count: usize) -> ScriptedModel {
    model(move |_, number| {
        if number < count {
            ScriptedTurn::new().text("So.").tool_use_with_id(format!("t{number}"), "look", serde_json::json!({}))
        } else {
            ScriptedTurn::new().text("Done.")
        }
    })
}

/// Counts how often it looked.
fn looks(count: &Arc<AtomicUsize>) -> Arc<dyn windlass_tool::DynTool> {
    let count = Arc::clone(count);
    look(move |_, _| {
        count.fetch_add(1, Ordering::SeqCst);
        async { Ok("seen".to_owned()) }
    })
}

fn is_notice(event: &Event) -> bool {
    matches!(&event.kind, EventKind::Status(Status::Notice { message }) if message.contains("log has not answered"))
}

fn result_of(events: &[Event]) -> Option<&RunResult> {
    events.iter().rev().find_map(|event| match &event.kind {
        EventKind::RunFinished(result) => Some(result),
        _ => None,
    })
}

/// The numbers of events have no gap, and each run ends once.
fn assert_whole(events: &[Event]) {
    for (at, event) in events.iter().enumerate() {
        assert_eq!(event.seq, at as u64);
    }
    let count = |found: fn(&EventKind) -> bool| events.iter().filter(|event| found(&event.kind)).count();
    let begun = count(|kind| matches!(kind, EventKind::RunStarted(_)));
    assert_eq!(count(|kind| matches!(kind, EventKind::RunFinished(_))), begun);
}

/// Asserts that all shown messages and results are stored.
async fn assert_kept(store: &MemoryStore, events: &[Event], when: &str) {
    let kept = store.load(&key("s")).await.map(|loaded| loaded.entries).unwrap_or_default();
    let has = |found: &dyn Fn(&Entry) -> bool| kept.iter().any(found);
    for event in events {
        let is_kept = match &event.kind {
            EventKind::MessageFinished { message_id, .. } => {
                has(&|entry| matches!(&entry.kind, EntryKind::Assistant(kept) if kept.message_id == *message_id))
            }
            EventKind::ToolFinished(finished) => {
                has(&|entry| matches!(&entry.kind, EntryKind::ToolResult(kept) if kept.result == finished.result))
            }
            EventKind::RunFinished(result) if !failed_by_store(result) => {
                has(&|entry| matches!(&entry.kind, EntryKind::RunFinished(kept) if kept.run == event.run_id))
            }
            _ => true,
        };
        assert!(is_kept, "{:?} is not stored {when}", event.kind);
    }
}

fn failed_by_store(result: &RunResult) -> bool {
    matches!(&result.outcome, Outcome::Failed(failure) if failure.kind == RunFailureKind::Store)
}

/// The results that a request holds.
fn results(request: &windlass_types::ModelRequest) -> Vec<ToolResult> {
    let blocks = request.messages.iter().flat_map(|message| &message.content);
    blocks.filter_map(|block| block.as_tool_result().cloned()).collect()
}

/// Waits for something that must happen within a minute of virtual time.
async fn in_a_minute<T>(future: impl Future<Output = T>) -> T {
    timeout(Duration::from_secs(60), future).await.expect("it never happens")
}

/// Reads until there is nothing to read for so long, or the stream ends.
async fn read_for(open: &mut Open, quiet: Duration) -> (Vec<Event>, Option<SessionError>) {
    let mut events = Vec::new();
    loop {
        match timeout(quiet, open.events.try_next()).await {
            Ok(Ok(Some(event))) => events.push(*event),
            Ok(Ok(None)) | Err(_) => return (events, None),
            Ok(Err(error)) => return (events, Some(error)),
        }
    }
}

/// A session of many turns whose n-th append waits at a gate.
async fn hanging(turns_in_all: usize, nth: u64, gate: &Gate) -> (Open, Disk, ScriptedModel, Arc<AtomicUsize>) {
    let disk = FaultyStore::new(MemoryStore::new());
    disk.wait_at(StoreOperation::Append, nth, gate);
    let (model, looked) = (turns(turns_in_all), Arc::new(AtomicUsize::new(0)));
    let mut world = world(model.clone(), [looks(&looked)]);
    world.store = Some(Arc::new(disk.clone()));
    (world.open().await, disk, model, looked)
}

#[tokio::test(start_paused = true)]
async fn a_log_that_hangs_for_ever_stops_the_run_and_the_host_hears_why() {
    for nth in 1..8 {
        let when = format!("at append {nth}");
        let (mut open, disk, model, looked) = hanging(400, nth, &Gate::new()).await;
        open.say("go");
        let (mut events, error) = read_for(&mut open, Duration::from_secs(3_600)).await;
        assert_eq!((error, events.iter().filter(|event| is_notice(event)).count()), (None, 1), "{when}");
        // Each call of the model is at least one append behind the one before.
        let (asked, seen) = (model.requests().len(), looked.load(Ordering::SeqCst));
        assert!(asked as u64 <= nth + 1 && seen < asked.max(1) + 1, "{asked} requests and {seen} looks {when}");
        // An interrupt stops the run at once, and the host hears again what it waits for.
        open.handle.interrupt().unwrap();
        let (more, _) = read_for(&mut open, Duration::from_secs(60)).await;
        assert_eq!(more.iter().filter(|event| is_notice(event)).count(), 1, "{when}");
        events.extend(more);
        open.say("and now?");
        events.extend(read_for(&mut open, Duration::from_secs(3_600)).await.0);
        assert!(model.requests().len() <= asked + 1, "{when}");
        assert_kept(disk.inner(), &events, &when).await;

        let (handle, begun) = (open.handle.clone(), Instant::now());
        let closed = in_a_minute(handle.close()).await;
        assert!(begun.elapsed() <= Duration::from_secs(36), "it took {:?} {when}", begun.elapsed());
        let error = closed.unwrap_err();
        assert!(matches!(&error, SessionError::LogSilent { message } if message.contains("did not answer")), "{error}");
        let (rest, last) = open.rest().await;
        events.extend(rest);
        assert_eq!(last, Some(error), "{when}");
        assert!(result_of(&events).is_some_and(failed_by_store), "{when}");
        assert_whole(&events);
        assert_kept(disk.inner(), &events, &when).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_log_that_hangs_and_then_answers_costs_time_and_nothing_else() {
    for nth in 1..12 {
        let gate = Gate::new();
        let (mut open, disk, model, _) = hanging(3, nth, &gate).await;
        open.say("go");
        let (mut events, error) = read_for(&mut open, Duration::from_secs(600)).await;
        assert_eq!(error, None);
        let is_reached = gate.arrived() > 0;
        gate.open();
        if result_of(&events).is_none() {
            events.extend(in_a_minute(open.until(|kind| matches!(kind, EventKind::RunFinished(_)))).await);
        }
        let when = format!("when append {nth} hung");
        assert_eq!(result_of(&events).unwrap().outcome, Outcome::Success, "{when}");
        assert_eq!(
            (model.requests().len(), events.iter().filter(|event| is_notice(event)).count()),
            (4, usize::from(is_reached)),
            "{when}"
        );
        assert_kept(disk.inner(), &events, &when).await;
        in_a_minute(open.handle.close()).await.unwrap();
        events.extend(open.rest().await.0);
        assert_whole(&events);
    }
}

#[tokio::test(start_paused = true)]
async fn an_append_that_fails_late_ends_the_session_and_nothing_is_claimed() {
    for nth in 1..12 {
        let disk = FaultyStore::new(MemoryStore::new());
        disk.fail_late(StoreOperation::Append, nth, StoreErrorKind::Io);
        let looked = Arc::new(AtomicUsize::new(0));
        let mut world = world(turns(3), [looks(&looked)]);
        world.store = Some(Arc::new(disk.clone()));
        let mut open = world.open().await;
        open.say("go");
        let (mut events, mut error) = read_for(&mut open, Duration::from_secs(60)).await;
        let closed = in_a_minute(open.handle.close()).await;
        if error.is_none() {
            let (rest, last) = open.rest().await;
            events.extend(rest);
            error = last;
        }
        let when = format!("when append {nth} failed");
        let is_reached = disk.count(StoreOperation::Append) >= nth;
        assert_eq!(error.is_some(), is_reached, "{when}: {error:?}");
        assert_eq!(closed.err(), error, "{when}");
        assert_whole(&events);
        assert_kept(disk.inner(), &events, &when).await;
    }
}

/// A store that takes its time over every append.
#[derive(Debug)]
struct Slow {
    store: MemoryStore,
    wait: Duration,
}

#[async_trait]
impl SessionStore for Slow {
    async fn open(&self, key: &SessionKey, owner: &Owner, header: LogHeader) -> Result<Lease, StoreError> {
        self.store.open(key, owner, header).await
    }

    async fn append(&self, lease: &Lease, seq: u64, entries: Vec<Entry>, grade: Durability) -> Result<u64, StoreError> {
        sleep(self.wait).await;
        self.store.append(lease, seq, entries, grade).await
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
        self.store.close(lease).await
    }
}

#[tokio::test(start_paused = true)]
async fn a_slow_log_is_kept_up_with() {
    for (wait, noticed) in [(3, false), (20, true)] {
        let store = MemoryStore::new();
        let log = store.clone();
        // Looks into the store at each request: what the one before was made of is there.
        let model = model(move |request, number| {
            let stored = log.log(&key("s")).map(|log| String::from_utf8(log).unwrap()).unwrap_or_default();
            for result in results(request).iter().rev().skip(1) {
                let line = format!("\"tool_use_id\":\"{}\"", result.tool_use_id);
                assert!(stored.contains(&line), "request {number} is ahead of the log: {result:?}");
            }
            if number < 6 {
                ScriptedTurn::new().tool_use_with_id(format!("t{number}"), "look", serde_json::json!({}))
            } else {
                ScriptedTurn::new().text("Done.")
            }
        });
        let looked = Arc::new(AtomicUsize::new(0));
        let mut world = world(model.clone(), [looks(&looked)]);
        world.store = Some(Arc::new(Slow { store: store.clone(), wait: Duration::from_secs(wait) }));
        let mut open = world.open().await;
        open.say("go");
        let mut events = open.until(|kind| matches!(kind, EventKind::RunFinished(_))).await;
        assert_eq!(result_of(&events).unwrap().outcome, Outcome::Success);
        assert_eq!(events.iter().any(is_notice), noticed, "{wait} s");
        assert_kept(&store, &events, "in a slow store").await;
        in_a_minute(open.handle.close()).await.unwrap();
        events.extend(open.rest().await.0);
        assert_whole(&events);
    }
}

#[tokio::test(start_paused = true)]
async fn a_log_that_does_not_close_is_given_up() {
    let disk = FaultyStore::new(MemoryStore::new());
    disk.wait_at(StoreOperation::Close, 1, &Gate::new());
    let looked = Arc::new(AtomicUsize::new(0));
    let mut world = world(turns(1), [looks(&looked)]);
    world.store = Some(Arc::new(disk.clone()));
    let mut open = world.open().await;
    open.succeed("go").await;
    let error = in_a_minute(open.handle.close()).await.unwrap_err();
    assert!(matches!(&error, SessionError::LogSilent { message } if message.contains("did not close")), "{error}");
}

/// A program may end its runtime, or open the session again, as soon as it has read the last event.
#[tokio::test(start_paused = true)]
async fn the_events_end_when_the_log_is_given_back() {
    for broken in [false, true] {
        let (disk, gate) = (FaultyStore::new(MemoryStore::new()), Gate::new());
        disk.wait_at(StoreOperation::Close, 1, &gate);
        if broken {
            disk.fail(StoreOperation::Append, 1, StoreErrorKind::Full);
        }
        let mut world = world(turns(0), []);
        world.store = Some(Arc::new(disk.clone()));
        let mut open = world.open().await;
        let _ = open.run("go").await;
        let handle = open.handle.clone();
        let mut feed = handle.subscribe();
        let closing = tokio::spawn(async move { handle.close().await });
        gate.wait_arrived(1).await;
        assert!(timeout(Duration::from_secs(1), open.rest()).await.is_err(), "the log is still held");
        assert!(timeout(Duration::from_secs(1), feed.try_next()).await.is_err(), "the log is still held");
        gate.open();
        let (_, error) = in_a_minute(open.rest()).await;
        assert_eq!((error.is_some(), open.handle.has_ended()), (broken, true));
        assert_eq!(in_a_minute(closing).await.unwrap().err(), error);
        assert_eq!(feed.try_next().await.err(), error);
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_runs_while_the_log_hangs_is_stopped_by_an_interrupt() {
    let stopped = Arc::new(Mutex::new(None));
    let kept = Arc::clone(&stopped);
    let tool = look(move |_, cx| {
        let kept = Arc::clone(&kept);
        async move {
            let mut words = 0_u64;
            while timeout(Duration::from_millis(10), cx.cancel().cancelled()).await.is_err() {
                words += 1;
                cx.progress(format!("word {words}"));
            }
            *kept.lock().unwrap() = Some((Instant::now(), words));
            Ok("stopped".to_owned())
        }
    });
    let disk = FaultyStore::new(MemoryStore::new());
    let gate = Gate::new();
    disk.wait_at(StoreOperation::Append, 1, &gate);
    let mut world = world(turns(400), [tool]);
    world.store = Some(Arc::new(disk.clone()));
    let mut open = world.open().await;
    open.say("go");
    let mut events = open.until(|kind| matches!(kind, EventKind::Status(Status::Notice { .. }))).await;
    sleep(Duration::from_secs(60)).await;
    let asked = Instant::now();
    open.handle.interrupt().unwrap();
    sleep(Duration::from_secs(1)).await;
    let (at, words) = stopped.lock().unwrap().take().expect("it was not stopped");
    assert!(at - asked < Duration::from_millis(100), "{:?}", at - asked);
    assert!(words > 1_000, "{words}");
    gate.open();
    events.extend(in_a_minute(open.until(|kind| matches!(kind, EventKind::RunFinished(_)))).await);
    let shown = events.iter().filter(|event| matches!(event.kind, EventKind::ToolProgress(_))).count();
    assert!(shown <= 2, "{shown} words waited");
    assert_eq!(
        result_of(&events).unwrap().outcome,
        Outcome::Interrupted { during: windlass_types::Interrupted::Tools }
    );
    in_a_minute(open.handle.close()).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_host_that_does_not_read_stops_the_run_and_misses_nothing() {
    let store = MemoryStore::new();
    let looked = Arc::new(AtomicUsize::new(0));
    let model = turns(400);
    let mut open = world(model.clone(), [looks(&looked)]).stored(&store).open().await;
    open.say("go");
    sleep(Duration::from_secs(3_600)).await;
    let asked = model.requests().len();
    assert!((10..200).contains(&asked), "{asked} requests for a host that reads nothing");
    // The host reads a few events and stops again, so only little more happens.
    for _ in 0..20 {
        open.next().await;
    }
    sleep(Duration::from_secs(3_600)).await;
    assert!((asked..asked + 20).contains(&model.requests().len()));
    let events = in_a_minute(open.until(|kind| matches!(kind, EventKind::RunFinished(_)))).await;
    assert_eq!((result_of(&events).unwrap().turns, model.requests().len()), (401, 401));
    assert_kept(&store, &events, "for a host that reads late").await;
}

#[tokio::test(start_paused = true)]
async fn a_host_that_does_not_read_can_interrupt_and_close() {
    let looked = Arc::new(AtomicUsize::new(0));
    let model = turns(400);
    let store = MemoryStore::new();
    let mut open = world(model.clone(), [looks(&looked)]).stored(&store).open().await;
    open.say("go");
    sleep(Duration::from_secs(60)).await;
    open.handle.interrupt().unwrap();
    in_a_minute(open.handle.close()).await.unwrap();
    let (events, error) = open.rest().await;
    assert_eq!(error, None);
    assert!(matches!(result_of(&events).unwrap().outcome, Outcome::Interrupted { .. }));
    assert_whole(&events);
    assert_kept(&store, &events, "for a host that never read").await;
}

/// A clock that shows one time after the other.
#[derive(Debug)]
struct Jumping {
    times: Vec<u64>,
    at: AtomicU64,
}

impl Clock for Jumping {
    fn now(&self) -> Timestamp {
        let at = self.at.fetch_add(1, Ordering::SeqCst) as usize;
        Timestamp::from_millis(self.times[at % self.times.len()])
    }
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_jumps_changes_times_and_nothing_else() {
    const NOW: u64 = 1_790_000_000_000;
    const YEAR: u64 = 365 * 24 * 3_600_000;
    for times in [vec![NOW, NOW + YEAR, NOW - 10 * YEAR], vec![NOW, 0], vec![0], vec![NOW + 7_000 * YEAR, NOW]] {
        let store = MemoryStore::new();
        let ran = act(|_, _| async { Ok("done".to_owned()) });
        let model = model(|_, number| match number {
            0..4 => ScriptedTurn::new().tool_use("act", serde_json::json!({})),
            _ => ScriptedTurn::new().text("Done."),
        });
        let mut world = world(model.clone(), [ran]).stored(&store);
        world.clock = Some(Arc::new(Jumping { times: times.clone(), at: AtomicU64::new(0) }));
        let mut open = world.open().await;
        open.say("go");
        let mut events = in_a_minute(open.until(|kind| matches!(kind, EventKind::RunFinished(_)))).await;
        let result = result_of(&events).unwrap();
        assert_eq!((&result.outcome, result.turns), (&Outcome::Success, 5), "{times:?}");
        assert_kept(&store, &events, "when the clock jumped").await;
        let kept = store.load(&key("s")).await.unwrap().entries;
        assert!(kept.is_sorted_by_key(|entry| entry.timestamp), "{times:?}");
        in_a_minute(open.handle.close()).await.unwrap();
        events.extend(open.rest().await.0);
        assert_whole(&events);
    }
}

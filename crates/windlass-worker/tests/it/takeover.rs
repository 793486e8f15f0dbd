//! Take-over of sessions whose worker is gone. The number of trials is `WINDLASS_TRIALS`, or one.

use crate::process::{Client, WorkerProcess, until};
use crate::server::Server;
use std::time::{Duration, Instant};
use windlass::store::{StoreErrorKind, Timestamp};
use windlass_postgres::{PgStore, SessionState};

/// Term of the leases.
pub(crate) const TERM: Duration = Duration::from_secs(2);

/// Bound for a take-over beyond the term of the lease.
const TAKE_OVER: Duration = Duration::from_secs(2);

pub(crate) fn trials(few: u32) -> u32 {
    std::env::var("WINDLASS_TRIALS").ok().and_then(|count| count.parse().ok()).unwrap_or(few)
}

/// A directory that the server's user and this one may enter.
pub(crate) fn workspace() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_runs_each_message_of_a_session_once() {
    let Some(server) = Server::start() else { return };
    let (database, workspace) = (server.database().await, workspace());
    let client = Client::begin(&database, workspace.path(), 0).await;
    let worker = WorkerProcess::start(&database, workspace.path(), TERM);
    for name in ["one", "two"] {
        client.send(name, 0.0).await;
        client.until_effect(&format!("end {name}")).await;
        client.until_idle().await;
        // The same message again.
        client.send(name, 0.0).await;
    }
    client.until_idle().await;
    assert_eq!(client.effects(), ["begin one", "end one", "begin two", "end two"]);
    assert_eq!(client.runs().await, (vec!["success".to_owned(); 2], 2));
    worker.drain();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_worker_goes_on_when_one_is_killed_and_effects_happen_once() {
    let Some(server) = Server::start() else { return };
    let (database, workspace) = (server.database().await, workspace());
    let mut waits = Vec::new();
    for trial in 0..trials(1) {
        let client = Client::begin(&database, workspace.path(), trial).await;
        let mut workers =
            [(); 2].map(|()| WorkerProcess::start(&database, workspace.path(), TERM)).into_iter().collect::<Vec<_>>();
        client.send("it", 30.0).await;
        client.until_effect("begin it").await;
        let owner: u32 = database.sql("select owner->>'pid' from wl_session where state = 2").parse().unwrap();
        let at = workers.iter().position(|worker| worker.pid() == owner).unwrap();
        drop(workers.remove(at));
        let killed = Instant::now();
        client.until_idle().await;
        waits.push(killed.elapsed());
        assert_eq!(client.effects(), ["begin it"], "the call was cut, and is not repeated");
        assert_eq!(client.runs().await, (vec!["success".to_owned()], 1));
    }
    waits.sort();
    let (median, longest) = (waits[waits.len() / 2], waits[waits.len() - 1]);
    println!("{} take-overs at a term of {TERM:?}: median {median:?}, longest {longest:?}", waits.len());
    assert!(longest < TERM + TAKE_OVER, "{waits:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_that_waits_when_its_worker_is_killed_joins_once() {
    let Some(server) = Server::start() else { return };
    let (database, workspace) = (server.database().await, workspace());
    let client = Client::begin(&database, workspace.path(), 0).await;
    let first = WorkerProcess::start(&database, workspace.path(), TERM);
    client.send("one", 30.0).await;
    client.until_effect("begin one").await;
    client.send("two", 0.0).await;
    let queued = "select count(*) from wl_log where position('windlass-prompt-queued' in encode(body, 'escape')) > 0";
    until(|| database.sql(queued) == "1").await;
    drop(first);
    let _second = WorkerProcess::start(&database, workspace.path(), TERM);
    client.until_effect("end two").await;
    client.until_idle().await;
    assert_eq!(client.effects(), ["begin one", "begin two", "end two"]);
    assert_eq!(client.runs().await.1, 2, "each message joined once");
}

/// Rows 1 to 9: workers are killed at random times of a run, and others go on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kills_at_random_times_lose_no_message_and_repeat_no_effect() {
    let Some(server) = Server::start() else { return };
    let (database, workspace) = (server.database().await, workspace());
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    let trials = trials(3);
    let mut worker = WorkerProcess::start(&database, workspace.path(), TERM);
    for trial in 0..trials {
        let client = Client::begin(&database, workspace.path(), trial).await;
        client.send("it", 0.05).await;
        for _ in 0..2 {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            tokio::time::sleep(Duration::from_millis(random % 700)).await;
            let next = WorkerProcess::start(&database, workspace.path(), TERM);
            drop(std::mem::replace(&mut worker, next));
        }
        client.until_idle().await;
        let effects = client.effects();
        let begun = effects.iter().filter(|line| *line == "begin it").count();
        assert!(begun <= 1 && effects.len() <= 2, "trial {trial}: {effects:?}");
        let (outcomes, prompts) = client.runs().await;
        assert_eq!(prompts, 1, "trial {trial}: the message joined once");
        assert_eq!(outcomes.last().map(String::as_str), Some("success"), "trial {trial}: {outcomes:?}");
    }
    println!("{trials} sessions, {} kills", trials * 2);
}

/// Row 15: the owner is stopped past its lease in the middle of a call, and continues later.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stopped_worker_that_comes_back_writes_nothing() {
    let Some(server) = Server::start() else { return };
    let (database, workspace) = (server.database().await, workspace());
    for trial in 0..trials(1) {
        let client = Client::begin(&database, workspace.path(), trial).await;
        let first = WorkerProcess::start(&database, workspace.path(), TERM);
        client.send("it", 30.0).await;
        client.until_effect("begin it").await;
        signal(first.pid(), "STOP");
        let _second = WorkerProcess::start(&database, workspace.path(), TERM);
        client.until_idle().await;
        let log = database.sql("select max(epoch), count(*) from wl_log");
        signal(first.pid(), "CONT");
        // The first worker finds its lease lost, ends the call, and goes on as a worker.
        tokio::time::sleep(TERM).await;
        assert_eq!(database.sql("select max(epoch), count(*) from wl_log"), log);
        assert_eq!(client.effects(), ["begin it"]);
        assert_eq!(client.runs().await, (vec!["success".to_owned()], 1));
    }
}

fn signal(pid: u32, name: &str) {
    let sent = std::process::Command::new("kill").args([&format!("-{name}"), &pid.to_string()]).status().unwrap();
    assert!(sent.success());
}

/// Row 22: a worker that ends hands its sessions over, and no log says that a user interrupted.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_that_drains_hands_its_sessions_over() {
    let Some(server) = Server::start() else { return };
    let (database, workspace) = (server.database().await, workspace());
    let first = WorkerProcess::start(&database, workspace.path(), TERM);
    let mut clients = Vec::new();
    for number in 0..trials(5).min(40) {
        let client = Client::begin(&database, workspace.path(), number).await;
        client.send("it", 1.0).await;
        clients.push(client);
    }
    for client in &clients {
        client.until_effect("begin it").await;
    }
    let second = WorkerProcess::start(&database, workspace.path(), TERM);
    first.drain();
    for client in &clients {
        client.until_idle().await;
        let (outcomes, prompts) = client.runs().await;
        assert_eq!((outcomes.last().map(String::as_str), prompts), (Some("success"), 1), "{outcomes:?}");
        assert_eq!(client.effects().iter().filter(|line| *line == "begin it").count(), 1);
    }
    let log =
        database.sql("select count(*) from wl_log where position('interrupted by user' in encode(body, 'escape')) > 0");
    assert_eq!(log, "0");
    println!("{} sessions handed over", clients.len());
    drop(second);
}

/// Row 23: a question is open while workers are replaced, is answered twice, and its call runs once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_outlives_five_workers_and_its_call_runs_once() {
    let Some(server) = Server::start() else { return };
    let (database, workspace) = (server.database().await, workspace());
    let client = Client::begin_asking(&database, workspace.path(), 0).await;
    client.send("it", 0.0).await;
    for _ in 0..5 {
        let worker = WorkerProcess::start(&database, workspace.path(), TERM);
        client.until_state(SessionState::Waits).await;
        worker.drain();
        // Six days.
        database.sql(
            "update wl_session set created = created - interval '6 days', changed = changed - interval '6 days', \
             ready = ready - interval '6 days'; update wl_question set asked = asked - interval '6 days'",
        );
    }
    let questions = client.store.questions(&client.key).await.unwrap();
    assert_eq!((questions.len(), client.effects().len()), (1, 0));
    let service = PgStore::connect(&database.config("service")).await.unwrap();
    let (id, at) = (&questions[0].question.id, Timestamp::from_millis(1));
    service.answer_question(&client.key, id, (true, None), at).await.unwrap();
    let again = service.answer_question(&client.key, id, (false, None), at).await.unwrap_err();
    assert_eq!(again.kind, StoreErrorKind::Exists);
    let _worker = WorkerProcess::start(&database, workspace.path(), TERM);
    client.until_effect("end it").await;
    client.until_idle().await;
    assert_eq!(client.effects(), ["begin it", "end it"]);
}

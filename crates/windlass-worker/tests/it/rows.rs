//! Faults of clocks, of the connection to the database, and of versions. The number of trials is `WINDLASS_TRIALS`, or one.

use crate::process::{Client, WorkerProcess, WorkerSetup};
use crate::relay::{Pace, Relay};
use crate::server::Server;
use crate::takeover::{TERM, trials, workspace};
use std::time::{Duration, Instant};
use windlass_postgres::SessionState;

/// Row 16: clocks of workers that differ by two hours decide nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn row_16_wrong_clocks_of_workers_have_no_effect_on_leases() {
    let Some(server) = Server::start() else { return };
    let Some(library) = faketime() else { return windlass_testkit::skipped("libfaketime (package faketime)") };
    let (database, workspace) = (server.database().await, workspace());
    let at = |offset: &str| {
        // The time that timers are measured by stays.
        let (preload, time) = (format!("LD_PRELOAD={library}"), format!("FAKETIME={offset}"));
        let wrapper = ["env", &preload, &time, "FAKETIME_DONT_FAKE_MONOTONIC=1"];
        let setup = WorkerSetup::new(&database, workspace.path(), TERM);
        WorkerProcess::with(&WorkerSetup { wrapper: &wrapper, ..setup })
    };
    let count = trials(1);
    for trial in 0..count {
        let client = Client::begin(&database, workspace.path(), trial).await;
        let first = at("-1h");
        client.send("it", 1_000.0).await;
        client.until_effect("begin it").await;
        let epoch = database.sql("select max(epoch) from wl_session");
        let _second = at("+1h");
        // A worker that trusted its clock would take over now.
        tokio::time::sleep(TERM + Duration::from_secs(1)).await;
        assert_eq!(database.sql("select max(epoch) from wl_session"), epoch, "trial {trial}");
        let killed = Instant::now();
        drop(first);
        client.until_idle().await;
        assert!(killed.elapsed() < TERM + Duration::from_secs(4), "trial {trial}: {:?}", killed.elapsed());
        assert_eq!(client.effects(), ["begin it"]);
        assert_eq!(client.runs().await, (vec!["success".to_owned()], 1));
    }
    println!("row 16: {count} trials");
}

/// The library that changes the clock of a process.
fn faketime() -> Option<String> {
    let folders = std::fs::read_dir("/usr/lib").ok()?;
    let library = folders.filter_map(|folder| Some(folder.ok()?.path().join("faketime/libfaketimeMT.so.1")));
    library.into_iter().find(|library| library.exists()).map(|library| library.display().to_string())
}

/// Row 19: each answer of the database takes 200 ms.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn row_19_a_slow_database_slows_a_session_and_nothing_else() {
    let Some(server) = Server::start() else { return };
    let (database, workspace) = (server.database().await, workspace());
    let relay = Relay::start(&server, Pace::Late(Duration::from_millis(200)));
    let term = Duration::from_secs(6);
    let setup = WorkerSetup::new(&database, workspace.path(), term);
    let _worker = WorkerProcess::with(&WorkerSetup { address: relay.address("worker", &database.name), ..setup });
    let (count, mut longest) = (trials(1), Duration::ZERO);
    for trial in 0..count {
        let client = Client::begin(&database, workspace.path(), trial).await;
        let begun = Instant::now();
        client.send("it", 0.0).await;
        client.until_effect("end it").await;
        client.until_idle().await;
        longest = longest.max(begun.elapsed());
        assert_eq!(client.effects(), ["begin it", "end it"], "trial {trial}");
        assert_eq!(client.runs().await, (vec!["success".to_owned()], 1), "trial {trial}");
    }
    println!("row 19, 200 ms an answer: {count} trials, longest run {longest:?}");
}

/// Row 19: the database hangs while a call runs, for less than the term of the lease, and for longer.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn row_19_a_database_that_hangs_delays_a_session_or_moves_it() {
    let Some(server) = Server::start() else { return };
    let (database, workspace) = (server.database().await, workspace());
    let term = Duration::from_secs(3);
    let count = trials(1);
    for trial in 0..count {
        for (number, pause) in [(trial * 2, Duration::from_millis(700)), (trial * 2 + 1, term * 2)] {
            let relay = Relay::start(&server, Pace::Late(Duration::ZERO));
            let setup = WorkerSetup::new(&database, workspace.path(), term);
            let address = relay.address("worker", &database.name);
            let first = WorkerProcess::with(&WorkerSetup { address, ..setup });
            let client = Client::begin(&database, workspace.path(), number).await;
            client.send("it", 1.0).await;
            client.until_effect("begin it").await;
            relay.set(Pace::Hangs);
            let second = (pause > term).then(|| WorkerProcess::start(&database, workspace.path(), term));
            tokio::time::sleep(pause).await;
            if second.is_some() {
                client.until_idle().await;
            }
            let before = database.sql("select count(*), max(epoch) from wl_log");
            relay.set(Pace::Late(Duration::ZERO));
            client.until_idle().await;
            if second.is_some() {
                // The first worker comes back, and finds its lease lost.
                tokio::time::sleep(term).await;
                assert_eq!(database.sql("select count(*), max(epoch) from wl_log"), before, "{pause:?}");
            } else {
                assert_eq!(client.effects(), ["begin it", "end it"], "trial {trial}");
            }
            assert_eq!(client.effects().iter().filter(|line| *line == "begin it").count(), 1, "trial {trial}");
            let (outcomes, prompts) = client.runs().await;
            assert_eq!((outcomes.last().map(String::as_str), prompts), (Some("success"), 1), "{pause:?}: {outcomes:?}");
            drop((first, second));
        }
    }
    println!("row 19, hangs of 0.7 s and {:?} at a term of {term:?}: {count} trials each", term * 2);
}

/// Row 21: a newer program wrote a kind of entry that this one does not know: the session goes on, and the entry stays byte
/// for byte. A session that needs a newer program is left to it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn row_21_entries_and_sessions_of_a_newer_program_are_left_as_they_are() {
    let Some(server) = Server::start() else { return };
    let (database, workspace) = (server.database().await, workspace());
    let worker = WorkerProcess::start(&database, workspace.path(), TERM);
    let count = trials(1);
    for trial in 0..count {
        let client = Client::begin(&database, workspace.path(), trial).await;
        client.send("one", 0.0).await;
        client.until_effect("end one").await;
        client.until_idle().await;
        let line = format!("{{\"type\":\"of-a-newer-program\",\"number\":{trial},  \"odd\":[1,{{}}]}}\\n");
        let session = client.key.session.as_str();
        database.sql(&format!(
            "with s as (update wl_session set seq = seq + length(convert_to(E'{line}', 'UTF8'))
                where session = '{session}' and owner is null returning *)
             insert into wl_log (tenant, id, seq, epoch, ids, body)
             select tenant, id, seq, epoch, array[]::text[], convert_to(E'{line}', 'UTF8') from s"
        ));
        client.send("two", 0.0).await;
        client.until_effect("end two").await;
        client.until_idle().await;
        assert_eq!(client.runs().await, (vec!["success".to_owned(); 2], 2), "trial {trial}");
        let kept = format!("select count(*) from wl_log where body = convert_to(E'{line}', 'UTF8')");
        assert_eq!(database.sql(&kept), "1", "trial {trial}");

        let newer = Client::begin(&database, workspace.path(), 10_000 + trial).await;
        let id = newer.key.session.as_str();
        database.sql(&format!("update wl_session set needs = needs || '{{\"version\": 2}}' where session = '{id}'"));
        newer.send("it", 0.0).await;
        // The worker runs what was sent later.
        client.send("three", 0.0).await;
        client.until_effect("end three").await;
        client.until_idle().await;
        assert_eq!(newer.store.state(&newer.key).await.unwrap().unwrap().0, SessionState::Ready);
        assert!(newer.effects().is_empty());
    }
    worker.drain();
    println!("row 21: {count} trials");
}

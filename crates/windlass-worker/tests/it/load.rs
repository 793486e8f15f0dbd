//! Many sessions: kills, drains and memory. Run by `tests/postgres/kills` and `tests/postgres/load`.

use crate::process::{Client, WorkerProcess, WorkerSetup, until};
use crate::server::{Database, Server};
use crate::takeover::{TERM, workspace};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};
use windlass::store::{Durability, EntryKind, Owner, SessionStore as _};
use windlass_postgres::{InboxMessage, NewSession, PgStore};

/// Sessions of a round of kills.
const SESSIONS: u32 = 6;

fn count_of(variable: &str, usual: u32) -> u32 {
    std::env::var(variable).ok().and_then(|count| count.parse().ok()).unwrap_or(usual)
}

/// Rows 1 to 9: the boundary at which a kill found a session, by the end of its log.
async fn boundary(client: &Client) -> &'static str {
    let Ok(loaded) = client.store.load(&client.key).await else { return "1 nothing stored" };
    let last = loaded.entries.iter().rev().find_map(|entry| match &entry.kind {
        EntryKind::User(_) => Some("2-4 prompt stored, request or stream"),
        EntryKind::Assistant(message) if message.content.iter().any(|block| block.as_tool_use().is_some()) => {
            Some("5 calls stored")
        }
        EntryKind::Assistant(_) => Some("9 answer stored"),
        EntryKind::Decision(_) => Some("6 decision stored"),
        EntryKind::Intent { .. } => Some("7-8 intent stored, call running"),
        EntryKind::ToolResult(_) => Some("9 result stored"),
        EntryKind::RunFinished(_) => Some("run ended"),
        _ => None,
    });
    last.unwrap_or("1 nothing stored")
}

/// A round: sessions of one worker, which is killed twice at random times, and a third that ends them.
async fn round(database: &Database<'_>, place: &Path, number: u32, random: &mut u64) -> BTreeMap<&'static str, u32> {
    let mut worker = WorkerProcess::start(database, place, TERM);
    let (mut clients, mut found) = (Vec::new(), BTreeMap::new());
    for session in 0..SESSIONS {
        let client = Client::begin(database, place, number * SESSIONS + session).await;
        client.send("it", 0.3).await;
        clients.push(client);
    }
    for _ in 0..2 {
        *random ^= *random << 13;
        *random ^= *random >> 7;
        *random ^= *random << 17;
        tokio::time::sleep(Duration::from_millis(*random % 600)).await;
        drop(worker);
        for client in &clients {
            *found.entry(boundary(client).await).or_default() += 1;
        }
        worker = WorkerProcess::start(database, place, TERM);
    }
    for client in &clients {
        client.until_idle().await;
        let (effects, (outcomes, prompts)) = (client.effects(), client.runs().await);
        let begun = effects.iter().filter(|line| *line == "begin it").count();
        assert!(begun <= 1 && effects.len() <= 2, "round {number}: {effects:?}");
        assert_eq!(
            (outcomes.last().map(String::as_str), prompts),
            (Some("success"), 1),
            "round {number}: {outcomes:?}"
        );
        let report = client.store.load(&client.key).await.unwrap().report;
        assert!(
            report.skipped.is_empty() && report.torn == 0 && report.lost_parents == 0,
            "round {number}: {report:?}"
        );
        drop(std::fs::remove_file(&client.effects));
    }
    found
}

/// Rows 1 to 9: kills at random times, in lanes beside each other.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "minutes: run by tests/postgres/kills"]
async fn rows_1_to_9_random_kills() {
    let Some(server) = Server::start() else { return };
    let (kills, lanes, begun) = (count_of("WINDLASS_KILLS", 20), 3, Instant::now());
    let rounds = kills.div_ceil(2 * lanes);
    let lane = async |lane: u32| {
        let (database, place) = (server.database().await, workspace());
        let (mut found, mut random) = (BTreeMap::new(), 0x2545_f491_4f6c_dd1d_u64 ^ u64::from(lane) << 40);
        for number in 0..rounds {
            for (boundary, count) in round(&database, place.path(), number, &mut random).await {
                *found.entry(boundary).or_insert(0) += count;
            }
        }
        found
    };
    let (one, two, three) = tokio::join!(lane(1), lane(2), lane(3));
    let mut found: BTreeMap<&str, u32> = BTreeMap::new();
    for (boundary, count) in [one, two, three].into_iter().flatten() {
        *found.entry(boundary).or_default() += count;
    }
    let (kills, sessions) = (rounds * 2 * lanes, rounds * lanes * SESSIONS);
    println!("rows 1-9: {kills} kills, {sessions} sessions, {:?}; at the kill a session had", begun.elapsed());
    for (boundary, count) in found {
        println!("  {boundary}: {count}");
    }
}

/// Registers sessions of a profile, each with a prompt.
async fn begin_many(store: &PgStore, profile: &str, from: u32, count: u32) -> Vec<windlass::store::SessionKey> {
    let mut keys = Vec::new();
    for number in from..from + count {
        let new = NewSession::new(profile, "w");
        let key = new.key(windlass::SessionId::from_bits(u128::from(number) + 1));
        store.begin(&key, &new).await.unwrap();
        store.send(&key, "it", &InboxMessage::prompt("go")).await.unwrap();
        keys.push(key);
    }
    keys
}

/// Waits until this many calls run.
async fn until_running(database: &Database<'_>, count: u32) {
    let intents = "select count(distinct l.id) from wl_log l join wl_session s on s.tenant = l.tenant and s.id = l.id \
                   where s.profile = 'nap' and position('windlass-intent' in encode(l.body, 'escape')) > 0";
    let wanted = count.to_string();
    until(|| database.sql(intents) == wanted).await;
}

fn percentile(sorted: &[u64], part: f64) -> u64 {
    let at = (part * (sorted.len() - 1) as f64).round() as usize;
    sorted[at]
}

/// Kill -9 of one of two workers under 100 running sessions.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "minutes: run by tests/postgres/load"]
async fn a_worker_with_many_sessions_is_killed() {
    let Some(server) = Server::start() else { return };
    let mut waits: Vec<u64> = Vec::new();
    let trials = count_of("WINDLASS_TRIALS", 3);
    for _ in 0..trials {
        let (database, place) = (server.database().await, workspace());
        let store = PgStore::connect(&database.config("worker")).await.unwrap();
        let mut setup = WorkerSetup::new(&database, place.path(), TERM);
        setup.capacity = 100;
        let mut workers = vec![WorkerProcess::with(&setup), WorkerProcess::with(&setup)];
        let keys = begin_many(&store, "nap", 0, 100).await;
        until_running(&database, 100).await;
        let most = "select owner->>'pid' from wl_session group by 1 order by count(*) desc limit 1";
        let pid: u32 = database.sql(most).parse().unwrap();
        let owned =
            database.sql(&format!("select string_agg(session, ' ') from wl_session where owner->>'pid' = '{pid}'"));
        let at = workers.iter().position(|worker| worker.pid() == pid).unwrap();
        let killed = now_ms();
        drop(workers.remove(at));
        for key in keys.iter().filter(|key| owned.contains(key.session.as_str())) {
            loop {
                let entries = store.load(key).await.unwrap().entries;
                let resumed = entries.iter().find(|entry| matches!(entry.kind, EntryKind::RunResumed { .. }));
                if let Some(resumed) = resumed {
                    waits.push(resumed.timestamp.millis().saturating_sub(killed));
                    break;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
    }
    waits.sort_unstable();
    println!(
        "kill -9 under 100 running sessions, term {TERM:?}, {trials} kills, {} sessions moved: continues after p50 {} ms, p99 {} ms, most {} ms",
        waits.len(),
        percentile(&waits, 0.5),
        percentile(&waits, 0.99),
        percentile(&waits, 1.0)
    );
}

fn now_ms() -> u64 {
    u64::try_from(std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_millis()).unwrap()
}

/// Row 22: a worker with 200 running sessions drains.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "minutes: run by tests/postgres/load"]
async fn row_22_a_worker_with_200_running_sessions_drains() {
    let Some(server) = Server::start() else { return };
    let (database, place) = (server.database().await, workspace());
    let store = PgStore::connect(&database.config("worker")).await.unwrap();
    let mut setup = WorkerSetup::new(&database, place.path(), Duration::from_secs(15));
    setup.capacity = 200;
    let first = WorkerProcess::with(&setup);
    begin_many(&store, "nap", 0, 200).await;
    until_running(&database, 200).await;
    let begun = Instant::now();
    first.drain();
    let drained = begun.elapsed();
    let ready = "select count(*) from wl_session where state = 1 and owner is null";
    assert_eq!(database.sql(ready), "200");
    let said = "select count(*) from wl_log where position('interrupted by user' in encode(body, 'escape')) > 0";
    assert_eq!(database.sql(said), "0");
    let _second = WorkerProcess::with(&setup);
    let begun = Instant::now();
    until(|| database.sql("select count(*) from wl_session where state = 0") == "200").await;
    println!(
        "row 22: 200 running sessions handed over in {drained:?}; all ended by the next worker {:?} later",
        begun.elapsed()
    );
}

/// Row 24: memory of a worker with running sessions, beside idle ones in the store.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "minutes: run by tests/postgres/load"]
async fn row_24_ten_thousand_idle_sessions_and_500_running_ones() {
    let Some(server) = Server::start() else { return };
    let (database, place) = (server.database().await, workspace());
    let store = PgStore::connect(&database.config("worker")).await.unwrap();
    let one = Client::of_profile(&database, place.path(), (0, "effect")).await;
    let mut setup = WorkerSetup::new(&database, place.path(), Duration::from_secs(30));
    setup.capacity = 500;
    let worker = WorkerProcess::with(&setup);
    one.send("it", 0.0).await;
    one.until_effect("end it").await;
    one.until_idle().await;
    database.sql(
        "insert into wl_session (tenant, project, session, profile, workspace, state, seq, epoch)
            select tenant, project, 'idle-' || n, profile, workspace, state, seq, epoch
            from wl_session, generate_series(1, 10000) n where seq > 0;
         insert into wl_log (tenant, id, seq, epoch, ids, body)
            select l.tenant, s.id, l.seq, l.epoch, l.ids, l.body from wl_log l, wl_session s where s.session like 'idle-%';
         analyze",
    );
    let idle = memory(worker.pid());
    let begun = Instant::now();
    begin_many(&store, "nap", 1, 500).await;
    until_running(&database, 500).await;
    let (running, took) = (memory(worker.pid()), begun.elapsed());
    let connections = database.sql("select count(*) from pg_stat_activity where usename = 'worker'");
    println!(
        "row 24: 10,000 idle sessions in the store: worker {idle} kB; 500 running after {took:?}: {running} kB, {} kB each; {connections} connections",
        running.saturating_sub(idle) / 500
    );
    assert!(running.saturating_sub(idle) / 500 <= 400, "{running} - {idle}");
}

/// Row 25: a log of 100,000 entries and 100 MB without a compaction is read.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "minutes: run by tests/postgres/load"]
async fn row_25_a_huge_log_is_read() {
    let Some(server) = Server::start() else { return };
    let (database, key) = (server.database().await, windlass_testkit::store::key("huge", 1));
    let store = database.store(Duration::from_secs(600)).await;
    let lease = store.open(&key, &Owner::new(1, "writer"), windlass_testkit::store::header()).await.unwrap();
    let mut seq = lease.seq();
    for batch in 0..100 {
        let entries = (batch * 1_000..(batch + 1) * 1_000).map(|number| crate::feeds::entry_of(number, 700)).collect();
        seq = store.append(&lease, seq, entries, Durability::Durable).await.unwrap();
    }
    let (before, begun) = (memory(std::process::id()), Instant::now());
    let loaded = store.load(&key).await.unwrap();
    let (took, after) = (begun.elapsed(), memory(std::process::id()));
    assert_eq!((loaded.entries.len(), loaded.seq), (100_000, seq));
    println!(
        "row 25: {} entries, {} MB: read in {took:?}, {} MB more",
        loaded.entries.len(),
        seq / 1_000_000,
        (after - before) / 1_000
    );
}

/// Private and shared memory of a process, in kB.
fn memory(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").trim().parse().unwrap()
}

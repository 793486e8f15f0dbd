//! A killed writer loses nothing that it acknowledged.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use windlass_session::{AgentHeader, Durability, Owner, SessionKey, SessionStore, repair};
use windlass_store::{JsonlStore, check_file};
use windlass_testkit::store::{header, key};
use windlass_types::{ContentBlock, Entry, EntryId, EntryKind, Timestamp, UserEntry};

const HOME: &str = "WINDLASS_KILL_TEST_HOME";
const AGENT: &str = "WINDLASS_KILL_TEST_AGENT";

/// Returns the log of a session, or of an agent of it.
fn log(agent: Option<&str>) -> SessionKey {
    let session = key("kill", 1);
    agent.map_or_else(|| session.clone(), |agent| session.of_agent(agent.into()))
}

/// Not a test: the process that is killed. It reports which entries are durable.
#[tokio::test]
#[ignore = "run by the test below"]
async fn writer() {
    let Some(home) = std::env::var_os(HOME) else { return };
    let store = JsonlStore::new(home);
    let key = log(std::env::var(AGENT).ok().as_deref());
    let header = header().with_agent(AgentHeader::new("explore", "Look", "toolu_1".into()));
    let lease = store.open(&key, &Owner::new(std::process::id(), "writer"), header).await.unwrap();
    let loaded = store.load(&key).await.map(|loaded| loaded.entries).unwrap_or_default();
    let mut last = loaded.last().map(|entry| entry.id.clone());
    let mut seq = lease.seq();
    for number in loaded.len()..100_000 {
        let content = vec![ContentBlock::text(format!("{number} {}", "x".repeat(number % 900)))];
        let id = EntryId::from_bits(number as u128 + 1);
        let entry = Entry::new(
            id.clone(),
            last.replace(id),
            Timestamp::from_millis(number as u64),
            EntryKind::User(UserEntry::new(content)),
        );
        let durability = if number % 3 == 0 { Durability::Durable } else { Durability::Buffered };
        seq = store.append(&lease, seq, vec![entry], durability).await.unwrap();
        if durability == Durability::Durable {
            println!("durable {number}");
        }
    }
}

#[tokio::test]
async fn what_was_acknowledged_survives_a_kill_at_any_time() {
    survives(25, None).await;
}

#[tokio::test]
async fn what_was_acknowledged_of_an_agent_survives_a_kill_at_any_time() {
    survives(10, Some("a1")).await;
}

async fn survives(rounds: u64, agent: Option<&str>) {
    let home = tempfile::tempdir().unwrap();
    let store = JsonlStore::new(home.path());
    let key = log(agent);
    let mut before = 0;
    for round in 0..rounds {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["kill::writer", "--exact", "--ignored", "--nocapture"])
            .env(HOME, home.path())
            .envs(agent.map(|agent| (AGENT, agent)))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut acknowledged = None;
        let mut until = None;
        for line in lines.by_ref() {
            if let Some(number) = line.unwrap().strip_prefix("durable ").map(|number| number.parse::<usize>().unwrap())
            {
                acknowledged = Some(number);
                // A different point of the work in every round.
                let until = *until.get_or_insert_with(|| Instant::now() + Duration::from_micros(round * 731 % 9_000));
                if Instant::now() >= until {
                    break;
                }
            }
        }
        child.kill().unwrap();
        for line in lines.map_while(Result::ok) {
            acknowledged = line.strip_prefix("durable ").and_then(|number| number.parse().ok()).or(acknowledged);
        }
        child.wait().unwrap();
        let acknowledged = acknowledged.expect("the writer wrote something");
        let loaded = store.load(&key).await.unwrap();
        let texts: Vec<String> = loaded
            .entries
            .iter()
            .filter_map(|entry| match &entry.kind {
                EntryKind::User(user) => user.content.first()?.as_text()?.split(' ').next().map(str::to_owned),
                _ => None,
            })
            .collect();
        let expected: Vec<String> = (0..texts.len()).map(|number| number.to_string()).collect();
        assert_eq!(texts, expected, "round {round}: the entries are a gapless beginning");
        assert!(texts.len() > acknowledged, "round {round}: {} entries, {acknowledged} acknowledged", texts.len());
        assert!(texts.len() >= before, "round {round}: nothing of earlier rounds is lost");
        assert!(repair(loaded.entries).1.is_clean());
        before = texts.len();
    }
    assert!(check_file(&store.log_path(&key)).unwrap().valid);
    let agents: Vec<_> = store.agents(&key).await.unwrap().into_iter().map(|agent| agent.agent_type).collect();
    assert_eq!(agents, agent.map(|_| "explore").into_iter().collect::<Vec<_>>());
}

//! Cost of a durable append of about 1 KB, relative to a plain write and data sync.
//!
//! `cargo run --release -p windlass-store --example append_cost [DIRECTORY]`
#![allow(clippy::disallowed_methods, reason = "a program takes its environment and time from the system")]
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a measuring program")]

use std::io::Write;
use std::time::{Duration, Instant};
use windlass_session::{Durability, LogHeader, Owner, ProjectKey, SessionKey, SessionStore};
use windlass_store::JsonlStore;
use windlass_types::{ContentBlock, Entry, EntryId, EntryKind, SessionId, Timestamp, UserEntry};

const ROUNDS: u32 = 400;

fn entry(number: u32) -> Entry {
    let user = UserEntry::new(vec![ContentBlock::text("x".repeat(700))]);
    let id = EntryId::from_bits(u128::from(number) + 1);
    Entry::new(id, Some(EntryId::from_bits(u128::from(number))), Timestamp::from_millis(1), EntryKind::User(user))
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let folder = std::env::args().nth(1).map_or_else(std::env::temp_dir, Into::into);
    let folder = folder.join(format!("append-cost-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let store = JsonlStore::new(&folder);
    let key = SessionKey::new(ProjectKey::from_slug("-p"), SessionId::from_bits(1));
    let header = LogHeader::new("/home/someone/project", "0.1.0", "cli").with_git_branch(Some("main".to_owned()));
    let lease = store.open(&key, &Owner::new(std::process::id(), "cost"), header).await.unwrap();
    let mut plain = std::fs::OpenOptions::new().append(true).create(true).open(folder.join("plain")).unwrap();
    let line = vec![b'x'; 1_024];
    let (mut floor, mut ours, mut buffered) = (Vec::new(), Vec::new(), Vec::new());
    let mut seq = lease.seq();
    // In turns, so that both see the same disk.
    for number in 0..ROUNDS {
        let start = Instant::now();
        plain.write_all(&line).unwrap();
        plain.sync_data().unwrap();
        floor.push(start.elapsed());
        let (durable, loose) = (vec![entry(number * 2)], vec![entry(number * 2 + 1)]);
        let start = Instant::now();
        seq = store.append(&lease, seq, durable, Durability::Durable).await.unwrap();
        ours.push(start.elapsed());
        let start = Instant::now();
        seq = store.append(&lease, seq, loose, Durability::Buffered).await.unwrap();
        buffered.push(start.elapsed());
    }
    let start = Instant::now();
    let loaded = store.load(&key).await.unwrap().entries.len();
    let load = start.elapsed();
    store.close(lease).await.unwrap();
    let (floor, ours) = (median(&mut floor), median(&mut ours));
    println!(
        "plain write and sync {floor:?}, durable append {ours:?}, ratio {:.2}",
        ours.as_secs_f64() / floor.as_secs_f64()
    );
    println!("buffered append {:?}, load of {loaded} entries {load:?}", median(&mut buffered));
    std::fs::remove_dir_all(&folder).unwrap();
}

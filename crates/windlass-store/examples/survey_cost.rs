//! What a baseline and surveys cost in a tree of many files, beside a copy by `cp`:
//! `cargo run --profile dist -p windlass-store --example survey_cost -- 50000`.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "it measures with the real clock"
)]

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};
use windlass_session::{ChangedBy, Checkpoints, Survey};
use windlass_store::FileCheckpoints;
use windlass_tool::{FileTree, SystemClock, SystemIds};
use windlass_tools::LocalWorkspace;
use windlass_types::EntryId;

const ROUNDS: usize = 11;

fn make(root: &Path, files: usize) {
    for at in 0..files {
        let folder = root.join(format!("{}/{}", at % 50, at % 2500));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(format!("{at}.txt")), format!("{at}\n").repeat(at % 1000)).unwrap();
    }
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times.get(times.len() / 2).map_or(0.0, Duration::as_secs_f64) * 1000.0
}

#[tokio::main]
async fn main() {
    let files = std::env::args().nth(1).and_then(|number| number.parse().ok()).unwrap_or(50_000);
    let (home, work) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let root = work.path().canonicalize().unwrap();
    make(&root, files);
    let began = Instant::now();
    let copied = Command::new("cp").args(["-r", "--reflink=auto"]).arg(&root).arg(home.path().join("copy")).status();
    println!("cp -r --reflink=auto: {:.0} ms ({})", began.elapsed().as_secs_f64() * 1000.0, copied.unwrap());
    let tree = Arc::new(LocalWorkspace::new());
    let began = Instant::now();
    tree.survey(&root, None, 1_000_000).await.unwrap();
    println!("stat walk: {:.1} ms", began.elapsed().as_secs_f64() * 1000.0);
    let (clock, ids) = (Arc::new(SystemClock::default()), Arc::new(SystemIds::default()));
    let checkpoints = FileCheckpoints::new(home.path().join("kept"), tree, clock, ids);
    let prompt = EntryId::from_bits(1);
    let look = async |by| checkpoints.survey(&Survey::new(prompt.clone(), [root.clone()], by)).await.unwrap();
    let began = Instant::now();
    look(ChangedBy::Others).await;
    println!("baseline of {files} files: {:.0} ms", began.elapsed().as_secs_f64() * 1000.0);
    let mut times = Vec::new();
    for round in 0..ROUNDS {
        let began = Instant::now();
        look(ChangedBy::Others).await;
        let before = began.elapsed();
        fs::write(root.join("changed"), format!("{round}")).unwrap();
        let began = Instant::now();
        look(ChangedBy::Session).await;
        times.push(before + began.elapsed());
    }
    println!("a later command, before and after: {:.1} ms (median of {ROUNDS})", median(times));
}

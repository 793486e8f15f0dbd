//! Cost of a baseline and of surveys in a tree of many files, compared with a copy by `cp` and a parallel walk that
//! only reads the stamp of each file: `cargo run --profile dist -p windlass-store --example survey_cost -- 50000
//! [FOLDER] [BYTES]`. A named folder is kept for the next time. `BYTES` is the size of each file, for large ones; the
//! copies are made in `TMPDIR`.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "it measures with the real clock"
)]

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;
use windlass_local::LocalWorkspace;
use windlass_session::{ChangedBy, Checkpoints, Survey};
use windlass_store::FileCheckpoints;
use windlass_tool::{FileTree, SystemClock, SystemIds};
use windlass_types::EntryId;

const ROUNDS: usize = 15;

fn make(root: &Path, files: usize, bytes: Option<usize>) {
    for at in 0..files {
        let folder = root.join(format!("{}/{}", at % 50, at % 2500));
        fs::create_dir_all(&folder).unwrap();
        let line = format!("{at}\n");
        let lines = bytes.map_or(at % 1000, |bytes| bytes / line.len());
        fs::write(folder.join(format!("{at}.txt")), line.repeat(lines)).unwrap();
    }
}

/// Wall-clock time and processor time, in milliseconds.
#[derive(Clone, Copy)]
struct Cost(f64, f64);

impl std::fmt::Display for Cost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.1} ms, {:.0} ms of processors", self.0, self.1)
    }
}

/// Returns the processor time of all threads of this process in milliseconds, ended ones included, in ticks of 10 ms.
fn processors() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let behind_the_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks = behind_the_name.split_whitespace().skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok());
    ticks.sum::<f64>() * 10.0
}

async fn cost<T>(work: impl Future<Output = T>) -> (T, Cost) {
    let (began, used) = (Instant::now(), processors());
    let done = work.await;
    (done, Cost(began.elapsed().as_secs_f64() * 1000.0, processors() - used))
}

/// Returns the median wall-clock time, and the mean processor time: its ticks are coarse.
fn middle(costs: &[Cost]) -> Cost {
    let mut clock: Vec<f64> = costs.iter().map(|cost| cost.0).collect();
    clock.sort_by(f64::total_cmp);
    let used: f64 = costs.iter().map(|cost| cost.1).sum();
    Cost(clock.get(clock.len() / 2).copied().unwrap_or_default(), used / costs.len().max(1) as f64)
}

/// Walks the tree with the minimum of work for any scan: names of each folder, and the stamp of each file, by one path
/// each, on all processors.
fn walk(root: &Path) -> u64 {
    let folders: Vec<PathBuf> =
        fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect();
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    let work = || {
        let mut bytes = 0;
        while let Some(folder) = folders.get(next.fetch_add(1, Ordering::Relaxed)) {
            bytes += sizes(folder);
        }
        bytes
    };
    std::thread::scope(|scope| {
        let others: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        others.into_iter().map(|other| other.join().unwrap()).sum()
    })
}

fn sizes(folder: &Path) -> u64 {
    let size = |entry: fs::DirEntry| match entry.file_type().unwrap().is_dir() {
        true => sizes(&entry.path()),
        false => entry.metadata().unwrap().size(),
    };
    fs::read_dir(folder).unwrap().map(|entry| size(entry.unwrap())).sum()
}

/// Returns the occupied bytes of the disk, after all writes.
fn taken(folder: &Path) -> i64 {
    rustix::fs::syncfs(fs::File::open(folder).unwrap()).unwrap();
    let disk = rustix::fs::statvfs(folder).unwrap();
    ((disk.f_blocks - disk.f_bfree) * disk.f_frsize) as i64
}

#[tokio::main]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let files = arguments.next().and_then(|number| number.parse().ok()).unwrap_or(50_000);
    let (home, work) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let folder = arguments.next().map_or_else(|| work.path().to_owned(), PathBuf::from);
    fs::create_dir_all(&folder).unwrap();
    let root = folder.canonicalize().unwrap();
    if !root.join("0").is_dir() {
        make(&root, files, arguments.next().and_then(|bytes| bytes.parse().ok()));
    }
    let tree = Arc::new(LocalWorkspace::new());
    let (clock, ids) = (Arc::new(SystemClock::default()), Arc::new(SystemIds::default()));
    let checkpoints = FileCheckpoints::new(home.path().join("kept"), tree.clone(), clock, ids);
    let prompt = EntryId::from_bits(1);
    let look = async |by| checkpoints.survey(&Survey::new(prompt.clone(), [root.clone()], by)).await.unwrap();
    let before = taken(home.path());
    let (_, baseline) = cost(look(ChangedBy::Others)).await;
    println!("baseline of {files} files: {baseline}, {} MiB of the disk", (taken(home.path()) - before) >> 20);
    let copy = home.path().join("copy");
    let cp = async { Command::new("cp").args(["-r", "--reflink=auto"]).arg(&root).arg(&copy).status().unwrap() };
    let (copied, Cost(copying, _)) = cost(cp).await;
    println!("cp -r --reflink=auto: {copying:.0} ms ({copied})");
    let (mut walks, mut surveys, mut reported) = (vec![], vec![], vec![]);
    let (mut before, mut behind) = (vec![], vec![]);
    let mut known = Arc::new(tree.survey(&root, None, 1_000_000).await.unwrap());
    for round in 0..ROUNDS {
        walks.push(cost(async { walk(&root) }).await.1);
        let (found, took) = cost(tree.survey(&root, Some(known), 1_000_000)).await;
        surveys.push(took);
        fs::write(root.join("changed"), format!("{round}")).unwrap();
        let (found, took) = cost(tree.survey_reported(&root, Arc::new(found.unwrap()), 1_000_000)).await;
        reported.push(took);
        known = Arc::new(found.unwrap());
        before.push(cost(look(ChangedBy::Others)).await.1);
        fs::write(root.join("changed"), format!("{round}")).unwrap();
        behind.push(cost(look(ChangedBy::Session)).await.1);
    }
    println!("parallel stat walk: {}", middle(&walks));
    println!("a look at everything: {}", middle(&surveys));
    println!("a look at what was reported to have changed: {}", middle(&reported));
    println!("before a later command, in its way: {}", middle(&before));
    println!("behind it, beside the model's answer: {}", middle(&behind));
}

//! A thousand commands that are cancelled leave nothing of the system behind.
//!
//! They run in a process of their own: other tests of this one open descriptors and start threads too.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Runtime};
use windlass_tool::{Cancel, Process, ProcessExit};
use windlass_tools::LocalProcess;

use crate::programs::support::{NONE, alive, shell, sleeper, unique};

/// Where the process may leave files, and must not.
const PLACE: &str = "WINDLASS_TEST_CANCELLED_PLACE";

/// What this process has of the system.
#[derive(Debug, PartialEq, Eq)]
struct Resources {
    /// By their numbers, with what they lead to.
    descriptors: BTreeMap<i32, PathBuf>,
    threads: usize,
    /// Also those that have ended and were not waited for.
    children: BTreeSet<i32>,
    files: BTreeSet<String>,
}

impl Resources {
    fn now(place: &Path) -> Self {
        let table = names("/proc/self/fd").into_iter().filter_map(|number| {
            // The one by which the table was read is closed by now.
            let target = std::fs::read_link(format!("/proc/self/fd/{number}")).ok()?;
            Some((number.parse().ok()?, target))
        });
        Self {
            descriptors: table.collect(),
            threads: names("/proc/self/task").len(),
            children: children(),
            files: names(place).into_iter().collect(),
        }
    }
}

fn names(folder: impl AsRef<Path>) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// The children of this process.
fn children() -> BTreeSet<i32> {
    let own = std::process::id().to_string();
    let is_child = |pid: &i32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        // Behind the name in parentheses: the state, then the parent.
        stat.rsplit_once(')').and_then(|(_, rest)| rest.split_ascii_whitespace().nth(1)) == Some(own.as_str())
    };
    names("/proc").iter().filter_map(|name| name.parse().ok()).filter(is_child).collect()
}

/// Waits until all children have ended and were waited for, which the runtime does.
async fn until_childless() {
    let start = Instant::now();
    while !children().is_empty() {
        assert!(start.elapsed() < Duration::from_secs(20), "{:?}", children());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

/// Runs this many times eight commands at a time, each cancelled: some before they start, some at once, some when
/// they run.
async fn cancelled(process: &Arc<LocalProcess>, tag: &str, rounds: usize) {
    let sleep = sleeper(tag);
    for round in 0..rounds {
        let calls: Vec<_> = (0..8)
            .map(|call| {
                let (process, command) = (Arc::clone(process), shell(&format!("exec {sleep}")));
                tokio::spawn(async move {
                    let cancel = Cancel::new();
                    let running = process.run(command, &cancel);
                    let wait = Duration::from_millis([0, 0, 1, 5, 20][(round + call) % 5]);
                    let stop = async {
                        tokio::time::sleep(wait).await;
                        cancel.cancel();
                    };
                    tokio::join!(running, stop).0.unwrap().exit
                })
            })
            .collect();
        for call in calls {
            assert_eq!(call.await.unwrap(), ProcessExit::Cancelled);
        }
    }
}

/// Not a test of its own: the process in which the commands run.
#[test]
#[ignore = "another test starts it, alone in its process"]
fn subject() {
    let Some(place) = std::env::var_os(PLACE) else { return };
    let place = Path::new(&place);
    let tag = unique();
    // What is opened once for the whole life of a process, such as the pipe that signals come through, is open then.
    runtime().block_on(async {
        cancelled(&Arc::new(LocalProcess::new(tag.clone())), &tag, 1).await;
        until_childless().await;
    });
    let before = Resources::now(place);
    let runtime = runtime();
    runtime.block_on(async {
        let process = Arc::new(LocalProcess::new(tag.clone()));
        // The runtime has its own descriptors and threads by now, and there is a watchdog.
        cancelled(&process, &tag, 1).await;
        let begun = Resources::now(place);
        cancelled(&process, &tag, 125).await;
        let done = Resources::now(place);
        assert_eq!(alive(&format!("300.{tag}")), NONE);
        assert_eq!((done.descriptors, done.children, done.files), (begun.descriptors, begun.children, begun.files));
        drop(process);
        until_childless().await;
    });
    // It waits for the threads that it has started.
    drop(runtime);
    assert_eq!(Resources::now(place), before);
}

#[test]
fn a_thousand_cancelled_commands_leave_nothing() {
    let place = tempfile::tempdir().unwrap();
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "programs::cancelled::subject", "--ignored", "--test-threads=1"])
        .env(PLACE, place.path())
        .env("TMPDIR", place.path())
        .current_dir(place.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let output = String::from_utf8_lossy(&child.stdout);
    assert!(
        child.status.success() && output.contains("1 passed"),
        "{output}{}",
        String::from_utf8_lossy(&child.stderr)
    );
}

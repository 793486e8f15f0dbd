//! Cancelled commands leave nothing of the system behind: a thousand that only sleep, and others of many shapes.
//!
//! The commands run in a process of their own: other tests of this one open descriptors and start threads too.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Runtime};
use windlass_local::LocalProcess;
use windlass_tool::{Cancel, Process, ProcessExit};

use crate::programs::support::{NONE, alive, shell, sleeper, unique};

/// Folder that the process must leave empty.
const PLACE: &str = "WINDLASS_TEST_CANCELLED_PLACE";

/// System resources of this process.
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

/// A command that becomes one program.
fn plain(sleep: &str) -> Vec<String> {
    vec![format!("exec {sleep}")]
}

/// Commands that start programs in many ways, and hold on to them. None ends by itself.
fn of_all_shapes(sleep: &str) -> Vec<String> {
    [
        "exec SLEEP",
        "SLEEP | cat | cat",
        "SLEEP & SLEEP & SLEEP & wait",
        "setsid SLEEP & setsid --fork SLEEP; SLEEP",
        "nohup SLEEP >/dev/null 2>&1 & wait",
        "(setsid SLEEP >/dev/null 2>&1 &); SLEEP",
        "(env -i /usr/bin/setsid /bin/SLEEP &); SLEEP",
        "trap '' TERM HUP INT; SLEEP & while :; do SLEEP; done",
        "(trap '' TERM; setsid bash -c 'SLEEP & SLEEP') & wait; SLEEP",
        "SLEEP & kill -STOP $!; wait",
        "cat <(SLEEP) > >(cat)",
        "while :; do (: | :); done; SLEEP",
        "yes SLEEP",
    ]
    .map(|shape| shape.replace("SLEEP", sleep))
    .into()
}

/// Number of commands that run at a time.
const AT_ONCE: usize = 8;

/// Runs at least `commands` commands, each cancelled: some before they start, some at once, some when they run. Returns
/// their number.
async fn cancelled(process: &Arc<LocalProcess>, shapes: &[String], commands: usize) -> usize {
    let rounds = commands.div_ceil(AT_ONCE);
    for round in 0..rounds {
        let calls: Vec<_> = (0..AT_ONCE)
            .map(|call| {
                let number = round * AT_ONCE + call;
                let (process, command) = (Arc::clone(process), shell(&shapes[number % shapes.len()]));
                let wait = Duration::from_millis([0, 1, 5, 20, 60][number / shapes.len() % 5]);
                tokio::spawn(async move {
                    let cancel = Cancel::new();
                    let running = process.run(command, &cancel);
                    let stop = async {
                        tokio::time::sleep(wait).await;
                        cancel.cancel();
                    };
                    tokio::join!(running, stop).0.unwrap()
                })
            })
            .collect();
        for call in calls {
            let outcome = call.await.unwrap();
            assert_eq!(outcome.exit, ProcessExit::Cancelled, "{shapes:?}");
        }
    }
    rounds * AT_ONCE
}

/// Body of the process in which the commands run.
#[expect(clippy::print_stdout, reason = "the figures are what the test is for")]
fn leave_nothing(shapes: fn(&str) -> Vec<String>, commands: usize) {
    let Some(place) = std::env::var_os(PLACE) else { return };
    let place = Path::new(&place);
    let tag = unique();
    let shapes = shapes(&sleeper(&tag));
    // Descriptors that are opened once for the whole life of a process, such as the signal pipe, are open afterwards.
    runtime().block_on(async {
        cancelled(&Arc::new(LocalProcess::new(tag.clone())), &shapes, AT_ONCE).await;
        until_childless().await;
    });
    let before = Resources::now(place);
    let runtime = runtime();
    runtime.block_on(async {
        let process = Arc::new(LocalProcess::new(tag.clone()));
        // The runtime has its own descriptors and threads by now, and there is a watchdog.
        cancelled(&process, &shapes, AT_ONCE).await;
        let begun = Resources::now(place);
        let ran = cancelled(&process, &shapes, commands).await;
        let done = Resources::now(place);
        let left = alive(&format!("300.{tag}"));
        println!(
            "{ran} commands, {} left, descriptors {} then {}",
            left.len(),
            begun.descriptors.len(),
            done.descriptors.len()
        );
        assert_eq!(left, NONE);
        assert_eq!((done.descriptors, done.children, done.files), (begun.descriptors, begun.children, begun.files));
        drop(process);
        until_childless().await;
    });
    // Waits for the threads that the runtime has started.
    drop(runtime);
    assert_eq!(Resources::now(place), before);
}

/// Not a test of its own: the process in which a thousand commands of one shape run.
#[test]
#[ignore = "another test starts it, alone in its process"]
fn subject_of_one_shape() {
    leave_nothing(plain, 1_000);
}

/// Not a test of its own: the process in which commands of all shapes run, as many as `WINDLASS_CANCELLED` says.
#[test]
#[ignore = "another test starts it, alone in its process"]
fn subject_of_all_shapes() {
    let commands = std::env::var("WINDLASS_CANCELLED").map_or(39, |number| number.parse().unwrap());
    leave_nothing(of_all_shapes, commands);
}

/// Runs one of the two above, and gives what it printed.
fn run(subject: &str) -> String {
    let place = tempfile::tempdir().unwrap();
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &format!("programs::cancelled::{subject}"), "--ignored", "--nocapture", "--test-threads=1"])
        .env(PLACE, place.path())
        .env("TMPDIR", place.path())
        .current_dir(place.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let output = String::from_utf8_lossy(&child.stdout).into_owned();
    let errors = String::from_utf8_lossy(&child.stderr);
    assert!(child.status.success() && output.contains("1 passed"), "{output}{errors}");
    output
}

#[test]
fn a_thousand_cancelled_commands_leave_nothing() {
    let output = run("subject_of_one_shape");
    assert!(output.contains("1000 commands, 0 left"), "{output}");
}

#[test]
fn cancelled_commands_of_all_shapes_leave_nothing() {
    print!("{}", run("subject_of_all_shapes"));
}
